//! Threads that begin together.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};

/// A barrier that is waited at awake: from the last arrival to the first departure it is some
/// tens of nanoseconds, where the system's own takes microseconds.
#[derive(Debug)]
pub(super) struct Gate {
    threads: u32,
    waiting: AtomicU32,
    /// Counts openings.
    opened: AtomicU32,
}

impl Gate {
    /// A gate for so many threads.
    pub(super) fn new(threads: u32) -> Gate {
        Gate { threads, waiting: AtomicU32::new(0), opened: AtomicU32::new(0) }
    }

    /// Waits until all threads are here.
    pub(super) fn pass(&self) {
        let opened = self.opened.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Relaxed);
            self.opened.fetch_add(1, Ordering::Release);
            return;
        }
        while self.opened.load(Ordering::Acquire) == opened {
            spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_ahead_by_more_than_a_round() {
        const ROUNDS: u32 = 500;
        let gate = Gate::new(3);
        let counts = [const { AtomicU32::new(0) }; 3];
        std::thread::scope(|scope| {
            for own in 0..3 {
                let (gate, counts) = (&gate, &counts);
                scope.spawn(move || {
                    for round in 1..=ROUNDS {
                        counts[own].store(round, Ordering::Release);
                        gate.pass();
                        for other in counts {
                            let other = other.load(Ordering::Acquire);
                            assert!(other == round || other == round + 1, "{other} in {round}");
                        }
                    }
                });
            }
        });
    }
}
