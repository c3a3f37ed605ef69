//! The answer where no run came to its end: the best so far.

use super::super::trial::RecordedTrial;
use super::{Choice, Figure, Wanted, state_words};
use crate::subject::{Cell, Subject, Variant};
use crate::trial::{Phase, Role};

/// The best fully verified trial of the newest run that has one: of its last phase, since
/// later phases are measured on fresh data.
pub(super) fn provisional(trials: &[RecordedTrial], wanted: &Wanted) -> Option<Choice> {
    let fits = |t: &&RecordedTrial| {
        t.cell.op == wanted.op
            && wanted.calls.are(&t.cell.extent())
            && wanted.state.is_none_or(|s| t.cell.state == s && t.cell.drive == wanted.drive)
            && t.cell.conditions == wanted.conditions
            && t.role == Role::Candidate
            && t.fully_verified
            && t.outcome.is_ok()
            && matches!(t.subject, Subject::Variant(v) if wanted.admits(&v))
    };
    let run = &trials.iter().rfind(fits)?.run;
    let of_run: Vec<&RecordedTrial> =
        trials.iter().filter(fits).filter(|t| t.run == *run).collect();
    let rank = |phase: Phase| Phase::ALL.iter().position(|p| *p == phase);
    let phase = of_run.iter().map(|t| t.phase).max_by_key(|p| rank(*p))?;
    let last: Vec<Figured> =
        of_run.iter().filter(|t| t.phase == phase).filter_map(|t| figured(t)).collect();
    let (variant, max_regret) = least_regret(&last)?;
    Some(Choice {
        variant,
        run: run.clone(),
        provisional: true,
        max_regret: wanted.state.is_none().then_some(max_regret),
        states: {
            let mut cells: Vec<Cell> = of_run.iter().map(|t| t.cell).collect();
            cells.sort();
            cells.dedup();
            cells.iter().map(state_words).collect()
        },
        figures: {
            let of_it = last.into_iter().filter(|f| f.variant == variant).map(|f| f.figure);
            let mut figures: Vec<Figure> = of_it.collect();
            figures.sort_by_key(|f| f.cell);
            figures.dedup_by_key(|f| f.cell);
            figures
        },
        warnings: Vec::new(),
    })
}

struct Figured {
    variant: Variant,
    figure: Figure,
}

fn figured(trial: &RecordedTrial) -> Option<Figured> {
    let summary = trial.outcome.as_ref().ok()?;
    let Subject::Variant(variant) = trial.subject else { return None };
    let figure = Figure {
        cell: trial.cell,
        ns: summary.median.ns(),
        ci: (summary.ci.0.ns(), summary.ci.1.ns()),
        bytes_per_cycle: summary.bytes_per_cycle,
        regret: None,
        baselines: Vec::new(),
    };
    Some(Figured { variant, figure })
}

/// The loop with the least worst regret among those measured in the most cells.
fn least_regret(trials: &[Figured]) -> Option<(Variant, f64)> {
    let best_of = |cell: &Cell| {
        let times = trials.iter().filter(|t| t.figure.cell == *cell).map(|t| t.figure.ns);
        times.fold(f64::INFINITY, f64::min)
    };
    let mut variants: Vec<Variant> = trials.iter().map(|t| t.variant).collect();
    variants.sort();
    variants.dedup();
    let regrets = variants.into_iter().map(|variant| {
        let own = trials.iter().filter(|t| t.variant == variant);
        let mut cells: Vec<Cell> = own.clone().map(|t| t.figure.cell).collect();
        cells.sort();
        cells.dedup();
        let worst = own
            .map(|t| t.figure.ns / best_of(&t.figure.cell).max(f64::MIN_POSITIVE) - 1.0)
            .fold(0.0, f64::max);
        let cells = cells.len();
        (variant, cells, worst)
    });
    regrets
        .min_by(|a, b| b.1.cmp(&a.1).then(a.2.total_cmp(&b.2)))
        .map(|(variant, _, worst)| (variant, worst))
}
