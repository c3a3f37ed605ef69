//! Runs: their ids, and the line each leaves in `command.txt`.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use super::error::ResultsError;
use super::table::{Read, each_line, one_line};

/// A run, as its line in `command.txt` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInfo {
    /// Its id.
    pub id: String,
    /// When it began, RFC 3339 in UTC.
    pub time: String,
    /// Seed of everything drawn.
    pub seed: u64,
    /// The command line.
    pub command: String,
}

/// A run id: readable, sorting by time to the second, unique on a machine. UTC time without
/// colons, process id, and a counter from the second run of a process on.
pub fn new_run_id(now: SystemTime) -> String {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let time = humantime::format_rfc3339_seconds(now).to_string().replace(':', "");
    let pid = std::process::id();
    match RUNS.fetch_add(1, Ordering::Relaxed) {
        0 => format!("{time}-{pid}"),
        n => format!("{time}-{pid}-{n}"),
    }
}

/// A run's line.
pub(super) fn command_line(id: &str, now: SystemTime, seed: u64, command: &str) -> String {
    let time = humantime::format_rfc3339_seconds(now);
    format!("{id} {time} seed={seed} {}\n", one_line(command))
}

/// Reads a `command.txt`: one run a line, oldest first.
///
/// # Errors
/// Only where the file exists and cannot be read at all.
pub fn read_commands(path: &Path) -> Result<Read<RunInfo>, ResultsError> {
    let mut read = Read::default();
    each_line(path, |number, line, whole| {
        let text = String::from_utf8_lossy(line);
        match run_info(&text).filter(|_| whole) {
            Some(run) => read.rows.push(run),
            None if text.is_empty() => {}
            None => read.warnings.push(format!(
                "{}:{number}: not `run time seed=N command`; skipped",
                path.display()
            )),
        }
    })?;
    Ok(read)
}

fn run_info(line: &str) -> Option<RunInfo> {
    let mut parts = line.splitn(4, ' ');
    Some(RunInfo {
        id: parts.next()?.to_string(),
        time: parts.next()?.to_string(),
        seed: parts.next()?.strip_prefix("seed=")?.parse().ok()?,
        command: parts.next()?.to_string(),
    })
}
