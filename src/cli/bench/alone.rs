//! `looptune bench` without subjects: every named loop beside the baselines, a table an op.

use std::io::Write as _;

use super::super::arguments;
use super::super::exit::usage;
use super::super::session::Session;
use super::course::{Course, Slot, run_courses};
use super::{BenchArgs, ready};
use crate::report;
use crate::search::{Budget, baseline_entrant};
use crate::subject::{Baseline, Cell, Drive, NamedLoop, Op, Subject};
use crate::trial::{FailureKind, Without};

/// Seconds a loop gets in a cell where nothing is asked: all of them in all states of one size
/// stay below a minute.
const ROW_SECONDS: f64 = 0.25;

pub(super) fn run(args: &BenchArgs, runner: Option<&str>) -> anyhow::Result<()> {
    if args.plant.is_some() {
        return usage("--plant needs a second subject");
    }
    let mut session = Session::new(runner)?;
    args.look_at_caches(&mut session)?;
    let mut courses = Vec::new();
    for op in Op::ALL.iter().copied().filter(|op| args.op.is_none_or(|asked| asked == *op)) {
        courses.push(course(op, args, &session)?);
    }
    if let Some(budget) = args.budget {
        let all = courses.iter().map(|c| c.cells.len()).sum();
        let share = super::share(Some(budget), all);
        courses.iter_mut().flat_map(|c| &mut c.cells).for_each(|(_, own)| *own = share);
    }
    let ran = run_courses(&courses, args.seed(), &mut session, args.quiet)?;
    let facts = session.facts(courses.first().map_or(Op::Copy, |c| c.op));
    let mut out = std::io::stdout().lock();
    if args.json {
        let document = report::bench_json(&ran.cells, &facts, &ran.notes);
        writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
    } else {
        write!(out, "{}", report::bench_overview(&ran.cells, &facts, &ran.notes))?;
    }
    out.flush()?;
    // What a host cannot run is no failure of a command that asks for all there is.
    let rows = || ran.cells.iter().flat_map(|c| &c.rows);
    let broken = rows().filter_map(|row| row.result.as_ref().err());
    let broken = broken.filter(|e| !matches!(e.kind, FailureKind::Unsupported(_))).count();
    if broken > 0 {
        anyhow::bail!("{broken} of {} rows failed; the reasons stand above", rows().count());
    }
    Ok(())
}

/// Who is measured for an op, and where.
fn course(op: Op, args: &BenchArgs, session: &Session) -> anyhow::Result<Course> {
    let mut slots = Vec::new();
    for subject in subjects(op) {
        slots.push(match ready(&subject, op, session)? {
            Ok(entrant) => Slot::Runs(entrant),
            Err(why) => Slot::Cannot(subject, why),
        });
    }
    let budget = Budget::Seconds(ROW_SECONDS * slots.len() as f64);
    let mut cells = args.cells(op, session)?;
    if args.drive.is_none() {
        // One column a state, at small sizes too.
        cells.retain(|c: &Cell| c.drive == Drive::Throughput);
    }
    let cells = cells.into_iter().map(|c| (c, budget)).collect();
    Ok(Course { op, slots, cells, mixes: arguments::mixes(&args.mix)?, without: Without::NOTHING })
}

/// What serves an op: baselines, the first of them the reference, then the named loops.
fn subjects(op: Op) -> Vec<Subject> {
    let serves = |b: &Baseline| match b {
        // The C library only copies and fills.
        Baseline::Libc => op.is_tuned(),
        // The same as libc at all sizes but the largest: for who names it.
        Baseline::LibcTuned => false,
        _ => b.optimisation().is_some() || baseline_entrant(*b, op).is_some(),
    };
    let baselines = Baseline::ALL.iter().copied().filter(serves).map(Subject::Baseline);
    let named = NamedLoop::all().filter(|n| n.variant().op == op).map(Subject::Named);
    baselines.chain(named).collect()
}
