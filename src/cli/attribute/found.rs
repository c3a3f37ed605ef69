//! Which loops are to be explained, and where: a named one, or recorded winners.

use super::super::arguments;
use super::super::exit::{unsupported, usage};
use super::super::session::Session;
use super::AttributeArgs;
use crate::results::{Folder, RecordedRun};
use crate::search::{CellOutcome, Question, SearchFile, plan};
use crate::space;
use crate::subject::{Cell, Conditions, Consumer, Contract, Extent, Op, SizeMix, Subject, Variant};
use crate::trial::{Phase, Role};

/// The size of calls of a named loop where nothing is asked, bytes.
const SIZE: u64 = 4096;

/// What is to be explained.
pub(super) struct Asked {
    pub(super) op: Op,
    /// Winners with their cells.
    pub(super) winners: Vec<(Cell, Variant)>,
    /// The loops that they were found among; of a named loop the default space.
    pub(super) swept: Vec<Variant>,
    pub(super) mixes: Vec<SizeMix>,
}

/// Finds out.
///
/// # Errors
/// Where nothing answers; a refusal of this host where it cannot run the loop.
pub(super) fn asked(args: &AttributeArgs, session: &Session) -> anyhow::Result<Asked> {
    let mixes = arguments::mixes(&args.mix)?;
    match (args.variant, args.op) {
        (Some(variant), _) => named(args, variant, mixes, session),
        (None, Some(op)) => recorded(args, op, mixes, session),
        (None, None) => {
            usage("which loop? Write a variant such as zero/ymm/u4, or --op and --size")
        }
    }
}

fn runs_here(variant: &Variant, session: &Session) -> anyhow::Result<()> {
    match space::supported(variant, &session.host.usable) {
        Ok(()) => Ok(()),
        Err(why) => unsupported(format!("this host cannot run {variant}: it {why}")),
    }
}

fn named(
    args: &AttributeArgs,
    variant: Variant,
    mixes: Vec<SizeMix>,
    session: &Session,
) -> anyhow::Result<Asked> {
    runs_here(&variant, session)?;
    let op = variant.op;
    let question = Question {
        op,
        contract: Contract::User,
        sizes: match (&args.size, variant.fixed) {
            (Some(sizes), _) => sizes.0.clone(),
            (None, Some(fixed)) => vec![fixed.into()],
            (None, None) if mixes.is_empty() => vec![SIZE],
            (None, None) => Vec::new(),
        },
        mixes: mixes.clone(),
        states: args.state.as_ref().map(|s| s.0.clone()),
        drives: args.drive.as_ref().map(|d| d.0.clone()),
        conditions: args.conditions.conditions(args.conditions.placement()),
        consumers: args.conditions.consumers(),
        budget: args.budget,
        seed: 0,
        baselines: Vec::new(),
        weights: Vec::new(),
    };
    let plans = plan(&question, &session.reckoned.levels);
    let cells: Vec<Cell> = plans.iter().flat_map(|p| p.cells.clone()).collect();
    if cells.is_empty() {
        let reasons = plans.iter().flat_map(|p| p.absent.iter().map(|(_, why)| why.clone()));
        let reasons = reasons.collect::<Vec<_>>().join("; ");
        return unsupported(format!("nothing to measure: {reasons}"));
    }
    let mut swept =
        if op.is_tuned() { SearchFile::default_for(op).space(op).legal() } else { Vec::new() };
    swept.retain(|v| space::supported(v, &session.host.usable).is_ok());
    Ok(Asked { op, winners: cells.into_iter().map(|c| (c, variant)).collect(), swept, mixes })
}

fn recorded(
    args: &AttributeArgs,
    op: Op,
    mixes: Vec<SizeMix>,
    session: &Session,
) -> anyhow::Result<Asked> {
    let sizes = args.size.as_ref().map(|s| s.0.clone()).unwrap_or_default();
    let extents: Vec<Extent> = sizes
        .iter()
        .map(|size| Extent::fixed(*size))
        .chain(mixes.iter().map(SizeMix::extent))
        .collect();
    if extents.is_empty() {
        return usage("which size? Write --size 4096, a list such as 64,100,4k or a range 32..4M");
    }
    let folder = Folder::of_host(&args.results, &session.host.key)?;
    let decisions = folder.decisions()?;
    let (mut winners, mut runs) = (Vec::new(), Vec::new());
    for extent in &extents {
        let Some((run, cells)) = newest(args, op, extent, &decisions.rows) else {
            let calls = extent.phrase();
            return usage(format!(
                "no finished run in {} has winners for {op} of {calls} under these conditions; \
                 looptune search --op {op} would find them, or name a variant",
                folder.path().display()
            ));
        };
        if !runs.contains(&run) {
            runs.push(run);
        }
        let of_cell = |c: &CellOutcome| Some((c.cell, c.winner.as_ref()?.variant));
        winners.extend(cells.into_iter().filter_map(of_cell));
    }
    for (_, variant) in &winners {
        runs_here(variant, session)?;
    }
    Ok(Asked { op, winners, swept: swept(&folder, op, &runs)?, mixes })
}

/// The cells that are asked for of the newest run that decided most of them.
fn newest<'a>(
    args: &AttributeArgs,
    op: Op,
    extent: &Extent,
    runs: &'a [RecordedRun],
) -> Option<(&'a str, Vec<&'a CellOutcome>)> {
    let consumers = args.conditions.consumers();
    let conditions = args.conditions.conditions(args.conditions.placement());
    let wanted = |cell: &Cell| {
        let own = Conditions { consumer: Consumer::None, ..cell.conditions };
        let states = args.state.as_ref().is_none_or(|s| s.0.contains(&cell.state));
        let drives = args.drive.as_ref().is_none_or(|d| d.0.contains(&cell.drive));
        let conditions = own == conditions && consumers.contains(&cell.conditions.consumer);
        states && drives && conditions
    };
    let mut best: Option<(&str, Vec<&CellOutcome>)> = None;
    let named = |r: &&RecordedRun| args.run.as_ref().is_none_or(|run| *run == r.run);
    for run in runs.iter().rev().filter(named) {
        let outcome = run.outcome.as_ref().filter(|o| o.op == op && o.contract == Contract::User);
        let sizes = outcome.iter().flat_map(|o| &o.sizes).filter(|s| s.extent == *extent);
        let cells: Vec<&CellOutcome> = sizes
            .flat_map(|s| &s.cells)
            .filter(|c| wanted(&c.cell) && c.winner.is_some())
            .collect();
        if cells.len() > best.as_ref().map_or(0, |(_, cells)| cells.len()) {
            best = Some((&run.run, cells));
        }
    }
    best
}

/// What the runs looked at.
fn swept(folder: &Folder, op: Op, runs: &[&str]) -> anyhow::Result<Vec<Variant>> {
    let mut seen = std::collections::HashSet::new();
    folder.each_trial(|trial| {
        let candidate = trial.role == Role::Candidate && trial.phase == Phase::Screen;
        if let Subject::Variant(variant) = trial.subject
            && candidate
            && variant.op == op
            && runs.contains(&trial.run.as_str())
        {
            seen.insert(variant);
        }
    })?;
    let mut swept: Vec<Variant> = seen.into_iter().collect();
    swept.sort_unstable();
    Ok(swept)
}
