//! What the keys do.

use crate::explore::screen::Overlay;
use crate::template::Axis;

type Group = (&'static str, &'static [(&'static str, &'static str)]);

const GROUPS: &[Group] = &[
    (
        "look around",
        &[
            ("arrows hjkl", "move; so does the mouse"),
            ("f / F", "fastest of map / of row"),
            ("/", "jump to a loop by its id"),
            ("PgUp PgDn", "scroll the listing"),
            ("c", "curve; Tab, x: its axis"),
        ],
    ),
    (
        "change the question",
        &[
            ("x  y", "axis of columns, of rows"),
            ("Tab  + -", "pick an axis, change it"),
            ("z", "few of its values, or all"),
            ("s  d  o", "next state, drive, op"),
            ("[  ]", "smaller, larger size"),
            ("b  p", "baseline; pin to compare"),
        ],
    ),
    (
        "take away",
        &[
            ("e", "export as assembly (.S)"),
            ("w", "write to the results"),
            ("r / R", "measure this / all again"),
            ("?  q", "help; quit (or Ctrl-C)"),
        ],
    ),
];

pub(super) fn overlay(axes: &[Axis]) -> Overlay {
    let pair = |(a, b): &(&str, &str)| (a.to_string(), b.to_string());
    let mut groups: Vec<(String, Vec<(String, String)>)> = GROUPS
        .iter()
        .map(|(title, keys)| (title.to_string(), keys.iter().map(pair).collect()))
        .collect();
    let axes = axes.iter().map(|axis| (axis.key.to_string(), axis.about.to_string()));
    groups.push(("axes".into(), axes.collect()));
    Overlay::Help(groups)
}
