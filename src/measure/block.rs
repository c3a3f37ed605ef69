//! Blocks of samples: one timed pass of every member, shuffled, at places drawn anew each
//! layout.

mod pilot;
mod stretch;

use std::time::Instant;

use super::buffers::Rig;
use super::crew::{Crew, with_crew};
use super::driver::{Ruled, Style};
use super::instruments::{Instruments, Overhead};
use super::noise::Usual;
use super::pass::{Task, stays};
use super::sequence::Sequence;
use super::{MeasureError, draw};
use crate::host;
use crate::jit::Entry;
use crate::mem::{Activity, SharedPage};
use crate::subject::Level;
use crate::trial::{
    BlockRequest, BlockResult, Clock, Countermeasure, Disturbance, Sample, Without,
};
use crate::verify::Verified;
use stretch::{Field, sequence};

/// Times a disturbed block is repeated before it is kept as it is.
const MOST_REPEATS: u32 = 3;

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
    /// Whether it repeats on the first destination of a ring of destinations.
    dst_stays: bool,
    /// Calls that are reported.
    calls: u32,
    /// Calls that are made.
    made: u32,
    usual: Usual,
}

/// Measures the contenders as the request says, on as many threads as there are rigs: the
/// calling one, and one on each of the CPUs. `shared` hears, before every pass, who runs.
///
/// # Errors
/// Where memory for code or a thread is refused, or the sizes of a mix are missing or too large
/// for the cell.
pub fn run_blocks(
    instruments: &mut Instruments,
    (rigs, cpus): (&mut [Rig], &[u32]),
    contenders: &[Contender<'_>],
    request: &BlockRequest,
    shared: &SharedPage,
) -> Result<BlockResult, MeasureError> {
    let parts = (instruments.driver.clone(), instruments.features());
    with_crew(rigs, cpus, parts, |crew| measure(instruments, crew, contenders, request, shared))
}

fn measure(
    instruments: &mut Instruments,
    crew: &mut Crew<'_>,
    contenders: &[Contender<'_>],
    request: &BlockRequest,
    shared: &SharedPage,
) -> Result<BlockResult, MeasureError> {
    let mix = sequence(request)?;
    let without = request.without;
    let style = Style {
        drive: request.cell.drive,
        apart: crew.rig().apart().is_some(),
        consumer: request.cell.conditions.consumer,
        fenced: !without.leaves_off(Countermeasure::Fence),
    };
    let overhead = match &mix {
        None => instruments.overhead(style, crew.rig().size()),
        Some(_) => instruments.mixed_overhead(style),
    };
    let began = Instant::now();
    let spent =
        || request.limit_ns > 0 && began.elapsed().as_nanos() >= u128::from(request.limit_ns);
    let mut run = Run {
        style,
        without,
        blocks: request.blocks,
        mix,
        overhead,
        slack: OUTLIER_SLACK_NS * instruments.ticks_per_ns(),
        ready: Vec::new(),
        rulers: Vec::new(),
        samples: Vec::new(),
        disturbed: 0,
    };
    let moves = !without.leaves_off(Countermeasure::Move);
    for layout in 0..request.layouts {
        if contenders.is_empty() || (layout > 0 && spent()) {
            break;
        }
        if layout == 0 || moves {
            // Where nothing moves, all is where the first layout of any request has it.
            let (seed, at) = if moves { (request.seed, layout) } else { (0, 0) };
            let (mut rng, delta) = draw::layout(seed, at, &request.cell.conditions.placement);
            crew.place(request.seed, delta, &mut rng)?;
            if !moves {
                instruments.rewind();
            }
            run.enter(emit(instruments, contenders, &mut rng)?, crew.rig(), contenders);
        }
        if layout == 0 {
            run.pilot(instruments, crew, contenders, request, shared)?;
        }
        for block in 0..request.blocks {
            if block > 0 && spent() {
                break;
            }
            let order =
                draw::member_order(request.seed, layout, block, contenders.len(), request.order);
            run.block((layout, block), &order, instruments, crew, contenders, shared)?;
        }
    }
    shared.set_in_flight(0, Activity::Idle);
    Ok(BlockResult {
        samples: run.samples,
        failures: Vec::new(),
        clock: clock(&run.rulers, overhead, instruments.shared(&run.rulers)),
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
    style: Style,
    without: Without,
    /// Blocks a layout.
    blocks: u32,
    /// The calls, where their sizes are a mix.
    mix: Option<Sequence>,
    overhead: Overhead,
    slack: f64,
    ready: Vec<Ready>,
    rulers: Vec<Ruled>,
    samples: Vec<Sample>,
    disturbed: u32,
}

impl Run {
    /// Takes the contenders' entries in a layout.
    fn enter(&mut self, entries: Vec<Entry>, rig: &Rig, contenders: &[Contender<'_>]) {
        if self.ready.is_empty() {
            let ready = |(entry, contender): (Entry, &Contender<'_>)| {
                let (repeats, dst_stays) = stays(rig, contender.leaves_cache, self.without);
                let usual = Usual::new(f64::INFINITY);
                Ready { entry, repeats, dst_stays, calls: 1, made: 1, usual }
            };
            self.ready = entries.into_iter().zip(contenders).map(ready).collect();
            return;
        }
        for (ready, entry) in self.ready.iter_mut().zip(entries) {
            ready.entry = entry;
        }
    }

    /// Warms up, primes and times one pass of `made` calls; ticks of each thread.
    fn pass(
        &self,
        i: usize,
        made: u32,
        member: u32,
        crew: &Crew<'_>,
        shared: &SharedPage,
    ) -> Result<Vec<u64>, MeasureError> {
        let Ready { entry, repeats, dst_stays, .. } = self.ready[i];
        let (style, without) = (self.style, self.without);
        shared.beat();
        shared.set_in_flight(member, Activity::Timing);
        let task = Task { entry, repeats, dst_stays, made, style, without };
        // SAFETY: the entry is a verified function of its ABI (a `Contender` holds the token),
        // and nothing is emitted before the pass is over.
        let ticks = unsafe { crew.pass(&task) };
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
        crew: &Crew<'_>,
        contenders: &[Contender<'_>],
        shared: &SharedPage,
    ) -> Result<(), MeasureError> {
        let short = crew.rig().level() == Some(Level::L1) && self.mix.is_none();
        let group = if short { order.len() } else { 1 };
        for (i, order) in order.chunks(group.max(1)).enumerate() {
            let at = (layout, block, i == 0);
            self.group(at, order, instruments, crew, contenders, shared)?;
        }
        Ok(())
    }

    /// Passes that are repeated together while they are disturbed.
    fn group(
        &mut self,
        (layout, block, first): (u32, u32, bool),
        order: &[usize],
        instruments: &Instruments,
        crew: &Crew<'_>,
        contenders: &[Contender<'_>],
        shared: &SharedPage,
    ) -> Result<(), MeasureError> {
        let begin = self.samples.len();
        let most_repeats = match self.without.leaves_off(Countermeasure::Repeat) {
            true => 0,
            false => MOST_REPEATS,
        };
        for repeats in 0..=most_repeats {
            self.samples.truncate(begin);
            if first && self.without.leaves_off(Countermeasure::Prefault) {
                crew.rig().discard_destinations()?;
            }
            let before = host::context_switches().1;
            let ruler = instruments.driver.rule(self.overhead.pass_ticks);
            let mut outlier = false;
            for &i in order {
                let Ready { calls, made, .. } = self.ready[i];
                let member = contenders[i].member;
                let ticks = match &self.mix {
                    None => self.pass(i, made, member, crew, shared)?,
                    Some(sequence) => {
                        let from = self.stretch_begin(layout, block, self.blocks);
                        let field = Field { instruments, rig: crew.rig(), shared };
                        vec![self.stretch(i, made as usize, from, member, sequence, &field)]
                    }
                };
                for (thread, ticks) in (0..).zip(ticks) {
                    outlier |= self.ready[i].usual.is_outlier(ticks, made, self.slack);
                    let disturbance = Disturbance { switches: 0, repeats };
                    self.samples.push(Sample {
                        member,
                        layout,
                        block,
                        thread,
                        ticks,
                        calls,
                        disturbance,
                    });
                }
            }
            let switches = host::context_switches().1.saturating_sub(before) as u32;
            if (outlier || switches > 0) && repeats < most_repeats {
                continue;
            }
            if outlier || switches > 0 {
                self.disturbed += 1;
            }
            self.rulers.push(ruler);
            let threads = usize::from(crew.threads());
            for (samples, &i) in self.samples[begin..].chunks_mut(threads).zip(order) {
                let made = self.ready[i].made;
                for sample in samples {
                    sample.disturbance.switches = switches;
                    self.ready[i].usual.keep(sample.ticks, made);
                }
            }
            return Ok(());
        }
        Ok(())
    }
}

/// Sums up the rulers of a request.
fn clock(rulers: &[Ruled], overhead: Overhead, shared: f64) -> Clock {
    let middle = |values: &mut Vec<f64>| {
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    let mut imul: Vec<f64> = rulers.iter().map(|r| r.cycles_per_tick).collect();
    let cycles_per_tick = middle(&mut imul);
    // An interrupt inside a ruler says nothing about the clock.
    imul.retain(|r| *r > cycles_per_tick / 2.0 && *r < cycles_per_tick * 2.0);
    let range = (imul.first().copied().unwrap_or(0.0), imul.last().copied().unwrap_or(0.0));
    Clock {
        cycles_per_tick,
        range,
        add_cycles_per_tick: middle(&mut rulers.iter().map(|r| r.add_cycles_per_tick).collect()),
        additions_per_cycle: middle(&mut rulers.iter().map(|r| r.additions).collect()),
        shared,
        pass_ticks: overhead.pass_ticks,
        call_ticks: overhead.call_ticks,
    }
}
