//! What the keys do.

use crate::explore::screen::Overlay;
use crate::template::Axis;

type Group = (&'static str, &'static [(&'static str, &'static str)]);

const GROUPS: &[Group] = &[
    (
        "look around",
        &[
            ("arrows h j k l", "move; the mouse does too"),
            ("f / F", "to the fastest of the map / of this row"),
            ("/", "jump to a loop by its id"),
            ("PgUp PgDn", "scroll the listing"),
            ("c", "curve of one axis; Tab or x: another, or the size"),
        ],
    ),
    (
        "change the question",
        &[
            ("x  y", "choose the axis of columns, of rows"),
            ("Tab  + -", "select another axis, change its value"),
            ("z", "a few values of an axis, or all"),
            ("s  d  o", "next state, drive, op"),
            ("[  ]", "smaller, larger size"),
            ("b  p", "compare with a baseline; pin this loop to compare"),
        ],
    ),
    (
        "take away",
        &[
            ("e", "export this loop as assembly (.S)"),
            ("w", "write what was measured to the results"),
            ("r / R", "measure this loop / all of them again"),
            ("?  q", "this help; quit (Ctrl-C too)"),
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
