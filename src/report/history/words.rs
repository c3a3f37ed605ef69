//! Figures and verdicts as parts of a sentence.

use super::super::text::ratio_ci;
use crate::search::Pair;
use crate::stats::Verdict;

/// What stands where there is no figure.
pub(super) const NONE: &str = "–";

/// Millions of bytes a second; a digit behind the point below a hundred.
pub(super) fn rate(value: Option<f64>) -> String {
    match value {
        None => NONE.into(),
        Some(v) if v < 99.95 => format!("{v:.1}"),
        Some(v) => format!("{v:.0}"),
    }
}

/// Neighbours of a list as ranges: `32–128, 512`.
pub(super) fn ranges(all: &[u64], chosen: &[u64]) -> String {
    if !chosen.is_empty() && chosen.len() == all.len() {
        return match all {
            [only] => only.to_string(),
            _ => format!("every size from {} to {}", all[0], all[all.len() - 1]),
        };
    }
    let mut runs: Vec<(u64, u64)> = Vec::new();
    let mut before = false;
    for size in all {
        let here = chosen.contains(size);
        match runs.last_mut() {
            Some(run) if here && before => run.1 = *size,
            _ if here => runs.push((*size, *size)),
            _ => {}
        }
        before = here;
    }
    let text = |(from, to): (u64, u64)| match from == to {
        true => from.to_string(),
        false => format!("{from}–{to}"),
    };
    runs.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

/// What a verdict is called in a sentence.
pub(super) fn says(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Tied => "the same within the band",
        Verdict::Undecided => "not told apart",
        Verdict::Reference => "the reference",
    }
}

/// `faster at 512–8192; slower at 32; not told apart at 64`.
pub(super) fn by_verdict(verdicts: &[(u64, Verdict)]) -> String {
    let all: Vec<u64> = verdicts.iter().map(|(size, _)| *size).collect();
    let part = |verdict: Verdict| {
        let chosen: Vec<u64> =
            verdicts.iter().filter(|(_, v)| *v == verdict).map(|(size, _)| *size).collect();
        (!chosen.is_empty()).then(|| format!("{} at {}", says(verdict), ranges(&all, &chosen)))
    };
    Verdict::ALL.iter().filter_map(|v| part(*v)).collect::<Vec<_>>().join("; ")
}

/// A ratio with its interval and what it says: `1.204 [1.200, 1.208] faster`.
pub(super) fn pair(pair: Option<&Pair>) -> String {
    pair.map_or(NONE.into(), |p| format!("{} {}", ratio_ci(p.ratio, p.ratio_ci), mark(p.verdict)))
}

/// A verdict as one character.
pub(super) fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reference => " ",
        Verdict::Faster => "+",
        Verdict::Slower => "-",
        Verdict::Tied => "=",
        Verdict::Undecided => "?",
    }
}

/// What the marks mean.
pub(super) const MARKS: &str =
    "+ faster, - slower, = the same within the band (1 %, dram 2 %), ? not told apart.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_as_ranges() {
        let all = [32, 64, 128, 256, 512];
        assert_eq!(ranges(&all, &[32, 64, 256]), "32–64, 256");
        assert_eq!(ranges(&all, &all), "every size from 32 to 512");
        assert_eq!(ranges(&[64], &[64]), "64");
        let verdicts = [(32, Verdict::Slower), (64, Verdict::Undecided), (128, Verdict::Slower)];
        assert_eq!(by_verdict(&verdicts), "slower at 32, 128; not told apart at 64");
        assert_eq!([Some(12.34), Some(1234.5), None].map(rate), ["12.3", "1234", "–"]);
    }
}
