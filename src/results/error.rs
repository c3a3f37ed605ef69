//! What can go wrong with a folder of results.

use std::path::PathBuf;

use crate::units::did_you_mean;

/// Why results cannot be kept or read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ResultsError {
    #[error(
        "results cannot be kept in {}: {why}; name a folder that can be written with --results DIR",
        path.display()
    )]
    Folder { path: PathBuf, why: String },
    #[error("{} cannot be written: {why}; what was measured since is not kept", path.display())]
    Write { path: PathBuf, why: String },
    #[error("{} cannot be read: {why}", path.display())]
    Read { path: PathBuf, why: String },
    #[error("{} cannot be resumed: {why}", path.display())]
    Resume { path: PathBuf, why: String },
    #[error("`{0}` is no host key: a key is one word of letters, digits, `.`, `_` and `-`")]
    HostKey(String),
    #[error("no results of host `{key}` in {}{}{}", dir.display(), recorded(hosts),
        did_you_mean(key, hosts.iter().cloned()))]
    NoHost { key: String, dir: PathBuf, hosts: Vec<String> },
}

fn recorded(hosts: &[String]) -> String {
    if hosts.is_empty() {
        "; nothing is recorded there, `looptune search --op zero --size 4096` would".into()
    } else {
        format!("; recorded hosts: {}", hosts.join(", "))
    }
}
