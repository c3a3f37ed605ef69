//! Strategies against each other on recorded spaces.

use std::io::Write;

use super::judge::{Better, Quality, better, quality};
use super::space::RecordedSpace;
use crate::search::{Strategy, StrategyName};
use crate::trial::EvaluateError;

/// What strategies may spend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowance {
    /// So many samples.
    Samples(u64),
    /// This part of what seven samples of every candidate take.
    Share(f64),
}

impl Allowance {
    fn samples(self, space: &RecordedSpace) -> u64 {
        match self {
            Allowance::Samples(samples) => samples,
            Allowance::Share(share) => (space.exhaustive_samples() as f64 * share).round() as u64,
        }
    }
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Contest {
    /// Which strategies; the others are compared with the first.
    pub strategies: Vec<StrategyName>,
    /// What each may spend. (Those that look at every candidate take what that takes.)
    pub allowance: Allowance,
    /// Seeds, from 1.
    pub seeds: u64,
    /// Whether the machine's speed wanders meanwhile.
    pub drift: bool,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Contested {
    /// What was asked.
    pub contest: Contest,
    /// Of each space a row a strategy, in the order asked.
    pub spaces: Vec<Vec<Quality>>,
    /// The first strategy against each of the others, over all spaces.
    pub better: Vec<(StrategyName, Better)>,
}

impl Contest {
    /// Runs it. `trace` hears of every request, under a line for each strategy and space.
    ///
    /// # Errors
    /// As the evaluator.
    pub fn run(
        &self,
        spaces: &[RecordedSpace],
        mut trace: Option<&mut dyn Write>,
        told: &mut dyn FnMut(&RecordedSpace, StrategyName),
    ) -> Result<Contested, EvaluateError> {
        let mut found = Vec::new();
        for space in spaces {
            let mut rows = Vec::new();
            for name in &self.strategies {
                told(space, *name);
                if let Some(trace) = &mut trace {
                    // What cannot be written is told by the lines that are missing.
                    let _ = writeln!(trace, "{}: {name}", space.cell);
                }
                let strategy = Strategy { name: *name, ..Strategy::default() };
                let samples = self.allowance.samples(space);
                let heard: Option<&mut dyn Write> = match &mut trace {
                    Some(trace) => Some(&mut **trace),
                    None => None,
                };
                rows.push(quality(space, strategy, samples, self.seeds, self.drift, heard)?);
            }
            found.push(rows);
        }
        let of = |place: usize| found.iter().map(|rows| &rows[place]).collect::<Vec<_>>();
        let others = self.strategies.iter().enumerate().skip(1);
        let better = others.map(|(place, name)| (*name, better(&of(0), &of(place), 1))).collect();
        Ok(Contested { contest: self.clone(), spaces: found, better })
    }
}
