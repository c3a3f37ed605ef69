//! Command lines that are refused.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

/// Runs with arguments, expects an exit status and words on stderr, and no panic.
pub(crate) fn refused(args: &[&str], code: i32, words: &[&str]) {
    let mut assert = Command::cargo_bin("looptune").unwrap().args(args).assert().code(code);
    assert = assert.stderr(contains("panicked").not());
    for word in words {
        assert = assert.stderr(contains(*word));
    }
    drop(assert);
}
