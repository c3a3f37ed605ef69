//! What `--version` says.

use crate::host::Identity;

/// The version with what bug reports and results hang on: the features that may be used here
/// and the key under which results of this host are kept.
pub(super) fn long() -> String {
    let Identity { key, usable } = Identity::read();
    let features: Vec<&str> = usable.iter().map(|feature| feature.word()).collect();
    format!("{}\nfeatures: {}\nhost key: {key}", env!("CARGO_PKG_VERSION"), features.join(" "))
}
