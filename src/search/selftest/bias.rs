//! Whether a time hangs on who ran before, or on the place in the block.

use super::desk::{Desk, Loops, Named, SelftestError, member};
use super::judge::{log_ticks, paired};
use crate::search::{Effort, band};
use crate::stats::{Interval, Paired, Verdict, median};
use crate::subject::Cell;
use crate::trial::{MemberOrder, Sample};

/// A ratio of times that should be 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bias {
    /// The ratio.
    pub ratio: f64,
    /// 95 % interval of the same.
    pub ci: (f64, f64),
    /// `tied` where there is none that matters; `faster` or `slower` where there is one.
    pub verdict: Verdict,
}

impl Bias {
    /// Of logs of the ratio.
    fn of(interval: Interval, cell: &Cell) -> Bias {
        let ratio = interval.exp();
        let verdict = Verdict::of_time_ratio(ratio.ends(), band(cell));
        Bias { ratio: ratio.estimate, ci: ratio.ends(), verdict }
    }

    /// Whether the data say that there is one that matters.
    pub fn is_there(&self) -> bool {
        matches!(self.verdict, Verdict::Faster | Verdict::Slower)
    }
}

/// Members of the test of predecessors, by whether they are plain. Whoever leaves shuffling off
/// still has plain ones after either.
const PLAIN: [bool; 5] = [true, false, true, true, false];

/// Blocks a layout: enough for either predecessor to come in each.
const BLOCKS: u32 = 8;

/// Time of a plain loop after a non-temporal one over its time after a plain one. From shuffled
/// blocks of both, so that places in the block weigh alike.
pub(super) fn predecessor(
    desk: &mut Desk<'_>,
    cell: Cell,
    loops: &Loops,
    effort: Effort,
) -> Result<Bias, SelftestError> {
    let plain = ("the plain loop", member(&loops.plain.body));
    let nt = ("the non-temporal loop", member(&loops.nt.body));
    let of = |is_plain: &bool| if *is_plain { plain.clone() } else { nt.clone() };
    let members: Vec<Named<'_>> = PLAIN.iter().map(of).collect();
    let effort = Effort { blocks: BLOCKS, ..effort };
    let result = desk.ask(cell, &members, effort, MemberOrder::Shuffled)?;
    Ok(Bias::of(after(&result.samples, &PLAIN).interval(&mut desk.rng), &cell))
}

/// Log time of plain members after one that is none, over that after one that is: medians of
/// each layout that has both.
fn after(samples: &[Sample], plain: &[bool]) -> Paired {
    let plain = |s: &Sample| plain.get(s.member as usize).is_some_and(|is| *is);
    let mut paired = Paired::new();
    for layout in samples.chunk_by(|a, b| a.layout == b.layout) {
        let mut after = [Vec::new(), Vec::new()];
        for pair in layout.windows(2).filter(|w| w[0].block == w[1].block) {
            if plain(&pair[1]) {
                after[usize::from(plain(&pair[0]))].push(log_ticks(&pair[1]));
            }
        }
        let [other, own] = &mut after;
        if !other.is_empty() && !own.is_empty() {
            paired.push(u64::from(layout[0].layout), median(other) - median(own));
        }
    }
    paired
}

/// Time of a loop in the first place of its block over the time of the same in the second.
/// Shuffling makes nothing of it; a benchmark that takes turns would see a difference.
pub(super) fn order(
    desk: &mut Desk<'_>,
    cell: Cell,
    loops: &Loops,
    effort: Effort,
) -> Result<Bias, SelftestError> {
    let plain = ("the plain loop", member(&loops.plain.body));
    let result = desk.ask(cell, &[plain.clone(), plain], effort, MemberOrder::AsGiven)?;
    Ok(Bias::of(paired(&result.samples, 0, 1).interval(&mut desk.rng), &cell))
}
