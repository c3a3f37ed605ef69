//! Subjects: everything that can stand where a variant stands.

use serde::{Deserialize, Serialize};

use super::axes::{Class, Op};
use super::id::IdError;
use super::named::NamedLoop;
use super::variant::Variant;
use crate::units::{near, words};

words! {
    /// What a host already has.
    Baseline {
        /// `memcpy` / `memset` of the running C library.
        Libc = "libc",
        /// The same in a process of its own, whose thresholds are set to the caches as measured.
        LibcTuned = "libc-tuned",
        /// The bare string instruction, `rep movsb` / `rep stosb`.
        Rep = "rep",
        /// What the C compiler here makes of a plain loop at `-O2`.
        CompilerO2 = "compiler-o2",
        /// The same at `-O3`.
        CompilerO3 = "compiler-o3",
    }
}

impl Baseline {
    /// The baselines that every host has at no cost: what winners are compared with.
    pub const PRESENT: &'static [Baseline] = &[Baseline::Libc, Baseline::Rep];

    /// The option that it is built with, where a C compiler builds it.
    pub const fn optimisation(self) -> Option<&'static str> {
        match self {
            Baseline::Libc | Baseline::LibcTuned | Baseline::Rep => None,
            Baseline::CompilerO2 => Some("-O2"),
            Baseline::CompilerO3 => Some("-O3"),
        }
    }

    /// The baseline as a variant, where it is one.
    pub const fn as_variant(self, op: Op) -> Option<Variant> {
        match self {
            Baseline::Libc | Baseline::LibcTuned | Baseline::CompilerO2 | Baseline::CompilerO3 => {
                None
            }
            // String instructions copy and fill; none of them only reads.
            Baseline::Rep if op.is_tuned() => Some(Variant::new(op, Class::Rep8)),
            Baseline::Rep => None,
        }
    }
}

/// What can be measured.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Subject {
    /// A generated loop.
    Variant(Variant),
    /// A loop by its name.
    Named(NamedLoop),
    /// What the host already has.
    Baseline(Baseline),
    /// A function of a shared object: `path.so:symbol`. A zero is called as
    /// `memset(dst, 0, n)`, a copy as `memcpy(dst, src, n)`.
    Foreign {
        /// Path of the shared object.
        path: String,
        /// Name of the function.
        symbol: String,
    },
}

impl Subject {
    /// Reads a subject: with `:` a foreign symbol, with `/` a variant, else a name.
    ///
    /// # Errors
    /// Names the part that is not understood and what would be.
    pub fn parse(text: &str) -> Result<Subject, IdError> {
        if let Some((path, symbol)) = text.rsplit_once(':') {
            if path.is_empty() || symbol.is_empty() {
                return Err(IdError::Foreign { text: text.into() });
            }
            return Ok(Subject::Foreign { path: path.into(), symbol: symbol.into() });
        }
        if text.contains('/') {
            return text.parse().map(Subject::Variant);
        }
        if let Some(named) = NamedLoop::from_word(text) {
            return Ok(Subject::Named(named));
        }
        Baseline::from_word(text).map(Subject::Baseline).ok_or_else(|| IdError::Name {
            text: text.into(),
            near: near(text, Subject::names().map(String::from)),
        })
    }

    /// Every name there is: of baselines, then of loops.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let baselines = Baseline::ALL.iter().map(|b| b.word());
        baselines.chain(NamedLoop::all().map(NamedLoop::word))
    }

    /// The generated loop, by its id or its name; `None` for code of others.
    pub fn variant(&self) -> Option<Variant> {
        match self {
            Subject::Variant(variant) => Some(*variant),
            Subject::Named(named) => Some(named.variant()),
            Subject::Baseline(_) | Subject::Foreign { .. } => None,
        }
    }

    /// The op a subject is bound to; `None` where it serves several.
    pub fn op(&self) -> Option<Op> {
        self.variant().map(|v| v.op)
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Subject::Variant(v) => f.pad(&v.to_string()),
            Subject::Named(n) => f.pad(n.word()),
            Subject::Baseline(b) => f.pad(b.word()),
            Subject::Foreign { path, symbol } => f.pad(&format!("{path}:{symbol}")),
        }
    }
}
