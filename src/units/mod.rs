//! Vocabulary without opinions: sizes as people write them, times with their unit, and
//! enums of plain words.

mod size;
mod time;
mod words;

pub use size::{MAX_SIZE, SizeError, human_size, parse_size, parse_sizes};
pub use time::{Picos, human_ns, parse_seconds};
pub(crate) use words::words;
