//! The page after a search, for programs: schema 1.

use serde_json::{Value, json};

use super::facts::Facts;
use crate::search::{BaselineOutcome, CellOutcome, Robust, SearchOutcome, SizeOutcome};
use crate::subject::{Cell, Conditions, Extent};

/// Version of the document's shape; raised when a key changes its meaning or goes away.
const SCHEMA: u32 = 1;

/// What a search found, as one document: nanoseconds a call, `ci` the 95 % interval,
/// `ratio` the baseline's time over the winner's. A baseline without times has a `failure`
/// instead of them; what does not exist is `null`.
pub fn outcome_json(found: &SearchOutcome, facts: &Facts) -> Value {
    json!({
        "schema": SCHEMA,
        "command": facts.command,
        "seed": found.seed,
        "seconds": found.seconds,
        "host": { "key": facts.host_key, "cpu": facts.cpu, "features": facts.features },
        "op": found.op.word(),
        "contract": found.contract.word(),
        "sizes": found.sizes.iter().map(size).collect::<Vec<_>>(),
        "nt_crossovers": super::crossover::of_search_json(found),
        "warnings": found.warnings,
    })
}

fn size(size: &SizeOutcome) -> Value {
    let absent = size.absent.iter().map(|(state, why)| json!({ "state": state, "reason": why }));
    json!({
        "size_bytes": size.extent.size,
        "mix": mix(&size.extent),
        "cells": size.cells.iter().map(cell).collect::<Vec<_>>(),
        "absent": absent.collect::<Vec<_>>(),
        "robust": size.robust.as_ref().map(robust),
        "best_plain": variant(size.best_plain.as_ref()),
        "best_nt": variant(size.best_nt.as_ref()),
        "best_kernel": variant(size.best_kernel.as_ref()),
    })
}

/// The mix of sizes, whose largest `size_bytes` is; `null` where all calls have one size.
pub(super) fn mix(extent: &Extent) -> Value {
    extent.mix.map_or(Value::Null, |mix| {
        json!({
            "name": mix.name(),
            "digest": format!("{:016x}", mix.digest()),
            "mean_bytes": mix.mean(),
        })
    })
}

/// Under which conditions a cell was measured.
pub(super) fn conditions(cell: &Cell) -> Value {
    let Conditions { placement, pages, consumer, source, threads } = cell.conditions;
    json!({
        "placement": placement.to_string(),
        "pages": pages.word(),
        "consumer": consumer.word(),
        "source": source.word(),
        "threads": threads,
    })
}

fn cell(found: &CellOutcome) -> Value {
    let winner = found.winner.as_ref().map(|w| {
        json!({
            "variant": w.variant.to_string(),
            "ns": w.ns,
            "ci": [w.ci.0, w.ci.1],
            "bytes_per_cycle": w.bytes_per_cycle,
            "code_bytes": w.code_bytes,
        })
    });
    let excluded = &found.excluded;
    json!({
        "state": found.cell.state.to_string(),
        "drive": found.cell.drive.word(),
        "conditions": conditions(&found.cell),
        "trials": found.trials,
        "samples": found.samples,
        "stop": found.stop.word(),
        "winner": winner,
        "ties": found.ties.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "baselines": found.baselines.iter().map(baseline).collect::<Vec<_>>(),
        "excluded": {
            "unsupported": excluded.unsupported,
            "incorrect": excluded.incorrect,
            "crashed": excluded.crashed,
            "hung": excluded.hung,
        },
    })
}

fn baseline(found: &BaselineOutcome) -> Value {
    match &found.result {
        Ok(times) => json!({
            "name": found.name,
            "ns": times.ns,
            "ratio": times.ratio,
            "ratio_ci": [times.ratio_ci.0, times.ratio_ci.1],
            "verdict": times.verdict.word(),
        }),
        Err(failure) => json!({ "name": found.name, "failure": failure.to_string() }),
    }
}

fn robust(found: &Robust) -> Value {
    let by_state = found.by_cell.iter().map(|row| {
        json!({
            "state": row.cell.state.to_string(),
            "drive": row.cell.drive.word(),
            "conditions": conditions(&row.cell),
            "regret": row.regret,
        })
    });
    json!({
        "variant": found.variant.to_string(),
        "max_regret": found.max_regret,
        "by_state": by_state.collect::<Vec<_>>(),
    })
}

fn variant(found: Option<&Robust>) -> Value {
    found.map_or(Value::Null, |robust| json!({ "variant": robust.variant.to_string() }))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn the_shape_is_schema_1() {
        let mut found = sample::search(&[128]);
        found.sizes[0].best_nt = None;
        let document = outcome_json(&found, &sample::facts());
        insta::assert_snapshot!(serde_json::to_string_pretty(&document).unwrap());
        found.sizes.push(sample::mixed("web"));
        let document = outcome_json(&found, &sample::facts());
        let wanted = json!({"name": "web", "digest": "0123456789abcdef", "mean_bytes": 91.25});
        assert_eq!(document["sizes"][1]["mix"], wanted);
        assert_eq!(document["sizes"][1]["size_bytes"], 2046);
    }
}
