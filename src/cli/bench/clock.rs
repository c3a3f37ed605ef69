//! The clock beside wide vectors.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::super::session::Session;
use crate::search::{Candidate, Entrant, Frequency, candidate_entrant, frequency};
use crate::subject::{Cell, Class, Drive, Level, Op, State, Variant};
use crate::trial::EvaluateError;

/// Vectors of so many bits lower the clock of some cores.
const WIDE_BITS: u32 = 256;

/// Bytes of the calls: in the first level of every core.
const SIZE: u64 = 4096;

/// The clock around a loop.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Clocked {
    /// Which loop.
    name: String,
    bits: u32,
    found: Frequency,
}

/// Watches the clock around a loop of each class of wide vectors among these: one speaks for its
/// class. What cannot be watched is left out.
///
/// # Errors
/// As the evaluator, but for an interruption: then there is less.
pub(in crate::cli) fn clocks(
    op: Op,
    entrants: &[Entrant],
    session: &mut Session,
) -> Result<Vec<Clocked>, EvaluateError> {
    let narrow = Variant { unroll: 2, ..Variant::new(op, Class::R64) };
    let Ok(narrow) = Candidate::new(narrow) else { return Ok(Vec::new()) };
    let narrow = candidate_entrant(&narrow, false);
    let tick_hz = session.host.tsc.calibrated_hz;
    let cell = Cell::new(op, SIZE, State::both(Level::L1), Drive::Throughput);
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut seen: Vec<Class> = Vec::new();
    let mut all = Vec::new();
    for entrant in entrants {
        let Some(variant) = entrant.subject.variant() else { continue };
        let bits = variant.class.vector_bits();
        // Loops past the caches spend their time in memory, whose clock is another.
        if bits < WIDE_BITS || variant.leaves_cache() || seen.contains(&variant.class) {
            continue;
        }
        match frequency(cell, entrant, &narrow, tick_hz, &mut session.client, &mut rng) {
            Ok(Some(found)) => {
                seen.push(variant.class);
                all.push(Clocked { name: entrant.subject.to_string(), bits, found });
            }
            Ok(None) => {}
            Err(EvaluateError::Interrupted) => break,
            Err(e) => return Err(e),
        }
    }
    Ok(all)
}

impl Clocked {
    /// By which part the clock is lower; `None` where it is not.
    pub(in crate::cli) fn drop(&self) -> Option<f64> {
        self.found.drop()
    }

    /// One sentence for people.
    pub(in crate::cli) fn sentence(&self) -> String {
        let Frequency { before, during, after, noise } = self.found;
        let end = match self.drop() {
            Some(drop) => format!("{:.1} % lower", drop * 100.0),
            None => format!("no drop (± {:.1} %)", noise * 100.0),
        };
        format!(
            "Clock: {before:.2} GHz before, {during:.2} GHz during, {after:.2} GHz after passes \
             of {} ({}-bit vectors): {end}",
            self.name, self.bits
        )
    }

    /// The same for programs: gigahertz.
    pub(in crate::cli) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "vector_bits": self.bits,
            "before_ghz": self.found.before,
            "during_ghz": self.found.during,
            "after_ghz": self.found.after,
            "noise": self.found.noise,
            "drop": self.drop(),
        })
    }
}
