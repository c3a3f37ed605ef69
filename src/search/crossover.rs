//! From which size on another way of storing is faster.

use super::budget::Budget;
use super::candidate::Candidate;
use super::compare::{Contest, RowTimes, compare};
use super::context::candidate_entrant;
use super::outcome::{CellOutcome, SizeOutcome};
use crate::stats::Verdict;
use crate::subject::{Cell, Drive, State, Variant};
use crate::trial::{EvaluateError, Evaluator, Observer, Without};
use crate::units::words;

words! {
    /// What is compared with a loop of plain stores.
    Rival {
        /// The same loop with stores past the caches.
        Nt = "nt",
        /// The string instruction.
        Rep = "rep",
    }
}

/// The rival against the plain loop at one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// Bytes a call.
    pub size: u64,
    /// Plain time over the rival's: above 1, the rival is faster.
    pub ratio: f64,
    /// 95 % interval of the same.
    pub ratio_ci: (f64, f64),
    /// Verdict of the rival against the plain loop.
    pub verdict: Verdict,
}

impl Asked {
    fn of(size: u64, times: &RowTimes) -> Asked {
        let RowTimes { ratio, ratio_ci, verdict, .. } = *times;
        Asked { size, ratio, ratio_ci, verdict }
    }
}

/// Where the rival begins to win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossover {
    /// Between these sizes: at the first the plain loop is not beaten, from the second on the
    /// rival is faster at every size that was asked. (Sizes at which noise hides who is faster
    /// lie between.)
    Between(u64, u64),
    /// Not up to this size.
    Never(u64),
    /// At this size already, the smallest that was asked.
    Always(u64),
    /// Nothing could be measured, or noise hides who is faster at the largest size.
    Unclear,
}

impl Crossover {
    /// The size to take: the geometric mean of the two, or the first at which the rival wins;
    /// `None` where it wins nowhere.
    pub fn size(self) -> Option<u64> {
        match self {
            Crossover::Between(low, high) => {
                Some(((low as f64 * high as f64).sqrt() as u64).next_multiple_of(64))
            }
            Crossover::Always(size) => Some(size),
            Crossover::Never(_) | Crossover::Unclear => None,
        }
    }
}

/// A crossover and what it was found from.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// Every size that was asked, ascending.
    pub asked: Vec<Asked>,
    /// Where the rival begins to win.
    pub at: Crossover,
}

/// Every so many of the sizes are asked first; then those between are halved.
const COARSE: usize = 4;

/// Half an octave: what the interval comes down to.
pub fn steps(least: u64, most: u64) -> Vec<u64> {
    let (least, mut sizes) = (least.max(64), Vec::new());
    let mut step = 0;
    loop {
        let size = (least as f64 * 2f64.powf(f64::from(step) / 2.0)) as u64 / 64 * 64;
        if size > most {
            return sizes;
        }
        sizes.push(size);
        step += 1;
    }
}

/// Searches ascending sizes for the place from which on the rival wins. `ask` gives `None` for
/// a size that cannot be measured.
///
/// # Errors
/// As `ask`.
pub fn crossing<E>(
    sizes: &[u64],
    mut ask: impl FnMut(u64) -> Result<Option<Asked>, E>,
) -> Result<Crossing, E> {
    let mut known: Vec<(usize, Asked)> = Vec::new();
    let last = sizes.len().saturating_sub(1);
    for i in (0..sizes.len()).filter(|i| i % COARSE == 0 || *i == last) {
        known.extend(ask(sizes[i])?.map(|asked| (i, asked)));
    }
    loop {
        known.sort_by_key(|(i, _)| *i);
        let beaten = |(_, asked): &&(usize, Asked)| asked.verdict == Verdict::Faster;
        let wins = known.iter().rev().take_while(beaten).count();
        let first = known.len() - wins;
        // The last size that the rival does not win, and the first from which on it does.
        let between = first.checked_sub(1).and_then(|at| Some((known[at].0, known.get(first)?.0)));
        let Some((low, high)) = between else { break };
        if high - low <= 1 {
            break;
        }
        let middle = low + (high - low) / 2;
        match ask(sizes[middle])? {
            Some(asked) => known.push((middle, asked)),
            None => break,
        }
    }
    Ok(settled(known.into_iter().map(|(_, asked)| asked).collect()))
}

/// Where the rival begins to win, by what was asked (ascending sizes).
fn settled(asked: Vec<Asked>) -> Crossing {
    let wins = asked.iter().rev().take_while(|a| a.verdict == Verdict::Faster).count();
    let first = asked.len() - wins;
    let at = match asked.last() {
        None => Crossover::Unclear,
        Some(last) if wins == 0 && last.verdict == Verdict::Undecided => Crossover::Unclear,
        Some(last) if wins == 0 => Crossover::Never(last.size),
        Some(_) if first == 0 => Crossover::Always(asked[0].size),
        Some(_) => {
            let decided = |a: &Asked| a.verdict != Verdict::Undecided;
            let low = asked[..first].iter().rposition(decided).unwrap_or(0);
            Crossover::Between(asked[low].size, asked[first].size)
        }
    };
    Crossing { asked, at }
}

/// From which of a search's sizes on the best loop with stores past the caches beats the best
/// plain one, by state and drive: the finalists of each size, against each other by block. Nothing
/// for a single size.
pub fn nt_crossings(sizes: &[SizeOutcome]) -> Vec<(State, Drive, Crossing)> {
    let mut cells: Vec<&CellOutcome> =
        sizes.iter().filter(|s| s.extent.mix.is_none()).flat_map(|s| &s.cells).collect();
    cells.sort_by_key(|c| (c.cell.state, c.cell.drive, c.cell.size));
    let key = |c: &CellOutcome| (c.cell.state, c.cell.drive, c.cell.conditions);
    let of_state = cells.chunk_by(|a, b| key(a) == key(b)).filter(|of| of.len() > 1);
    let crossing = |of: &[&CellOutcome]| {
        let asked: Vec<Asked> = of.iter().filter_map(|cell| best_against_best(cell)).collect();
        let (state, drive, _) = key(of[0]);
        (asked.len() > 1).then(|| (state, drive, settled(asked)))
    };
    of_state.filter_map(crossing).collect()
}

/// The best loop past the caches against the best plain one. One of them is the cell's best,
/// which all finalists were compared with.
fn best_against_best(found: &CellOutcome) -> Option<Asked> {
    let best = found.standings.first()?;
    let other = found.standings.iter().find(|s| s.non_temporal != best.non_temporal)?;
    // Its time over the best's.
    let (ratio, (low, high)) = (other.ratio_to_best, other.ratio_ci);
    let size = found.cell.size;
    let verdict = other.verdict;
    Some(if best.non_temporal {
        let verdict = if verdict == Verdict::Slower { Verdict::Faster } else { verdict };
        Asked { size, ratio, ratio_ci: (low, high), verdict }
    } else {
        Asked { size, ratio: 1.0 / ratio, ratio_ci: (1.0 / high, 1.0 / low), verdict }
    })
}

/// Two loops that a crossover is asked of.
#[derive(Clone, Debug)]
pub struct Rivals {
    /// The loop of plain stores.
    pub plain: Candidate,
    /// What it is compared with.
    pub rival: Candidate,
}

impl Rivals {
    /// Compiles both; `None` where one cannot be.
    pub fn new(plain: Variant, rival: Variant) -> Option<Rivals> {
        Some(Rivals { plain: Candidate::new(plain).ok()?, rival: Candidate::new(rival).ok()? })
    }

    /// The rival against the plain loop in a cell; `None` where one of them has no time.
    ///
    /// # Errors
    /// As the evaluator.
    pub fn ask(
        &self,
        cell: Cell,
        budget: Budget,
        seed: u64,
        tick_hz: f64,
        evaluator: &mut dyn Evaluator,
        observer: &mut dyn Observer,
    ) -> Result<Option<Asked>, EvaluateError> {
        let entrants =
            [&self.plain, &self.rival].map(|c| candidate_entrant(c, false)).into_iter().collect();
        let contest =
            Contest { cell, mix: None, entrants, budget, seed, without: Without::NOTHING };
        let rows = compare(&contest, tick_hz, evaluator, observer)?;
        let times = rows.get(1).and_then(|row| row.result.as_ref().ok());
        let both = rows.first().is_some_and(|row| row.result.is_ok());
        Ok(times.filter(|_| both).map(|times| Asked::of(cell.size, times)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rival wins above `at`, ties within a quarter of it.
    fn script(at: f64) -> impl FnMut(u64) -> Result<Option<Asked>, ()> {
        move |size| {
            let ratio = size as f64 / at;
            let verdict = match ratio {
                r if r < 0.8 => Verdict::Slower,
                r if r < 1.25 => Verdict::Tied,
                _ => Verdict::Faster,
            };
            Ok(Some(Asked { size, ratio, ratio_ci: (ratio, ratio), verdict }))
        }
    }

    #[test]
    fn a_crossover_is_found_between_two_sizes_half_an_octave_apart() {
        let sizes = steps(4096, 64 << 20);
        assert_eq!((sizes[0], sizes[2], *sizes.last().unwrap()), (4096, 8192, 64 << 20));
        for at in [10e3, 100e3, 1.3e6, 9e6] {
            let found = crossing(&sizes, script(at)).unwrap();
            let Crossover::Between(low, high) = found.at else { panic!("{found:?}") };
            assert!((low as f64) < at * 1.25 && high as f64 >= at * 1.25, "{at}: {low} {high}");
            assert!((high as f64) < low as f64 * 1.5);
            assert!(found.asked.len() < sizes.len() / 2 + 2);
            assert!(found.asked.is_sorted_by_key(|a| a.size));
            let size = found.at.size().unwrap();
            assert!((low..=high).contains(&size));
        }
    }

    #[test]
    fn finalists_of_several_sizes_tell_where_past_the_caches_begins_to_pay() {
        use super::super::outcome::{Standing, Stop, Timed};
        use crate::subject::{Extent, Level, Op};
        let standing = |id: &str, ratio: f64, verdict| Standing {
            timed: Timed {
                variant: id.parse().unwrap(),
                ns: 100.0 * ratio,
                ci: (90.0 * ratio, 110.0 * ratio),
                bytes_per_cycle: 1.0,
                code_bytes: 50,
            },
            ratio_to_best: ratio,
            ratio_ci: (ratio * 0.99, ratio * 1.01),
            verdict,
            non_temporal: id.ends_with("nt"),
        };
        let size = |bytes: u64, past: bool| {
            let (first, second) =
                if past { ("zero/ymm/nt", "zero/ymm") } else { ("zero/ymm", "zero/ymm/nt") };
            let cell = Cell::new(Op::Zero, bytes, State::both(Level::Dram), Drive::Throughput);
            let standings =
                vec![standing(first, 1.0, Verdict::Tied), standing(second, 2.0, Verdict::Slower)];
            let cell = CellOutcome {
                cell,
                trials: 2,
                samples: 2,
                stop: Stop::Budget,
                winner: None,
                ties: Vec::new(),
                standings,
                baselines: Vec::new(),
                excluded: Default::default(),
                cycles_per_ns: 1.0,
                driver_ns: 1.0,
            };
            SizeOutcome {
                extent: Extent::fixed(bytes),
                cells: vec![cell],
                absent: Vec::new(),
                robust: None,
                best_plain: None,
                best_nt: None,
                best_kernel: None,
            }
        };
        let sizes = [size(1 << 20, true), size(4096, false), size(65536, false)];
        let found = nt_crossings(&sizes);
        let [(state, _, crossing)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (*state, crossing.at),
            (State::both(Level::Dram), Crossover::Between(65536, 1 << 20))
        );
        let ratios: Vec<f64> = crossing.asked.iter().map(|a| a.ratio).collect();
        assert_eq!(ratios, [0.5, 0.5, 2.0]);
        assert!(nt_crossings(&sizes[..1]).is_empty());
    }

    #[test]
    fn never_always_and_nothing_are_answers() {
        let sizes = steps(4096, 1 << 20);
        assert_eq!(crossing(&sizes, script(1e12)).unwrap().at, Crossover::Never(1 << 20));
        assert_eq!(crossing(&sizes, script(1.0)).unwrap().at, Crossover::Always(4096));
        let nothing = crossing(&sizes, |_| Ok::<_, ()>(None)).unwrap();
        assert_eq!((nothing.at, nothing.at.size()), (Crossover::Unclear, None));
        assert_eq!(crossing(&[], script(1.0)).unwrap().at, Crossover::Unclear);
        assert_eq!(crossing(&sizes, |_| Err::<Option<Asked>, _>("broken")), Err("broken"));
    }

    #[test]
    fn what_noise_hides_is_no_answer() {
        let sizes = steps(4096, 1 << 20);
        let hidden = |from: u64, at: f64| {
            let mut honest = script(at);
            crossing(&sizes, |size| {
                honest(size).map(|asked| {
                    let hide = |a: Asked| match size >= from && a.verdict != Verdict::Faster {
                        true => Asked { verdict: Verdict::Undecided, ..a },
                        false => a,
                    };
                    asked.map(hide)
                })
            })
            .unwrap()
            .at
        };
        assert_eq!(hidden(1 << 20, 1e12), Crossover::Unclear);
        assert_eq!(hidden(1 << 19, 1e12), Crossover::Unclear);
        // Wins are seen from half a mebibyte on, and what is below hides from 64 KiB on.
        let Crossover::Between(low, high) = hidden(1 << 16, 500_000.0) else { panic!("none") };
        assert!(low < 1 << 16 && high > 1 << 18, "{low} {high}");
    }

    #[test]
    fn a_win_by_noise_at_a_small_size_is_no_crossover() {
        let sizes = steps(4096, 64 << 20);
        let mut honest = script(2e6);
        let found = crossing(&sizes, |size| {
            honest(size).map(|asked| {
                let verdict = if size == 4096 << 2 { Some(Verdict::Faster) } else { None };
                asked.map(|a| Asked { verdict: verdict.unwrap_or(a.verdict), ..a })
            })
        });
        let Crossover::Between(low, _) = found.unwrap().at else { panic!("none") };
        assert!(low > 1 << 20);
    }
}
