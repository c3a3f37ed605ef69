//! Loops with names, as `looptune list` shows them.

use serde_json::{Value, json};

use crate::subject::NamedLoop;

/// Columns between columns.
const GAP: usize = 2;

/// The section of the page: a line for the name and what it does, a line for the id.
pub(super) fn page() -> String {
    let width = NamedLoop::all().map(|n| n.word().len()).max().unwrap_or(0) + GAP;
    let mut lines = vec![format!(" {:width$}what it does, and its id", "named loop")];
    lines.push(format!(" {}", "─".repeat(99)));
    for named in NamedLoop::all() {
        lines.push(format!(" {:width$}{}", named.word(), named.gist()));
        lines.push(format!(" {:width$}{}", "", named.variant()));
        if named.grade().is_some() {
            lines.push(format!(" {:width$}not exact: timed where it is named, never chosen", ""));
        }
    }
    lines.push(
        " `looptune show NAME` tells the history and the code, `looptune bench` times all.".into(),
    );
    lines.join("\n")
}

/// The same for programs.
pub(super) fn document() -> Value {
    NamedLoop::all()
        .map(|named| {
            json!({
                "name": named.word(),
                "variant": named.variant().to_string(),
                "gist": named.gist(),
                "history": named.history(),
                "exact": named.variant().is_exact(),
            })
        })
        .collect()
}
