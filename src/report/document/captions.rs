//! What is to be seen on a chart, from its data.

use super::super::gather::{Curve, Distribution, Map, MapAxis};
use super::super::text::{count, percent, ratio_ci, state};
use super::tables::baseline_names;
use crate::search::{BaselineTimes, CellOutcome, SizeOutcome};
use crate::stats::Verdict;
use crate::units::human_size;

fn times<'a>(cell: &'a CellOutcome, name: &str) -> Option<&'a BaselineTimes> {
    cell.baselines.iter().find(|b| b.name == name)?.result.as_ref().ok()
}

/// Words in a row: `a, b and c`.
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Of the chart of one size by state.
pub(super) fn by_state(size: &SizeOutcome) -> String {
    let mut said = Vec::new();
    for name in baseline_names(size.cells.iter()) {
        let own = || size.cells.iter().filter_map(|c| Some((c, times(c, &name)?)));
        let with = |verdict: &dyn Fn(Verdict) -> bool| -> Vec<String> {
            own().filter(|(_, t)| verdict(t.verdict)).map(|(c, _)| state(&c.cell)).collect()
        };
        let most = own()
            .filter(|(_, t)| t.verdict == Verdict::Slower && t.ratio.is_finite())
            .max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
        let mut sentence = match most {
            Some((cell, t)) => format!(
                "The winner takes less time than {name}, most so in {}: {name} takes {} times as \
                 long",
                state(&cell.cell),
                ratio_ci(t.ratio, t.ratio_ci)
            ),
            None => format!("The winner is nowhere told to be faster than {name}"),
        };
        let ahead = with(&|v| v == Verdict::Faster);
        let same = with(&|v| matches!(v, Verdict::Tied | Verdict::Undecided));
        if !ahead.is_empty() {
            sentence.push_str(&format!("; in {} {name} is faster", listed(&ahead)));
        }
        if !same.is_empty() {
            sentence.push_str(&format!("; in {} they are not told apart", listed(&same)));
        }
        said.push(format!("{sentence}."));
    }
    said.push("Marks are medians, thick lines their 95 % intervals.".into());
    said.join(" ")
}

/// Of a chart of one state by size; cells ascending by size.
pub(super) fn by_size(cells: &[&CellOutcome], limit: Option<f64>) -> String {
    let mut said = Vec::new();
    let peak = cells.iter().filter_map(|c| Some((c.cell.size, c.winner.as_ref()?.bytes_per_cycle)));
    if let Some((size, figure)) =
        peak.filter(|p| p.1.is_finite()).max_by(|a, b| a.1.total_cmp(&b.1))
    {
        let share =
            limit.map_or(String::new(), |l| format!(", {} of the limit", percent(figure / l)));
        said.push(format!(
            "The winners peak at {figure:.1} bytes a cycle at {}{share}.",
            human_size(size)
        ));
    }
    for name in baseline_names(cells.iter().copied()) {
        said.push(against(cells, &name));
    }
    said.push("Bands are 95 % intervals.".into());
    said.join(" ")
}

/// How a baseline stands to the winners over size.
fn against(cells: &[&CellOutcome], name: &str) -> String {
    let own: Vec<(u64, &BaselineTimes)> =
        cells.iter().filter_map(|c| Some((c.cell.size, times(c, name)?))).collect();
    let faster: Vec<u64> =
        own.iter().filter(|(_, t)| t.verdict == Verdict::Faster).map(|(s, _)| *s).collect();
    let most = own
        .iter()
        .filter(|(_, t)| t.verdict == Verdict::Slower && t.ratio.is_finite())
        .max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
    let slower = own.iter().filter(|(_, t)| t.verdict == Verdict::Slower).count();
    let lead = match most {
        Some((size, t)) => format!(
            "{name} is slower at {slower} of {} sizes, most so at {}: {:.2} times the winner's time",
            own.len(),
            human_size(*size),
            t.ratio
        ),
        None => format!("{name} is slower at none of {} sizes", own.len()),
    };
    let first = faster.first().copied();
    let from = own.iter().filter(|(size, _)| first.is_some_and(|f| *size >= f)).count();
    match (first, from == faster.len()) {
        (None, _) => format!("{lead}."),
        // Every size from the first on.
        (Some(first), true) if faster.len() > 1 => {
            format!("{lead}; {name} overtakes from {} on.", human_size(first))
        }
        _ => {
            let sizes: Vec<String> = faster.iter().map(|s| human_size(*s)).collect();
            format!("{lead}; {name} is faster at {}.", listed(&sizes))
        }
    }
}

/// Of a map.
pub(super) fn map(map: &Map) -> String {
    let Some((x, y, best)) = map.best() else { return "Nothing was timed here.".into() };
    let value = |axis: &MapAxis, at: usize| axis.values.get(at).cloned().unwrap_or_default();
    let spread = |axis: &MapAxis| {
        let worst = axis.best.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        worst.map_or(String::new(), |(at, figure)| {
            let cost = percent(best / figure - 1.0);
            format!("the best loop at {} {} takes {cost} longer", axis.key, value(axis, at))
        })
    };
    format!(
        "Best at {} {} and {} {}: {best:.1} bytes a cycle; {}, {}. Numbers are the best speed of \
         each pair in per cent of that, whatever the other axes; from {} candidates of a first \
         look with few samples each, run {}.",
        map.y.key,
        value(&map.y, y),
        map.x.key,
        value(&map.x, x),
        spread(&map.y),
        spread(&map.x),
        count(map.candidates),
        map.run
    )
}

/// Of a curve along one axis.
pub(super) fn curve(curve: &Curve) -> String {
    let by = |a: &&super::super::gather::CurvePoint, b: &&super::super::gather::CurvePoint| {
        a.figure.total_cmp(&b.figure)
    };
    let (Some(best), Some(worst)) =
        (curve.points.iter().max_by(by), curve.points.iter().min_by(by))
    else {
        return String::new();
    };
    let apart = best.ci.0 > worst.ci.1;
    let cost = percent(best.figure / worst.figure - 1.0);
    let said = if apart {
        format!(
            "Best at {} {}: {:.1} bytes a cycle; {} takes {cost} longer.",
            curve.key, best.value, best.figure, worst.value
        )
    } else {
        format!("No value of {} stands out of the noise: the medians lie within {cost}.", curve.key)
    };
    format!(
        "{said} Everything else as in {} (marked), {}; bands and bars are 95 % \
         intervals, of few samples the extremes; run {}.",
        curve.anchor, curve.about, curve.run
    )
}

/// Of the samples of a cell.
pub(super) fn distributions(data: &[Distribution], found: Option<&CellOutcome>) -> String {
    let mut said = Vec::new();
    let Some(first) = data.first() else { return String::new() };
    for other in &data[1..] {
        said.push(format!(
            "Of all pairs of a sample of {} and one of {}, {} is faster in {:.0} %.",
            first.name,
            other.name,
            first.name,
            100.0 * first.beats(other)
        ));
    }
    said.push(format!(
        "Half of {}'s samples lie between {:.0} and {:.0} cycles.",
        first.name,
        first.quantile(0.25),
        first.quantile(0.75)
    ));
    if let Some(winner) = found.and_then(|c| c.winner.as_ref()) {
        said.push(format!("The winner is {}.", winner.variant));
    }
    said.push(format!(
        "{} samples; marks are medians; what fences and clock take is part of each.",
        count(data.iter().map(|d| d.cycles.len() as u64).sum())
    ));
    said.join(" ")
}
