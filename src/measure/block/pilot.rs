//! How many calls a pass makes: chosen from a few passes that nobody reports.

use super::stretch::Field;
use super::{Contender, Run};
use crate::measure::MeasureError;
use crate::measure::buffers::Rig;
use crate::measure::calls::{Budget, plant_step, planted};
use crate::measure::crew::Crew;
use crate::measure::instruments::Instruments;
use crate::measure::noise::Usual;
use crate::mem::SharedPage;
use crate::subject::Level;
use crate::trial::BlockRequest;

/// Members that the pilot looks at: where passes are cheap, and where priming is dear.
const PILOTS: usize = 8;
const DEAR_PILOTS: usize = 2;

/// Where priming a ring takes many times a short pass, a longer pass is nearly free: the
/// whole ring is visited, as far as the list of it does not crowd the first level.
const MOST_OF_RING: u32 = 1024;

/// Priming memory costs with each pair; so many are enough to level out banks and rows.
const LEAST_FROM_MEMORY: u32 = 16;

/// Calls of a pilot pass.
const PILOT_CALLS: u32 = 20;

impl Run {
    /// Chooses numbers of calls from a few untimed passes.
    pub(super) fn pilot(
        &mut self,
        instruments: &Instruments,
        crew: &Crew<'_>,
        contenders: &[Contender<'_>],
        request: &BlockRequest,
        shared: &SharedPage,
    ) -> Result<(), MeasureError> {
        let rig = crew.rig();
        if let Some(sequence) = self.mix.take() {
            let field = Field { instruments, rig, shared };
            self.pilot_mixed(&sequence, &field, contenders, request);
            self.mix = Some(sequence);
            return Ok(());
        }
        let step = plant_step(contenders.iter().map(|c| c.plant));
        for (repeats, dst_stays) in [(true, false), (false, true), (false, false)] {
            let alike = |i: &usize| {
                (self.ready[*i].repeats, self.ready[*i].dst_stays) == (repeats, dst_stays)
            };
            let group: Vec<usize> = (0..self.ready.len()).filter(alike).collect();
            let budget = Budget {
                pass_ticks: instruments.pass_ticks(request.pass_ns),
                pairs: rig.calls(dst_stays),
                least_visited: least_visited(rig),
            };
            let pilots = if rig.level() == Some(Level::L1) { PILOTS } else { DEAR_PILOTS };
            let stride = group.len().div_ceil(pilots).max(1);
            let mut fastest = f64::INFINITY;
            for &i in group.iter().step_by(stride) {
                let ticks = self.pilot_one(i, &budget, crew, contenders[i].member, shared)?;
                self.ready[i].usual = Usual::new(ticks);
                fastest = fastest.min(ticks);
            }
            let calls = if repeats {
                budget.repeated(fastest, step)
            } else {
                budget.visited(fastest, step)
            };
            for i in group {
                self.ready[i].calls = calls;
                self.ready[i].made = planted(calls, contenders[i].plant);
            }
        }
        Ok(())
    }

    /// Ticks a call of one member: of a short pass, and then of one nearer the wanted length.
    fn pilot_one(
        &mut self,
        i: usize,
        budget: &Budget,
        crew: &Crew<'_>,
        member: u32,
        shared: &SharedPage,
    ) -> Result<f64, MeasureError> {
        let per_call = |ticks: Vec<u64>, calls: u32| {
            let slowest = ticks.into_iter().max().unwrap_or(0);
            (slowest as f64 - self.overhead.pass_ticks).max(1.0) / f64::from(calls)
        };
        let repeats = self.ready[i].repeats;
        let first = if repeats { PILOT_CALLS } else { PILOT_CALLS.min(budget.pairs).max(1) };
        let rough = per_call(self.pass(i, first, member, crew, shared)?, first);
        let wanted = if repeats { budget.repeated(rough, 1) } else { budget.visited(rough, 1) };
        if wanted <= first {
            return Ok(rough);
        }
        Ok(rough.min(per_call(self.pass(i, wanted, member, crew, shared)?, wanted)))
    }
}

/// Pairs that a pass visits at least, where there are so many: priming is the dearer part.
fn least_visited(rig: &Rig) -> u32 {
    let far = |level: Level| matches!(level, Level::L2 | Level::Llc);
    match (rig.level(), rig.apart()) {
        (Some(Level::L1), _) => 1,
        (Some(Level::L2 | Level::Llc), _) => MOST_OF_RING,
        _ if rig.debt().is_some() => MOST_OF_RING,
        (_, Some(apart)) if apart.levels().into_iter().any(far) => MOST_OF_RING,
        _ => LEAST_FROM_MEMORY,
    }
}
