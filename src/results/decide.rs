//! Which recorded loop answers a question.

mod provisional;

use self::provisional::provisional;
use super::decision::RecordedRun;
use super::error::ResultsError;
use super::folder::Folder;
use super::trial::RecordedTrial;
use crate::search::{CellOutcome, SearchOutcome, SizeOutcome};
use crate::subject::{Cell, Conditions, Contract, Drive, Extent, Op, State, Variant};
use crate::units::{did_you_mean, human_size};

/// The calls that a loop is wanted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedCalls {
    /// Of one size, bytes.
    Size(u64),
    /// Of a mix of sizes.
    Mix {
        /// Its name.
        name: String,
        /// What its file holds, as a digest, where a file was named.
        digest: Option<u64>,
    },
}

impl WantedCalls {
    fn are(&self, extent: &Extent) -> bool {
        match self {
            WantedCalls::Size(size) => *extent == Extent::fixed(*size),
            WantedCalls::Mix { name, digest } => extent.mix.is_some_and(|mix| {
                mix.name() == name && digest.is_none_or(|digest| digest == mix.digest())
            }),
        }
    }
}

/// The question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The op.
    pub op: Op,
    /// Which calls.
    pub calls: WantedCalls,
    /// The state; `None` asks for the loop with the least regret over all of them.
    pub state: Option<State>,
    /// The drive; without a state it is not looked at.
    pub drive: Drive,
    /// What the loop must promise.
    pub contract: Contract,
    /// Whether it is to be for this one size, and take none.
    pub fixed: bool,
    /// Under which conditions it was measured. Runs under others are no answer.
    pub conditions: Conditions,
}

/// What is recorded of a loop in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Where.
    pub cell: Cell,
    /// Nanoseconds a call.
    pub ns: f64,
    /// 95 % interval of the same.
    pub ci: (f64, f64),
    /// Bytes of the op a core cycle.
    pub bytes_per_cycle: f64,
    /// Its time over the cell's best, minus one; 0 for a winner. `None` where unknown.
    pub regret: Option<f64>,
    /// Baselines whose time over the winner's is known, with interval; for winners only.
    pub baselines: Vec<(String, f64, (f64, f64))>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The loop.
    pub variant: Variant,
    /// Id of the run that found it.
    pub run: String,
    /// Whether the run was cut off, so that the answer is the best so far and no decision.
    pub provisional: bool,
    /// Its largest regret over the states, where that was the question.
    pub max_regret: Option<f64>,
    /// The states (and drives) that were looked at for the choice.
    pub states: Vec<String>,
    /// What is recorded of it at this size, one entry a cell.
    pub figures: Vec<Figure>,
    /// What could not be read.
    pub warnings: Vec<String>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum NoChoice {
    #[error(transparent)]
    Results(#[from] ResultsError),
    #[error("no run `{run}` in {folder}; runs there: {}{}", listed(runs), did_you_mean(run, runs.iter().cloned()))]
    NoRun { run: String, folder: String, runs: Vec<String> },
    #[error(
        "{folder} has nothing for {what}; recorded: {}. To measure it: {command}",
        listed(recorded)
    )]
    NotRecorded { what: String, folder: String, recorded: Vec<String>, command: String },
}

fn listed(items: &[String]) -> String {
    /// More would push the advice behind them out of sight.
    const SHOWN: usize = 12;
    match items.len() {
        0 => "nothing".into(),
        n if n <= SHOWN => items.join(", "),
        n => format!("{} and {} more", items[..SHOWN].join(", "), n - SHOWN),
    }
}

impl Folder {
    /// The loop for `wanted`: from the newest finished run that holds the cell (or from
    /// `run`), else the best fully verified trial, which is provisional. Of the runs that can
    /// answer for all states only those with the most count: one that looked at fewer says
    /// less, however new.
    ///
    /// # Errors
    /// Where nothing recorded answers; the message lists what is and the command that would
    /// measure it.
    pub fn choose(&self, wanted: &Wanted, run: Option<&str>) -> Result<Choice, NoChoice> {
        let mut decisions = self.decisions()?;
        if let Some(run) = run {
            self.must_know(run, &decisions.rows)?;
            decisions.rows.retain(|r| r.run == run);
        }
        let of_state = wanted.state.is_some();
        let mut found: Option<(Choice, bool)> = None;
        // A search of the very contract before one that measured such loops beside others.
        let own =
            |r: &&RecordedRun| r.outcome.as_ref().is_some_and(|o| o.contract == wanted.contract);
        let newest = || decisions.rows.iter().rev();
        let first = newest().filter(own).filter_map(|r| decided(r, wanted));
        let then = newest().filter(|r| !own(r)).filter_map(|r| decided(r, wanted));
        let any_own = newest().filter(own).any(|r| decided(r, wanted).is_some());
        for choice in first.chain(then.filter(|_| !any_own)) {
            // A choice over other consumers' cells too says less than one over the wanted ones.
            let own = choice.figures.iter().all(|f| f.cell.conditions == wanted.conditions);
            let more = |f: &(Choice, bool)| {
                !of_state && (own, choice.states.len()) > (f.1, f.0.states.len())
            };
            if found.as_ref().is_none_or(more) {
                found = Some((choice, own));
            }
        }
        if let Some((choice, _)) = found {
            return Ok(Choice { warnings: decisions.warnings, ..choice });
        }
        let mut trials = self.trials()?;
        trials.warnings.splice(0..0, decisions.warnings);
        // What a run decided for loops of another kind is no best so far.
        trials.rows.retain(|t| {
            let mut of = decisions.rows.iter().filter(|r| r.run == t.run);
            !of.any(|r| has_winners(r, wanted))
        });
        if let Some(run) = run {
            trials.rows.retain(|t| t.run == run);
        }
        match provisional(&trials.rows, wanted) {
            Some(choice) => Ok(Choice { warnings: trials.warnings, ..choice }),
            None => Err(NoChoice::NotRecorded {
                what: wanted.to_string(),
                folder: self.path().display().to_string(),
                recorded: cells(&decisions.rows, &trials.rows),
                command: wanted.command(),
            }),
        }
    }

    /// What the newest finished run that raced a variant recorded of it; `None` where none
    /// did.
    ///
    /// # Errors
    /// Where a file exists and cannot be read.
    pub fn recorded_of(&self, variant: &Variant) -> Result<Option<Choice>, ResultsError> {
        let decisions = self.decisions()?;
        let found = decisions.rows.iter().rev().find_map(|recorded| {
            let sizes = &recorded.outcome.as_ref().filter(|o| o.op == variant.op)?.sizes;
            let figures: Vec<Figure> =
                sizes.iter().flat_map(|size| figures(size, variant)).collect();
            (!figures.is_empty()).then(|| (recorded.run.clone(), figures))
        });
        Ok(found.map(|(run, figures)| Choice {
            states: Vec::new(),
            variant: *variant,
            run,
            provisional: false,
            max_regret: None,
            figures,
            warnings: decisions.warnings,
        }))
    }

    fn must_know(&self, run: &str, decided: &[RecordedRun]) -> Result<(), NoChoice> {
        let mut runs: Vec<String> = self.runs()?.rows.into_iter().map(|r| r.id).collect();
        runs.extend(decided.iter().map(|r| r.run.clone()));
        runs.sort();
        runs.dedup();
        if runs.iter().any(|r| r == run) {
            return Ok(());
        }
        let folder = self.path().display().to_string();
        Err(NoChoice::NoRun { run: run.into(), folder, runs })
    }
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.calls {
            WantedCalls::Size(size) => write!(f, "{} of {size} bytes", self.op)?,
            WantedCalls::Mix { name, digest: None } => write!(f, "{} of the mix {name}", self.op)?,
            WantedCalls::Mix { name, .. } => {
                write!(f, "{} of the mix {name} as this file has it", self.op)?;
            }
        }
        match self.state {
            None => write!(f, ", all states")?,
            Some(state) => write!(f, " in {state}, {}", self.drive)?,
        }
        if self.contract != Contract::User {
            write!(f, ", under the {} contract", self.contract)?;
        }
        if self.fixed {
            f.write_str(", by a loop for this size only")?;
        }
        for word in self.conditions.words() {
            write!(f, ", {word}")?;
        }
        Ok(())
    }
}

impl Wanted {
    /// The command that measures it.
    fn command(&self) -> String {
        let mut more = self.state.map_or(String::new(), |s| format!(" --state {s}"));
        if self.contract != Contract::User {
            more.push_str(&format!(" --contract {}", self.contract));
        }
        if self.fixed {
            more.push_str(match self.calls {
                WantedCalls::Size(4096) if self.op == Op::Zero => " --space pagezero",
                _ => " --space FILE (one that names `fixed` sizes)",
            });
        }
        more.push_str(&self.options());
        let calls = match &self.calls {
            WantedCalls::Size(size) => format!("--size {}", human_size(*size)),
            WantedCalls::Mix { name, .. } => format!("--mix {name}.csv"),
        };
        format!("looptune search --op {} {calls}{more}", self.op)
    }

    /// The options that ask for its conditions, those that are no defaults.
    fn options(&self) -> String {
        let (own, default) = (self.conditions, Conditions::DEFAULT);
        let all = [
            ("placement", own.placement.to_string(), own.placement == default.placement),
            ("pages", own.pages.to_string(), own.pages == default.pages),
            ("consumer", own.consumer.to_string(), own.consumer == default.consumer),
            ("source", own.source.to_string(), own.source == default.source),
            ("threads", own.threads.to_string(), own.threads == default.threads),
        ];
        let other = all.iter().filter(|(.., is_default)| !is_default);
        other.map(|(option, value, _)| format!(" --{option} {value}")).collect()
    }

    /// Whether the cells of a size were measured under its conditions. Of runs with several
    /// consumers those of the others may be among them.
    fn fits(&self, size: &SizeOutcome) -> bool {
        let own = |c: &CellOutcome| c.cell.conditions == self.conditions;
        let consumer = self.conditions.consumer;
        let alike =
            |c: &CellOutcome| Conditions { consumer, ..c.cell.conditions } == self.conditions;
        size.cells.iter().any(own) && size.cells.iter().all(alike)
    }

    /// Whether a loop is of the kind that is wanted.
    fn admits(&self, variant: &Variant) -> bool {
        variant.keeps(self.contract) && variant.fixed.is_some() == self.fixed
    }
}

/// Whether a finished run has winners for the calls that are wanted.
fn has_winners(recorded: &RecordedRun, wanted: &Wanted) -> bool {
    let outcome = recorded.outcome.iter().filter(|o| o.op == wanted.op);
    let mut sizes = outcome.flat_map(|o| &o.sizes).filter(|s| wanted.calls.are(&s.extent));
    sizes.any(|size| size.cells.iter().any(|cell| cell.winner.is_some()))
}

/// The answer of a finished run.
fn decided(recorded: &RecordedRun, wanted: &Wanted) -> Option<Choice> {
    let outcome: &SearchOutcome = recorded.outcome.as_ref()?;
    let of_calls = |s: &&SizeOutcome| outcome.op == wanted.op && wanted.calls.are(&s.extent);
    let size = outcome.sizes.iter().filter(of_calls).find(|s| wanted.fits(s))?;
    // What is best among fewer loops is no answer to who asks for all.
    if outcome.contract != Contract::User && outcome.contract != wanted.contract {
        return None;
    }
    let (variant, max_regret) = match wanted.state {
        None => {
            let choices = [&size.robust, &size.best_kernel];
            let robust = choices.into_iter().flatten().find(|r| wanted.admits(&r.variant))?;
            if wanted.contract == Contract::User && size.robust.as_ref() != Some(robust) {
                return None;
            }
            (robust.variant, Some(robust.max_regret))
        }
        Some(state) => {
            let of_state = |c: &&CellOutcome| {
                let place = (c.cell.state, c.cell.drive) == (state, wanted.drive);
                place && c.cell.conditions == wanted.conditions
            };
            let cell = size.cells.iter().find(of_state)?;
            let winner = cell.winner.as_ref()?.variant;
            // Of fewer kinds the fastest that raced, where the winner is of none.
            let raced = cell.standings.iter().map(|s| s.timed.variant);
            let narrower = wanted.contract != Contract::User;
            let rivals = raced.filter(|_| narrower);
            (std::iter::once(winner).chain(rivals).find(|v| wanted.admits(v))?, None)
        }
    };
    Some(Choice {
        variant,
        run: recorded.run.clone(),
        provisional: false,
        max_regret,
        states: size.cells.iter().map(|c| state_words(&c.cell)).collect(),
        figures: figures(size, &variant),
        warnings: Vec::new(),
    })
}

/// A cell's state and drive, and conditions that are no defaults, as in `l1 chained (2m pages)`.
fn state_words(cell: &Cell) -> String {
    let mut words = match cell.drive {
        Drive::Throughput => cell.state.to_string(),
        drive => format!("{} {drive}", cell.state),
    };
    for word in cell.conditions.words() {
        words.push_str(&format!(" ({word})"));
    }
    words
}

/// What a size's outcome says of a loop.
fn figures(size: &SizeOutcome, variant: &Variant) -> Vec<Figure> {
    let chosen = size.choices().into_iter().filter_map(|(_, choice)| choice);
    let robust = chosen.into_iter().find(|r| r.variant == *variant);
    let in_cell = |found: &CellOutcome| {
        let won = found.winner.as_ref().filter(|w| w.variant == *variant);
        let raced = found.standings.iter().find(|s| s.timed.variant == *variant);
        let timed = won.or(raced.map(|s| &s.timed))?;
        let by_cell = robust.and_then(|r| r.by_cell.iter().find(|b| b.cell == found.cell));
        let baselines =
            found.baselines.iter().filter(|_| won.is_some()).filter_map(|b| {
                b.result.as_ref().ok().map(|t| (b.name.clone(), t.ratio, t.ratio_ci))
            });
        Some(Figure {
            cell: found.cell,
            ns: timed.ns,
            ci: timed.ci,
            bytes_per_cycle: timed.bytes_per_cycle,
            regret: by_cell
                .map(|b| b.regret)
                .or(won.map(|_| 0.0))
                .or(raced.map(|s| s.ratio_to_best - 1.0)),
            baselines: baselines.collect(),
        })
    };
    size.cells.iter().filter_map(in_cell).collect()
}

/// What is recorded, for a message: an op and a size with its states each, as in
/// `zero 64 (l1, l1 chained)`.
fn cells(decided: &[RecordedRun], trials: &[RecordedTrial]) -> Vec<String> {
    let kind = |contract: Contract, found: &CellOutcome| {
        let fixed = found.winner.as_ref().is_some_and(|w| w.variant.fixed.is_some());
        match (contract, fixed) {
            (Contract::User, false) => "",
            (Contract::User, true) => " fixed",
            (Contract::Kernel, false) => " kernel",
            (Contract::Kernel, true) => " fixed kernel",
        }
    };
    let decided = decided.iter().filter_map(|r| r.outcome.as_ref());
    let decided = decided.flat_map(|o| {
        let cells = o.sizes.iter().flat_map(|s| &s.cells).filter(|c| c.winner.is_some());
        cells.map(|c| (c.cell, kind(o.contract, c)))
    });
    let verified = trials.iter().filter(|t| t.fully_verified).map(|t| (t.cell, " unfinished"));
    let mut cells: Vec<(Cell, &str)> = decided.chain(verified).collect();
    cells.sort_by_key(|(cell, kind)| (cell.op, cell.extent(), *kind, *cell));
    cells.dedup();
    cells
        .chunk_by(|(a, k), (b, l)| (a.op, a.extent(), k) == (b.op, b.extent(), l))
        .map(|of_size| {
            let (first, kind) = of_size[0];
            let what = match first.extent() {
                Extent { mix: None, size } => format!("{} {size}{kind}", first.op),
                mix => format!("{} {}{kind}", first.op, mix.phrase()),
            };
            let states: Vec<String> = of_size.iter().map(|(cell, _)| state_words(cell)).collect();
            format!("{what} ({})", states.join(", "))
        })
        .collect()
}
