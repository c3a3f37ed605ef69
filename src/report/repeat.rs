//! The page and the document of a search that was repeated.

use serde_json::{Value, json};

use super::bench::host_line;
use super::facts::Facts;
use super::grid::{Grid, Side, WIDTH};
use super::json::mix;
use super::text::{fold, fold_id, percent, state};
use crate::search::{Choice, Duel, Repeats, SizeRepeats};
use crate::stats::Verdict;

/// Columns that figures leave to ids.
const ID_WIDTH: usize = 60;

/// What the choice for all cells is called.
const ALL: &str = "all states";

/// What was chosen how often and whether it matters, for people.
pub fn repeats(found: &Repeats, warnings: &[String], facts: &Facts) -> String {
    let width = usize::from(WIDTH);
    let searches = found.seeds.len();
    let mut text = host_line(facts);
    for size in &found.sizes {
        text += &format!("\n{} {}, {searches} searches\n\n", found.op, size.extent);
        text += &table(size, searches);
        for (name, choice) in choices(size) {
            text += &format!("{}\n", fold(&format!("{name}: {}", said(choice)), width, 2));
        }
    }
    if let (Some(first), Some(last)) = (found.seeds.first(), found.seeds.last()) {
        let duels = match found.seconds > 0.0 {
            true => {
                format!("; the chosen loops then met for {:.1} s, on fresh data", found.seconds)
            }
            false => String::new(),
        };
        text += &format!("\n{}\n", fold(&format!("Seeds {first} to {last}{duels}."), width, 2));
    }
    for warning in warnings {
        text += &format!("{}\n", fold(&format!("! {warning}"), width, 2));
    }
    text
}

/// The choices of a size: in each cell, then for all of them.
fn choices(size: &SizeRepeats) -> Vec<(String, &Choice)> {
    let mut list: Vec<_> = size.cells.iter().map(|c| (state(&c.cell), &c.winner)).collect();
    list.push((ALL.to_string(), &size.robust));
    list
}

fn table(size: &SizeRepeats, searches: usize) -> String {
    let columns =
        [("best in", Side::Left), ("loop", Side::Left), ("chosen in searches", Side::Right)];
    let mut grid = Grid::new(&columns);
    for (name, choice) in choices(size) {
        let mut name = Some(name);
        let mut row = |what: String, times: u32| {
            let times = format!("{times} of {searches}");
            grid.row(vec![name.take().unwrap_or_default(), what, times]);
        };
        for chosen in &choice.chosen {
            row(fold_id(&chosen.variant.to_string(), ID_WIDTH), chosen.times);
        }
        if choice.without > 0 {
            row("none".into(), choice.without);
        }
    }
    format!("{}\n", grid.text())
}

/// Pairs that are named where loops are no ties.
const SHOWN: usize = 3;

/// Whether the choice matters, as a sentence.
fn said(choice: &Choice) -> String {
    let apart: Vec<&Duel> = choice.duels.iter().filter(|d| !d.is_tie()).collect();
    match (choice.chosen.len(), choice.all_tie()) {
        (0, _) => "nothing was chosen".into(),
        (1, _) => "the same loop each time".into(),
        (n, None) => format!("whether the {n} loops are ties was not measured"),
        (n, Some(true)) => {
            let tied = choice.duels.iter().filter(|d| d.verdict == Verdict::Tied).count();
            let farthest = choice.duels.iter().map(|d| d.ratio.ln().abs()).fold(0.0, f64::max);
            format!(
                "all {n} are mutual ties ({tied} of {} pairs tied, the others undecided; at most \
                 {} apart)",
                choice.duels.len(),
                percent(farthest.exp_m1())
            )
        }
        (_, Some(false)) => {
            // The farthest apart say it; ten loops have forty-five pairs.
            let mut apart = apart;
            let distance = |d: &Duel| d.ratio.ln().abs();
            apart.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
            let list: Vec<String> = apart.iter().take(SHOWN).map(|duel| apart_by(duel)).collect();
            let more = match apart.len().saturating_sub(SHOWN) {
                0 => String::new(),
                n => format!("; and {n} more of {} pairs", choice.duels.len()),
            };
            format!("not all are ties: {}{more}", list.join("; "))
        }
    }
}

/// Who is slower than whom.
fn apart_by(duel: &Duel) -> String {
    let (faster, slower) = match duel.verdict {
        Verdict::Faster => duel.loops,
        _ => (duel.loops.1, duel.loops.0),
    };
    let by = duel.ratio.ln().abs().exp_m1();
    format!("{slower} takes {} longer than {faster} in {}", percent(by), state(&duel.cell))
}

/// The same, for programs: schema 1. `ratio` is the second loop's time over the first's;
/// `all_tie` is `null` where it was not measured.
pub fn repeats_json(found: &Repeats, runs: &[String], warnings: &[String], facts: &Facts) -> Value {
    let sizes = found.sizes.iter().map(|size| {
        let cells = size.cells.iter().map(|cell| {
            let mut value = choice(&cell.winner);
            value["state"] = json!(cell.cell.state.to_string());
            value["drive"] = json!(cell.cell.drive.word());
            value["consumer"] = json!(cell.cell.conditions.consumer.to_string());
            value
        });
        json!({
            "size_bytes": size.extent.size,
            "mix": mix(&size.extent),
            "cells": cells.collect::<Vec<_>>(),
            "robust": choice(&size.robust),
        })
    });
    json!({
        "schema": 1,
        "command": facts.command,
        "host": { "key": facts.host_key, "cpu": facts.cpu, "features": facts.features },
        "op": found.op.word(),
        "seeds": found.seeds,
        "runs": runs,
        "duel_seconds": found.seconds,
        "sizes": sizes.collect::<Vec<_>>(),
        "warnings": warnings,
    })
}

fn choice(choice: &Choice) -> Value {
    let chosen =
        choice.chosen.iter().map(|c| json!({ "variant": c.variant.to_string(), "times": c.times }));
    let duels = choice.duels.iter().map(|d| {
        json!({
            "state": d.cell.state.to_string(),
            "drive": d.cell.drive.word(),
            "loops": [d.loops.0.to_string(), d.loops.1.to_string()],
            "ratio": d.ratio,
            "ratio_ci": [d.ratio_ci.0, d.ratio_ci.1],
            "verdict": d.verdict.to_string(),
        })
    });
    json!({
        "chosen": chosen.collect::<Vec<_>>(),
        "without": choice.without,
        "all_tie": choice.all_tie(),
        "pairs": duels.collect::<Vec<_>>(),
    })
}
