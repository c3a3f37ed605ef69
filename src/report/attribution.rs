//! Why a loop wins, as tables of 100 columns and as a part of a document of schema 1.

use serde_json::{Value, json};

use super::facts::Facts;
use super::grid::{Grid, Side, WIDTH};
use super::text::{NONE, fold, fold_id, percent, ratio, ratio_ci, state};
use crate::search::{Attribution, Compared, Credit, ExcludedValue, Placebo, SkewCurve};
use crate::stats::Verdict;
use crate::subject::Variant;

/// Heights of a curve in letters, lowest first.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Addresses between two of which the scale says one.
const SCALE: usize = 16;

/// A point whose time is less above the least of all than this is drawn lowest.
const FLAT: f64 = 0.01;

/// Why loops win, for people.
pub fn attributions(found: &[Attribution], facts: &Facts) -> String {
    let mut text = super::bench::host_line(facts);
    for one in found {
        text.push('\n');
        text.push_str(&attribution(one));
    }
    text.push_str(&format!("\n{}\n", fold(LEGEND, usize::from(WIDTH), 2)));
    text
}

/// How the figures of an attribution are to be read.
const LEGEND: &str = "Ratios are the time of the other loop over the winner's, from the same \
                      blocks: above 1 the winner is faster. Brackets hold 95 % intervals; where \
                      many are compared, verdicts hold for all of them together.";

/// Why a loop wins, without the legend.
pub(super) fn attribution(found: &Attribution) -> String {
    let cell = &found.cell;
    let mut text = format!("{} in {}: {}\n\n", cell.extent(), place(found), found.winner);
    let mut line = |what: &str| {
        text.push_str(&format!("  {}\n", fold(what, usize::from(WIDTH) - 2, 4)));
    };
    found.notes.iter().for_each(|note| line(&format!("! {note}")));
    found.edges.iter().for_each(|edge| line(&format!("! {edge}")));
    found.placebos.iter().for_each(|p| line(&placebo(p)));
    line(&skew_words(found));
    line(&object(found));
    if let Ok(curve) = &found.skew {
        text.push_str(&drawn(curve));
    }
    text.push('\n');
    text.push_str(&axes(found));
    text.push_str(&excluded(&found.excluded));
    text
}

/// State, drive and conditions.
fn place(found: &Attribution) -> String {
    let mut words = vec![state(&found.cell)];
    let conditions = crate::subject::Conditions {
        consumer: crate::subject::Consumer::None,
        ..found.cell.conditions
    };
    words.extend(conditions.words());
    words.join(", ")
}

/// A gain in per cent, from a ratio and its interval.
fn gain(compared: &Compared) -> String {
    let of = |r: f64| format!("{:+.1}", 100.0 * (r - 1.0));
    format!("{} % [{}, {}]", of(compared.ratio), of(compared.ratio_ci.0), of(compared.ratio_ci.1))
}

/// What a placebo run says, in one sentence.
pub(super) fn placebo(found: &Placebo) -> String {
    let what = found.suspect;
    let without = match &found.without {
        Ok((_, compared)) => format!("without it the time is {}", gain(compared)),
        Err(why) => format!("there is no loop without it ({why})"),
    };
    let nops = match &found.placebo {
        Ok((_, compared)) => format!(
            "with nops of the same length {}{}",
            gain(compared),
            found
                .bytes
                .as_ref()
                .map_or(String::new(), |b| format!("; the nops alone are worth {}", gain(b)))
        ),
        Err(why) => format!("no placebo: {why}"),
    };
    let verdict = match found.credit {
        Credit::Credited => "the gain is credited to it",
        Credit::Bytes => "NOT credited: nops of the same length give the gain too",
        Credit::NoGain => "no gain: the loop is no slower without it",
        Credit::Undecided => "undecided: the data do not say",
        Credit::Untested => "a gain, but untested against a placebo",
    };
    format!("{what}: {verdict}. Against the winner {without}, {nops}.")
}

/// What the skew curve says, in one sentence.
pub(super) fn skew_words(found: &Attribution) -> String {
    let curve = match &found.skew {
        Ok(curve) => curve,
        Err(why) => return format!("skew: no curve, {why}."),
    };
    let (Some(best), Some(worst)) = (curve.best(), curve.worst()) else {
        return "skew: no address could be timed.".into();
    };
    let count = |verdict| curve.count(verdict);
    let faster = match count(Verdict::Faster) {
        0 => "no address is faster".to_string(),
        n => format!(
            "{n} of {} are faster, most so {} ({})",
            curve.points.len(),
            best.skew,
            ratio_ci(best.compared.ratio, best.compared.ratio_ci)
        ),
    };
    let slower = match count(Verdict::Slower) {
        0 => "none is slower".to_string(),
        n => format!(
            "{n} of {} are slower, most so {} ({})",
            curve.points.len(),
            worst.skew,
            ratio_ci(worst.compared.ratio, worst.compared.ratio_ci)
        ),
    };
    format!("skew: the loop top stands at {} modulo 64; {faster}, {slower}.", curve.own)
}

/// What the assembled export says, in one sentence.
pub(super) fn object(found: &Attribution) -> String {
    match &found.object {
        None => "assembled object: not measured.".into(),
        Some(Err(why)) => format!("assembled object: not measured, {why}."),
        Some(Ok(row)) => {
            let verdict = match row.compared.verdict {
                Verdict::Tied => "tied with the code in memory".into(),
                Verdict::Undecided => "not told apart from the code in memory".into(),
                other => format!("{other} than the code in memory, where a tie was expected"),
            };
            format!(
                "assembled object ({}): {verdict}, {}.",
                row.builder,
                ratio_ci(row.compared.ratio, row.compared.ratio_ci)
            )
        }
    }
}

/// The curve in letters: how much longer each address takes than the best, and the verdicts.
fn drawn(curve: &SkewCurve) -> String {
    let least = curve.best().map_or(1.0, |p| p.compared.ratio);
    let most = curve.worst().map_or(1.0, |p| p.compared.ratio).max(least * (1.0 + FLAT));
    let mut heights = vec![' '; 64];
    let mut marks = vec![' '; 64];
    for point in &curve.points {
        let at = usize::from(point.skew % 64);
        let part = (point.compared.ratio - least) / (most - least);
        heights[at] = HEIGHTS[((part * 7.0).round() as usize).min(7)];
        marks[at] = mark(point.compared.verdict);
    }
    let mut scale = String::new();
    for at in (0..64).step_by(SCALE) {
        scale.push_str(&format!("{at:<SCALE$}"));
    }
    let own: String = (0..64).map(|i| if i == curve.own { '^' } else { ' ' }).collect();
    let line = |name: &str, text: &str| format!("    {name:<12}  {text}").trim_end().to_string();
    let heights: String = heights.into_iter().collect();
    let marks: String = marks.into_iter().collect();
    format!(
        "\n{}\n{}  {} to {}\n{}\n{}\n{}\n",
        line("loop top at", &scale),
        line("time", &heights),
        ratio(least),
        ratio(most),
        line("verdict", &marks),
        line("", &format!("{}  the winner's", own.trim_end())),
        line("", "+ faster  - slower  = tied  ? undecided"),
    )
}

fn mark(verdict: Verdict) -> char {
    match verdict {
        Verdict::Faster => '+',
        Verdict::Slower => '-',
        Verdict::Tied | Verdict::Reference => '=',
        Verdict::Undecided => '?',
    }
}

fn axes(found: &Attribution) -> String {
    if found.axes.is_empty() {
        return "  no axis of it has another value here\n".into();
    }
    let mut grid = Grid::new(&[
        ("one axis at a time", Side::Left),
        ("winner", Side::Left),
        ("instead", Side::Left),
        ("time over the winner's", Side::Left),
        ("verdict", Side::Left),
    ]);
    let mut last = "";
    for row in &found.axes {
        let same = last == row.axis;
        last = &row.axis;
        grid.row(vec![
            if same { String::new() } else { row.axis.clone() },
            if same { String::new() } else { row.own.clone() },
            instead(&row.value, row.is_default),
            ratio_ci(row.compared.ratio, row.compared.ratio_ci),
            row.compared.verdict.to_string(),
        ]);
    }
    grid.text()
}

/// A value that is tried, and whether it is the default.
pub(super) fn instead(value: &str, is_default: bool) -> String {
    if is_default { format!("{value} (default)") } else { value.into() }
}

/// What cannot be, in short: the rule, or what is missing.
fn excluded(all: &[ExcludedValue]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let short = |why: &str| match why.strip_prefix("rule ").and_then(|w| w.split_once(':')) {
        Some((rule, _)) => rule.to_string(),
        None => why.split(',').next().unwrap_or(why).to_string(),
    };
    let all: Vec<String> = by_reason(all)
        .into_iter()
        .map(|(why, values)| format!("{} ({})", values.join(", "), short(why)))
        .collect();
    let line = format!("not tried: {}", all.join("; "));
    format!("  {}\n", fold(&line, usize::from(WIDTH) - 2, 4))
}

/// Values that cannot be, by the reason.
pub(super) fn by_reason(all: &[ExcludedValue]) -> Vec<(&str, Vec<String>)> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for value in all {
        let what = format!("{} {}", value.axis, value.value);
        match reasons.iter_mut().find(|(why, _)| *why == value.why) {
            Some((_, values)) => values.push(what),
            None => reasons.push((&value.why, vec![what])),
        }
    }
    reasons
}

/// A line for each winner, for the page after a search.
pub fn attribution_lines(found: &[Attribution]) -> String {
    let mut grid = Grid::new(&[
        ("why it wins", Side::Left),
        ("", Side::Left),
        ("what counts most", Side::Left),
        ("address", Side::Left),
        ("object", Side::Left),
    ]);
    for one in found {
        let most = one
            .axes
            .iter()
            .filter(|r| r.compared.verdict == Verdict::Slower && r.is_default)
            .max_by(|a, b| a.compared.ratio.total_cmp(&b.compared.ratio));
        let most = most.map_or("no axis by itself".into(), |r| {
            format!("{} {}: {}", r.axis, r.own, percent(r.compared.ratio - 1.0))
        });
        let skew = one.skew.as_ref().ok().and_then(|c| c.worst()).map_or(NONE.into(), |worst| {
            format!("up to {}", percent((worst.compared.ratio - 1.0).max(0.0)))
        });
        let object = match &one.object {
            Some(Ok(row)) => row.compared.verdict.to_string(),
            _ => NONE.into(),
        };
        let place = format!("{} {}", one.cell.extent(), state(&one.cell));
        grid.row(vec![place, fold_id(&one.winner.to_string(), 30), most, skew, object]);
    }
    let mut text = grid.text();
    for one in found {
        for said in one.placebos.iter().map(placebo) {
            let line = format!("{}: {said}", state(&one.cell));
            text.push_str(&format!("  {}\n", fold(&line, usize::from(WIDTH) - 2, 4)));
        }
    }
    text.push_str("  looptune report shows the tables and curves behind it.\n\n");
    text
}

/// Attributions as one document of schema 1. Ratios are the other loop's time over the
/// winner's; what there is not is `null` or has a `failure`.
pub fn attributions_json(found: &[Attribution], facts: &Facts, seed: u64) -> Value {
    json!({
        "schema": 1,
        "command": facts.command,
        "seed": seed,
        "host": { "key": facts.host_key, "cpu": facts.cpu, "features": facts.features },
        "attributions": found.iter().map(attribution_json).collect::<Vec<_>>(),
    })
}

/// One attribution as a part of a document.
pub fn attribution_json(found: &Attribution) -> Value {
    let compared = |c: &Compared| {
        json!({
            "ratio": c.ratio,
            "ratio_ci": [c.ratio_ci.0, c.ratio_ci.1],
            "verdict": c.verdict.word(),
        })
    };
    let with = |mut value: Value, c: &Compared| {
        if let (Value::Object(all), Value::Object(more)) = (&mut value, compared(c)) {
            all.extend(more);
        }
        value
    };
    let skew = match &found.skew {
        Err(why) => json!({ "failure": why }),
        Ok(curve) => json!({
            "own": curve.own,
            "points": curve.points.iter()
                .map(|p| with(json!({ "skew": p.skew }), &p.compared)).collect::<Vec<_>>(),
        }),
    };
    let measured = |o: &Result<(Variant, Compared), String>| match o {
        Err(why) => json!({ "failure": why }),
        Ok((variant, c)) => with(json!({ "variant": variant.to_string() }), c),
    };
    let placebos = found.placebos.iter().map(|p| {
        json!({
            "suspect": p.suspect.word(),
            "credit": p.credit.word(),
            "without": measured(&p.without),
            "placebo": measured(&p.placebo),
            "without_over_placebo": p.bytes.as_ref().map(compared),
        })
    });
    let axes = found.axes.iter().map(|r| {
        let about = json!({
            "axis": r.axis, "winner": r.own, "value": r.value, "is_default": r.is_default,
            "variant": r.variant.to_string(),
        });
        with(about, &r.compared)
    });
    let excluded = found.excluded.iter();
    let excluded = excluded.map(|e| json!({ "axis": e.axis, "value": e.value, "reason": e.why }));
    let edges = found.edges.iter();
    let edges = edges.map(
        |e| json!({ "axis": e.axis, "value": e.value, "end": e.end(), "text": e.to_string() }),
    );
    json!({
        "op": found.cell.op.word(),
        "size_bytes": found.cell.size,
        "mix": super::json::mix(&found.cell.extent()),
        "state": found.cell.state.to_string(),
        "drive": found.cell.drive.word(),
        "conditions": found.cell.conditions.words(),
        "winner": found.winner.to_string(),
        "notes": found.notes,
        "skew": skew,
        "placebos": placebos.collect::<Vec<_>>(),
        "axes": axes.collect::<Vec<_>>(),
        "excluded": excluded.collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
        "object": found.object.as_ref().map(|object| match object {
            Err(why) => json!({ "failure": why }),
            Ok(row) => with(json!({ "builder": row.builder }), &row.compared),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn fits(page: &str) {
        for line in page.lines() {
            assert!(line.chars().count() <= usize::from(WIDTH), "{line}");
            assert_eq!(line, line.trim_end());
        }
    }

    #[test]
    fn one_winner_and_one_string_instruction() {
        let found = [sample::attribution(), sample::attribution_of_a_string()];
        let page = attributions(&found, &sample::facts());
        fits(&page);
        insta::assert_snapshot!(page);
        let lines = attribution_lines(&found);
        fits(&lines);
        assert!(lines.contains("unroll 4: 31 %"), "{lines}");
    }

    #[test]
    fn placements_of_two_loops() {
        let page = super::super::placement::placements(&[sample::placed()]);
        fits(&page);
        insta::assert_snapshot!(page);
    }
}
