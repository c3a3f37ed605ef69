//! The journal of a run.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::attribution::{attribution_rows, placed_rows};
use super::decision::{finished_row, search_rows};
use super::error::ResultsError;
use super::folder::{ATTRIBUTIONS, COMMANDS, DECISIONS, HOST, SAMPLES, TRIALS, key_is_name};
use super::run::{command_line, new_run_id};
use super::table::Appender;
use super::trial::{sample_row, trial_row};
use super::wire::{AttributionRow, DecisionRow, SampleRow, TrialRow};
use crate::search::{Attribution, Placed, SearchOutcome};
use crate::trial::{Observer, Phase, Trial};

/// How long rows may wait for their file: short enough that a killed run loses only its last
/// moment, long enough that a screening of 10,000 candidates is not 10,000 writes.
const FLUSH_EVERY: Duration = Duration::from_millis(50);

/// Keeps a run: hears of every trial and writes it down.
///
/// Trouble while writing (a full disk) does not stop the run: it is told once, through the
/// function given to [`Journal::open`], and nothing more is written.
pub struct Journal {
    run: String,
    folder: PathBuf,
    begun: Instant,
    seed: u64,
    trials: Appender,
    samples: Appender,
    flushed: Instant,
    phase: Option<Phase>,
    trouble: Option<ResultsError>,
    tell: Box<dyn FnMut(&ResultsError)>,
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("run", &self.run).field("folder", &self.folder).finish()
    }
}

impl Journal {
    /// Begins a run in `results/<key>/`: makes the folder, writes `host.toml` and the run's
    /// line of `command.txt`. `host` is anything that serializes as a table. `tell` hears of
    /// trouble, once.
    ///
    /// # Errors
    /// Where the folder or a file in it cannot be written; the message names it and the way
    /// out.
    pub fn open(
        results: &Path,
        key: &str,
        host: &impl serde::Serialize,
        seed: u64,
        command: &str,
        tell: impl FnMut(&ResultsError) + 'static,
    ) -> Result<Journal, ResultsError> {
        if !key_is_name(key) {
            return Err(ResultsError::HostKey(key.into()));
        }
        let folder = results.join(key);
        let why = |path: &Path, e: std::io::Error| ResultsError::Folder {
            path: path.into(),
            why: blocked(path).unwrap_or_else(|| e.to_string()),
        };
        fs::create_dir_all(&folder).map_err(|e| why(&folder, e))?;
        let now = SystemTime::now();
        let run = new_run_id(now);
        let facts = toml::to_string_pretty(host).map_err(|e| ResultsError::Folder {
            path: folder.join(HOST),
            why: format!("the host's facts are no table: {e}"),
        })?;
        let host_file = folder.join(HOST);
        replace(&host_file, &run, &facts).map_err(|e| why(&host_file, e))?;
        let trials = Appender::open(&folder.join(TRIALS), TrialRow::HEADER)?;
        let samples = Appender::open(&folder.join(SAMPLES), SampleRow::HEADER)?;
        let commands = folder.join(COMMANDS);
        append_line(&commands, &command_line(&run, now, seed, command))
            .map_err(|e| why(&commands, e))?;
        Ok(Journal {
            run,
            folder,
            begun: Instant::now(),
            seed,
            trials,
            samples,
            flushed: Instant::now(),
            phase: None,
            trouble: None,
            tell: Box::new(tell),
        })
    }

    /// The id of this run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The folder it is kept in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps why a loop wins.
    pub fn attribution(&mut self, found: &Attribution) {
        let rows = attribution_rows(&self.run, found);
        self.explain(&rows);
    }

    /// Keeps what placements do to the loops of a cell.
    pub fn placed(&mut self, found: &Placed) {
        let rows = placed_rows(&self.run, found);
        self.explain(&rows);
    }

    fn explain(&mut self, rows: &[AttributionRow]) {
        let path = self.folder.join(ATTRIBUTIONS);
        self.keep(|_| {
            let mut table = Appender::open(&path, AttributionRow::HEADER)?;
            rows.iter().try_for_each(|row| table.push(row))?;
            table.flush()
        });
    }

    /// Ends the run with what a search found.
    ///
    /// # Errors
    /// The first trouble of the whole run, if there was any.
    pub fn finish_search(mut self, outcome: &SearchOutcome) -> Result<(), ResultsError> {
        let rows = search_rows(&self.run, outcome);
        self.finish_with(&rows)
    }

    /// Ends a run that decides nothing, such as a bench.
    ///
    /// # Errors
    /// The first trouble of the whole run, if there was any.
    pub fn finish(mut self) -> Result<(), ResultsError> {
        let rows = [finished_row(&self.run, self.seed, self.begun.elapsed().as_secs_f64())];
        self.finish_with(&rows)
    }

    fn finish_with(&mut self, rows: &[DecisionRow]) -> Result<(), ResultsError> {
        self.keep(Journal::flush);
        if self.trouble.is_none() {
            // One write for all rows: a run is decided whole or not at all.
            let path = self.folder.join(DECISIONS);
            self.keep(|_| {
                let mut decisions = Appender::open(&path, DecisionRow::HEADER)?;
                rows.iter().try_for_each(|row| decisions.push(row))?;
                decisions.flush()
            });
        }
        self.trouble.take().map_or(Ok(()), Err)
    }

    fn flush(&mut self) -> Result<(), ResultsError> {
        self.flushed = Instant::now();
        self.trials.flush()?;
        self.samples.flush()
    }

    /// Writes, unless there was trouble before; tells of the first.
    fn keep(&mut self, write: impl FnOnce(&mut Journal) -> Result<(), ResultsError>) {
        if self.trouble.is_some() {
            return;
        }
        if let Err(trouble) = write(self) {
            (self.tell)(&trouble);
            self.trouble = Some(trouble);
        }
    }

    fn record(&mut self, trial: &Trial<'_>) -> Result<(), ResultsError> {
        if self.phase != Some(trial.phase) {
            self.phase = Some(trial.phase);
            self.flush()?;
        }
        self.trials.push(&trial_row(&self.run, trial))?;
        if matches!(trial.phase, Phase::Race | Phase::Confirm | Phase::Bench) {
            for sample in trial.samples {
                self.samples.push(&sample_row(&self.run, trial, sample))?;
            }
        }
        if self.flushed.elapsed() >= FLUSH_EVERY { self.flush() } else { Ok(()) }
    }
}

impl Observer for Journal {
    fn trial(&mut self, trial: &Trial<'_>) {
        self.keep(|journal| journal.record(trial));
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.keep(Journal::flush);
    }
}

/// The file that stands where a folder should be, said for people.
fn blocked(path: &Path) -> Option<String> {
    let file = path.ancestors().find(|p| p.is_file())?;
    (file != path || path.extension().is_none())
        .then(|| format!("{} is a file, not a folder", file.display()))
}

/// Replaces a file whole: a reader sees the old or the new one.
fn replace(path: &Path, run: &str, text: &str) -> std::io::Result<()> {
    let draft = path.with_extension(format!("{run}.tmp"));
    fs::write(&draft, text)?;
    fs::rename(&draft, path).inspect_err(|_| {
        // What is left of a failed attempt is in nobody's way; the first error is the one to
        // tell.
        let _ = fs::remove_file(&draft);
    })
}

/// Appends a line, on a line of its own also after a torn one.
fn append_line(path: &Path, line: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let fresh = if super::table::torn(&mut file)? { "\n" } else { "" };
    file.write_all(format!("{fresh}{line}").as_bytes())
}
