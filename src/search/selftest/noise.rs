//! One state: contests whose outcome is known, and what moved meanwhile.

use std::time::Instant;

use super::bias::{Bias, order, predecessor};
use super::desk::{Desk, Loops, Named, SelftestError, member};
use super::judge::{Drift, believable, drift, false_wins, found, log_ticks, paired};
use crate::measure::step_of;
use crate::search::context::{DEAR_PASS_NS, RACE_PASS_NS, baseline_entrant};
use crate::search::run::{CONFIRM_LAYOUTS, confirm_seconds};
use crate::search::{Effort, band, is_cheap};
use crate::stats::{Interval, Share, median};
use crate::subject::{Baseline, Cell, Level};
use crate::trial::{Company, Member, MemberOrder, Sample};

/// Differences that are planted: extra calls as a fraction of the calls.
pub const PLANTS: [f64; 4] = [0.005, 0.01, 0.02, 0.05];

/// How a planted difference was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// What was asked for.
    pub asked: f64,
    /// What was there: passes have whole calls, and a ring has only so many pairs.
    pub planted: f64,
    /// Contests that saw it.
    pub found: Share,
}

/// What a state is like, here and now.
#[derive(Clone, Debug, PartialEq)]
pub struct StateNoise {
    /// Where.
    pub cell: Cell,
    /// What each contest had: the layouts that a search by default confirms its winner with,
    /// on a machine as loud as this.
    pub layouts: u32,
    /// Blocks a layout.
    pub blocks: u32,
    /// Wall time of the measuring.
    pub seconds: f64,
    /// Contests between equals that had a winner.
    pub false_wins: Share,
    /// By planted difference, ascending.
    pub power: Vec<Power>,
    /// See [`believable`].
    pub believable: f64,
    /// The plain loop after a non-temporal one, over the same after a plain one.
    pub predecessor: Bias,
    /// First in a block over second.
    pub order: Bias,
    /// How far things moved.
    pub drift: Drift,
    /// Passes (in l1 blocks) that were repeated, because something had got into them.
    pub repeated: Share,
    /// Those that stayed disturbed.
    pub disturbed: Share,
    /// Who else was on the core.
    pub company: Company,
    /// Involuntary context switches of the worker in samples that were kept.
    pub switches: u64,
    /// Step of the time-stamp counter, ticks, as the samples show it.
    pub clock_step: u64,
}

/// The difference that ought to be seen in a state: where it is not, the machine is loud.
pub fn wanted(cell: &Cell) -> f64 {
    if is_cheap(cell) { 0.02 } else { 0.05 }
}

impl StateNoise {
    /// Whether this is no place for fine differences.
    pub fn is_loud(&self) -> bool {
        self.believable > wanted(&self.cell)
    }
}

/// Layouts of the tests of bias, over those of a contest: they look for small things once.
const BIAS_LAYOUTS: u32 = 4;

/// As they need at least.
const LEAST_BIAS_LAYOUTS: u32 = 120;

/// Layouts of the pilot that tells what a contest may have.
const PILOT_LAYOUTS: u32 = 8;

/// What a contest of the default search has in a cell: as many layouts as its confirmation has
/// time for, of a winner, its rival and the baselines.
fn effort(desk: &mut Desk<'_>, cell: Cell, loops: &Loops) -> Result<Effort, SelftestError> {
    let (blocks, pass_ns) = if is_cheap(&cell) { (3, RACE_PASS_NS) } else { (1, DEAR_PASS_NS) };
    let mut members: Vec<Named<'_>> = vec![("the plain loop", member(&loops.plain.body)); 2];
    for baseline in Baseline::PRESENT {
        let entrant = baseline_entrant(*baseline, cell.op);
        members.extend(entrant.map(|e| (baseline.word(), e.member)));
    }
    let pilot = Effort { layouts: PILOT_LAYOUTS, blocks, pass_ns, limit_ns: 0 };
    // The first request makes the buffers and verifies.
    desk.ask(cell, &members, Effort { layouts: 1, ..pilot }, MemberOrder::Shuffled)?;
    let began = Instant::now();
    desk.ask(cell, &members, pilot, MemberOrder::Shuffled)?;
    let layout = began.elapsed().as_secs_f64() / f64::from(PILOT_LAYOUTS);
    let affordable = (confirm_seconds(&cell) / layout) as u32;
    let layouts = affordable.clamp(CONFIRM_LAYOUTS.0, CONFIRM_LAYOUTS.1);
    Ok(Effort { layouts, ..pilot })
}

/// Tests a state by so many contests; `tell` hears how many are done.
pub(super) fn state(
    desk: &mut Desk<'_>,
    cell: Cell,
    loops: &Loops,
    contests: u32,
    tell: &mut dyn FnMut(u32),
) -> Result<StateNoise, SelftestError> {
    let began = Instant::now();
    let effort = effort(desk, cell, loops)?;
    let plain = || member(&loops.plain.body);
    let planted = |plant: &f64| ("the planted loop", Member { plant: *plant, ..plain() });
    let mut members: Vec<Named<'_>> = vec![("the plain loop", plain()); 2];
    members.extend(PLANTS.iter().map(planted));
    let mut told = Told::default();
    let l1 = cell.state.level() == Some(Level::L1);
    for contest in 0..contests {
        tell(contest);
        let result = desk.ask(cell, &members, effort, MemberOrder::Shuffled)?;
        for (rival, intervals) in told.intervals.iter_mut().enumerate() {
            let paired = paired(&result.samples, rival as u32 + 1, 0);
            intervals.push(paired.interval(&mut desk.rng));
        }
        told.take(&result.samples, result.clock.cycles_per_tick, l1);
        told.disturbed += u64::from(result.disturbed);
        told.company.take(&result);
    }
    let bias_layouts = (effort.layouts * BIAS_LAYOUTS).max(LEAST_BIAS_LAYOUTS);
    let bias_effort = Effort { layouts: bias_layouts, ..effort };
    let predecessor = predecessor(desk, cell, loops, bias_effort)?;
    let order = order(desk, cell, loops, bias_effort)?;
    let [equals, planted @ ..] = &told.intervals;
    let power = PLANTS.iter().zip(planted).map(|(asked, intervals)| Power {
        asked: *asked,
        planted: told.planted(*asked),
        found: found(intervals),
    });
    Ok(StateNoise {
        cell,
        layouts: effort.layouts,
        blocks: effort.blocks,
        false_wins: false_wins(equals, band(&cell)),
        power: power.collect(),
        believable: believable(equals).unwrap_or(f64::INFINITY),
        predecessor,
        order,
        drift: drift(&told.sentinel),
        repeated: told.repeated,
        disturbed: Share { hits: told.disturbed, of: told.repeated.of },
        company: told.company,
        switches: told.switches,
        clock_step: step_of(told.ticks),
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// What the contests of a state told so far.
#[derive(Default)]
struct Told {
    /// Of the equal, and of each planted, against the first.
    intervals: [Vec<Interval>; 1 + PLANTS.len()],
    /// Of each contest cycles a tick and ln time of the first.
    sentinel: Vec<(f64, f64)>,
    repeated: Share,
    disturbed: u64,
    company: Company,
    switches: u64,
    /// Lengths of passes of the first.
    ticks: Vec<u64>,
    calls: u32,
}

impl Told {
    fn take(&mut self, samples: &[Sample], cycles_per_tick: f64, l1: bool) {
        let own = || samples.iter().filter(|s| s.member == 0);
        let mut logs: Vec<f64> = own().map(log_ticks).collect();
        self.sentinel.push((cycles_per_tick, median(&mut logs)));
        self.ticks.extend(own().map(|s| s.ticks));
        self.calls = own().map(|s| s.calls).next().unwrap_or(self.calls);
        // What is repeated together counts once: in the first level the block, else the pass.
        let together = |a: &Sample, b: &Sample| l1 && (a.layout, a.block) == (b.layout, b.block);
        for group in samples.chunk_by(together) {
            self.repeated.hits += u64::from(group[0].disturbance.repeats > 0);
            self.repeated.of += 1;
            self.switches += u64::from(group[0].disturbance.switches);
        }
    }

    /// A plant as the passes had it.
    fn planted(&self, asked: f64) -> f64 {
        let calls = f64::from(self.calls.max(1));
        (calls * asked).round().max(1.0) / calls
    }
}
