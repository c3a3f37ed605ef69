//! What an unfinished search leaves so that it can go on: what it was begun with, and every
//! answer it got, in `resume-RUN.log`.
//!
//! A search is a function of what it was begun with, of the answers of its evaluator and of what
//! the clock said when it asked. So to go on with one is to run it again from the beginning, with
//! the same answers as long as there are some, and then with new ones. The file is a line that
//! tells its format, then frames: length and digest of the content (4 bytes each, little endian),
//! content. The first frame is the [`Origin`], each other one a [`Turn`]. Frames reach the file
//! before anybody hears of the answer, so the tables never hold a trial that is not here. What a
//! crash tore is dropped from the first damaged frame on. The log of a search in a series stays
//! until the next search has its own, or the series is over.

mod answers;
mod log;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::ResultsError;
use crate::measure::{Edges, Reckoned};
use crate::search::{Incumbents, SizePlan};
use crate::trial::{BlockResult, Failure};

pub use answers::Continued;
pub use log::RunLog;

/// What a search was begun with: enough to begin it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Id of the run.
    pub run: String,
    /// Version of the program that began it.
    pub version: String,
    /// Key of the host.
    pub host: String,
    /// The words of the command after the program's name.
    pub arguments: Vec<String>,
    /// The folder it was given in, from which paths among the words go.
    pub directory: String,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Nanoseconds that the command had taken when the search began.
    pub spent_ns: u64,
    /// Time-stamp ticks a second, as measured then.
    pub tick_hz: f64,
    /// Where the caches ended when it was measured.
    pub edges: Option<Edges>,
    /// The cache sizes that states are made of.
    pub reckoned: Reckoned,
    /// The cells, as these caches have them.
    pub plans: Vec<SizePlan>,
    /// What had been chosen before.
    pub incumbents: Incumbents,
    /// Candidates: how many, and a digest of their ids and code.
    pub candidates: (u64, u64),
    /// The runs of a repeated search before this one, and how many there will be in all;
    /// `None` for a search of its own.
    pub series: Option<(Vec<String>, u32)>,
}

/// A question, its answer, and the times that were told since the answer before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Turn {
    /// What the clock said, each time that it was asked, nanoseconds.
    clocks: Vec<u64>,
    /// Digest of the question.
    question: u64,
    answer: Answer,
    /// What the clock would have said when the answer came: new times go on from there.
    came: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Answer {
    Blocks(BlockResult),
    Verified(Vec<Result<(), Failure>>),
}

/// A search that was begun and has not ended.
#[derive(Clone, Debug)]
pub struct Unfinished {
    /// Where its log is.
    pub path: PathBuf,
    /// What it was begun with.
    pub origin: Origin,
    /// Whether a process is at it now.
    pub running: bool,
}

/// The file's name is this, the run's id, and the end.
const PREFIX: &str = "resume-";
const SUFFIX: &str = ".log";

/// Unfinished searches that are kept for whoever wants to go on with them.
const KEPT: usize = 10;

fn path_of(folder: &Path, run: &str) -> PathBuf {
    folder.join(format!("{PREFIX}{run}{SUFFIX}"))
}

/// The unfinished searches of a host's folder, oldest first. Files that are not understood are
/// left out with a warning.
///
/// # Errors
/// Where the folder exists and cannot be listed.
pub fn unfinished(folder: &Path) -> Result<super::table::Read<Unfinished>, ResultsError> {
    let broken = |e: std::io::Error| ResultsError::Read { path: folder.into(), why: e.to_string() };
    let mut read = super::table::Read::default();
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(read),
        listed => listed.map_err(broken)?,
    };
    for entry in entries {
        let path = entry.map_err(broken)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !(name.starts_with(PREFIX) && name.ends_with(SUFFIX)) {
            continue;
        }
        match log::peek(&path) {
            Ok((origin, running)) => read.rows.push(Unfinished { path, origin, running }),
            Err(e) => read.warnings.push(e.to_string()),
        }
    }
    read.rows.sort_by(|a, b| a.origin.run.cmp(&b.origin.run));
    Ok(read)
}

/// Makes room for the log of a new search: of those that nobody is at, the oldest go, so that
/// interrupted searches do not pile up.
///
/// # Errors
/// Where the folder cannot be listed or a file cannot be removed.
fn make_room(folder: &Path) -> Result<(), ResultsError> {
    let idle: Vec<Unfinished> =
        unfinished(folder)?.rows.into_iter().filter(|u| !u.running).collect();
    for old in idle.iter().take((idle.len() + 1).saturating_sub(KEPT)) {
        std::fs::remove_file(&old.path)
            .map_err(|e| ResultsError::Write { path: old.path.clone(), why: e.to_string() })?;
    }
    Ok(())
}
