//! The page and the document of a crossover.

use serde_json::{Value, json};

use super::bench::host_line;
use super::facts::Facts;
use super::grid::{Grid, Side, WIDTH};
use super::text::{NONE, fold, ratio_ci};
use crate::host::Clib;
use crate::search::{Crossing, Crossover, SearchOutcome, nt_crossings};
use crate::subject::{Drive, Op, State, Variant};
use crate::units::human_size;

/// What was found of a crossover.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossoverPage {
    /// What the loops do.
    pub op: Op,
    /// The loop of plain stores.
    pub plain: Variant,
    /// What it is compared with.
    pub rival: Variant,
    /// Seed of everything drawn.
    pub seed: u64,
    /// The last-level cache that states are made of.
    pub llc: String,
    /// One a state.
    pub rows: Vec<CrossoverRow>,
    /// What a reader must know besides.
    pub notes: Vec<String>,
}

/// A state's line.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossoverRow {
    /// Where the lines are.
    pub state: State,
    /// What was found, or why the state has no size.
    pub result: Result<Crossing, String>,
}

/// What the C library's own threshold is for an op.
fn own_threshold(op: Op, clib: &Clib) -> Option<u64> {
    match op {
        Op::Copy => clib.nt_threshold,
        _ => clib.memset_nt_threshold,
    }
}

/// The page for people.
pub fn crossover(found: &CrossoverPage, facts: &Facts, clib: &Clib) -> String {
    let mut text = host_line(facts);
    text.push_str(&format!("\n{}: {} against {}, by size\n\n", found.op, found.rival, found.plain));
    let mut grid = Grid::new(&[
        ("state", Side::Left),
        ("crossover", Side::Right),
        ("between", Side::Left),
        ("ratio below", Side::Left),
        ("ratio above", Side::Left),
    ]);
    let mut reasons = Vec::new();
    for row in &found.rows {
        let crossing = match &row.result {
            Ok(crossing) => crossing,
            Err(why) => {
                reasons.push(format!("{}: {why}", row.state));
                continue;
            }
        };
        let ratio = |size: u64| {
            let asked = crossing.asked.iter().find(|a| a.size == size);
            asked.map_or(NONE.to_string(), |a| ratio_ci(a.ratio, a.ratio_ci))
        };
        let state = row.state.to_string();
        grid.row(match crossing.at {
            Crossover::Between(low, high) => vec![
                state,
                crossing.at.size().map_or(NONE.into(), about),
                format!("{} and {}", about(low), about(high)),
                ratio(low),
                ratio(high),
            ],
            Crossover::Never(most) => vec![
                state,
                "none".into(),
                format!("up to {}", about(most)),
                ratio(most),
                NONE.into(),
            ],
            Crossover::Always(least) => vec![
                state,
                "always".into(),
                format!("from {} on", about(least)),
                NONE.into(),
                ratio(least),
            ],
            Crossover::Unclear => {
                let why = match crossing.asked.is_empty() {
                    true => "nothing measured",
                    false => "too noisy to tell",
                };
                vec![state, NONE.into(), why.into(), NONE.into(), NONE.into()]
            }
        });
    }
    text.push_str(&grid.text());
    text.push('\n');
    let own = match own_threshold(found.op, clib) {
        Some(bytes) => format!("this C library stores past the caches from {}", human_size(bytes)),
        None => "this C library tells no threshold for it".into(),
    };
    let lines = [
        "Ratio: the plain loop's time over the other's; above 1 the other is faster.".to_string(),
        format!("Last-level cache: {}; {own}.", found.llc),
        format!("seed {}: {}", found.seed, facts.command),
    ];
    for line in reasons.iter().chain(&found.notes).chain(&lines) {
        text.push_str(&format!("{}\n", fold(line, usize::from(WIDTH), 2)));
    }
    text
}

/// Where stores past the caches begin to pay, by the finalists of a search's sizes: a line a
/// state.
pub(super) fn of_search(found: &SearchOutcome) -> Vec<String> {
    let line = |(state, drive, crossing): (State, Drive, Crossing)| {
        let drive = if drive == Drive::Throughput { String::new() } else { format!(" {drive}") };
        let begin = format!("non-temporal in {state}{drive}");
        let size = human_size;
        let last = crossing.asked.last().map_or(0, |a| a.size);
        Some(match crossing.at {
            Crossover::Unclear => return None,
            Crossover::Never(most) => format!("{begin}: not faster up to {}", size(most)),
            Crossover::Always(least) => format!("{begin}: faster from {} on", size(least)),
            Crossover::Between(low, high) if high == last => {
                format!("{begin}: faster at {}, not at {}", size(high), size(low))
            }
            Crossover::Between(low, high) => {
                format!("{begin}: faster from {} on, not at {}", size(high), size(low))
            }
        })
    };
    nt_crossings(&found.sizes).into_iter().filter_map(line).collect()
}

/// The same for programs.
pub(super) fn of_search_json(found: &SearchOutcome) -> Value {
    let each = |(state, drive, crossing): (State, Drive, Crossing)| {
        let (word, between) = words(crossing.at);
        json!({
            "state": state.to_string(), "drive": drive.word(), "crossover": word,
            "between": between,
        })
    };
    nt_crossings(&found.sizes).into_iter().map(each).collect()
}

/// A crossover for programs: a word, and the sizes that it lies between.
fn words(at: Crossover) -> (&'static str, Value) {
    match at {
        Crossover::Between(low, high) => ("between", json!([low, high])),
        Crossover::Never(most) => ("never", json!([most, null])),
        Crossover::Always(least) => ("always", json!([null, least])),
        Crossover::Unclear => ("unclear", Value::Null),
    }
}

/// A size to three digits.
fn about(bytes: u64) -> String {
    let kib = bytes as f64 / 1024.0;
    match kib {
        k if k < 10.0 => format!("{k:.1}k"),
        k if k < 1024.0 => format!("{k:.0}k"),
        k if k < 10240.0 => format!("{:.1}M", k / 1024.0),
        k => format!("{:.0}M", k / 1024.0),
    }
}

/// The document, schema 1: sizes in bytes; `between` is null where there is no crossover.
pub fn crossover_json(found: &CrossoverPage, facts: &Facts, clib: &Clib) -> Value {
    let rows = found.rows.iter().map(|row| match &row.result {
        Err(why) => json!({ "state": row.state.to_string(), "failure": why }),
        Ok(crossing) => {
            let (word, between) = words(crossing.at);
            let asked = crossing.asked.iter().map(|a| {
                json!({
                    "size_bytes": a.size,
                    "ratio": a.ratio,
                    "ratio_ci": [a.ratio_ci.0, a.ratio_ci.1],
                    "verdict": a.verdict.word(),
                })
            });
            json!({
                "state": row.state.to_string(),
                "crossover": word,
                "size_bytes": crossing.at.size(),
                "between": between,
                "asked": asked.collect::<Vec<_>>(),
            })
        }
    });
    json!({
        "schema": 1,
        "command": facts.command,
        "seed": found.seed,
        "host": { "key": facts.host_key, "cpu": facts.cpu, "features": facts.features },
        "op": found.op.word(),
        "plain": found.plain.to_string(),
        "rival": found.rival.to_string(),
        "llc": found.llc,
        "libc_threshold_bytes": own_threshold(found.op, clib),
        "states": rows.collect::<Vec<_>>(),
        "notes": found.notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Asked;
    use crate::stats::Verdict;
    use crate::subject::Level;

    fn page() -> CrossoverPage {
        let asked = |size, ratio, verdict| Asked { size, ratio, ratio_ci: (ratio, ratio), verdict };
        let crossing = Crossing {
            asked: vec![
                asked(1 << 20, 0.8, Verdict::Slower),
                asked(1_482_880, 1.3, Verdict::Faster),
            ],
            at: Crossover::Between(1 << 20, 1_482_880),
        };
        let never = Crossing {
            asked: vec![asked(16384, 0.2, Verdict::Slower)],
            at: Crossover::Never(16384),
        };
        CrossoverPage {
            op: Op::Copy,
            plain: "copy/ymm/u4".parse().unwrap(),
            rival: "copy/ymm/u4/nt".parse().unwrap(),
            seed: 7,
            llc: "2.3M".into(),
            rows: vec![
                CrossoverRow { state: State::both(Level::L1), result: Ok(never) },
                CrossoverRow { state: State::both(Level::L2), result: Err("no L2".into()) },
                CrossoverRow { state: State::both(Level::Dram), result: Ok(crossing) },
            ],
            notes: vec!["a note".into()],
        }
    }

    #[test]
    fn each_state_has_its_answer_and_none_is_one() {
        let clib = Clib { nt_threshold: Some(192 << 20), ..Clib::default() };
        let text = crossover(&page(), &Facts::default(), &clib);
        for part in ["1.2M", "1.0M and 1.4M", "none", "up to 16k", "l2: no L2", "from 192M", "2.3M"]
        {
            assert!(text.contains(part), "no `{part}` in {text}");
        }
        assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
    }

    #[test]
    fn the_document_has_every_size_that_was_asked() {
        let clib = Clib { nt_threshold: Some(192 << 20), ..Clib::default() };
        let document = crossover_json(&page(), &Facts::default(), &clib);
        assert_eq!(document["libc_threshold_bytes"], 192 << 20);
        assert_eq!(document["states"][2]["between"], json!([1 << 20, 1_482_880]));
        assert_eq!(document["states"][2]["asked"][1]["verdict"], "faster");
        assert_eq!(document["states"][0]["crossover"], "never");
        assert_eq!(document["states"][1]["failure"], "no L2");
    }
}
