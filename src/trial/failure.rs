//! Why a subject has no time.

use serde::{Deserialize, Serialize};

/// What a function did besides, or instead of, its op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Misbehaviour {
    /// A destination byte is not what the reference says.
    WrongByte {
        /// Offset from the destination.
        at: u64,
        /// The reference's byte.
        wanted: u8,
        /// The function's byte.
        got: u8,
    },
    /// The bytes of a signalling NaN came out quiet, as from registers that take them for
    /// numbers; nothing else is wrong.
    BitsChanged {
        /// Offset of the 8 bytes from the destination.
        at: u64,
        /// The reference's 8 bytes, as a little-endian number.
        wanted: u64,
        /// The function's.
        got: u64,
    },
    /// A byte outside the destination was changed; the offset is from its start and may be
    /// negative.
    OutsideWrite {
        /// Offset from the destination.
        at: i64,
    },
    /// The source was changed.
    SourceChanged {
        /// Offset from the source.
        at: u64,
    },
    /// The return value is not the destination.
    WrongReturn,
    /// A callee-saved register (rbx, rbp, r12–r15) or the stack pointer changed.
    CalleeSaved {
        /// Hardware number of the register.
        register: u8,
    },
    /// The direction flag is set on return.
    DirectionFlag,
    /// The x87/MMX tag word is not empty on return.
    TagWord,
    /// Tiles are configured on return.
    TilesInUse,
    /// The x87 control word changed.
    X87Control,
    /// MXCSR control or mask bits changed.
    Mxcsr,
    /// The upper half of a vector register is neither as it was nor zero.
    UpperHalf {
        /// Number of the register.
        register: u8,
    },
}

/// The kinds of failure, as counted and recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailureKind {
    /// This host cannot run it.
    Unsupported(String),
    /// Verification found it wrong.
    Incorrect(Misbehaviour),
    /// It died of a signal.
    Crashed {
        /// Signal number.
        signal: i32,
    },
    /// It passed the deadline.
    Hung,
}

/// Why a subject has no time, and the case in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What happened.
    pub kind: FailureKind,
    /// During which case: `n=65 dst+3 src+0`, or `timing`.
    pub case: String,
}

impl FailureKind {
    /// One word, as counted under `excluded` and written to files.
    pub fn word(&self) -> &'static str {
        match self {
            FailureKind::Unsupported(_) => "unsupported",
            FailureKind::Incorrect(_) => "incorrect",
            FailureKind::Crashed { .. } => "crashed",
            FailureKind::Hung => "hung",
        }
    }
}

impl std::fmt::Display for Misbehaviour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Misbehaviour::WrongByte { at, wanted, got } => {
                write!(f, "byte {at} is {got:#04x}, wanted {wanted:#04x}")
            }
            Misbehaviour::BitsChanged { at, wanted, got } => write!(
                f,
                "changes bits: the 8 bytes at {at} are {got:#018x}, wanted {wanted:#018x} (a \
                 signalling NaN came out quiet)"
            ),
            Misbehaviour::OutsideWrite { at } => {
                write!(f, "wrote outside the destination, at offset {at}")
            }
            Misbehaviour::SourceChanged { at } => write!(f, "changed the source at offset {at}"),
            Misbehaviour::WrongReturn => write!(f, "did not return the destination"),
            Misbehaviour::CalleeSaved { register } => {
                const NAMES: [&str; 16] = [
                    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10",
                    "r11", "r12", "r13", "r14", "r15",
                ];
                let name = NAMES.get(register as usize).unwrap_or(&"?");
                write!(f, "changed {name}, which belongs to the caller")
            }
            Misbehaviour::DirectionFlag => write!(f, "left the direction flag set"),
            Misbehaviour::TagWord => write!(f, "left x87/MMX registers in use (no emms)"),
            Misbehaviour::TilesInUse => write!(f, "left tiles configured (no tilerelease)"),
            Misbehaviour::X87Control => write!(f, "changed the x87 control word"),
            Misbehaviour::Mxcsr => write!(f, "changed MXCSR"),
            Misbehaviour::UpperHalf { register } => {
                write!(f, "left the upper half of vector register {register} dirty (no vzeroupper)")
            }
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            FailureKind::Unsupported(why) => return write!(f, "unsupported: {why}"),
            FailureKind::Incorrect(what) => write!(f, "incorrect: {what}")?,
            FailureKind::Crashed { signal } => {
                let name = match *signal {
                    4 => " (SIGILL, illegal instruction)",
                    6 => " (SIGABRT)",
                    7 => " (SIGBUS)",
                    8 => " (SIGFPE)",
                    9 => " (SIGKILL)",
                    11 => " (SIGSEGV, touched memory outside its buffers)",
                    _ => "",
                };
                write!(f, "crashed: signal {signal}{name}")?;
            }
            FailureKind::Hung => write!(f, "hung: still running at the deadline")?,
        }
        if !self.case.is_empty() {
            write!(f, " [{}]", self.case)?;
        }
        Ok(())
    }
}
