//! The run of a search, from question to outcome.

use std::time::Duration;

use rand::RngExt;

use super::attribution::{Edge, edges, main_loop_matters};
use super::budget::{Budget, Meter};
use super::candidate::Candidate;
use super::context::{Context, candidate_entrant};
use super::decide::{RegretTable, baselines, confirmed, is_tie, pick, standings};
use super::incumbent::Incumbents;
use super::outcome::{CellOutcome, SearchOutcome, SizeOutcome, Stop, Timed};
use super::panel::Panel;
use super::plan::{Question, SizePlan, is_cheap};
use super::race::{heat, last, pool};
use super::screen::{Screen, Screened};
use super::strategy::Strategy;
use crate::stats::Verdict;
use crate::subject::{Cell, Contract, Level, Variant};
use crate::trial::{EvaluateError, Evaluator, Observer, Phase};

/// Parts of a cell's share of the budget: screening; the heat; the final. The rest is for
/// the confirmation.
const SCREEN: f64 = 0.50;
const HEAT: f64 = 0.35;
const FINAL: f64 = 0.60;

/// Layouts of the confirmation.
pub(super) const CONFIRM_LAYOUTS: (u32, u32) = (8, 240);

/// Seconds that a cell's confirmation has by default.
pub(super) fn confirm_seconds(cell: &Cell) -> f64 {
    let mean = Budget::DEFAULT_CELL_SECONDS * (1.0 - SCREEN) * (1.0 - HEAT) * (1.0 - FINAL);
    mean * confirm_weight(cell)
}

/// What the confirmation of a cell gets, over what cells get in the mean. A layout's priming takes
/// little in the first level and most in the last, and there the layouts differ most, too.
fn confirm_weight(cell: &Cell) -> f64 {
    match cell.state.level() {
        Some(Level::L1) => 0.3,
        Some(Level::L2) => 1.0,
        Some(Level::Llc) => 1.8,
        _ => 0.9,
    }
}

/// All that a search starts from.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// What is asked.
    pub question: &'a Question,
    /// The cells of the question's sizes.
    pub plans: &'a [SizePlan],
    /// Who takes part.
    pub candidates: &'a [Candidate],
    /// What an earlier search of the same question chose.
    pub incumbents: &'a Incumbents,
    /// How to go about it.
    pub strategy: Strategy,
    /// Time-stamp ticks a second.
    pub tick_hz: f64,
    /// For how long the command has run already, since its budget covers all of it.
    pub spent: Duration,
}

/// Runs a search. An interruption ends it cleanly, with what was found.
///
/// # Errors
/// Only where no worker can be had.
pub fn search(
    job: &Job<'_>,
    evaluator: &mut dyn Evaluator,
    observer: &mut dyn Observer,
) -> Result<SearchOutcome, EvaluateError> {
    let Job { question, plans, candidates, incumbents, strategy, tick_hz, spent } = *job;
    let cells: usize = plans.iter().map(|p| p.cells.len()).sum();
    let mixed = plans.iter().flat_map(|p| &p.cells).filter(|c| c.mix.is_some()).count();
    let default = Budget::Seconds(
        Budget::DEFAULT_CELL_SECONDS * (cells - mixed) as f64
            + Budget::DEFAULT_MIX_SECONDS * mixed as f64,
    );
    let meter = Meter::new(question.budget.unwrap_or(default), evaluator.clock(), spent);
    let baselines = question.baselines.clone();
    let mut context =
        Context::new(evaluator, observer, meter, question.seed, tick_hz, baselines, strategy);
    context.strict = question.budget.is_some();
    context.mixes = question.mixes.clone();
    let mut outcome = SearchOutcome {
        op: question.op,
        contract: question.contract,
        seed: question.seed,
        seconds: 0.0,
        sizes: Vec::new(),
        warnings: Vec::new(),
    };
    let mut ahead = cells;
    for plan in plans {
        let mut run = SizeRun {
            question,
            candidates,
            incumbents,
            screened: Vec::new(),
            outcome: SizeOutcome { absent: plan.absent.clone(), ..SizeOutcome::empty(plan.extent) },
        };
        let ended = run.run(&mut context, &plan.cells, ahead, &mut outcome.warnings);
        ahead -= plan.cells.len();
        let interrupted = matches!(ended, Err(EvaluateError::Interrupted));
        if interrupted {
            run.salvage(&mut outcome.warnings);
        } else {
            ended?;
        }
        outcome.sizes.push(run.outcome);
        if interrupted {
            outcome.warnings.push("interrupted: these are the results so far".into());
            break;
        }
    }
    remarks(&outcome.sizes, candidates, &mut outcome.warnings);
    context.tick();
    outcome.seconds = context.meter.elapsed().as_secs_f64();
    Ok(outcome)
}

/// The run of one size.
struct SizeRun<'s> {
    question: &'s Question,
    candidates: &'s [Candidate],
    incumbents: &'s Incumbents,
    screened: Vec<(Cell, Screened)>,
    outcome: SizeOutcome,
}

impl SizeRun<'_> {
    /// `ahead`: cells of the command that are not done, these included.
    fn run(
        &mut self,
        context: &mut Context<'_>,
        cells: &[Cell],
        ahead: usize,
        warnings: &mut Vec<String>,
    ) -> Result<(), EvaluateError> {
        // Cheap states first: their leaders are looked at in the dear ones.
        let mut order: Vec<Cell> = cells.to_vec();
        order.sort_by_key(|c| !is_cheap(c));
        let mut favourites: Vec<usize> = Vec::new();
        for (done, cell) in order.iter().enumerate() {
            let shares = (ahead - done) as f64 + done as f64 * (1.0 - SCREEN);
            let mut screen = Screen::new(*cell, self.candidates);
            let ended = screen.run(context, &favourites, shares / SCREEN);
            let interrupted = matches!(ended, Err(EvaluateError::Interrupted));
            let screened = screen.finish(interrupted);
            favourites.extend(screened.order.iter().take(4).map(|(i, _)| *i));
            favourites.sort_unstable();
            favourites.dedup();
            self.screened.push((*cell, screened));
            ended?;
        }
        self.screened.sort_by_key(|(cell, _)| cells.iter().position(|c| c == cell));
        // What is left for this size, in equal parts: its cells' share beside the cells ahead.
        let parts = |used: f64| {
            let own = cells.len() as f64 * (1.0 - SCREEN);
            let rest = (ahead - cells.len()) as f64;
            (own + rest) / own * cells.len() as f64 / used
        };
        let lists: Vec<&Screened> = self.screened.iter().map(|(_, s)| s).collect();
        let mut pool = pool(self.candidates, &lists);
        if pool.is_empty() {
            self.without_times(cells, warnings);
            return Ok(());
        }
        let before = self.incumbents.of_size(&self.outcome.extent, self.candidates);
        pool.extend(before.iter().filter(|i| !pool.contains(i)).collect::<Vec<_>>());
        let mut finalists = heat(context, self.candidates, cells, &pool, parts(HEAT))?;
        // Who won before is beaten in a final or not at all.
        finalists.extend(before.iter().filter(|i| !finalists.contains(i)).collect::<Vec<_>>());
        let op = self.question.op;
        let end = last(context, self.candidates, op, cells, &finalists, parts(FINAL))?;
        warnings.extend(end.warnings);
        self.decide(context, &end.field, &end.panels);
        context.tick();
        self.confirm(context, cells, parts(1.0))
    }

    fn decide(&mut self, context: &mut Context<'_>, field: &[usize], panels: &[Panel]) {
        for panel in panels {
            let ranked = standings(panel, field, self.candidates, &mut context.rng);
            let winner = pick(&ranked, self.incumbents.winner(&panel.cell)).cloned();
            let outcome = self.cell_outcome(panel.cell, |o| {
                o.samples += panel.samples;
                o.cycles_per_ns = panel.cycles_per_ns();
                o.driver_ns = panel.driver_ns();
                o.ties = ranked
                    .iter()
                    .filter(|s| is_tie(s))
                    .map(|s| s.timed.variant)
                    .filter(|v| Some(*v) != winner.as_ref().map(|w| w.timed.variant))
                    .collect();
                o.winner = winner.map(|w| w.timed);
                o.standings = ranked;
            });
            self.outcome.cells.push(outcome);
        }
        let weights: Vec<f64> = panels.iter().map(|p| self.question.weight(&p.cell)).collect();
        let table = RegretTable::new(&self.outcome.cells);
        let choose = |kind: &str, wanted: fn(&Variant) -> bool| {
            let incumbent = self.incumbents.choice(&self.outcome.extent, kind);
            table.choose(&weights, incumbent, wanted)
        };
        let robust = choose("robust", |_| true);
        let best_plain = choose("best_plain", |v| !v.leaves_cache());
        let best_nt = choose("best_nt", Variant::leaves_cache);
        let best_kernel = choose("best_kernel", |v| v.keeps(Contract::Kernel));
        let outcome = &mut self.outcome;
        (outcome.robust, outcome.best_plain) = (robust, best_plain);
        (outcome.best_nt, outcome.best_kernel) = (best_nt, best_kernel);
    }

    /// Winners against baselines, on data that had no part in choosing them.
    fn confirm(
        &mut self,
        context: &mut Context<'_>,
        cells: &[Cell],
        parts: f64,
    ) -> Result<(), EvaluateError> {
        let all: f64 = cells.iter().map(confirm_weight).sum();
        let mut left = parts * all / cells.len() as f64;
        for cell in cells {
            let part = left / confirm_weight(cell);
            left -= confirm_weight(cell);
            let Some(outcome) = self.outcome.cells.iter_mut().find(|o| o.cell == *cell) else {
                continue;
            };
            // The pick, and the final's fastest where that is another.
            let Some(pick) = &outcome.winner else { continue };
            let mut field = vec![pick.variant];
            field.extend(outcome.standings.first().map(|s| s.timed.variant));
            field.dedup();
            let known = |v: &Variant| self.candidates.iter().find(|c| c.variant == *v);
            let field: Vec<&Candidate> = field.iter().filter_map(known).collect();
            if field.is_empty() {
                continue;
            }
            let mut entrants: Vec<_> = field.iter().map(|c| candidate_entrant(c, true)).collect();
            entrants.extend(context.all_baseline_entrants(cell));
            let mut panel = context.panel(*cell, entrants);
            let mut share = context.meter.share(part.max(1.0));
            let (least, most) = CONFIRM_LAYOUTS;
            context.fill(&mut panel, Phase::Confirm, &mut share, least, most)?;
            let chosen = confirmed(&panel, &mut context.rng);
            let variant = field[chosen].variant;
            if panel.failures[chosen].is_none() && panel.samples > 0 {
                let ns = panel.nanoseconds(chosen).interval(&mut context.rng).exp();
                outcome.winner = Some(Timed {
                    variant,
                    ns: ns.estimate,
                    ci: ns.ends(),
                    bytes_per_cycle: panel.bytes_per_cycle(ns.estimate),
                    code_bytes: field[chosen].code_bytes,
                });
                if chosen > 0 {
                    // What was picked is slower after all: no winner, and no tie of one.
                    outcome.ties.retain(|v| *v != variant);
                }
                outcome.cycles_per_ns = panel.cycles_per_ns();
                outcome.driver_ns = panel.driver_ns();
            }
            outcome.baselines = baselines(&panel, chosen, &mut context.rng);
            outcome.samples += panel.samples;
            let leader = outcome.baselines.first().and_then(|b| b.result.as_ref().ok());
            let leader = leader.map(|b| (variant.to_string(), b.ratio));
            context.progress(cell, Phase::Confirm, (1, 1), leader);
        }
        Ok(())
    }

    /// The outcome of a cell with what screening found, and the rest empty.
    fn cell_outcome(&self, cell: Cell, fill: impl FnOnce(&mut CellOutcome)) -> CellOutcome {
        let mut outcome = CellOutcome {
            cell,
            trials: 0,
            samples: 0,
            stop: Stop::Exhausted,
            winner: None,
            ties: Vec::new(),
            standings: Vec::new(),
            baselines: Vec::new(),
            excluded: Default::default(),
            cycles_per_ns: 0.0,
            driver_ns: 0.0,
        };
        if let Some((_, screened)) = self.screened.iter().find(|(c, _)| *c == cell) {
            outcome.trials = screened.trials;
            outcome.samples = screened.samples;
            outcome.stop = screened.stop;
            outcome.excluded = screened.excluded;
        }
        fill(&mut outcome);
        outcome
    }

    fn without_times(&mut self, cells: &[Cell], warnings: &mut Vec<String>) {
        self.outcome.cells = cells.iter().map(|c| self.cell_outcome(*c, |_| {})).collect();
        warnings.push(format!(
            "{} {}: no candidate could be timed",
            self.question.op, self.outcome.extent
        ));
    }

    /// After an interruption: cells without a final keep their counts, and the leader of
    /// screening is named, but nothing unverified or unraced is called a winner. Winners that
    /// have not met the baselines say that they were interrupted.
    fn salvage(&mut self, warnings: &mut Vec<String>) {
        for outcome in self.outcome.cells.iter_mut().filter(|o| o.baselines.is_empty()) {
            outcome.stop = Stop::Interrupted;
        }
        for (cell, screened) in &self.screened {
            if self.outcome.cells.iter().any(|o| o.cell == *cell) {
                continue;
            }
            let outcome = self.cell_outcome(*cell, |o| o.stop = Stop::Interrupted);
            if let Some((index, log)) = screened.order.first() {
                warnings.push(format!(
                    "{cell}: interrupted before the final race; leader so far {} ({:.2} × the first baseline's speed, screened only)",
                    self.candidates[*index].variant,
                    (-log).exp()
                ));
            }
            self.outcome.cells.push(outcome);
        }
    }
}

/// Says where a winner sits on the edge of the swept range, and where a baseline beats it.
fn remarks(sizes: &[SizeOutcome], candidates: &[Candidate], warnings: &mut Vec<String>) {
    // What edge, by what it is for people, and the cells where a winner sits on it.
    let mut on_edge: Vec<(Edge, Vec<String>)> = Vec::new();
    let mut beaten = Vec::new();
    for outcome in sizes.iter().flat_map(|s| &s.cells) {
        let Some(winner) = &outcome.winner else { continue };
        let (cell, variant) = (&outcome.cell, &winner.variant);
        for baseline in &outcome.baselines {
            let Ok(times) = &baseline.result else { continue };
            if times.verdict == Verdict::Faster {
                beaten.push(format!("{cell}: {} {:.2}×", baseline.name, times.ratio));
            }
        }
        // Where the main loop hardly runs, what is in it did not make the winner.
        if !main_loop_matters(variant, cell) {
            continue;
        }
        for edge in edges(variant, candidates.iter().map(|c| &c.variant)) {
            let same = |known: &Edge| (&known.what, known.largest) == (&edge.what, edge.largest);
            match on_edge.iter_mut().find(|(known, _)| same(known)) {
                Some((_, cells)) => cells.push(cell.to_string()),
                None => on_edge.push((edge, vec![cell.to_string()])),
            }
        }
    }
    if !beaten.is_empty() {
        warnings.push(format!(
            "a baseline is faster than every loop that raced (its time over the winner's): {}",
            beaten.join(", ")
        ));
    }
    for (edge, cells) in on_edge {
        let beyond = if edge.largest { "larger" } else { "smaller" };
        warnings.push(format!(
            "the optimum sits on the edge of the swept range: the winner has the {} {} swept, so a \
             search file with {beyond} ones may find better: {}",
            edge.end(),
            edge.what,
            cells.join(", ")
        ));
    }
}

/// A seed nobody chose, for runs without `--seed`; printed, so that a run can be repeated.
pub fn fresh_seed() -> u64 {
    rand::rng().random_range(1..1_000_000)
}
