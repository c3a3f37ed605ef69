//! What each axis can have on this host.

use super::page::{grouped, table, widths};
use super::{Counted, Listed};
use crate::host::FeatureSet;
use crate::space::{check, supported};
use crate::subject::{Class, Encoding, Hint, Op, Prefetch, Side, Variant};
use crate::template::{AXES, Axes, Axis};

/// An axis with what this host can have of it.
pub(super) struct AxisRow {
    /// Which.
    pub(super) axis: &'static Axis,
    /// Values that some variant here has, short.
    pub(super) summary: String,
    /// The same, all of them.
    pub(super) values: Vec<String>,
    /// Values that no variant here can have.
    pub(super) refused: Vec<String>,
}

/// Every axis, with what this host can have of it.
pub(super) fn axis_rows(host: FeatureSet) -> Vec<AxisRow> {
    let bases: Vec<Variant> = bases().collect();
    let runs = |v: &Variant| check(v).is_ok() && supported(v, &host).is_ok();
    let anywhere = |axis: &Axis, word: &String| {
        bases.iter().any(|base| (axis.with)(base, word).is_some_and(|v| runs(&v)))
    };
    AXES.iter()
        .zip(Axes::all().listing())
        .map(|(axis, listing)| {
            let (values, refused): (Vec<String>, Vec<String>) =
                listing.values.into_iter().partition(|word| anywhere(axis, word));
            let summary = if refused.is_empty() { listing.summary } else { values.join(" ") };
            AxisRow { axis, summary, values, refused }
        })
        .collect()
}

/// Loops of every class and encoding, some of which can have any one value of an axis.
fn bases() -> impl Iterator<Item = Variant> {
    const PREFETCH: Prefetch = Prefetch { hint: Hint::Nop, distance: 64, side: Side::Dst };
    let of_class = |op: Op, class: Class| {
        let plain = Variant::new(op, class);
        Encoding::ALL.iter().flat_map(move |&encoding| {
            [(1, None), (2, Some(PREFETCH))].map(|(unroll, prefetch)| Variant {
                encoding,
                unroll,
                prefetch,
                ..plain
            })
        })
    };
    Op::TUNED
        .iter()
        .flat_map(move |&op| Class::ALL.iter().flat_map(move |&class| of_class(op, class)))
}

/// The table.
pub(super) fn axes(host: FeatureSet) -> String {
    let mut table = table(&["axis", "legal", "values here", "not here", "in an id", "default"]);
    for row in axis_rows(host) {
        table.add_row([
            row.axis.key.to_string(),
            format!("{}/{}", row.values.len(), row.values.len() + row.refused.len()),
            row.summary,
            row.refused.join(" "),
            row.axis.token.to_string(),
            row.axis.default.to_string(),
        ]);
    }
    widths(&mut table, &[11, 9, 24, 10, 16]);
    let legend = " legal: values that a loop here can have, of all; a fixed size is any from 1 byte on\n \
                  a64+*: the loop top at every skew modulo 64, in files too; distances in bytes";
    format!("{}\n{legend}", table.trim_fmt())
}

/// How many loops of each class the default spaces have: legal ones, and those that run here.
pub(super) fn classes(listed: &[Listed]) -> String {
    let defaults: Vec<&Counted> = Op::TUNED
        .iter()
        .filter_map(|op| {
            let file = listed.iter().find(|l| l.file.name == op.word())?;
            file.spaces.iter().find(|space| space.op == *op)
        })
        .collect();
    let mut header = vec!["class".to_string(), "bytes a step".to_string()];
    for space in &defaults {
        header.extend([format!("{}: legal", space.op), format!("{}: here", space.op)]);
    }
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = table(&header);
    for (i, class) in Class::ALL.iter().enumerate() {
        let mut row = vec![class.to_string(), class.width().to_string()];
        for space in &defaults {
            let here = space.here.variants.iter().filter(|v| v.class == *class).count();
            row.extend([grouped(space.by_class[i].1 as u64), grouped(here as u64)]);
        }
        table.add_row(row);
    }
    format!("{}\n loops of the default search files, by class", table.trim_fmt())
}

#[cfg(test)]
mod tests {
    use super::super::page::tests::old_host;
    use super::*;

    #[test]
    fn axes_show_what_an_old_host_lacks() {
        let rows = axis_rows(old_host());
        let refused = |key| &rows.iter().find(|r| r.axis.key == key).unwrap().refused;
        assert_eq!(*refused("class"), ["ymm", "zmm", "tmm", "m64b", "clzero"]);
        assert_eq!(*refused("encoding"), ["vex", "evex"]);
        assert_eq!(*refused("hint"), ["w"]);
        assert_eq!(*refused("tail"), ["mask"]);
        assert!(rows.iter().all(|r| !r.values.is_empty()), "each axis has a value everywhere");
    }
}
