//! Vocabulary without opinions: sizes as people write them, times with their unit, and
//! enums of plain words.

mod digest;
mod near;
mod regular;
mod size;
mod time;
mod words;

pub use digest::digest;
pub use near::{did_you_mean, near, offer};
pub use regular::{read_regular, regular};
pub use size::{MAX_MIX_SIZE, MAX_SIZE, SizeError, human_size, parse_size, parse_sizes};
pub use time::{Picos, human_ns, parse_seconds, uptime};
pub use words::Words;
pub(crate) use words::words;
