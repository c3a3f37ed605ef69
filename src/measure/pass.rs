//! One timed pass, as each thread makes it.

use super::MeasureError;
use super::buffers::{Pair, Rig};
use super::driver::{Driver, PassArgs, Style};
use super::gate::Gate;
use super::prime::{Colder, prime, touch_list};
use crate::host::{self, FeatureSet};
use crate::jit::Entry;
use crate::subject::{Drive, Level};
use crate::trial::{Countermeasure, Without};

/// Calls that train the core on a function before its pass.
const WARM_CALLS: u64 = 4;

/// What is timed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// The function.
    pub(super) entry: Entry,
    /// Whether all calls are on the first pair of the ring.
    pub(super) repeats: bool,
    /// Whether all calls are on the first destination, where the pointers have rings of their
    /// own.
    pub(super) dst_stays: bool,
    /// Calls that are made.
    pub(super) made: u32,
    /// By which driver.
    pub(super) style: Style,
    /// What is left off.
    pub(super) without: Without,
}

/// Warms up, primes and times one pass; its ticks. With a gate all threads begin the timed part
/// together.
///
/// # Errors
/// Where fresh pages were not fresh. The gate has been passed all the same.
///
/// # Safety
/// The entry must be a verified function of its ABI in memory that stays as it is meanwhile.
pub(super) unsafe fn timed(
    task: &Task,
    rig: &Rig,
    driver: &Driver,
    features: FeatureSet,
    gate: Option<&Gate>,
) -> Result<u64, MeasureError> {
    let Task { style, without, .. } = *task;
    let visits = if task.repeats { 1 } else { task.made.min(rig.calls(task.dst_stays)) };
    let list = list(task, rig, visits);
    let words = if style.apart { 2 } else { 1 };
    let run = |style: Style, list: &[usize], calls: u64| {
        let args = pass_args(&task.entry, list, calls, rig, style);
        // SAFETY: the entry is verified (the caller's promise): it touches nothing but the n
        // bytes of its buffers, and every destination of the list, with the source beside it
        // or at the pair's distance, has so many bytes inside the rig's maps, which are
        // readable to a consumer. A list that is apart has two words a call.
        unsafe { driver.pass(style, &args) }
    };
    let warm = |pair: Option<Pair>| {
        let Some(Pair { dst, src }) = pair else { return };
        let style = Style { drive: Drive::Throughput, ..style };
        run(style, &[dst, src.unwrap_or(dst)][..words], WARM_CALLS);
    };
    let given_back = if rig.is_fresh() { rig.discard_destinations() } else { Ok(()) };
    // In the first level the warm-up must not push the data out, so it comes first; in the
    // others it must come last, because priming may push the code out.
    match (rig.level(), rig.apart()) {
        (Some(Level::L1), _) => {
            warm(if task.repeats { Some(rig.pair_of(list[0])) } else { rig.warm_pair() });
            prime(rig, visits, features, without);
        }
        (_, Some(apart)) => {
            let colder = Colder::of(rig, apart, (visits, task.dst_stays), features, without);
            colder.prime();
            if apart.levels()[1] == Level::L1 {
                warm(rig.warm_pair());
                colder.prime_the_other();
            } else {
                colder.prime_the_other();
                warm(rig.warm_pair());
            }
        }
        _ => {
            prime(rig, visits, features, without);
            warm(rig.warm_pair());
        }
    }
    touch_list(&list);
    let faults = || if rig.is_fresh() { host::minor_faults() } else { 0 };
    let before = faults();
    if let Some(gate) = gate {
        gate.pass();
    }
    let ticks = run(style, &list, u64::from(task.made));
    given_back?;
    let (faults, pages) = (faults() - before, u64::from(visits) * rig.pages_a_call());
    if rig.is_fresh() && faults < pages {
        return Err(MeasureError::NotFresh { pages, faults });
    }
    Ok(ticks)
}

/// What the driver is to walk: destinations, or destinations and sources in turn.
fn list(task: &Task, rig: &Rig, visits: u32) -> Vec<usize> {
    let destinations = rig.destinations();
    let Some(apart) = rig.apart() else { return destinations[..visits as usize].to_vec() };
    let sources = rig.sources();
    let src_stays = apart.src.level == Level::L1;
    (0..visits as usize)
        .flat_map(|i| {
            let dst = if task.dst_stays { 0 } else { i };
            let src = if src_stays { 0 } else { i };
            [destinations[dst], sources[src]]
        })
        .collect()
}

/// Arguments of a pass of an entry over a list.
fn pass_args(entry: &Entry, list: &[usize], calls: u64, rig: &Rig, style: Style) -> PassArgs {
    let n = rig.size();
    let dst = list[0];
    let src = if style.apart { list[1] } else { rig.pair_of(dst).src.unwrap_or(dst) };
    // Which argument moves with the destination is the ABI's; asking twice shows it.
    let here = entry.arguments(dst, src, n);
    let moved = entry.arguments(dst.wrapping_add(64), src.wrapping_add(64), n);
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

/// Whether calls of a member stay on the first pair of the ring, and whether they stay on the
/// first destination of a ring of destinations.
pub(super) fn stays(rig: &Rig, leaves_cache: bool, without: Without) -> (bool, bool) {
    let stays = !leaves_cache || without.leaves_off(Countermeasure::Ring);
    let near = rig.apart().is_some_and(|apart| apart.dst.level == Level::L1);
    (rig.level() == Some(Level::L1) && stays, near && stays)
}
