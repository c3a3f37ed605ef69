//! Streaming rates, loops and hosts side by side.

use std::path::Path;

use super::Made;
use super::contests::{Contests, Planned, cells, subjects};
use crate::report::history::{BreedTable, HostRates};
use crate::results::{Folder, hosts};
use crate::subject::{Level, Op, Subject};

/// Bytes a call, as lmbench takes them: far beyond the caches of a core.
const SIZE: u64 = 8 << 20;

/// Seconds of an op.
const SECONDS: f64 = 6.0;

/// Who serves an op; baselines first.
fn breed(op: Op) -> anyhow::Result<Vec<Subject>> {
    let (named, others): (&[&str], &[&str]) = match op {
        Op::Copy => (&["libc", "rep", "lmbench_bcopy_hand"], &["/nt"]),
        Op::Zero => (&["libc", "rep"], &["/nt"]),
        Op::Read => (&["lmbench_rd"], &[]),
        Op::Write => (&["lmbench_wr"], &["/nt"]),
    };
    let mut ids: Vec<String> = named.iter().map(ToString::to_string).collect();
    ids.push("compiler-o3".into());
    for class in ["xmm", "ymm", "zmm"] {
        ids.push(format!("{op}/{class}/u4"));
        ids.extend(others.iter().map(|store| format!("{op}/{class}/u4{store}")));
    }
    subjects(&ids.iter().map(String::as_str).collect::<Vec<_>>())
}

pub(super) fn make(contests: &mut Contests<'_>, results: &Path) -> anyhow::Result<Made> {
    let key = contests.session.host.key.clone();
    let recorded = recorded(results, &key)?;
    let mut planned = Vec::new();
    for op in Op::ALL {
        let plans = cells(*op, vec![SIZE], contests.session);
        let mut cells = plans.iter().flat_map(|plan| &plan.cells);
        if let Some(cell) = cells.find(|cell| cell.state.level() == Some(Level::Dram)) {
            planned.push(Planned { cell: *cell, subjects: breed(*op)?, seconds: SECONDS });
        }
    }
    let done = contests.run(planned)?;
    let cells = done.into_iter().map(|done| done.with_pairs(BreedTable::pairs)).collect();
    let table = BreedTable { key, cells, hosts: recorded };
    Ok(Made { page: table.page(), records: table.records() })
}

/// What other hosts were recorded with.
fn recorded(results: &Path, own: &str) -> anyhow::Result<Vec<HostRates>> {
    let mut all = Vec::new();
    for key in hosts(results)?.into_iter().filter(|key| key != own) {
        let runs = Folder::of_host(results, &key)?.decisions()?;
        all.extend(HostRates::of_runs(&key, &runs.rows, SIZE));
    }
    Ok(all)
}
