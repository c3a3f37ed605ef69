//! What happens to the explorer, and what it wants done. No terminal and no worker here.

use std::path::PathBuf;

use crate::subject::{Cell, Subject, Variant};
use crate::trial::{Clock, Failure, Role, Sample};

use super::schedule::Order;

/// A key, as far as the explorer has a use for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character as typed.
    Char(char),
    /// A character with the control key.
    Ctrl(char),
    /// Arrow.
    Left,
    /// Arrow.
    Right,
    /// Arrow.
    Up,
    /// Arrow.
    Down,
    /// The first column.
    Home,
    /// The last column.
    End,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// The next axis, or the completion of a prompt.
    Tab,
    /// The axis before.
    BackTab,
    /// Yes.
    Enter,
    /// No.
    Esc,
    /// Takes the last character back.
    Backspace,
}

/// Where a mouse pointed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Column and row of the map.
    Cell(usize, usize),
    /// Line of the side panel.
    Axis(usize),
    /// The listing, with the lines to scroll it down by.
    Listing(i32),
    /// A point of the curve's first series.
    Point(usize),
    /// Line of a choice.
    Item(usize),
}

/// Something happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// It begins.
    Start,
    /// A key was pressed.
    Key(Key),
    /// A mouse button was pressed, or its wheel turned, over something.
    Mouse(Spot),
    /// A text was pasted.
    Paste(String),
    /// The measuring thread answers.
    Report(Report),
}

/// One subject's part of a batch.
#[derive(Clone, Debug)]
pub struct Heard {
    /// Who.
    pub subject: Subject,
    /// Baseline or candidate.
    pub role: Role,
    /// Length of its code, where it is ours.
    pub code_bytes: Option<u32>,
    /// Raw samples, or why there are none.
    pub outcome: Result<Vec<Sample>, Failure>,
}

/// A measured batch.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Where.
    pub cell: Cell,
    /// Baselines and candidates that took part.
    pub heard: Vec<Heard>,
    /// The clock meanwhile.
    pub clock: Clock,
    /// Wall time, nanoseconds, with what compiling and verifying took.
    pub wall_ns: f64,
}

/// What became of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exported {
    /// Written and checked; the sentence says how.
    Written(String),
    /// The file is there already.
    Exists(PathBuf),
    /// Why there is none.
    Refused(String),
}

/// The measuring thread answers.
#[derive(Clone, Debug)]
pub enum Report {
    /// Samples.
    Measured(Batch),
    /// The batch could not be measured: no worker can be had.
    Trouble(String),
    /// An export ended.
    Exported(Exported),
    /// Results were written: a sentence, or why not.
    Written(Result<String, String>),
    /// The thread itself is gone; nothing more is measured.
    Gone(String),
}

/// A loop to export.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportJob {
    /// The loop.
    pub variant: Variant,
    /// The file.
    pub path: PathBuf,
    /// Whether an existing file may be replaced.
    pub overwrite: bool,
    /// Measured figures, a line each.
    pub measured: Vec<String>,
}

/// A subject with all its samples in a cell.
#[derive(Clone, Debug)]
pub struct Record {
    /// Where.
    pub cell: Cell,
    /// Who.
    pub subject: Subject,
    /// Baseline or candidate.
    pub role: Role,
    /// Length of its code, where it is ours.
    pub code_bytes: Option<u32>,
    /// Whether it should be verified fully before it is written: it may be exported later.
    pub verify: bool,
    /// Times, or why there are none.
    pub outcome: Result<crate::trial::Summary, Failure>,
    /// Raw samples.
    pub samples: Vec<Sample>,
    /// The clock of the last batch.
    pub clock: Clock,
}

/// Something to do.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Measure; one [`Report::Measured`] or [`Report::Trouble`] answers.
    Measure(Order),
    /// Write a loop as assembly source; a [`Report::Exported`] answers.
    Export(ExportJob),
    /// Write results; a [`Report::Written`] answers.
    Write(Vec<Record>),
    /// Leave the terminal to the shell for a while.
    Suspend,
    /// End.
    Quit,
}
