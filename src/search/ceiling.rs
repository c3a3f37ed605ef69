//! How fast the source of a copy can be read at all: what no copy can exceed that really reads
//! it.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::candidate::compile_all;
use super::context::{DEAR_PASS_NS, candidate_entrant};
use super::panel::{Effort, Panel};
use super::plan::band;
use crate::host::FeatureSet;
use crate::space;
use crate::subject::{Cell, Conditions, Consumer, Op, Pages, Source, State, Variant};
use crate::trial::{Countermeasure, EvaluateError, Evaluator, Phase, Without};

/// The plain reads that are tried: few are faster, and those by less than a tie's width.
const LOOPS: [&str; 5] =
    ["read/r64/u8", "read/xmm/u8", "read/ymm/u4", "read/ymm/u8", "read/zmm/u4"];

/// Samples of each: enough for an interval.
const EFFORT: Effort = Effort { layouts: 12, blocks: 2, pass_ns: DEAR_PASS_NS, limit_ns: 0 };

/// The fastest plain read of a written buffer that is where the source of a copy is.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// Its time for the bytes of a call, nanoseconds.
    pub ns: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The loop.
    pub by: Variant,
}

/// Measures the ceiling of a copy whose source may be the kernel's page of zeros; `None` for
/// other cells, for mixes, and where no read could be timed. `tick_hz`: time-stamp ticks a
/// second.
///
/// # Errors
/// As the evaluator.
pub fn read_ceiling(
    cell: &Cell,
    without: Without,
    usable: FeatureSet,
    (tick_hz, seed): (f64, u64),
    evaluator: &mut dyn Evaluator,
) -> Result<Option<Ceiling>, EvaluateError> {
    let untouched = cell.conditions.source == Source::Untouched
        || without.leaves_off(Countermeasure::WrittenSource);
    if !untouched || !cell.op.copies() || cell.mix.is_some() {
        return Ok(None);
    }
    let pages = match cell.conditions.pages {
        Pages::Fresh => Pages::Small,
        pages => pages,
    };
    let conditions =
        Conditions { pages, consumer: Consumer::None, source: Source::Written, ..cell.conditions };
    let state = State { dst: cell.state.src, ..cell.state };
    let read = Cell { op: Op::Read, state, conditions, ..*cell };
    let variants = LOOPS.iter().filter_map(|id| id.parse::<Variant>().ok());
    let usable = variants.filter(|v| space::supported(v, &usable).is_ok());
    let Ok(candidates) = compile_all(usable) else { return Ok(None) };
    let entrants = candidates.iter().map(|c| candidate_entrant(c, false)).collect();
    let mut panel = Panel::new(read, entrants, tick_hz);
    panel.measure(evaluator, &mut (), Phase::Bench, EFFORT, seed)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let timed = (0..candidates.len()).filter(|i| panel.failures[*i].is_none());
    let ceilings = timed.map(|i| {
        let interval = panel.nanoseconds(i).interval(&mut rng).exp();
        Ceiling { ns: interval.estimate, low: interval.low, by: candidates[i].variant }
    });
    Ok(ceilings.min_by(|a, b| a.ns.total_cmp(&b.ns)))
}

impl Ceiling {
    /// What must be said of a copy that takes `ns` nanoseconds: nothing, unless it is faster
    /// than its source can be read.
    pub fn warning(&self, cell: &Cell, subject: &str, ns: f64) -> Option<String> {
        let exceeds = ns * (1.0 + band(cell)) < self.low;
        let rate = |ns: f64| cell.extent().mean() / ns;
        exceeds.then(|| {
            format!(
                "{subject} copies {:.1} bytes a nanosecond in {}, and the fastest plain read of a \
                 written source ({}) makes {:.1}: the source was never written, so all of it is \
                 one page of zeros, which is in the cache. No program sees this time.",
                rate(ns),
                cell.state,
                self.by,
                rate(self.ns)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Drive, Level};

    #[test]
    fn every_loop_is_a_read_and_exists() {
        for id in LOOPS {
            let variant: Variant = id.parse().expect("an id");
            assert_eq!(variant.op, Op::Read, "{id}");
            assert!(space::check(&variant).is_ok(), "{id}");
        }
    }

    #[test]
    fn only_what_is_faster_than_a_read_is_warned_of() {
        let by = LOOPS[0].parse().expect("an id");
        let ceiling = Ceiling { ns: 100.0, low: 99.0, by };
        let cell = Cell::new(Op::Copy, 4096, State::both(Level::Dram), Drive::Throughput);
        assert_eq!(ceiling.warning(&cell, "libc", 120.0), None);
        assert_eq!(ceiling.warning(&cell, "libc", 98.0), None, "within the band of a tie");
        let said = ceiling.warning(&cell, "libc", 50.0).expect("twice as fast as a read");
        assert!(said.contains("libc copies 81.9") && said.contains("41.0"), "{said}");
    }
}
