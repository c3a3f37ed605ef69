//! Samples of a mix. A sample is a stretch of the sequence, the same for all members of a
//! block; the next block goes on where it ended. It is timed in legs: as many calls as the
//! first cache has room for a list of beside the data, or as a primed ring may be visited
//! for, with the state made anew before each. A sample's ticks are their sum, less what all
//! fences but one pair take.

use super::{Contender, Ready, Run};
use crate::measure::MeasureError;
use crate::measure::buffers::{Pair, Rig};
use crate::measure::calls::planted;
use crate::measure::driver::Style;
use crate::measure::instruments::Instruments;
use crate::measure::mixed::{MixedArgs, PackedCall};
use crate::measure::noise::Usual;
use crate::measure::prime::{prime, prime_near, touch_list};
use crate::measure::sequence::{DrawnCall, SEQUENCE, STRATA, Sequence};
use crate::mem::{Activity, SharedPage};
use crate::subject::{Drive, Level};
use crate::trial::BlockRequest;

/// Calls of a leg on one pair: a list of 4 KiB, which with buffers of three quarters of any
/// first cache of today still fits it.
const LEG: usize = 512;

/// Calls of a sample on one pair: enough that the branch predictor's first guesses at a
/// stretch are few among them.
const LEAST_CALLS: usize = 2 * LEG;

/// Calls before a leg that train the core on a function: the sizes' many ways through it are
/// more than one size's.
const WARM_CALLS: usize = 256;

/// Members that the pilot looks at: where passes are cheap, and where priming is dear.
const PILOTS: usize = 8;
const DEAR_PILOTS: usize = 2;

/// The calls of a request for a mix; `None` for one size.
pub(super) fn sequence(request: &BlockRequest) -> Result<Option<Sequence>, MeasureError> {
    if request.cell.mix.is_none() {
        return Ok(None);
    }
    let none = |why: &str| Err(MeasureError::NoState(why.into()));
    match request.weights.iter().map(|(size, _)| u64::from(*size)).max() {
        None => none("the sizes of the mix are missing"),
        Some(largest) if largest > request.cell.size => {
            none("the mix has sizes beyond the largest of its cell")
        }
        Some(_) => Ok(Some(Sequence::draw(request.seed, &request.weights))),
    }
}

/// What a stretch is measured with.
pub(super) struct Field<'a> {
    pub(super) instruments: &'a Instruments,
    pub(super) rig: &'a Rig,
    pub(super) shared: &'a SharedPage,
}

impl Run {
    /// Chooses the number of calls of a sample, one for all members, since all walk the same
    /// stretch.
    pub(super) fn pilot_mixed(
        &mut self,
        sequence: &Sequence,
        field: &Field<'_>,
        contenders: &[Contender<'_>],
        request: &BlockRequest,
    ) {
        let near = field.rig.level() == Some(Level::L1);
        let stride = self.ready.len().div_ceil(if near { PILOTS } else { DEAR_PILOTS }).max(1);
        let mut fastest = f64::INFINITY;
        for i in (0..self.ready.len()).step_by(stride) {
            let calls = if self.ready[i].repeats { LEG } else { STRATA };
            let ticks = self.stretch(i, calls, 0, contenders[i].member, sequence, field);
            let per_call = (ticks as f64 - self.overhead.pass_ticks).max(1.0) / calls as f64;
            self.ready[i].usual = Usual::new(per_call);
            fastest = fastest.min(per_call);
        }
        let asked = field.instruments.pass_ticks(request.pass_ns) / fastest.max(0.1);
        let visitable = field.rig.visitable() as usize;
        let calls = match field.rig.level() {
            Some(Level::L1) => {
                (asked as usize).clamp(LEAST_CALLS, SEQUENCE).next_multiple_of(STRATA)
            }
            // Priming takes many times the pass: all that it serves is visited.
            Some(Level::L2 | Level::Llc) => whole_strata(visitable),
            _ => whole_strata((asked as usize).min(visitable)),
        };
        for (ready, contender) in self.ready.iter_mut().zip(contenders) {
            ready.calls = calls as u32;
            ready.made = planted(calls as u32, contender.plant);
        }
    }

    /// Where in the sequence a block's stretch begins.
    pub(super) fn stretch_begin(&self, layout: u32, block: u32, blocks: u32) -> usize {
        let before = u64::from(layout) * u64::from(blocks) + u64::from(block);
        let calls = self.ready.first().map_or(0, |r| u64::from(r.calls));
        (before.wrapping_mul(calls) % SEQUENCE as u64) as usize
    }

    /// Ticks of `made` calls of one member, from `from` of the sequence on.
    pub(super) fn stretch(
        &self,
        i: usize,
        made: usize,
        from: usize,
        member: u32,
        sequence: &Sequence,
        field: &Field<'_>,
    ) -> u64 {
        let ready = &self.ready[i];
        let most = if ready.repeats { LEG } else { field.rig.visitable().max(1) as usize };
        let (mut ticks, mut legs, mut done) = (0u64, 0u32, 0);
        while done < made {
            let count = most.min(made - done);
            field.shared.beat();
            field.shared.set_in_flight(member, Activity::Timing);
            ticks += self.leg(ready, (from + done, count), legs == 0, sequence, field);
            (legs, done) = (legs + 1, done + count);
        }
        field.shared.set_in_flight(member, Activity::Idle);
        let fences = f64::from(legs.saturating_sub(1)) * self.overhead.pass_ticks;
        ticks.saturating_sub(fences as u64).max(1)
    }

    /// Warms up, primes and times one leg; its ticks.
    fn leg(
        &self,
        ready: &Ready,
        (from, count): (usize, usize),
        first: bool,
        sequence: &Sequence,
        field: &Field<'_>,
    ) -> u64 {
        let Field { instruments, rig, .. } = field;
        let destinations = rig.destinations();
        let run = |style: Style, list: &[PackedCall]| {
            let Pair { dst, src } = rig.base();
            let args = MixedArgs::new(&ready.entry, list, dst, src.unwrap_or(dst));
            // SAFETY: the entry is a verified function of its ABI (a `Contender` holds the
            // token) in memory that outlives the call; verification saw it touch nothing but
            // the bytes that it is called for. Lists are packed from slots of the rig, whose
            // stride has room for the largest size of the cell and any drawn offset, and no
            // size of the sequence is larger (`run_blocks` refuses weights that are).
            unsafe { instruments.driver.mixed_pass(style, &args) }
        };
        let warm = |pair: Option<Pair>| {
            let Some(pair) = pair else { return };
            let before = from + SEQUENCE - WARM_CALLS;
            let calls = sequence.stretch(before, WARM_CALLS);
            let style = Style { drive: Drive::Throughput, ..self.style };
            run(style, &packed(rig, std::iter::repeat(pair.dst), calls));
        };
        let (slots, visits) = match ready.repeats {
            true => (&destinations[..1], 1),
            false => (&destinations[..count], count as u32),
        };
        let calls = || sequence.stretch(from, count);
        let list = packed(rig, slots.iter().copied().cycle(), calls());
        // As with passes of one size: before priming where that is near, else after it,
        // because priming may push the code out.
        if rig.level() == Some(Level::L1) {
            if first {
                warm(if ready.repeats { Some(rig.pair_of(slots[0])) } else { rig.warm_pair() });
            }
            if ready.repeats {
                prime(rig, visits, instruments.features(), self.without);
            } else {
                prime_near(slots.iter().zip(calls()).map(|(slot, call)| {
                    let Pair { dst, src } = rig.pair_of(*slot);
                    let src = src.map(|src| src + usize::from(call.src));
                    (Pair { dst: dst + usize::from(call.dst), src }, call.n as usize)
                }));
            }
        } else {
            prime(rig, visits, instruments.features(), self.without);
            warm(rig.warm_pair());
        }
        touch_list(&list);
        run(self.style, &list)
    }
}

/// So many calls as whole strata, one at least.
fn whole_strata(calls: usize) -> usize {
    (calls / STRATA).max(1) * STRATA
}

/// The calls at these destinations. A rig of a mix is small enough for all of them to fit.
fn packed<'a>(
    rig: &Rig,
    slots: impl Iterator<Item = usize>,
    calls: impl Iterator<Item = &'a DrawnCall>,
) -> Vec<PackedCall> {
    let base = rig.base().dst;
    slots
        .zip(calls)
        .filter_map(|(slot, call)| {
            let at = slot - base + usize::from(call.dst);
            PackedCall::new(at, call.n, i32::from(call.src) - i32::from(call.dst))
        })
        .collect()
}
