//! From what was gathered to sections.

use super::super::gather::{Decided, Details, HostResults, OpResults};
use super::{Block, Document, Section, breed, explained, figures, host, tables};
use crate::encode::compile;
use crate::print::listing;
use crate::search::SizeOutcome;
use crate::subject::{Cell, Extent, Variant};
use crate::units::human_size;

/// Sizes whose details are open from the beginning.
const OPEN: usize = 1;

/// A report on some hosts.
pub(in crate::report) fn document(hosts: &[HostResults]) -> Document {
    let mut ops: Vec<&str> = Vec::new();
    for op in hosts.iter().flat_map(|h| &h.ops) {
        if !ops.contains(&op.op.word()) {
            ops.push(op.op.word());
        }
    }
    let of = match hosts {
        [one] => one.host.as_ref().map_or(one.key.clone(), |h| h.cpu.brand.clone()),
        several => format!("{} hosts", several.len()),
    };
    let what = if ops.is_empty() { "nothing yet".into() } else { ops.join(" and ") };
    let mut sections = Vec::new();
    sections.extend(breed(hosts));
    sections.extend(hosts.iter().enumerate().map(|(i, h)| {
        // Charts of several hosts need names of their own.
        let on = if hosts.len() > 1 { format!(" on {}", h.key) } else { String::new() };
        of_host(h, i, &on)
    }));
    Document {
        title: format!("Loops for {what} on {of}"),
        sections,
        version: env!("CARGO_PKG_VERSION").into(),
    }
}

fn of_host(found: &HostResults, index: usize, on: &str) -> Section {
    let id = format!("host{index}");
    let ops = found.ops.iter().map(|op| of_op(found, op, &id, on));
    Section {
        title: format!("Host {}", found.key),
        short: format!("Host {}", found.key),
        level: 2,
        blocks: host::about(found),
        sections: ops.collect(),
        id,
        ..Section::default()
    }
}

fn of_op(found: &HostResults, op: &OpResults, host: &str, on: &str) -> Section {
    let id = format!("{host}-{}", op.op);
    let limit = host::limit(found, op.op);
    let mut blocks = Vec::new();
    let sizes = &op.outcome().sizes;
    if sizes.is_empty() {
        blocks.push(if !op.others.is_empty() {
            let text = "Nothing was searched under the default conditions: see below for others.";
            Block::Warning { text: text.into() }
        } else if op.details.iter().all(|d| d.bench) {
            let text = "Figures of benches: no search decided anything here.";
            Block::Text { text: text.into() }
        } else {
            let text = "No search of this came to its end: what follows is what its trials say.";
            Block::Warning { text: text.into() }
        });
    } else {
        let text = format!("From {}.", op.decided.sources().join(", "));
        blocks.push(Block::Text { text });
    }
    if let Some(limit) = &limit {
        let text = format!("Limit: {:.0} bytes a cycle; {}.", limit.bytes_per_cycle, limit.why);
        blocks.push(Block::Text { text });
    }
    let notes = super::super::text::mix_notes(sizes.iter().map(|s| s.extent));
    blocks.extend(notes.into_iter().map(|text| Block::Text { text }));
    let warnings = op.outcome().warnings.iter();
    blocks.extend(warnings.map(|text| Block::Warning { text: text.clone() }));
    blocks.extend(figures::overview(found, op, limit.as_ref(), on));
    blocks.extend(tables::robust(op.outcome()));
    blocks.extend(tables::winners(op.outcome(), limit.as_ref()));
    let read = op.outcome().sizes.iter().flat_map(|size| {
        let lines = super::super::size::reading(size).into_iter();
        lines.map(move |line| format!("{}: {line}.", size.extent))
    });
    blocks.extend(read.map(|text| Block::Text { text }));
    blocks.extend(tables::baselines(op.outcome()));
    blocks.extend(tables::ties(op.outcome()));
    blocks.extend(tables::absent(op.outcome()));
    let mut sections = Vec::new();
    let limit = limit.map(|l| l.bytes_per_cycle);
    for size in details_by_size(op) {
        let open = sections.len() < OPEN;
        sections.extend(of_size(op, size, &id, (limit, on), open));
    }
    let others = op.others.iter().enumerate();
    sections.extend(others.map(|(i, other)| elsewhere(other, format!("{id}-other{i}"))));
    sections.extend(listings(op, &id));
    Section {
        title: format!("{}: {}", op.op, sizes_word(op)),
        short: format!("{}: {}", op.op, sizes_word(op)),
        level: 3,
        id,
        blocks,
        sections,
        folds: None,
    }
}

/// What was found under other conditions, in tables of its own.
fn elsewhere(found: &Decided, id: String) -> Section {
    let mut blocks = vec![Block::Text {
        text: format!(
            "From {}. Times under different conditions are not comparable with those above.",
            found.sources().join(", ")
        ),
    }];
    let warnings = found.outcome.warnings.iter();
    blocks.extend(warnings.map(|text| Block::Warning { text: text.clone() }));
    blocks.extend(tables::robust(&found.outcome));
    blocks.extend(tables::winners(&found.outcome, None));
    blocks.extend(tables::baselines(&found.outcome));
    blocks.extend(tables::ties(&found.outcome));
    Section {
        id,
        title: format!("{} under other conditions: {}", found.outcome.op, found.words()),
        short: found.words(),
        level: 4,
        blocks,
        ..Section::default()
    }
}

fn sizes_word(op: &OpResults) -> String {
    let mut extents: Vec<Extent> = op.outcome().sizes.iter().map(|s| s.extent).collect();
    if extents.is_empty() {
        extents = op.details.iter().map(|d| d.cell.extent()).collect();
        extents.dedup();
    }
    let sizes: Vec<u64> = extents.iter().filter(|e| e.mix.is_none()).map(|e| e.size).collect();
    let fixed = match sizes.as_slice() {
        [] => None,
        [one] => Some(format!("{} bytes", human_size(*one))),
        [first, .., last] => Some(format!(
            "{} sizes, {} to {} bytes",
            sizes.len(),
            human_size(*first),
            human_size(*last)
        )),
    };
    let mixes: Vec<&Extent> = extents.iter().filter(|e| e.mix.is_some()).collect();
    let mixed = match mixes.as_slice() {
        [] => None,
        [one] => Some(one.phrase()),
        many => Some(format!("{} mixes of sizes", many.len())),
    };
    match (fixed, mixed) {
        (None, None) => "no size".into(),
        (Some(fixed), Some(mixed)) => format!("{fixed}; {mixed}"),
        (fixed, mixed) => fixed.or(mixed).unwrap_or_default(),
    }
}

/// Every size that something is known of, ascending; then the mixes.
fn details_by_size(op: &OpResults) -> Vec<Extent> {
    let mut sizes: Vec<Extent> = op.details.iter().map(|d| d.cell.extent()).collect();
    sizes.extend(op.outcome().sizes.iter().map(|s| s.extent));
    sizes.extend(op.attributions.iter().map(|(_, a)| a.cell.extent()));
    sizes.extend(op.placed.iter().map(|(_, p)| p.cell.extent()));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn of_size(
    op: &OpResults,
    size: Extent,
    op_id: &str,
    (limit, on): (Option<f64>, &str),
    open: bool,
) -> Option<Section> {
    let outcome: Option<&SizeOutcome> = op.outcome().sizes.iter().find(|s| s.extent == size);
    let details: Vec<&Details> = op.details.iter().filter(|d| d.cell.extent() == size).collect();
    let mut blocks = Vec::new();
    blocks.extend(outcome.and_then(tables::regrets));
    blocks.extend(explained::of_size(op, size, on));
    blocks.extend(figures::of_size(op.outcome(), &details, limit, on));
    if blocks.is_empty() {
        return None;
    }
    Some(Section {
        id: match size.mix {
            None => format!("{op_id}-{}", size.size),
            Some(mix) => format!("{op_id}-mix{:016x}", mix.digest()),
        },
        title: format!("{} of {} in detail", op.op, size.phrase()),
        short: size.to_string(),
        level: 4,
        folds: Some(open),
        blocks,
        sections: Vec::new(),
    })
}

/// The loops to use: the robust choice and the winners of a single size, the robust choices
/// of many.
fn listings(op: &OpResults, op_id: &str) -> Option<Section> {
    let sizes = &op.outcome().sizes;
    let mut loops: Vec<(Variant, Vec<String>)> = Vec::new();
    let mut add = |variant: Variant, what: String| match loops.iter_mut().find(|l| l.0 == variant) {
        Some((_, whats)) => whats.push(what),
        None => loops.push((variant, vec![what])),
    };
    for size in sizes {
        let bytes = size.extent;
        if let Some(robust) = &size.robust {
            add(robust.variant, format!("robust at {bytes}"));
        }
        for found in size.cells.iter().filter(|_| sizes.len() == 1) {
            if let Some(winner) = &found.winner {
                add(winner.variant, format!("fastest in {}", in_state(&found.cell)));
            }
        }
    }
    let blocks: Vec<Block> = loops
        .into_iter()
        .enumerate()
        .filter_map(|(i, (variant, whats))| {
            let code = compile(&variant).ok()?;
            Some(Block::Listing {
                id: format!("{op_id}-loop{i}"),
                title: format!("{variant}: {} bytes; {}", code.bytes.len(), whats.join(", ")),
                text: listing(&code),
                open: i == 0,
            })
        })
        .collect();
    (!blocks.is_empty()).then(|| Section {
        id: format!("{op_id}-listings"),
        title: format!("Listings of {}", op.op),
        short: "listings".into(),
        level: 4,
        folds: None,
        blocks,
        sections: Vec::new(),
    })
}

fn in_state(cell: &Cell) -> String {
    super::super::text::state(cell)
}
