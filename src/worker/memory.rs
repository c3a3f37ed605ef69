//! What a child has verified already, so that a body seen again is not verified again.

use std::collections::{BTreeSet, HashMap};

use crate::mem::SharedPage;
use crate::subject::Op;
use crate::trial::{Body, Check, Failure};
use crate::verify::{Verified, Verifier};

/// Bodies kept; beyond it the memory starts anew. A search of 20,000 candidates never does.
const MOST_BODIES: usize = 50_000;

/// What is known of a body.
struct Known {
    outcome: Result<Verified, Failure>,
    full: bool,
    sizes: BTreeSet<u64>,
    /// Sizes of mixes that were tried.
    mixed: BTreeSet<u64>,
}

impl Known {
    fn covers(&self, check: Check) -> bool {
        // What is wrong once stays wrong.
        self.outcome.is_err()
            || match check {
                Check::Full => self.full,
                // The full set says nothing of sizes far beyond it.
                Check::Quick { size } => self.sizes.contains(&size),
            }
    }
}

/// Verification with a memory.
pub(super) struct Memory {
    verifier: Verifier,
    known: HashMap<(Op, Body), Known>,
}

impl Memory {
    pub(super) fn new(verifier: Verifier) -> Memory {
        Memory { verifier, known: HashMap::new() }
    }

    /// Makes room for a request of so many bodies. Not within a request: its earlier members
    /// would be forgotten.
    pub(super) fn expect(&mut self, bodies: usize) {
        if self.known.len() + bodies > MOST_BODIES {
            self.known.clear();
        }
    }

    /// Verifies a body unless that has been done.
    pub(super) fn learn(&mut self, op: Op, body: &Body, check: Check, shared: &SharedPage) {
        let key = (op, body.clone());
        if self.known.get(&key).is_some_and(|k| k.covers(check)) {
            return;
        }
        let outcome = match (self.known.get(&key).map(|k| &k.outcome), body, check) {
            // Generated code says where its paths part: those have been tried.
            (Some(Ok(verified)), Body::Machine(_), Check::Quick { size }) => {
                self.verifier.verify_size(verified, size, shared)
            }
            _ => self.verifier.verify(op, body, check, shared),
        };
        let known = self.known.entry(key).or_insert_with(|| Known {
            outcome: outcome.clone(),
            full: false,
            sizes: BTreeSet::new(),
            mixed: BTreeSet::new(),
        });
        match check {
            Check::Full => known.full = true,
            Check::Quick { size } => {
                known.sizes.insert(size);
            }
        }
        known.outcome = outcome;
    }

    /// Tries a body that has been learned at more sizes, each once: those of a mix. What is
    /// wrong at one of them is wrong from then on.
    ///
    /// Generated code is not tried again. It says at which sizes its path changes; the check has
    /// been on both sides of each and at sums of blocks and rests, and between two of them a size
    /// more is a byte more in the rest or a round more of the loop. The largest size, whose
    /// buffers are the ones in use, is the check's own. Code of others says nothing, so each size
    /// it will be called for is tried.
    pub(super) fn learn_sizes(&mut self, op: Op, body: &Body, sizes: &[u64], shared: &SharedPage) {
        if matches!(body, Body::Machine(_)) {
            return;
        }
        let Some(known) = self.known.get_mut(&(op, body.clone())) else { return };
        let Ok(verified) = &known.outcome else { return };
        let new: Vec<u64> = sizes.iter().copied().filter(|n| !known.mixed.contains(n)).collect();
        if new.is_empty() {
            return;
        }
        match self.verifier.verify_sizes(verified, &new, shared) {
            Ok(verified) => {
                known.outcome = Ok(verified);
                known.mixed.extend(new);
            }
            Err(failure) => known.outcome = Err(failure),
        }
    }

    /// What was found of a body that has been learned.
    pub(super) fn outcome(&self, op: Op, body: &Body) -> Option<&Result<Verified, Failure>> {
        self.known.get(&(op, body.clone())).map(|k| &k.outcome)
    }
}
