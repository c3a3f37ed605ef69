//! Priming with countermeasures left off, so that the traps which they shut can be shown. What
//! is here is wrong on purpose; nothing of it runs unless a request says so.

use super::buffers::{Pair, Rig};
use super::prime::{PAGE, lines, read, write_and_read};
use crate::subject::Level;
use crate::trial::{Countermeasure, Without};

/// Primes as one does who has not met the trap. Whether that was all.
pub(super) fn primes(rig: &Rig, visited: impl Iterator<Item = Pair>, without: Without) -> bool {
    if without.leaves_off(Countermeasure::Prefault) {
        // Nobody has been at the destination before the pass.
        let sources = visited.filter_map(|pair| pair.src);
        sources.flat_map(|src| lines(src, rig.span())).for_each(read);
        return true;
    }
    if without.leaves_off(Countermeasure::Settle)
        && matches!(rig.level(), Some(Level::L2 | Level::Llc))
    {
        rig.visits().for_each(|pair| write_and_read(pair, rig.span()));
        return true;
    }
    false
}

/// Touches each page of a buffer through the buffer's own first line there.
pub(super) fn touch_near(start: usize, size: usize) {
    read(start);
    let next = (start / PAGE + 1) * PAGE;
    (next..start + size).step_by(PAGE).for_each(read);
}
