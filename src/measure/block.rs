//! Blocks of samples: one timed pass of every member, shuffled, at places drawn anew each
//! layout.

mod stretch;

use std::time::Instant;

use super::buffers::{Pair, Rig};
use super::calls::{Budget, plant_step, planted};
use super::driver::PassArgs;
use super::instruments::{Instruments, Overhead};
use super::noise::Usual;
use super::prime::{prime, touch_list};
use super::sequence::Sequence;
use super::{MeasureError, draw};
use crate::host;
use crate::jit::Entry;
use crate::mem::{Activity, SharedPage};
use crate::subject::{Drive, Level};
use crate::trial::{BlockRequest, BlockResult, Clock, Disturbance, Sample};
use crate::verify::Verified;
use stretch::{Field, sequence};

/// Times a disturbed block is repeated before it is kept as it is.
const MOST_REPEATS: u32 = 3;

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

/// Calls that train the core on a function before its pass.
const WARM_CALLS: u64 = 4;

/// A late page walk or store burst, nanoseconds: forgiven in short passes.
const OUTLIER_SLACK_NS: f64 = 300.0;

/// A verified subject in a block.
pub struct Contender<'a> {
    /// Its index in the request.
    pub member: u32,
    /// What runs.
    pub verified: &'a Verified,
    /// Whether it must not repeat on one pair.
    pub leaves_cache: bool,
    /// Extra calls, as a fraction.
    pub plant: f64,
}

/// How a contender runs in the present layout.
struct Ready {
    entry: Entry,
    /// Whether it repeats on the first pair of the ring.
    repeats: bool,
    /// Calls that are reported.
    calls: u32,
    /// Calls that are made.
    made: u32,
    usual: Usual,
}

/// Measures the contenders as the request says. `shared` hears, before every pass, who runs.
///
/// # Errors
/// Where memory for code is refused, or the sizes of a mix are missing or too large for the
/// cell.
pub fn run_blocks(
    instruments: &mut Instruments,
    rig: &mut Rig,
    contenders: &[Contender<'_>],
    request: &BlockRequest,
    shared: &SharedPage,
) -> Result<BlockResult, MeasureError> {
    let mix = sequence(request)?;
    let overhead = match &mix {
        None => instruments.overhead(request.cell.drive),
        Some(_) => instruments.mixed_overhead(request.cell.drive),
    };
    let began = Instant::now();
    let spent =
        || request.limit_ns > 0 && began.elapsed().as_nanos() >= u128::from(request.limit_ns);
    let mut run = Run {
        drive: request.cell.drive,
        blocks: request.blocks,
        mix,
        overhead,
        slack: OUTLIER_SLACK_NS * instruments.ticks_per_ns(),
        ready: Vec::new(),
        rulers: Vec::new(),
        samples: Vec::new(),
        disturbed: 0,
    };
    for layout in 0..request.layouts {
        if contenders.is_empty() || (layout > 0 && spent()) {
            break;
        }
        let (mut rng, delta) =
            draw::layout(request.seed, layout, &request.cell.conditions.placement);
        rig.place(request.seed, delta, &mut rng);
        let entries = emit(instruments, contenders, &mut rng)?;
        if layout == 0 {
            run.ready = entries
                .into_iter()
                .zip(contenders)
                .map(|(entry, c)| Ready {
                    entry,
                    repeats: rig.level() == Level::L1 && !c.leaves_cache,
                    calls: 1,
                    made: 1,
                    usual: Usual::new(f64::INFINITY),
                })
                .collect();
            run.pilot(instruments, rig, contenders, request, shared);
        } else {
            for (ready, entry) in run.ready.iter_mut().zip(entries) {
                ready.entry = entry;
            }
        }
        for block in 0..request.blocks {
            if block > 0 && spent() {
                break;
            }
            let order =
                draw::member_order(request.seed, layout, block, contenders.len(), request.order);
            run.block((layout, block), &order, instruments, rig, contenders, shared);
        }
    }
    shared.set_in_flight(0, Activity::Idle);
    Ok(BlockResult {
        samples: run.samples,
        failures: Vec::new(),
        clock: clock(&run.rulers, overhead),
        disturbed: run.disturbed,
    })
}

/// Entries of all contenders: generated code goes to fresh places, others stay where they
/// are.
fn emit(
    instruments: &mut Instruments,
    contenders: &[Contender<'_>],
    rng: &mut impl rand::Rng,
) -> Result<Vec<Entry>, MeasureError> {
    let codes: Vec<&[u8]> = contenders.iter().filter_map(|c| c.verified.code()).collect();
    let mut slots = instruments.emit(&codes, rng)?.into_iter();
    Ok(contenders
        .iter()
        .filter_map(|c| match c.verified.fixed_entry() {
            Some(entry) => Some(entry),
            None => slots.next().map(|slot| Entry { addr: slot.addr, abi: c.verified.abi() }),
        })
        .collect())
}

/// The state of a request in work.
struct Run {
    drive: Drive,
    /// Blocks a layout.
    blocks: u32,
    /// The calls, where their sizes are a mix.
    mix: Option<Sequence>,
    overhead: Overhead,
    slack: f64,
    ready: Vec<Ready>,
    rulers: Vec<(f64, f64)>,
    samples: Vec<Sample>,
    disturbed: u32,
}

impl Run {
    /// Chooses numbers of calls from a few untimed passes.
    fn pilot(
        &mut self,
        instruments: &Instruments,
        rig: &Rig,
        contenders: &[Contender<'_>],
        request: &BlockRequest,
        shared: &SharedPage,
    ) {
        if let Some(sequence) = self.mix.take() {
            let field = Field { instruments, rig, shared };
            self.pilot_mixed(&sequence, &field, contenders, request);
            self.mix = Some(sequence);
            return;
        }
        let budget = Budget {
            pass_ticks: instruments.pass_ticks(request.pass_ns),
            pairs: rig.pairs(),
            least_visited: match rig.level() {
                Level::L1 => 1,
                Level::L2 | Level::Llc => MOST_OF_RING,
                Level::Dram => LEAST_FROM_MEMORY,
            },
        };
        let step = plant_step(contenders.iter().map(|c| c.plant));
        for repeats in [true, false] {
            let group: Vec<usize> =
                (0..self.ready.len()).filter(|i| self.ready[*i].repeats == repeats).collect();
            let pilots = if rig.level() == Level::L1 { PILOTS } else { DEAR_PILOTS };
            let stride = group.len().div_ceil(pilots).max(1);
            let mut fastest = f64::INFINITY;
            for &i in group.iter().step_by(stride) {
                let ticks = self.pilot_one(i, &budget, instruments, rig, contenders, shared);
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
    }

    /// Ticks a call of one member: of a short pass, and then of one nearer the wanted length.
    fn pilot_one(
        &mut self,
        i: usize,
        budget: &Budget,
        instruments: &Instruments,
        rig: &Rig,
        contenders: &[Contender<'_>],
        shared: &SharedPage,
    ) -> f64 {
        let per_call = |ticks: u64, calls: u32| {
            (ticks as f64 - self.overhead.pass_ticks).max(1.0) / f64::from(calls)
        };
        let first = PILOT_CALLS.min(rig.pairs()).max(1);
        let first = if self.ready[i].repeats { PILOT_CALLS } else { first };
        let member = contenders[i].member;
        let rough = per_call(self.pass(i, first, member, instruments, rig, shared), first);
        let wanted = if self.ready[i].repeats {
            budget.repeated(rough, 1)
        } else {
            budget.visited(rough, 1)
        };
        if wanted <= first {
            return rough;
        }
        rough.min(per_call(self.pass(i, wanted, member, instruments, rig, shared), wanted))
    }

    /// Warms up, primes and times one pass of `made` calls; its ticks.
    fn pass(
        &self,
        i: usize,
        made: u32,
        member: u32,
        instruments: &Instruments,
        rig: &Rig,
        shared: &SharedPage,
    ) -> u64 {
        let ready = &self.ready[i];
        shared.beat();
        shared.set_in_flight(member, Activity::Timing);
        let visits = if ready.repeats { 1 } else { made.min(rig.pairs()) };
        let list = &rig.destinations()[..visits as usize];
        let run = |drive, list: &[usize], calls, pair: Pair| {
            let args = pass_args(&ready.entry, list, calls, pair, rig.size());
            // SAFETY: the entry is a verified function of its ABI (a `Contender` holds the
            // token) in memory that outlives the call; verification saw it touch nothing
            // but the n bytes of its buffers, and every address of the list, with the
            // source at the pair's distance, has so many bytes inside the rig's maps.
            unsafe { instruments.driver.pass(drive, &args) }
        };
        let warm = |pair: Pair| {
            run(Drive::Throughput, &[pair.dst], WARM_CALLS, pair);
        };
        let first = rig.pair_of(list[0]);
        // In the first level the warm-up must not push the pair out, so it comes first; in
        // the others it must come last, because priming may push the code out.
        if rig.level() == Level::L1 {
            if ready.repeats {
                warm(first)
            } else {
                rig.warm_pair().into_iter().for_each(warm)
            }
            prime(rig, visits, instruments.features());
        } else {
            prime(rig, visits, instruments.features());
            rig.warm_pair().into_iter().for_each(warm);
        }
        touch_list(list);
        let ticks = run(self.drive, list, u64::from(made), first);
        shared.set_in_flight(member, Activity::Idle);
        ticks
    }

    /// One block. What was disturbed is repeated: the whole block where a pass is so short
    /// that a disturbance reaches the next ones, else the pass.
    fn block(
        &mut self,
        (layout, block): (u32, u32),
        order: &[usize],
        instruments: &Instruments,
        rig: &Rig,
        contenders: &[Contender<'_>],
        shared: &SharedPage,
    ) {
        let short = rig.level() == Level::L1 && self.mix.is_none();
        let group = if short { order.len() } else { 1 };
        for order in order.chunks(group.max(1)) {
            self.group((layout, block), order, instruments, rig, contenders, shared);
        }
    }

    /// Passes that are repeated together while they are disturbed.
    fn group(
        &mut self,
        (layout, block): (u32, u32),
        order: &[usize],
        instruments: &Instruments,
        rig: &Rig,
        contenders: &[Contender<'_>],
        shared: &SharedPage,
    ) {
        let begin = self.samples.len();
        for repeats in 0..=MOST_REPEATS {
            self.samples.truncate(begin);
            let before = host::context_switches().1;
            let ruler = instruments.driver.rule(self.overhead.pass_ticks);
            let mut outlier = false;
            for &i in order {
                let (calls, made) = (self.ready[i].calls, self.ready[i].made);
                let member = contenders[i].member;
                let ticks = match &self.mix {
                    None => self.pass(i, made, member, instruments, rig, shared),
                    Some(sequence) => {
                        let from = self.stretch_begin(layout, block, self.blocks);
                        let field = Field { instruments, rig, shared };
                        self.stretch(i, made as usize, from, member, sequence, &field)
                    }
                };
                outlier |= self.ready[i].usual.is_outlier(ticks, made, self.slack);
                let disturbance = Disturbance { switches: 0, repeats };
                self.samples.push(Sample { member, layout, block, ticks, calls, disturbance });
            }
            let switches = host::context_switches().1.saturating_sub(before) as u32;
            if (outlier || switches > 0) && repeats < MOST_REPEATS {
                continue;
            }
            if outlier || switches > 0 {
                self.disturbed += 1;
            }
            self.rulers.push(ruler);
            for (sample, &i) in self.samples[begin..].iter_mut().zip(order) {
                sample.disturbance.switches = switches;
                let made = self.ready[i].made;
                self.ready[i].usual.keep(sample.ticks, made);
            }
            return;
        }
    }
}

/// Arguments of a pass of an entry over a list of destinations, given one pair of them.
fn pass_args(entry: &Entry, list: &[usize], calls: u64, pair: Pair, n: usize) -> PassArgs {
    // Which argument moves with the destination is the ABI's; asking twice shows it.
    let src = pair.src.unwrap_or(pair.dst);
    let here = entry.arguments(pair.dst, src, n);
    let moved = entry.arguments(pair.dst.wrapping_add(64), src.wrapping_add(64), n);
    let moves = moved[1] != here[1];
    PassArgs {
        list: list.as_ptr(),
        list_end: list.as_ptr_range().end,
        calls,
        entry: entry.addr,
        second_mask: if moves { usize::MAX } else { 0 },
        second_plus: if moves { here[1].wrapping_sub(here[0]) } else { here[1] },
        third: here[2],
        last: n.saturating_sub(1),
    }
}

/// Sums up the rulers of a request.
fn clock(rulers: &[(f64, f64)], overhead: Overhead) -> Clock {
    let middle = |values: &mut Vec<f64>| {
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    let mut imul: Vec<f64> = rulers.iter().map(|r| r.0).collect();
    let cycles_per_tick = middle(&mut imul);
    // An interrupt inside a ruler says nothing about the clock.
    imul.retain(|r| *r > cycles_per_tick / 2.0 && *r < cycles_per_tick * 2.0);
    let range = (imul.first().copied().unwrap_or(0.0), imul.last().copied().unwrap_or(0.0));
    Clock {
        cycles_per_tick,
        range,
        add_cycles_per_tick: middle(&mut rulers.iter().map(|r| r.1).collect()),
        pass_ticks: overhead.pass_ticks,
        call_ticks: overhead.call_ticks,
    }
}
