//! The journal of a run.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::decision::{again_row, finished_row, search_rows};
use super::error::ResultsError;
use super::folder::{COMMANDS, DECISIONS, HOST, SAMPLES, TRIALS, key_is_name};
use super::run::{command_line, new_run_id};
use super::table::{Appender, rows_of};
use super::trial::{sample_row, trial_row};
use super::wire::{DecisionRow, SampleRow, TrialRow};
use crate::search::SearchOutcome;
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
    /// Rows that are in the files from before the run was broken off, and still to be told again.
    trials_kept: u64,
    samples_kept: u64,
    /// Whether what the run has found is there from before, whole or not.
    decided: bool,
    flushed: Instant,
    phase: Option<Phase>,
    record: bool,
    asked: (Option<u64>, Option<u32>),
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
        let journal = Journal::at(folder, run, seed, tell)?;
        let commands = journal.folder.join(COMMANDS);
        append_line(&commands, &command_line(&journal.run, now, seed, command))
            .map_err(|e| why(&commands, e))?;
        Ok(journal)
    }

    /// Goes on with a run that was broken off. It must be told all its trials again, from the
    /// first and in the same order: those that are in the files already are passed over.
    ///
    /// # Errors
    /// Where a file of the folder cannot be read or written.
    pub fn reopen(
        folder: &Path,
        run: &str,
        seed: u64,
        tell: impl FnMut(&ResultsError) + 'static,
    ) -> Result<Journal, ResultsError> {
        let mut journal = Journal::at(folder.into(), run.into(), seed, tell)?;
        journal.trials_kept = rows_of(&folder.join(TRIALS), run)?;
        journal.samples_kept = rows_of(&folder.join(SAMPLES), run)?;
        journal.decided = rows_of(&folder.join(DECISIONS), run)? > 0;
        Ok(journal)
    }

    fn at(
        folder: PathBuf,
        run: String,
        seed: u64,
        tell: impl FnMut(&ResultsError) + 'static,
    ) -> Result<Journal, ResultsError> {
        let trials = Appender::open(&folder.join(TRIALS), TrialRow::HEADER)?;
        let samples = Appender::open(&folder.join(SAMPLES), SampleRow::HEADER)?;
        Ok(Journal {
            run,
            folder,
            begun: Instant::now(),
            seed,
            trials,
            samples,
            trials_kept: 0,
            samples_kept: 0,
            decided: false,
            flushed: Instant::now(),
            phase: None,
            record: false,
            asked: (None, None),
            trouble: None,
            tell: Box::new(tell),
        })
    }

    /// The same, keeping the raw samples of every phase rather than of finalists only.
    #[must_use]
    pub fn recording(mut self, record: bool) -> Journal {
        self.record = record;
        self
    }

    /// Trials of the run that are in the files already and have not been told again yet.
    pub fn trials_kept(&self) -> u64 {
        self.trials_kept
    }

    /// The id of this run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The folder it is kept in.
    pub fn folder(&self) -> &Path {
        &self.folder
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
            self.keep(|journal| {
                let mut decisions = Appender::open(&path, DecisionRow::HEADER)?;
                if journal.decided {
                    decisions.push(&again_row(&journal.run))?;
                }
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
        if is_new(&mut self.trials_kept) {
            self.trials.push(&trial_row(&self.run, trial))?;
        }
        if self.wants_samples(trial.phase) {
            for sample in trial.samples {
                if is_new(&mut self.samples_kept) {
                    self.samples.push(&sample_row(&self.run, trial, sample, self.asked))?;
                }
            }
        }
        if self.flushed.elapsed() >= FLUSH_EVERY { self.flush() } else { Ok(()) }
    }
}

impl Observer for Journal {
    fn trial(&mut self, trial: &Trial<'_>) {
        self.keep(|journal| journal.record(trial));
    }

    fn request(&mut self, request: u64, epoch: Option<u32>) {
        self.asked = (Some(request), epoch);
    }

    fn wants_samples(&self, phase: Phase) -> bool {
        self.record || matches!(phase, Phase::Race | Phase::Confirm | Phase::Bench)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.keep(Journal::flush);
    }
}

/// Whether a row is not one of those `kept`, which are counted down.
fn is_new(kept: &mut u64) -> bool {
    let new = *kept == 0;
    *kept = kept.saturating_sub(1);
    new
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
