//! The proof that a body was verified.

use std::sync::Arc;

use crate::jit::{Abi, Entry, Library};
use crate::subject::Op;
use crate::trial::{Body, Check, Failure};

/// A body that was right in every case of a check, in this process (or, as it says itself,
/// right but for bits of numbers). Only a
/// [`Verifier`](super::Verifier) makes one. It covers the code, not the address: generated
/// code may be emitted again elsewhere (entry at a multiple of 64).
#[derive(Clone, Debug)]
pub struct Verified {
    op: Op,
    check: Check,
    body: Body,
    fixed: Option<Fixed>,
    inexact: Option<Failure>,
}

/// A function that stands where somebody else put it.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    entry: Entry,
    _library: Option<Arc<Library>>,
}

impl Fixed {
    pub(super) fn new(entry: Entry, library: Option<Library>) -> Fixed {
        Fixed { entry, _library: library.map(Arc::new) }
    }
}

impl Verified {
    pub(super) fn new(
        op: Op,
        check: Check,
        body: Body,
        fixed: Option<Fixed>,
        inexact: Option<Failure>,
    ) -> Verified {
        Verified { op, check, body, fixed, inexact }
    }

    /// The same, and not exact where another check found that it is not.
    pub(super) fn and(mut self, other: &Verified) -> Verified {
        self.inexact = self.inexact.or_else(|| other.inexact.clone());
        self
    }

    /// The first case in which it changed bits of a number, and nothing else: it may be timed
    /// under its name, and is no candidate for anything. `None`: every bit was right.
    pub fn inexact(&self) -> Option<&Failure> {
        self.inexact.as_ref()
    }

    /// What it was verified to do.
    pub fn op(&self) -> Op {
        self.op
    }

    /// How thoroughly.
    pub fn check(&self) -> Check {
        self.check
    }

    /// What was verified.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// How it is called.
    pub fn abi(&self) -> Abi {
        match (&self.fixed, self.op) {
            (Some(fixed), _) => fixed.entry.abi,
            (None, Op::Copy) => Abi::Copy,
            (None, Op::Zero | Op::Read | Op::Write) => Abi::Zero,
        }
    }

    /// Machine code, to be emitted wherever it is wanted; `None` for functions of others.
    pub fn code(&self) -> Option<&[u8]> {
        match &self.body {
            Body::Machine(machine) => Some(&machine.bytes),
            Body::Libc | Body::LibcTuned | Body::Foreign { .. } => None,
        }
    }

    /// Where a function of others stands, as long as this value (or a clone) lives; `None`
    /// for generated code.
    pub fn fixed_entry(&self) -> Option<Entry> {
        self.fixed.as_ref().map(|fixed| fixed.entry)
    }
}
