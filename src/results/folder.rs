//! Folders of results.

use std::path::{Path, PathBuf};

use super::attribution::{RecordedExplanation, read_attributions};
use super::decision::{RecordedRun, read_decisions};
use super::error::ResultsError;
use super::run::{RunInfo, read_commands};
use super::sample::{RecordedSample, each_sample};
use super::table::Read;
use super::trial::{RecordedTrial, each_trial, read_trials};
use crate::host::Host;
use crate::units::read_regular;

pub(super) const TRIALS: &str = "trials.csv";
pub(super) const DECISIONS: &str = "decisions.csv";
pub(super) const ATTRIBUTIONS: &str = "attributions.csv";
pub(super) const SAMPLES: &str = "samples.csv";
pub(super) const HOST: &str = "host.toml";
pub(super) const COMMANDS: &str = "command.txt";

/// Whether a key can be the name of a folder and of nothing above or below it.
pub(super) fn key_is_name(key: &str) -> bool {
    !key.is_empty()
        && !key.starts_with('.')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// The keys of the hosts recorded in a results folder, sorted; none where there is no such
/// folder.
///
/// # Errors
/// Where the folder exists and cannot be listed.
pub fn hosts(results: &Path) -> Result<Vec<String>, ResultsError> {
    let broken =
        |e: std::io::Error| ResultsError::Read { path: results.into(), why: e.to_string() };
    let entries = match std::fs::read_dir(results) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed.map_err(broken)?,
    };
    let mut keys = Vec::new();
    for entry in entries {
        let path = entry.map_err(broken)?.path();
        let folder = Folder::at(&path);
        if folder.holds_results() {
            keys.push(folder.key);
        }
    }
    keys.sort();
    Ok(keys)
}

/// The results of one host.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    key: String,
}

impl Folder {
    /// The folder of a host within a results folder.
    ///
    /// # Errors
    /// Where nothing of that host is recorded; the message lists what is.
    pub fn of_host(results: &Path, key: &str) -> Result<Folder, ResultsError> {
        if !key_is_name(key) {
            return Err(ResultsError::HostKey(key.into()));
        }
        let recorded = hosts(results)?;
        if !recorded.iter().any(|host| host == key) {
            let dir = results.into();
            return Err(ResultsError::NoHost { key: key.into(), dir, hosts: recorded });
        }
        Ok(Folder { path: results.join(key), key: key.into() })
    }

    /// A host's folder by its path; its last part is the key.
    pub fn at(path: &Path) -> Folder {
        // `.` has a name only once it is resolved.
        let resolved = path.canonicalize().unwrap_or_default();
        let key = path.file_name().or(resolved.file_name()).unwrap_or_default();
        Folder { path: path.into(), key: key.to_string_lossy().into_owned() }
    }

    /// Whether any of the files of results is there.
    pub fn holds_results(&self) -> bool {
        [TRIALS, DECISIONS, COMMANDS].iter().any(|file| self.path.join(file).is_file())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The host's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Every run begun here, oldest first.
    ///
    /// # Errors
    /// Where the file exists and cannot be read.
    pub fn runs(&self) -> Result<Read<RunInfo>, ResultsError> {
        read_commands(&self.path.join(COMMANDS))
    }

    /// The finished runs, oldest first.
    ///
    /// # Errors
    /// Where the file exists and cannot be read.
    pub fn decisions(&self) -> Result<Read<RecordedRun>, ResultsError> {
        read_decisions(&self.path.join(DECISIONS))
    }

    /// Every attribution and placement sweep, oldest first.
    ///
    /// # Errors
    /// Where the file exists and cannot be read.
    pub fn attributions(&self) -> Result<Read<RecordedExplanation>, ResultsError> {
        read_attributions(&self.path.join(ATTRIBUTIONS))
    }

    /// Every trial, oldest first.
    ///
    /// # Errors
    /// Where the file exists and cannot be read.
    pub fn trials(&self) -> Result<Read<RecordedTrial>, ResultsError> {
        read_trials(&self.path.join(TRIALS))
    }

    /// Hands on every trial, oldest first, without holding them all; gives back the warnings.
    ///
    /// # Errors
    /// Where the file exists and cannot be read.
    pub fn each_trial(&self, each: impl FnMut(RecordedTrial)) -> Result<Vec<String>, ResultsError> {
        each_trial(&self.path.join(TRIALS), each)
    }

    /// Hands on every raw sample, oldest first, without holding them all; gives back the
    /// warnings.
    ///
    /// # Errors
    /// Where the file exists and cannot be read.
    pub fn each_sample(
        &self,
        each: impl FnMut(RecordedSample),
    ) -> Result<Vec<String>, ResultsError> {
        each_sample(&self.path.join(SAMPLES), each)
    }

    /// The host, as last recorded; `None` where no facts are kept.
    ///
    /// # Errors
    /// Why the facts that are kept cannot be understood, for people.
    pub fn host(&self) -> Result<Option<Host>, String> {
        let path = self.path.join(HOST);
        let unclear = |why: String| {
            let why = why.lines().next().unwrap_or_default().to_string();
            format!("{}: the facts of the host are damaged: {why}", path.display())
        };
        match std::fs::read_to_string(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(unclear(e.to_string())),
            Ok(text) => toml::from_str(&text).map(Some).map_err(|e| unclear(e.message().into())),
        }
    }

    /// The host's facts, as last recorded; empty where none are kept or they are damaged.
    pub fn host_facts(&self) -> toml::Table {
        read_regular(&self.path.join(HOST))
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or_default()
    }
}
