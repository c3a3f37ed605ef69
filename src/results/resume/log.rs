//! The file of an unfinished search.

use std::collections::{HashSet, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Answer, Origin, Turn, make_room, path_of};
use crate::host::take_alone;
use crate::results::error::ResultsError;
use crate::trial::EvaluateError;
use crate::units::{digest, regular};

/// What the file begins with; another number for another format.
const FORMAT: &[u8] = b"looptune resume 1\n";

/// Bytes before the content of a frame.
const FRAME_HEAD: usize = 8;

/// The log of a search, and the part of it that the search has not been told again yet.
pub struct RunLog {
    path: PathBuf,
    /// `None` once it could not be written.
    file: Option<File>,
    origin: Origin,
    /// Answers that are still to be given again.
    turns: VecDeque<Turn>,
    /// Clocks of the first of them that were given.
    clocks_given: usize,
    /// Answers given, again or for the first time.
    answers: u64,
    /// What the clock said last.
    clock: Duration,
    /// From when on answers are new: the evaluator's clock and this log's at that moment.
    live: Option<(Duration, Duration)>,
    /// Clocks since the last answer.
    clocks: Vec<u64>,
    /// Whether more clocks were asked for than the log has.
    astray: bool,
    tell: Box<dyn FnMut(&ResultsError)>,
}

impl std::fmt::Debug for RunLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunLog").field("path", &self.path).field("answers", &self.answers).finish()
    }
}

impl RunLog {
    /// Begins the log of a run in a host's folder, where the newest few are kept. `tell` hears of trouble with it, once: it ends
    /// the log, not the search.
    ///
    /// # Errors
    /// Where it cannot be written at all.
    pub fn create(
        folder: &Path,
        origin: Origin,
        tell: impl FnMut(&ResultsError) + 'static,
    ) -> Result<RunLog, ResultsError> {
        make_room(folder)?;
        let path = path_of(folder, &origin.run);
        let draft = path.with_extension("tmp");
        // It gets its name when its beginning is whole, so that no log is ever without one.
        let begin = || {
            let mut file = OpenOptions::new().write(true).create_new(true).open(&draft)?;
            hold(&file);
            let mut first = FORMAT.to_vec();
            first.extend(frame(&origin)?);
            file.write_all(&first)?;
            std::fs::rename(&draft, &path)?;
            std::io::Result::Ok(file)
        };
        let file = begin().map_err(|e| {
            // The first error is the one to tell.
            let _ = std::fs::remove_file(&draft);
            ResultsError::Folder { path: path.clone(), why: e.to_string() }
        })?;
        close_earlier(&path, &origin);
        Ok(RunLog::new(path, file, origin, VecDeque::new(), tell))
    }

    /// Opens the log of a run that was broken off; what a crash tore is cut off. Gives the
    /// warnings beside it.
    ///
    /// # Errors
    /// Where it cannot be read or written, is of another format, or a process is at it.
    pub fn open(
        path: &Path,
        tell: impl FnMut(&ResultsError) + 'static,
    ) -> Result<(RunLog, Vec<String>), ResultsError> {
        let failed = |why: String| ResultsError::Resume { path: path.into(), why };
        let broken = |e: std::io::Error| failed(e.to_string());
        let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(broken)?;
        if !hold(&file) {
            return Err(failed("the run is still going on".into()));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(broken)?;
        let (origin, mut at) = origin(&bytes).map_err(failed)?;
        let mut turns = VecDeque::new();
        while let Some((turn, length)) = unframe::<Turn>(&bytes[at..]) {
            turns.push_back(turn);
            at += length;
        }
        let mut warnings = Vec::new();
        if at < bytes.len() {
            file.set_len(at as u64).map_err(broken)?;
            warnings.push(format!(
                "{}: the end was cut off after answer {}; the search goes on from there",
                path.display(),
                turns.len()
            ));
        }
        file.seek(SeekFrom::End(0)).map_err(broken)?;
        close_earlier(path, &origin);
        Ok((RunLog::new(path.into(), file, origin, turns, tell), warnings))
    }

    fn new(
        path: PathBuf,
        file: File,
        origin: Origin,
        turns: VecDeque<Turn>,
        tell: impl FnMut(&ResultsError) + 'static,
    ) -> RunLog {
        RunLog {
            path,
            file: Some(file),
            origin,
            turns,
            clocks_given: 0,
            answers: 0,
            clock: Duration::ZERO,
            live: None,
            clocks: Vec::new(),
            astray: false,
            tell: Box::new(tell),
        }
    }

    /// What the search was begun with.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Answers given so far, and those that are still to be given again.
    pub fn answers(&self) -> (u64, u64) {
        (self.answers, self.turns.len() as u64)
    }

    /// Trials that the answers still to be given again will make: one of each member that has
    /// samples or has failed.
    pub fn trials(&self) -> u64 {
        let of = |turn: &Turn| match &turn.answer {
            Answer::Verified(_) => 0,
            Answer::Blocks(result) => {
                let mut members: HashSet<u32> = result.samples.iter().map(|s| s.member).collect();
                members.extend(result.failures.iter().map(|(member, _)| *member));
                members.len() as u64
            }
        };
        self.turns.iter().map(of).sum()
    }

    /// Ends a search that is finished and recorded: there is nothing to resume.
    ///
    /// # Errors
    /// Where the file cannot be removed.
    pub fn remove(self) -> Result<(), ResultsError> {
        match std::fs::remove_file(&self.path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(ResultsError::Write { path: self.path, why: e.to_string() })
            }
            _ => Ok(()),
        }
    }

    /// The answer to a question from the log; `None` where there is none left.
    pub(super) fn again(&mut self, question: u64) -> Result<Option<Answer>, EvaluateError> {
        let Some(turn) = self.turns.pop_front() else { return Ok(None) };
        self.answers += 1;
        let clocks = std::mem::take(&mut self.clocks_given);
        if turn.question != question || turn.clocks.len() != clocks || self.astray {
            return Err(self.strayed());
        }
        self.clock = Duration::from_nanos(turn.came);
        Ok(Some(turn.answer))
    }

    pub(super) fn strayed(&self) -> EvaluateError {
        let (ours, theirs) = (env!("CARGO_PKG_VERSION"), &self.origin.version);
        EvaluateError::NotRecorded(format!(
            "question {} of run {} is another one than was asked when it was recorded, so this \
             program (version {ours}) does not search as the one that began the run (version \
             {theirs}) does; resume with that one, or search anew",
            self.answers, self.origin.run
        ))
    }

    /// What the clock says: as recorded, then as `now` says, going on where the record ends.
    pub(super) fn tell_time(&mut self, now: impl FnOnce() -> Duration) -> Duration {
        if let Some(turn) = self.turns.front() {
            match turn.clocks.get(self.clocks_given) {
                Some(ns) => self.clock = Duration::from_nanos(*ns),
                // There is no way to say it here; the next question will.
                None => self.astray = true,
            }
            self.clocks_given += 1;
        } else {
            let told = self.live(now());
            self.clocks.push(told);
        }
        self.clock
    }

    /// What the clock says when the evaluator's says `now`, nanoseconds: the time of new answers
    /// begins when this is asked first.
    pub(super) fn live(&mut self, now: Duration) -> u64 {
        let (since, from) = *self.live.get_or_insert((now, self.clock));
        self.clock = from + now.saturating_sub(since);
        nanoseconds(self.clock)
    }

    /// Keeps a new answer that came when the evaluator's clock said `now`.
    pub(super) fn keep(&mut self, question: u64, answer: Answer, now: Duration) -> Answer {
        self.answers += 1;
        let came = self.live(now);
        let turn = Turn { clocks: std::mem::take(&mut self.clocks), question, answer, came };
        if let Some(file) = &mut self.file
            && let Err(e) = frame(&turn).and_then(|bytes| file.write_all(&bytes))
        {
            // A log with a gap would be worse than none.
            self.file = None;
            let _ = std::fs::remove_file(&self.path);
            let why = format!("{e}; the search goes on, but it could not be resumed");
            (self.tell)(&ResultsError::Write { path: self.path.clone(), why });
        }
        turn.answer
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The log of a search of a series stays until the next one has its own, so that there is always
/// one to go on from. Once there is, those before are of searches that are over.
fn close_earlier(path: &Path, origin: &Origin) {
    let (Some(folder), Some((earlier, _))) = (path.parent(), &origin.series) else { return };
    for run in earlier {
        // Most are gone already; one that cannot be removed is in nobody's way.
        let _ = std::fs::remove_file(path_of(folder, run));
    }
}

/// Takes a log for this process; `false` where another is at it. One that only looks has it for a
/// moment, which is waited for; where the file system has no locks nobody is kept from it.
fn hold(file: &File) -> bool {
    for _ in 0..20 {
        if !matches!(take_alone(file), Ok(false)) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

/// What a log says it was begun with, and whether a process is at it.
pub(super) fn peek(path: &Path) -> Result<(Origin, bool), ResultsError> {
    let failed = |why: String| ResultsError::Resume { path: path.into(), why };
    let file = regular(path).map_err(|e| failed(e.to_string()))?;
    let mut bytes = Vec::new();
    let mut read = |length: u64| {
        (&file).take(length).read_to_end(&mut bytes).map_err(|e| failed(e.to_string()))?;
        Ok(bytes.get(FORMAT.len()..FORMAT.len() + 4).map(|b| [b[0], b[1], b[2], b[3]]))
    };
    if let Some(length) = read((FORMAT.len() + FRAME_HEAD) as u64)? {
        read(u32::from_le_bytes(length).into())?;
    }
    let (origin, _) = origin(&bytes).map_err(failed)?;
    Ok((origin, matches!(take_alone(&file), Ok(false))))
}

/// The first frame of a log, and where the second begins.
fn origin(bytes: &[u8]) -> Result<(Origin, usize), String> {
    let Some(frames) = bytes.strip_prefix(FORMAT) else {
        let format = String::from_utf8_lossy(FORMAT);
        return Err(format!(
            "it does not begin with `{}`: another version wrote it, or it was cut off",
            format.trim_end()
        ));
    };
    let (origin, length) =
        unframe(frames).ok_or("what the search was begun with is cut off or damaged")?;
    Ok((origin, FORMAT.len() + length))
}

/// A frame of some content.
fn frame(content: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let content = postcard::to_stdvec(content).map_err(std::io::Error::other)?;
    let length = u32::try_from(content.len()).map_err(std::io::Error::other)?;
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend(check(&content));
    frame.extend(content);
    Ok(frame)
}

/// The content of the first frame of some bytes and the frame's length; `None` where it is cut
/// off or damaged.
fn unframe<T: DeserializeOwned>(bytes: &[u8]) -> Option<(T, usize)> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (wanted, rest) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let content = rest.get(..length)?;
    if check(content) != *wanted {
        return None;
    }
    Some((postcard::from_bytes(content).ok()?, FRAME_HEAD + length))
}

fn check(content: &[u8]) -> [u8; 4] {
    (digest(content.iter().copied()) as u32).to_le_bytes()
}
