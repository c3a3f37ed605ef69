//! What the machine is, which commands ran on it, and what a reader must know.

use super::super::facts::{Facts, Limit};
use super::super::gather::HostResults;
use super::super::text::count;
use super::{Block, Entry, Table};
use crate::host::{Cache, Host};
use crate::subject::Op;
use crate::units::human_size;

/// Runs listed; older ones are counted.
const RUNS: usize = 12;

/// Facts, commands and warnings of a host.
pub(super) fn about(found: &HostResults) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rows = vec![("key".to_string(), found.key.clone())];
    if let Some(host) = &found.host {
        rows.extend(facts(host));
    }
    rows.push(("recorded in".into(), found.path.clone()));
    let cut = match found.cut_off.as_slice() {
        [] => String::new(),
        ids => format!("; cut off: {}", ids.join(", ")),
    };
    let trials = match found.trials {
        0 => String::new(),
        n => format!(", {} trials", count(n)),
    };
    let (runs, finished) = (found.runs.len().max(found.finished.len()), found.finished.len());
    rows.push(("runs".into(), format!("{runs}, {finished} finished{trials}{cut}")));
    blocks.push(Block::Facts { rows });
    blocks.extend(commands(found));
    blocks.extend(found.warnings.iter().map(|text| Block::Warning { text: text.clone() }));
    if let Some(host) = &found.host {
        blocks.extend(host.disturbances().into_iter().map(|text| Block::Warning { text }));
    }
    if found.ops.is_empty() {
        let text = "Nothing is recorded here that could be shown; `looptune search --op zero \
                    --size 4096` records something.";
        blocks.push(Block::Warning { text: text.into() });
    }
    blocks
}

fn facts(host: &Host) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut fact = |name: &str, text: String| {
        if !text.is_empty() {
            rows.push((name.to_string(), text));
        }
    };
    let cpu = &host.cpu;
    fact(
        "processor",
        format!(
            "{}; {}, family {} model {} stepping {}",
            cpu.brand, cpu.microarch, cpu.family, cpu.model, cpu.stepping
        ),
    );
    fact(
        "features",
        host.usable.iter().map(|f| f.word().to_string()).collect::<Vec<_>>().join(" "),
    );
    let refused: Vec<String> =
        host.refused.iter().map(|r| format!("{} ({})", r.feature, r.why)).collect();
    fact("not usable", refused.join(", "));
    let cache = |name: &str, cache: &Option<Cache>| {
        cache.as_ref().map(|c| format!("{name} {}, {} ways", human_size(c.size_bytes), c.ways))
    };
    let caches = &host.caches;
    let told = [cache("L1d", &caches.l1d), cache("L2", &caches.l2), cache("L3", &caches.l3)];
    fact("caches", told.into_iter().flatten().collect::<Vec<_>>().join("; "));
    fact("time-stamp counter", format!("{:.1} MHz", host.tsc.calibrated_hz / 1e6));
    let conditions = &host.conditions;
    fact("microcode", conditions.microcode.clone().unwrap_or_default());
    fact("kernel", conditions.kernel.clone().unwrap_or_default());
    fact("hypervisor", conditions.hypervisor.clone().unwrap_or_default());
    fact("governor", conditions.governor.clone().unwrap_or_default());
    fact(
        "CPUs",
        format!("{} online, allowed {}", conditions.online_cpus, conditions.allowed_list()),
    );
    fact("libc", Facts::of(host, Op::ALL[0], String::new()).libc.unwrap_or_default());
    rows
}

fn commands(found: &HostResults) -> Option<Block> {
    let mut table =
        Table::new("Commands, newest first", &["run", "begun", "#seed", "~command", "end"]);
    for run in found.runs.iter().rev().take(RUNS) {
        let end = if found.finished.contains(&run.id) { "finished" } else { "cut off" };
        table.rows.push(vec![
            Entry::text(&run.id),
            Entry::text(&run.time),
            Entry::text(run.seed.to_string()),
            Entry::code(&run.command),
            Entry::text(end),
        ]);
    }
    if found.runs.len() > RUNS {
        table.caption = format!("Commands, the last {RUNS} of {}", found.runs.len());
    }
    table.block()
}

/// The most bytes a cycle of an op, where the host is known.
pub(in crate::report) fn limit(found: &HostResults, op: Op) -> Option<Limit> {
    Facts::of(found.host.as_ref()?, op, String::new()).limit
}
