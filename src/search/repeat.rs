//! The same question asked several times: what was chosen, and whether the choice matters.

use std::time::Duration;

use super::budget::Budget;
use super::candidate::Candidate;
use super::compare::{Contest, contested};
use super::context::candidate_entrant;
use super::outcome::SearchOutcome;
use crate::stats::Verdict;
use crate::subject::{Cell, Extent, Op, SizeMix, Variant};
use crate::trial::{EvaluateError, Evaluator, Observer, Without};

/// A loop, and how many of the searches chose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Which one.
    pub variant: Variant,
    /// How often.
    pub times: u32,
}

/// Two chosen loops against each other, on data that chose neither.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duel {
    /// Where.
    pub cell: Cell,
    /// The two.
    pub loops: (Variant, Variant),
    /// Time of the second over that of the first: above 1, the first is faster.
    pub ratio: f64,
    /// 95 % interval of the same.
    pub ratio_ci: (f64, f64),
    /// Verdict of the first against the second; rejections of all pairs at once are Holm's.
    pub verdict: Verdict,
}

impl Duel {
    /// Whether the data do not tell the two apart.
    pub fn is_tie(&self) -> bool {
        !matches!(self.verdict, Verdict::Faster | Verdict::Slower)
    }
}

/// What several searches chose for one purpose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// The loops, those chosen most often first.
    pub chosen: Vec<Chosen>,
    /// Searches that chose nothing.
    pub without: u32,
    /// Each against each other.
    pub duels: Vec<Duel>,
    /// Whether every pair of them was measured.
    pub measured: bool,
}

impl Choice {
    fn of(choices: impl Iterator<Item = Option<Variant>>) -> Choice {
        let mut choice = Choice::default();
        for variant in choices {
            let Some(variant) = variant else {
                choice.without += 1;
                continue;
            };
            match choice.chosen.iter_mut().find(|c| c.variant == variant) {
                Some(chosen) => chosen.times += 1,
                None => choice.chosen.push(Chosen { variant, times: 1 }),
            }
        }
        // Of those chosen as often, the one chosen first.
        choice.chosen.sort_by_key(|c| std::cmp::Reverse(c.times));
        choice.measured = choice.chosen.len() < 2;
        choice
    }

    /// Whether all that were chosen are mutual ties; `None` where nobody has measured it.
    pub fn all_tie(&self) -> Option<bool> {
        self.measured.then(|| self.duels.iter().all(Duel::is_tie))
    }

    /// How often the loop that was chosen most often was.
    pub fn most(&self) -> u32 {
        self.chosen.first().map_or(0, |c| c.times)
    }
}

/// What several searches chose in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellRepeats {
    /// Which.
    pub cell: Cell,
    /// Its winners.
    pub winner: Choice,
}

/// What several searches chose for a size.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeRepeats {
    /// How many bytes calls have.
    pub extent: Extent,
    /// In each cell.
    pub cells: Vec<CellRepeats>,
    /// For all cells together: what is exported.
    pub robust: Choice,
}

/// What several searches of the same question chose.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeats {
    /// Which op.
    pub op: Op,
    /// The seed of each search.
    pub seeds: Vec<u64>,
    /// For each size.
    pub sizes: Vec<SizeRepeats>,
    /// Seconds that the duels took.
    pub seconds: f64,
}

/// Counts what searches of the same question chose. `None` without a search.
pub fn repeats(outcomes: &[SearchOutcome]) -> Option<Repeats> {
    let first = outcomes.first()?;
    let sizes = first.sizes.iter().map(|size| {
        let all = || outcomes.iter().map(|o| o.sizes.iter().find(|s| s.extent == size.extent));
        let cells = size.cells.iter().map(|cell| {
            let winners = all().map(|size| {
                let cell = size?.cells.iter().find(|c| c.cell == cell.cell)?;
                Some(cell.winner.as_ref()?.variant)
            });
            CellRepeats { cell: cell.cell, winner: Choice::of(winners) }
        });
        SizeRepeats {
            extent: size.extent,
            cells: cells.collect(),
            robust: Choice::of(all().map(|size| Some(size?.robust.as_ref()?.variant))),
        }
    });
    Some(Repeats {
        op: first.op,
        seeds: outcomes.iter().map(|o| o.seed).collect(),
        sizes: sizes.collect(),
        seconds: 0.0,
    })
}

/// What duels are fought with.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// The candidates of the searches.
    pub candidates: &'a [Candidate],
    /// The mixes that some cells are of.
    pub mixes: &'a [SizeMix],
    /// What each cell may spend.
    pub budget: Budget,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Time-stamp ticks a second.
    pub tick_hz: f64,
}

impl Repeats {
    /// Cells in which loops must meet: those in which more than one won, and all of a size for
    /// which more than one was chosen.
    pub fn disputed(&self) -> usize {
        self.sizes.iter().flat_map(SizeRepeats::disputed).count()
    }

    /// Lets the chosen loops of each disputed cell meet in one panel.
    ///
    /// # Errors
    /// As the evaluator; what was measured before stays.
    pub fn settle(
        &mut self,
        ground: &Ground<'_>,
        evaluator: &mut dyn Evaluator,
        observer: &mut dyn Observer,
    ) -> Result<(), EvaluateError> {
        let begun = evaluator.clock();
        let mut seed = ground.seed;
        for size in &mut self.sizes {
            let mut whole = true;
            for at in size.disputed().collect::<Vec<_>>() {
                whole &= size.meet(at, &Ground { seed, ..*ground }, evaluator, observer)?;
                seed = seed.wrapping_add(1);
            }
            size.robust.measured |= whole;
        }
        let spent: Duration = evaluator.clock().saturating_sub(begun);
        self.seconds = spent.as_secs_f64();
        Ok(())
    }
}

impl SizeRepeats {
    fn disputed(&self) -> impl Iterator<Item = usize> + use<'_> {
        let several = |choice: &Choice| choice.chosen.len() > 1;
        let robust = several(&self.robust);
        (0..self.cells.len()).filter(move |i| robust || several(&self.cells[*i].winner))
    }

    /// Measures the loops of a cell; tells whether those for all cells were all measured.
    fn meet(
        &mut self,
        at: usize,
        ground: &Ground<'_>,
        evaluator: &mut dyn Evaluator,
        observer: &mut dyn Observer,
    ) -> Result<bool, EvaluateError> {
        let SizeRepeats { cells, robust, .. } = self;
        let CellRepeats { cell, winner } = &mut cells[at];
        let mut field: Vec<Variant> = winner.chosen.iter().map(|c| c.variant).collect();
        // The robust loop alone has nobody to meet.
        let rest = robust.chosen.iter().map(|c| c.variant).filter(|v| !field.contains(v));
        field.extend(rest.collect::<Vec<_>>());
        let known = |v: &Variant| ground.candidates.iter().find(|c| c.variant == *v);
        let contest = Contest {
            cell: *cell,
            mix: ground.mixes.iter().find(|m| Some(m.mix) == cell.mix).cloned(),
            entrants: field.iter().filter_map(known).map(|c| candidate_entrant(c, true)).collect(),
            budget: ground.budget,
            seed: ground.seed,
            without: Without::NOTHING,
        };
        if contest.entrants.len() < field.len() {
            return Ok(false);
        }
        let mut measured = contested(&contest, ground.tick_hz, evaluator, observer)?;
        let mut duels = |choice: &mut Choice| {
            let rows: Vec<usize> = (0..field.len())
                .filter(|i| choice.chosen.iter().any(|c| c.variant == field[*i]))
                .collect();
            let pairs = measured.mutual(&rows);
            let whole = pairs.len() == rows.len() * rows.len().saturating_sub(1) / 2;
            choice.duels.extend(pairs.into_iter().map(|pair| Duel {
                cell: *cell,
                loops: (field[pair.row], field[pair.against]),
                ratio: pair.ratio,
                ratio_ci: pair.ratio_ci,
                verdict: pair.verdict,
            }));
            whole
        };
        winner.measured |= duels(winner);
        Ok(duels(robust))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(ids: &[Option<&str>]) -> Choice {
        Choice::of(ids.iter().map(|id| id.map(|id| id.parse().unwrap())))
    }

    #[test]
    fn the_most_frequent_comes_first_and_a_single_one_needs_no_duel() {
        let one = choice(&[Some("zero/ymm/u4"), Some("zero/ymm/u4")]);
        assert_eq!((one.most(), one.all_tie()), (2, Some(true)));
        let two = choice(&[Some("zero/r64"), Some("zero/ymm"), None, Some("zero/ymm")]);
        let ids: Vec<_> = two.chosen.iter().map(|c| (c.variant.to_string(), c.times)).collect();
        assert_eq!(ids, [("zero/ymm".to_string(), 2), ("zero/r64".to_string(), 1)]);
        assert_eq!((two.without, two.all_tie()), (1, None), "nobody has measured them");
    }

    #[test]
    fn one_slower_among_them_is_no_tie() {
        let mut two = choice(&[Some("zero/r64"), Some("zero/ymm")]);
        let cell = Cell::of(
            Op::Zero,
            Extent::fixed(4096),
            crate::subject::State::both(crate::subject::Level::L1),
            crate::subject::Drive::Throughput,
        );
        let loops = (two.chosen[0].variant, two.chosen[1].variant);
        let duel = |verdict| Duel { cell, loops, ratio: 1.0, ratio_ci: (1.0, 1.0), verdict };
        two.measured = true;
        two.duels = vec![duel(Verdict::Tied), duel(Verdict::Undecided)];
        assert_eq!(two.all_tie(), Some(true));
        two.duels.push(duel(Verdict::Slower));
        assert_eq!(two.all_tie(), Some(false));
    }
}
