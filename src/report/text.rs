//! Figures as people read them.

use crate::subject::{Cell, Consumer, Drive, Extent, Mix};
use crate::units::{human_ns, human_size};

/// What stands where there is no figure.
pub(super) const NONE: &str = "–";

/// State and drive, and who reads the result: `l1`, `l1 chained`, `dram then read`.
pub(super) fn state(cell: &Cell) -> String {
    let mut words = cell.state.to_string();
    if cell.drive != Drive::Throughput {
        words.push_str(&format!(" {}", cell.drive));
    }
    if cell.conditions.consumer != Consumer::None {
        words.push_str(" then read");
    }
    words
}

/// What must be said of the mixes among these: what they are, and how their calls are made.
pub(super) fn mix_notes(extents: impl Iterator<Item = Extent>) -> Vec<String> {
    let mut mixes: Vec<(Mix, u64)> =
        extents.filter_map(|extent| Some((extent.mix?, extent.size))).collect();
    mixes.sort();
    mixes.dedup();
    if mixes.is_empty() {
        return Vec::new();
    }
    let about = |(mix, largest): &(Mix, u64)| {
        format!("{mix}: {:.1} bytes a call, {} at most", mix.mean(), human_size(*largest))
    };
    vec![
        format!("Mixes of sizes: {}.", mixes.iter().map(about).collect::<Vec<_>>().join("; ")),
        "Each call of a mix has a size of its own, from a sequence of many thousands that is the \
         same for all loops, and addresses at any offset modulo 64. Times are of a call in the \
         mean; bytes a cycle are of the mean size."
            .to_string(),
    ]
}

/// A ratio with as many digits as matter near 1.
pub(super) fn ratio(value: f64) -> String {
    match value.abs() {
        v if v < 10.0 => format!("{value:.3}"),
        v if v < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Bytes a cycle: one digit behind the point, below 1 two that matter.
pub(super) fn rate(value: f64) -> String {
    match value.abs() {
        v if v >= 0.995 || v == 0.0 || !v.is_finite() => format!("{value:.1}"),
        v => {
            let digits = (1.0 - v.log10().floor()).clamp(2.0, 6.0) as usize;
            format!("{value:.digits$}")
        }
    }
}

/// A ratio with its interval.
pub(super) fn ratio_ci(value: f64, (low, high): (f64, f64)) -> String {
    format!("{} [{}, {}]", ratio(value), ratio(low), ratio(high))
}

/// The interval of a time, in the unit of its ends.
pub(super) fn ns_ci((low, high): (f64, f64)) -> String {
    let (low, high) = (human_ns(low), human_ns(high));
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("[{number}, {high}]"),
        _ => format!("[{low}, {high}]"),
    }
}

/// A fraction as a percentage.
pub(super) fn percent(value: f64) -> String {
    let percent = value * 100.0;
    if percent.abs() < 0.05 {
        "0.0 %".into()
    } else if percent.abs() < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// A count with its thousands apart.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Breaks a text into lines of at most `width` characters, the later ones indented.
pub(super) fn fold(text: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        let len = word.chars().count();
        if used > 0 && used + 1 + len > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += len;
    }
    out
}

/// Breaks an id behind its slashes into lines of at most `width` characters; a token is
/// never broken.
pub(super) fn fold_id(id: &str, width: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for token in id.split_inclusive('/') {
        if used > 0 && used + token.len() > width {
            out.push('\n');
            used = 0;
        }
        out.push_str(token);
        used += token.len();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_break_behind_a_slash() {
        assert_eq!(fold_id("zero/ymm/u4", 9), "zero/ymm/\nu4");
        assert_eq!(fold_id("zero/ymm/u4", 20), "zero/ymm/u4");
        assert_eq!(fold_id("pf-t0@256/u4", 4), "pf-t0@256/\nu4");
    }

    #[test]
    fn figures_read_well() {
        assert_eq!(ratio_ci(1.1, (1.0951, 1.1049)), "1.100 [1.095, 1.105]");
        assert_eq!(ratio(12.34), "12.3");
        assert_eq!(ns_ci((42.0, 42.34)), "[42.0, 42.3 ns]");
        assert_eq!(ns_ci((999.0, 1004.0)), "[999 ns, 1.00 µs]");
        assert_eq!(percent(0.031), "3.1 %");
        assert_eq!(percent(-0.0001), "0.0 %");
        assert_eq!(percent(10.4), "1040 %");
        assert_eq!([31.94, 1.0, 0.157, 0.0213].map(rate), ["31.9", "1.0", "0.16", "0.021"]);
        assert_eq!(count(40111), "40,111");
        assert_eq!(count(111), "111");
        assert_eq!(fold("a bb ccc", 4, 2), "a bb\n  ccc");
    }
}
