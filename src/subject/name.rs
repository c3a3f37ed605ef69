//! Subjects: everything that can stand where a variant stands.

use serde::{Deserialize, Serialize};

use super::axes::{Class, Op};
use super::id::IdError;
use super::variant::Variant;
use crate::units::{near, words};

words! {
    /// What a host already has.
    Baseline {
        /// `memcpy` / `memset` of the running C library.
        Libc = "libc",
        /// The bare string instruction, `rep movsb` / `rep stosb`.
        Rep = "rep",
    }
}

impl Baseline {
    /// The baseline as a variant, where it is one.
    pub const fn as_variant(self, op: Op) -> Option<Variant> {
        match self {
            Baseline::Libc => None,
            Baseline::Rep => Some(Variant::new(op, Class::Rep8)),
        }
    }
}

/// What can be measured.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Subject {
    /// A generated loop.
    Variant(Variant),
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
        Baseline::from_word(text).map(Subject::Baseline).ok_or_else(|| IdError::Name {
            text: text.into(),
            near: near(text, Baseline::ALL.iter().map(|b| b.word().to_string())),
        })
    }

    /// The op a subject is bound to; `None` where it serves several.
    pub fn op(&self) -> Option<Op> {
        match self {
            Subject::Variant(v) => Some(v.op),
            _ => None,
        }
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Subject::Variant(v) => f.pad(&v.to_string()),
            Subject::Baseline(b) => f.pad(b.word()),
            Subject::Foreign { path, symbol } => f.pad(&format!("{path}:{symbol}")),
        }
    }
}
