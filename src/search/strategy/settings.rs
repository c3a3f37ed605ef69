//! How a search goes about its space, and how a search file says so.

use serde::Deserialize;
use toml::Spanned;

use crate::template::{FileError, Source};
use crate::units::{did_you_mean, words};

words! {
    /// Ways to choose whom to time.
    StrategyName {
        /// A stratified first look, steps from the leaders guided by a model of the axes,
        /// sequential halving, and a fresh race of the last few.
        Default = "default",
        /// Every candidate, so many samples of each.
        Exhaustive = "exhaustive",
        /// Candidates drawn evenly.
        Random = "random",
        /// Iterated local search: downhill one axis at a time, then a jump.
        Local = "local",
        /// A population, crossed and mutated.
        Genetic = "genetic",
        /// Every candidate, its samples in a row, compared by absolute time: how it is often
        /// done, to be compared with.
        Classic = "classic",
    }
}

/// How a search goes about its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// How it chooses whom to time.
    pub name: StrategyName,
    /// Samples of each candidate in a visit of all.
    pub screen_rounds: u32,
    /// Visits of all candidates, each in a new order; for who records a space.
    pub epochs: u32,
    /// Times that steps from the leaders are tried.
    pub local_rounds: u32,
    /// Candidates that race on fresh data in the end.
    pub finalists: u32,
}

impl Default for Strategy {
    /// Three samples, so that one disturbed sample is outvoted; six steps from the leaders, each
    /// told by what the last one found; sixteen finalists, so that the simplest of
    /// equals and each class and store type are there beside the leaders.
    fn default() -> Strategy {
        Strategy {
            name: StrategyName::Default,
            screen_rounds: 3,
            epochs: 1,
            local_rounds: 6,
            finalists: 16,
        }
    }
}

/// Wire form of a strategy; what it does not name is at its default.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::search) struct Wording {
    name: Option<Spanned<String>>,
    screen_rounds: Option<Spanned<i64>>,
    epochs: Option<Spanned<i64>>,
    local_rounds: Option<Spanned<i64>>,
    finalists: Option<Spanned<i64>>,
}

impl Wording {
    /// What it says.
    ///
    /// # Errors
    /// Names the file, the line, the key and what would be right.
    pub(in crate::search) fn read(&self, source: &Source<'_>) -> Result<Strategy, FileError> {
        // Past these a search would measure the same again and again rather than learn more.
        let within = |key: &str, given: &Option<Spanned<i64>>, default: u32, least: u32, most| {
            let Some(given) = given else { return Ok(default) };
            let number = u32::try_from(*given.get_ref()).ok();
            number.filter(|n| (least..=most).contains(n)).ok_or_else(|| {
                let why = format!("{} is out of range; write {least} to {most}", given.get_ref());
                source.value(&given.span(), &format!("strategy.{key}"), why)
            })
        };
        let name = |given: &Spanned<String>| {
            StrategyName::from_word(given.get_ref()).ok_or_else(|| {
                let names: Vec<String> =
                    StrategyName::ALL.iter().map(|n| n.word().to_string()).collect();
                let why = format!(
                    "`{}` is no strategy; strategies are {}{}",
                    given.get_ref(),
                    names.join(" "),
                    did_you_mean(given.get_ref(), names.clone())
                );
                source.value(&given.span(), "strategy.name", why)
            })
        };
        let default = Strategy::default();
        let (rounds, steps) = (default.screen_rounds, default.local_rounds);
        Ok(Strategy {
            name: self.name.as_ref().map(name).transpose()?.unwrap_or(default.name),
            screen_rounds: within("screen_rounds", &self.screen_rounds, rounds, 1, 100)?,
            epochs: within("epochs", &self.epochs, default.epochs, 1, 100)?,
            local_rounds: within("local_rounds", &self.local_rounds, steps, 0, 20)?,
            finalists: within("finalists", &self.finalists, default.finalists, 2, 100)?,
        })
    }
}
