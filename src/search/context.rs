//! What every phase of a search needs at hand.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::budget::{Meter, Share};
use super::candidate::Candidate;
use super::panel::{Effort, Entrant, Panel};
use super::plan::is_cheap;
use super::screen::LARGE;
use super::strategy::Strategy;
use crate::subject::{Baseline, Cell, Op, SizeMix, Subject};
use crate::trial::{Body, EvaluateError, Evaluator, Member, Observer, Phase, Progress, Role};

/// Evaluator, observer, budget and randomness of a run.
pub(super) struct Context<'a> {
    pub(super) evaluator: &'a mut dyn Evaluator,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) meter: Meter,
    pub(super) rng: ChaCha8Rng,
    pub(super) tick_hz: f64,
    pub(super) baselines: Vec<Baseline>,
    pub(super) strategy: Strategy,
    /// Whether the budget was asked for, and so counts for more than completeness.
    pub(super) strict: bool,
    /// Whether nobody races the leaders that a strategy finds.
    pub(super) alone: bool,
    /// The mixes that cells name.
    pub(super) mixes: Vec<SizeMix>,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        evaluator: &'a mut dyn Evaluator,
        observer: &'a mut dyn Observer,
        meter: Meter,
        seed: u64,
        tick_hz: f64,
        baselines: Vec<Baseline>,
        strategy: Strategy,
    ) -> Context<'a> {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Context {
            evaluator,
            observer,
            meter,
            rng,
            tick_hz,
            baselines,
            strategy,
            strict: false,
            alone: false,
            mixes: Vec::new(),
        }
    }

    /// A panel without samples.
    pub(super) fn panel(&self, cell: Cell, entrants: Vec<Entrant>) -> Panel {
        let mix = self.mixes.iter().find(|m| Some(m.mix) == cell.mix);
        let weights = mix.map_or(Vec::new(), |m| m.weights.clone());
        Panel::new(cell, entrants, self.tick_hz).with_weights(weights)
    }

    /// The baselines as entrants of an op, but for those of a process of their own: they cost
    /// too much where thousands are looked at.
    pub(super) fn baseline_entrants(&self, op: Op) -> Vec<Entrant> {
        let here = self.baselines.iter().filter(|b| **b != Baseline::LibcTuned);
        here.filter_map(|b| baseline_entrant(*b, op)).collect()
    }

    /// All baselines as entrants of a cell, but for those that are the same there as another.
    pub(super) fn all_baseline_entrants(&self, cell: &Cell) -> Vec<Entrant> {
        let all = self.baselines.iter().filter_map(|b| baseline_entrant(*b, cell.op));
        all.filter(|e| self.evaluator.tells_apart(&e.member.body, cell)).collect()
    }

    /// One request of a panel, paid from meter and share.
    pub(super) fn measure(
        &mut self,
        panel: &mut Panel,
        phase: Phase,
        effort: Effort,
        share: &mut Share,
    ) -> Result<(), EvaluateError> {
        let before = panel.samples;
        let seed = self.rng.random();
        panel.measure(self.evaluator, self.observer, phase, effort, seed)?;
        self.meter.spend(panel.samples - before);
        self.tick();
        share.spend(panel.samples - before, self.meter.elapsed());
        Ok(())
    }

    /// Lets the meter know what time it is: after all that takes time.
    pub(super) fn tick(&mut self) {
        let clock = self.evaluator.clock();
        self.meter.tick(clock);
    }

    /// Measures a panel until its share is used or it has `most` layouts; `least` layouts in
    /// any case. Several requests, so that people see progress.
    pub(super) fn fill(
        &mut self,
        panel: &mut Panel,
        phase: Phase,
        share: &mut Share,
        least: u32,
        most: u32,
    ) -> Result<(), EvaluateError> {
        let cheap = is_cheap(&panel.cell);
        let blocks = if cheap { 3 } else { 1 };
        let pass_ns = match (cheap, panel.cell.mix) {
            (true, None) => RACE_PASS_NS,
            (true, Some(_)) => MIXED_PASS_NS,
            (false, _) => DEAR_PASS_NS,
        };
        let mut done = 0;
        // The first request is a pilot that tells the price.
        let mut step = if panel.cell.footprint() > LARGE { 1 } else { least.clamp(1, 4) };
        while done < most {
            let late = done >= least;
            let limit_ns = if late { share.limit_ns() } else { 0 };
            let effort = Effort { layouts: step.min(most - done), blocks, pass_ns, limit_ns };
            self.measure(panel, phase, effort, share)?;
            done += effort.layouts;
            self.progress(&panel.cell, phase, (done.into(), most.into()), None);
            let of_layout = f64::from(blocks) * panel.entrants.len() as f64;
            let affordable = share.affords_groups(panel.cost_ns().unwrap_or(1e9), of_layout);
            let enough = if panel.seconds > LONG_SECONDS { 2 } else { least };
            if done >= enough && affordable == 0 {
                break;
            }
            let short = if panel.cell.footprint() > LARGE { 1 } else { least.saturating_sub(done) };
            step = affordable.div_ceil(3).max(short).max(1);
        }
        Ok(())
    }

    /// Tells where the run stands.
    pub(super) fn progress(
        &mut self,
        cell: &Cell,
        phase: Phase,
        done: (u64, u64),
        leader: Option<(String, f64)>,
    ) {
        let fraction = self.meter.fraction();
        self.observer.progress(&Progress { cell: *cell, phase, fraction, done, leader });
    }
}

/// A panel that has taken so long gets two layouts even where more are wanted: its calls take
/// tenths of seconds, and noise is small beside them.
const LONG_SECONDS: f64 = 3.0;

/// Length of a pass where priming is cheap: a thousand times the clock's resolution, and
/// long against the fences around it.
pub(super) const RACE_PASS_NS: u32 = 8_000;

/// The same of a mix: the thousands of calls that its few large ones are evened out over.
const MIXED_PASS_NS: u32 = 40_000;

/// Length of a pass where priming costs more than the pass.
pub(super) const DEAR_PASS_NS: u32 = 20_000;

/// A baseline as an entrant; `None` where it has no form for the op, or must be compiled
/// first (see [`Compiled`](super::Compiled)).
pub fn baseline_entrant(baseline: Baseline, op: Op) -> Option<Entrant> {
    let (body, code_bytes) = match (baseline, baseline.as_variant(op)) {
        (Baseline::Libc, _) => (Body::Libc, None),
        (Baseline::LibcTuned, _) if op.is_tuned() => (Body::LibcTuned, None),
        (_, None) => return None,
        (_, Some(variant)) => {
            let candidate = Candidate::new(variant).ok()?;
            (candidate.body, Some(candidate.code_bytes))
        }
    };
    Some(Entrant {
        subject: Subject::Baseline(baseline),
        member: Member::new(body),
        role: Role::Baseline,
        code_bytes,
        fully_verified: false,
    })
}

/// A candidate as an entrant.
pub fn candidate_entrant(candidate: &Candidate, fully_verified: bool) -> Entrant {
    Entrant {
        subject: Subject::Variant(candidate.variant),
        member: Member::new(candidate.body.clone()),
        role: Role::Candidate,
        code_bytes: Some(candidate.code_bytes),
        fully_verified,
    }
}
