//! What keeps a trap of measuring shut, by name: each can be left off to show what it is for.

use serde::{Deserialize, Serialize};

use crate::units::words;

words! {
    /// A countermeasure against a trap.
    Countermeasure {
        /// `mfence` before the clock is read at the end of a pass. Without it, non-temporal
        /// stores are still in their buffers when the time is taken.
        Fence = "fence",
        /// Flushing a ring and settling it by several passes before each timed one. Without it
        /// (one pass of writes), a subject inherits what its predecessor left behind.
        Settle = "settle",
        /// Touching a page's translation through a line that is flushed afterwards. Without it
        /// (touched after the flush), one line of each page is in the first level again.
        FarTouch = "far-touch",
        /// A ring in the first level for loops that store past the caches. Without it they
        /// repeat on one pair of buffers and are flattered.
        Ring = "ring",
        /// Shuffling the members of a block. Without it the first has always the same one
        /// before it.
        Shuffle = "shuffle",
        /// Emitting code at other places, and placing buffers anew, between layouts. Without
        /// it one address decides for all.
        Move = "move",
        /// Repeating what an interrupt or a neighbour got into. Without it, it is kept.
        Repeat = "repeat",
        /// Faulting all pages in before the first pass. Without it the first calls pay for it.
        Prefault = "prefault",
        /// Writing the source with distinct data.
        WrittenSource = "written-source",
        /// Making states of the cache sizes that were measured, not of those that are told.
        MeasuredEdges = "measured-edges",
    }
}

/// Countermeasures that are left off. None of them, unless somebody wants to see a trap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Without(u32);

impl Without {
    /// All countermeasures are taken.
    pub const NOTHING: Without = Without(0);

    /// Whether one is left off.
    pub fn leaves_off(self, one: Countermeasure) -> bool {
        self.0 & (1 << one as u32) != 0
    }

    /// Whether none is left off.
    pub fn is_empty(self) -> bool {
        self == Without::NOTHING
    }

    /// Those that are left off.
    pub fn iter(self) -> impl Iterator<Item = Countermeasure> {
        Countermeasure::ALL.iter().copied().filter(move |c| self.leaves_off(*c))
    }
}

impl FromIterator<Countermeasure> for Without {
    fn from_iter<I: IntoIterator<Item = Countermeasure>>(all: I) -> Without {
        Without(all.into_iter().fold(0, |bits, one| bits | 1 << one as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_off_is_a_set() {
        assert!(Without::NOTHING.is_empty());
        for one in Countermeasure::ALL {
            let without: Without = [*one, *one].into_iter().collect();
            assert_eq!(without.iter().collect::<Vec<_>>(), [*one]);
            assert!(without.leaves_off(*one) && !Without::NOTHING.leaves_off(*one));
        }
    }
}
