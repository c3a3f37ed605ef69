//! What is kept of a run: a folder a host, `results/<host-key>/`.
//!
//! | file | holds |
//! |---|---|
//! | `trials.csv` | one row a trial, appended while the run goes on |
//! | `decisions.csv` | what a finished run found, appended whole at its end; the last row of a run has kind `finished` |
//! | `samples.csv` | the raw samples of finalists and benches |
//! | `host.toml` | facts of the host, as the last run found them |
//! | `command.txt` | one line a run: run id, time, seed, command |
//! | `resume-RUN.log` | of an unfinished search: what it was begun with and every answer so far |
//!
//! Columns carry their unit. Files are read by column name, so that a later version may add
//! columns. A line that a crash tore is dropped with a warning, never the file.

mod decide;
mod decision;
mod error;
mod folder;
mod journal;
mod replay;
mod resume;
mod run;
mod sample;
mod table;
mod trial;
mod wire;

pub use decide::{Choice, Figure, NoChoice, Wanted, WantedCalls};
pub use decision::{RecordedRun, read_decisions};
pub use error::ResultsError;
pub use folder::{Folder, hosts};
pub use journal::Journal;
pub use replay::{
    Allowance, Better, Contest as StrategyContest, Contested, Quality, RecordedSpace, Replay, Run,
    better, quality, spaces,
};
pub use resume::{Continued, Origin, RunLog, Unfinished, unfinished};
pub use run::{RunInfo, new_run_id, read_commands};
pub use sample::{RecordedSample, each_sample};
pub use table::Read;
pub use trial::{RecordedFailure, RecordedTrial, each_trial, read_trials};
