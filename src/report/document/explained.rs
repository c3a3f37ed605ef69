//! Why winners win, and what placements do to loops: tables and charts of a size.

use super::super::attribution::{by_reason, instead, object, placebo, skew_words};
use super::super::charts::{Bar, bars, skew};
use super::super::gather::OpResults;
use super::super::placement::{effects, hangs_on, worst_words};
use super::super::text::{NONE, percent, ratio_ci, state};
use super::{Block, Entry, Figure, Table};
use crate::search::{Attribution, Placed};
use crate::subject::{Cell, Conditions, Consumer, Extent};
use crate::units::human_ns;

/// Placements that a chart has room for.
const CHARTED: usize = 16;

/// All that explains loops of a size. `on` ends each title where there are several hosts.
pub(super) fn of_size(op: &OpResults, size: Extent, on: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut figures = Vec::new();
    let placed = op.placed.iter().filter(|(_, p)| p.cell.extent() == size);
    for (run, found) in placed {
        blocks.extend(placement_table(found, run));
        figures.extend(placement_chart(found, on));
    }
    let explained = op.attributions.iter().filter(|(_, a)| a.cell.extent() == size);
    for (run, found) in explained {
        blocks.extend(said(found, run));
        blocks.extend(axes(found));
        blocks.extend(excluded(found));
        figures.extend(skew_chart(found, on));
    }
    if !figures.is_empty() {
        blocks.push(Block::Figures { figures });
    }
    blocks
}

/// State, drive, consumer and conditions.
fn place(cell: &Cell) -> String {
    let conditions = Conditions { consumer: Consumer::None, ..cell.conditions };
    let mut words = vec![state(cell)];
    words.extend(conditions.words());
    words.join(", ")
}

/// What is said of a winner in sentences.
fn said(found: &Attribution, run: &str) -> Vec<Block> {
    let mut blocks = vec![Block::Text {
        text: format!("Why {} wins in {} (run {run}):", found.winner, place(&found.cell)),
    }];
    let warnings = found.notes.iter().cloned().chain(found.edges.iter().map(ToString::to_string));
    blocks.extend(warnings.map(|text| Block::Warning { text }));
    let mut rows: Vec<(String, String)> = Vec::new();
    let sentences = found.placebos.iter().map(placebo);
    for sentence in sentences.chain([skew_words(found), object(found)]) {
        let (name, text) = sentence.split_once(": ").unwrap_or(("", &sentence));
        rows.push((name.into(), text.into()));
    }
    blocks.push(Block::Facts { rows });
    blocks
}

fn axes(found: &Attribution) -> Option<Block> {
    let caption = format!(
        "One axis at a time, {} in {}: time over the winner's with its 95 % interval (above 1 the \
         winner's value is a gain); verdicts hold for all rows together",
        found.winner,
        place(&found.cell)
    );
    let columns = ["axis", "winner", "instead", "time over the winner's", "verdict", "loop"];
    let mut table = Table::new(caption, &columns);
    let mut last = "";
    for row in &found.axes {
        let same = last == row.axis;
        last = &row.axis;
        let once = |text: &str| Entry::text(if same { "" } else { text });
        table.rows.push(vec![
            once(&row.axis),
            once(&row.own),
            Entry::text(instead(&row.value, row.is_default)),
            Entry::text(ratio_ci(row.compared.ratio, row.compared.ratio_ci)),
            Entry::text(row.compared.verdict.to_string()),
            Entry::code(row.variant),
        ]);
    }
    table.block()
}

fn excluded(found: &Attribution) -> Option<Block> {
    let caption = "Values that cannot stand beside the winner's others";
    let mut table = Table::new(caption, &["~value", "~reason"]);
    for (why, values) in by_reason(&found.excluded) {
        table.rows.push(vec![Entry::text(values.join(", ")), Entry::text(why)]);
    }
    table.block()
}

fn skew_chart(found: &Attribution, on: &str) -> Option<Figure> {
    let curve = found.skew.as_ref().ok()?;
    let cell = &found.cell;
    let title =
        format!("{} {} in {}: address of the loop{on}", cell.op, cell.extent(), place(cell));
    let caption = format!(
        "{} at each address modulo 64, everything else the same; {} Bands are 95 % intervals.",
        found.winner,
        skew_words(found).trim_start_matches("skew: ")
    );
    Some(Figure { svg: skew(&title, curve), title, caption, broad: false })
}

fn placement_table(found: &Placed, run: &str) -> Option<Block> {
    let caption = format!(
        "Placements in {} (run {run}): the median over all, the worst and where, and which of the \
         three coordinates the time hangs on",
        place(&found.cell)
    );
    let columns =
        ["loop", "#median", "#worst", "#over the median", "at", "~hangs on", "~each by itself"];
    let mut table = Table::new(caption, &columns);
    for row in &found.rows {
        let name = Entry::code(&row.subject);
        let line = match &row.result {
            Err(failure) => {
                let mut line = vec![name, Entry::text(NONE), Entry::text(NONE), Entry::text(NONE)];
                line.push(Entry::text(NONE));
                line.extend([Entry::text(failure.to_string()), Entry::text("")]);
                line
            }
            Ok(times) => {
                let worst = times.worst();
                let over = worst.map(|w| percent(w.ns / times.median_ns() - 1.0));
                vec![
                    name,
                    Entry::text(human_ns(times.median_ns())),
                    Entry::text(worst_words(times)),
                    Entry::text(over.unwrap_or(NONE.into())),
                    Entry::text(worst.map_or(NONE.into(), |w| w.placement.to_string())),
                    Entry::text(hangs_on(found, times)),
                    Entry::text(effects(row).join("; ")),
                ]
            }
        };
        table.rows.push(line);
    }
    table.block()
}

fn placement_chart(found: &Placed, on: &str) -> Option<Figure> {
    let timed: Vec<_> =
        found.rows.iter().filter_map(|r| Some((r, r.result.as_ref().ok()?))).collect();
    // Ids are longer than a chart has room for.
    let names: Vec<String> = (b'A'..).take(timed.len()).map(|c| char::from(c).into()).collect();
    let whose: Vec<String> = names
        .iter()
        .zip(&timed)
        .map(|(name, (row, _))| format!("{name} is {}", row.subject))
        .collect();
    let placements: Vec<_> = timed.first()?.1.points.iter().map(|p| p.placement).collect();
    if placements.len() > CHARTED || placements.len() < 2 {
        return None;
    }
    let mut lines = Vec::new();
    for placement in &placements {
        for (series, (_, times)) in timed.iter().enumerate() {
            let point = times.points.iter().find(|p| p.placement == *placement);
            let median = times.median_ns();
            lines.extend(point.filter(|p| p.ns.is_finite()).map(|p| Bar {
                group: placement.to_string(),
                series,
                figure: 100.0 * p.ns / median,
                ci: (100.0 * p.ci.0 / median, 100.0 * p.ci.1 / median),
            }));
        }
    }
    let cell = &found.cell;
    let title = format!("{} {} in {} by placement{on}", cell.op, cell.extent(), place(cell));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let caption = format!(
        "Time of a call in per cent of the loop's own median, by where the buffers lie; thick lines are 95 % \
         intervals. {}.",
        whose.join(", ")
    );
    Some(Figure {
        svg: bars(&title, &names, &lines, "per cent of the loop's own median", None),
        title,
        caption,
        broad: false,
    })
}
