//! Is it right? Every function is compared with a naive loop before it is timed: all bytes
//! of the destination, the bytes around it, the source, and every register that belongs to
//! the caller, between guard pages that turn one byte too many into a fault.
//!
//! A fault is not caught here: the process dies, and whoever watches the announced cases
//! ([`Announce`]) knows which one it was ([`case_text`]). What passed comes back as a
//! [`Verified`], which nothing else can make.

mod buffers;
mod cases;
mod reference;
mod registers;
mod source;
#[cfg(test)]
mod tests;
mod verified;

pub use cases::case_text;
pub use verified::Verified;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::host::{FeatureSet, Household};
use crate::jit::{Abi, Entry, JitError, Trampoline, libc_entry, open};
use crate::mem::{Arena, MemError, SharedPage};
use crate::subject::Op;
use crate::trial::{Body, Check, Failure, FailureKind, Misbehaviour};
use buffers::Buffers;
use cases::{Case, LARGEST_SWEPT};
use registers::Uppers;
use source::Blocks;
use verified::Fixed;

/// Room for the code under verification: several functions, so that a new one does not
/// overwrite the one that just ran.
const ARENA_BYTES: usize = 256 << 10;

/// Hears of every case right before its call. Must be cheap: there are millions.
pub trait Announce {
    /// A call for `n` bytes follows; [`case_text`] makes words of the three numbers.
    fn case(&self, n: u64, dst: u32, src: u32);
}

impl Announce for SharedPage {
    fn case(&self, n: u64, dst: u32, src: u32) {
        self.set_case(n, dst, src);
    }
}

impl Announce for () {
    fn case(&self, _: u64, _: u32, _: u32) {}
}

/// Why nothing can be verified here at all.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// No memory for buffers or code.
    #[error("verification needs memory")]
    Mem(#[from] MemError),
    /// No way to call anything.
    #[error("verification cannot call code")]
    Jit(#[from] JitError),
}

/// Buffers, code memory and the watched call, made once and used for every function.
pub struct Verifier {
    trampoline: Trampoline,
    uppers: Uppers,
    arena: Arena,
    rng: ChaCha8Rng,
    blocks: Blocks,
    buffers: Buffers,
    /// For one size beyond the swept ones; kept because the next function has the same.
    large: Option<Buffers>,
    household: Household,
}

impl Verifier {
    /// Gets ready on a host with these (usable) features.
    ///
    /// # Errors
    /// Where the system gives no memory.
    pub fn new(features: FeatureSet) -> Result<Verifier, VerifyError> {
        let blocks = Blocks::new();
        Ok(Verifier {
            trampoline: Trampoline::new(features)?,
            uppers: Uppers::of(features),
            arena: Arena::new(ARENA_BYTES)?,
            // Only spreads entries over the arena.
            rng: ChaCha8Rng::seed_from_u64(0),
            buffers: Buffers::for_size(LARGEST_SWEPT, &blocks)?,
            blocks,
            large: None,
            household: Household::read(),
        })
    }

    /// Compares a body with the reference for every case that `check` asks for.
    ///
    /// # Errors
    /// [`FailureKind::Incorrect`] with the first case that went wrong;
    /// [`FailureKind::Unsupported`] where there is no such function or no memory for it.
    pub fn verify(
        &mut self,
        op: Op,
        body: &Body,
        check: Check,
        progress: &impl Announce,
    ) -> Result<Verified, Failure> {
        let boundaries = match body {
            Body::Machine(machine) => machine.boundaries.clone(),
            Body::Libc | Body::LibcTuned | Body::Foreign { .. } => cases::likely_boundaries(check),
        };
        self.try_all(op, body, &boundaries, check, progress)
    }

    /// Verifies a body that has passed a check for one size more: its boundaries are not
    /// tried again.
    ///
    /// # Errors
    /// As [`Verifier::verify`].
    pub fn verify_size(
        &mut self,
        verified: &Verified,
        size: u64,
        progress: &impl Announce,
    ) -> Result<Verified, Failure> {
        let check = Check::Quick { size };
        let size = self.try_all(verified.op(), verified.body(), &[], check, progress)?;
        Ok(size.and(verified))
    }

    /// Tries a body that has passed a check at these sizes too (those beyond the swept ones are
    /// left to the check): for code that nobody here has written, and that may take another path
    /// at any size.
    ///
    /// # Errors
    /// As [`Verifier::verify`].
    pub fn verify_sizes(
        &mut self,
        verified: &Verified,
        sizes: &[u64],
        progress: &impl Announce,
    ) -> Result<Verified, Failure> {
        let (op, body) = (verified.op(), verified.body());
        let (entry, fixed) = self.place(op, body)?;
        let watched = matches!(body, Body::Foreign { .. }).then_some(self.household);
        let (mut last, mut inexact) = (None, None);
        let Verifier { trampoline, uppers, blocks, buffers, .. } = self;
        let mut bench = Bench { op, watched, entry, trampoline, uppers: *uppers, blocks, progress };
        let tried = cases::each_size(sizes, &mut |case| {
            last = Some(case);
            let changed = bench.case(buffers, case)?;
            inexact = inexact.take().or(changed);
            Ok(())
        });
        let tried = tried.and_then(|()| match (buffers.sweep(op, blocks, last), last) {
            (Err(what), Some(case)) => {
                Err(incorrect(what, format!("{} or earlier", case.text(op))))
            }
            _ => Ok(()),
        });
        if tried.is_err() {
            buffers.reset(blocks);
        }
        tried?;
        Ok(Verified::new(op, verified.check(), body.clone(), fixed, inexact).and(verified))
    }

    fn try_all(
        &mut self,
        op: Op,
        body: &Body,
        boundaries: &[u64],
        check: Check,
        progress: &impl Announce,
    ) -> Result<Verified, Failure> {
        let only = match body {
            Body::Machine(machine) => machine.fixed,
            Body::Libc | Body::LibcTuned | Body::Foreign { .. } => None,
        };
        let (entry, fixed) = self.place(op, body)?;
        // Generated code and the C library start no processes.
        let watched = matches!(body, Body::Foreign { .. }).then_some(self.household);
        let plan = Plan { op, check, only, boundaries };
        let outcome = self.run(entry, watched, &plan, progress);
        if outcome.is_err() {
            // Nobody knows what it did besides.
            self.buffers.reset(&self.blocks);
            self.large = None;
        }
        outcome.map(|inexact| Verified::new(op, check, body.clone(), fixed, inexact))
    }

    /// Where the body can be called; what keeps it there.
    fn place(&mut self, op: Op, body: &Body) -> Result<(Entry, Option<Fixed>), Failure> {
        let abi = if op.copies() { Abi::Copy } else { Abi::Zero };
        match body {
            Body::Machine(machine) if machine.bytes.is_empty() => {
                Err(unsupported("a function without code".into(), String::new()))
            }
            Body::Machine(machine) => {
                let slots = self.arena.emit(&[&machine.bytes], &mut self.rng);
                let slots = slots.map_err(|e| unsupported(reasons(&e), String::new()))?;
                Ok((Entry { addr: slots[0].addr, abi }, None))
            }
            Body::Libc => {
                let entry = libc_entry(op).map_err(|e| unsupported(reasons(&e), String::new()))?;
                Ok((entry, Some(Fixed::new(entry, None))))
            }
            Body::LibcTuned => {
                let why = "its settings are those that a process of its own starts with";
                Err(unsupported(why.into(), String::new()))
            }
            Body::Foreign { path, symbol } => {
                let (library, addr) =
                    open(path, symbol).map_err(|e| unsupported(reasons(&e), String::new()))?;
                let abi = match op {
                    Op::Copy => Abi::Copy,
                    Op::Zero => Abi::Memset,
                    Op::Read | Op::Write => Abi::Zero,
                };
                let entry = Entry { addr, abi };
                Ok((entry, Some(Fixed::new(entry, Some(library)))))
            }
        }
    }

    /// Tries every case. What comes back is the first that changed bits of a number and
    /// nothing else, if there was one.
    fn run(
        &mut self,
        entry: Entry,
        watched: Option<Household>,
        plan: &Plan<'_>,
        progress: &impl Announce,
    ) -> Result<Option<Failure>, Failure> {
        let Plan { op, check, only, boundaries } = *plan;
        let (mut last, mut inexact) = (None, None);
        let Verifier { trampoline, uppers, blocks, buffers, .. } = self;
        let mut bench = Bench { op, watched, entry, trampoline, uppers: *uppers, blocks, progress };
        cases::swept(op, check, only, boundaries, &mut |case| {
            last = Some(case);
            let changed = bench.case(buffers, case)?;
            inexact = inexact.take().or(changed);
            Ok::<(), Failure>(())
        })?;
        if let (Err(what), Some(case)) = (buffers.sweep(op, blocks, last), last) {
            return Err(incorrect(what, format!("{} or earlier", case.text(op))));
        }
        let Some(case) = cases::large(check, only) else { return Ok(inexact) };
        if !self.large.as_ref().is_some_and(|large| large.serves(case.n)) {
            // Given back first: two of them might be too much.
            self.large = None;
            let large = Buffers::for_size(case.n, &self.blocks);
            self.large = Some(large.map_err(|e| unsupported(reasons(&e), case.text(op)))?);
        }
        let Verifier { trampoline, uppers, blocks, large, .. } = self;
        let mut bench = Bench { op, watched, entry, trampoline, uppers: *uppers, blocks, progress };
        match large {
            Some(large) => Ok(inexact.or(bench.case(large, case)?)),
            None => Ok(inexact),
        }
    }
}

/// What to try of a function.
struct Plan<'a> {
    op: Op,
    check: Check,
    /// The one size that it is for.
    only: Option<u64>,
    boundaries: &'a [u64],
}

/// One function on the bench.
struct Bench<'a, P> {
    op: Op,
    watched: Option<Household>,
    entry: Entry,
    trampoline: &'a mut Trampoline,
    uppers: Uppers,
    blocks: &'a Blocks,
    progress: &'a P,
}

impl<P: Announce> Bench<'_, P> {
    /// Runs one case and judges it; the buffers are as before where nothing was wrong, or
    /// where nothing but bits of a number were, which comes back.
    fn case(&mut self, buffers: &mut Buffers, case: Case) -> Result<Option<Failure>, Failure> {
        let op = self.op;
        let spot = buffers.spot(op, case);
        self.progress.case(case.n as u64, case.dst.code(), case.source_code(op));
        let (dst, src) = (&mut buffers.dst, &mut buffers.src);
        let dst_address = dst.address() + spot.dst;
        let image = self
            .trampoline
            .call_checked(self.entry, dst, spot.dst, src, spot.src, case.n)
            .map_err(|e| unsupported(reasons(&e), case.text(op)))?;
        if let Some(household) = self.watched {
            household.leave_if_copy();
            if household.has_grown() {
                let why = "it starts processes, and only what works alone can be measured";
                return Err(unsupported(why.into(), case.text(op)));
            }
        }
        let registers = registers::judge(image, dst_address, self.uppers);
        let judged = buffers.judge(op, self.blocks, spot, case.n);
        let changed = match judged {
            Err(what @ Misbehaviour::BitsChanged { .. }) => Some(incorrect(what, case.text(op))),
            _ => None,
        };
        if changed.is_none() {
            judged.map_err(|what| incorrect(what, case.text(op)))?;
        }
        registers.map_err(|what| incorrect(what, case.text(op)))?;
        buffers.restore(spot, case.n);
        Ok(changed)
    }
}

fn incorrect(what: Misbehaviour, case: String) -> Failure {
    Failure { kind: FailureKind::Incorrect(what), case }
}

fn unsupported(why: String, case: String) -> Failure {
    Failure { kind: FailureKind::Unsupported(why), case }
}

/// An error and its sources, in one line.
fn reasons(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
