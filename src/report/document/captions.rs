//! What is to be seen on a chart, from its data.

use super::super::gather::{Curve, CurvePoint, Distribution, Map, MapAxis};
use super::super::text::{count, percent, rate, ratio_ci, state};
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
        let size = human_size(size);
        said.push(match limit {
            // More than there can be is the noise of the clock.
            Some(l) if figure > l => {
                format!("The winners peak at {size}, at the limit of {} bytes a cycle.", rate(l))
            }
            limit => {
                let share = limit.map(|l| format!(", {} of the limit", percent(figure / l)));
                let share = share.unwrap_or_default();
                format!("The winners peak at {} bytes a cycle at {size}{share}.", rate(figure))
            }
        });
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
        None if own.len() == 1 => format!("{name} is not slower"),
        Some((size, t)) => format!(
            "{name} is slower at {slower} of {} sizes, most so at {}: {:.2} times the winner's time",
            own.len(),
            human_size(*size),
            t.ratio
        ),
        None => format!("{name} is slower at no size"),
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

/// Candidates that a value needs before anything is said of it.
const ENOUGH: u32 = 5;

/// From how much to how much.
fn range((least, most): (u64, u64)) -> String {
    if least == most { count(least) } else { format!("{} to {}", count(least), count(most)) }
}

/// What an axis of a map costs, as far as there are candidates to tell it from.
fn effect(axis: &MapAxis, limit: Option<f64>) -> String {
    let by = |a: &usize, b: &usize| axis.best[*a].total_cmp(&axis.best[*b]);
    let fit = || {
        let enough = |i: &usize| axis.candidates.get(*i).is_some_and(|n| *n >= ENOUGH);
        let possible = |i: &usize| limit.is_none_or(|limit| axis.best[*i] <= limit);
        (0..axis.best.len()).filter(enough).filter(possible)
    };
    let few = axis.candidates.iter().filter(|n| **n < ENOUGH).count();
    match (fit().max_by(by), fit().min_by(by)) {
        (Some(top), Some(low)) if top != low => {
            let cost = percent(axis.best[top] / axis.best[low] - 1.0);
            let (key, top, low) = (&axis.key, &axis.values[top], &axis.values[low]);
            format!("the best loop at {key} {low} takes {cost} longer than that at {top}")
        }
        _ if few == 0 => {
            format!("what {} costs is not told: too much is above the limit", axis.key)
        }
        _ => format!(
            "too few candidates to tell what {} costs ({few} of its {} values had fewer than \
             {ENOUGH})",
            axis.key,
            axis.best.len()
        ),
    }
}

/// Of a map; `limit`: the most bytes a cycle there can be; `bench`: no first look.
pub(super) fn map(map: &Map, limit: Option<f64>, bench: bool) -> String {
    let Some((x, y, best)) = map.best() else { return "Nothing was timed here.".into() };
    let value = |axis: &MapAxis, at: usize| axis.values.get(at).cloned().unwrap_or_default();
    let samples = range(map.samples);
    let possible = limit.is_none_or(|limit| best <= limit);
    let lead = match (map.told(), possible) {
        (true, true) => format!(
            "Best at {} {} and {} {}: {} bytes a cycle",
            map.y.key,
            value(&map.y, y),
            map.x.key,
            value(&map.x, x),
            rate(best),
        ),
        (true, false) => "The highest figure is above the limit: no best is claimed".into(),
        (false, _) => format!("First looks of {samples} samples: no best is claimed"),
    };
    let (down, across) = (effect(&map.y, limit), effect(&map.x, limit));
    let source = match (bench, map.told()) {
        (true, _) => format!("a bench of {samples} samples each"),
        (false, true) => format!("a search, {samples} samples each"),
        (false, false) => "a first look".into(),
    };
    format!(
        "{lead}; {down}; {across}. Numbers are the best speed of each pair in per cent of the \
         highest, whatever the other axes; from {} {} of {source}, run {}.",
        count(map.candidates),
        if map.candidates == 1 { "candidate" } else { "candidates" },
        map.run
    )
}

/// Of a curve along one axis; `limit`: the most bytes a cycle there can be.
pub(super) fn curve(curve: &Curve, limit: Option<f64>) -> String {
    let by = |a: &&CurvePoint, b: &&CurvePoint| a.figure.total_cmp(&b.figure);
    let (Some(best), Some(worst)) =
        (curve.points.iter().max_by(by), curve.points.iter().min_by(by))
    else {
        return String::new();
    };
    let key = &curve.key;
    let cost = percent(best.figure / worst.figure - 1.0);
    let possible = limit.is_none_or(|limit| best.figure <= limit);
    let ends = if curve.told() { best.ci.zip(worst.ci) } else { None };
    let said = match ends {
        None => {
            format!("First looks of {} samples: no best is claimed.", range(curve.samples()))
        }
        Some(_) if !possible => {
            "The highest figure is above the limit: no best is claimed.".to_string()
        }
        Some((best_ci, worst_ci)) if best_ci.0 > worst_ci.1 => format!(
            "Best at {key} {}: {} bytes a cycle; {} takes {cost} longer.",
            best.value,
            rate(best.figure),
            worst.value
        ),
        Some(_) => {
            format!("No value of {key} stands out of the noise: the medians lie within {cost}.")
        }
    };
    let bands = if ends.is_some() { "; bands and bars are 95 % intervals" } else { "" };
    format!(
        "{said} Everything else as in {} (marked), {}{bands}; run {}.",
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
