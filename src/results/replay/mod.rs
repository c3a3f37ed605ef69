//! Recorded samples that answer as the machine did, so that strategies are compared without it.
//!
//! A space is recorded by `looptune search --strategy exhaustive --epochs E --rounds R --record`:
//! every candidate, again and again, each visit of all in a new order and with the baseline in
//! every block. Of a sample is told apart what is the loop's own, what the moment did to all
//! members of its block, and the rest (see [`polish`]). A replayed block has a recorded moment,
//! and of each member, the baseline among them, a recorded time of its own with its rest: so a
//! search is told what the machine would have told it, noise and all.

mod contest;
mod drift;
mod judge;
mod polish;
mod space;

use std::io::Write;
use std::time::Duration;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::search::Candidate;
use crate::subject::Op;
use crate::trial::{
    BlockRequest, BlockResult, Body, Check, Clock, Disturbance, EvaluateError, Evaluator, Failure,
    Sample,
};
pub use contest::{Allowance, Contest, Contested};
use drift::Drift;
pub use judge::{Better, Quality, Run, better, quality};
use space::of_half;
pub use space::{RecordedSpace, spaces};

/// Calls that a replayed sample claims: so many that rounding to whole ticks loses nothing.
const CALLS: u32 = 1_000_000;

/// Answers requests from a recorded space.
///
/// Samples of a member are drawn from one half of the recorded epochs, without putting back;
/// when all were drawn they are shuffled and drawn again, so that asking for more than was
/// recorded tells nothing new. The same of the baseline and of the moments of blocks.
pub struct Replay<'s> {
    space: &'s RecordedSpace,
    half: u32,
    rng: ChaCha8Rng,
    decks: Vec<Deck>,
    baseline: Deck,
    moments: Deck,
    drift: Option<Drift>,
    trace: Option<&'s mut dyn Write>,
    requests: u64,
}

impl std::fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay").field("cell", &self.space.cell).field("half", &self.half).finish()
    }
}

/// Samples of a member in the order they are dealt.
#[derive(Clone, Debug, Default)]
struct Deck {
    cards: Vec<f64>,
    next: usize,
}

impl Deck {
    fn of(cards: Vec<f64>) -> Deck {
        // The first deal shuffles.
        Deck { next: cards.len(), cards }
    }

    /// The next card; 0 of an empty deck.
    fn deal(&mut self, rng: &mut ChaCha8Rng) -> f64 {
        if self.next == self.cards.len() {
            self.cards.shuffle(rng);
            self.next = 0;
        }
        self.next += 1;
        self.cards.get(self.next - 1).copied().unwrap_or(0.0)
    }
}

impl<'s> Replay<'s> {
    /// Answers from the even epochs where the seed is even, from the odd ones where it is odd;
    /// the other half is the truth. With `drift` the machine's speed wanders as the samples go
    /// on. `trace` gets one line a request.
    pub fn new(
        space: &'s RecordedSpace,
        seed: u64,
        drift: bool,
        trace: Option<&'s mut dyn Write>,
    ) -> Replay<'s> {
        Replay {
            space,
            half: half(seed),
            rng: ChaCha8Rng::seed_from_u64(seed),
            decks: vec![Deck::default(); space.candidates.len()],
            baseline: Deck::of(of_half(&space.baseline, half(seed))),
            moments: Deck::of(of_half(&space.moments, half(seed))),
            drift: drift.then(|| Drift::new(seed)),
            trace,
            requests: 0,
        }
    }

    fn deal(&mut self, index: Option<usize>) -> f64 {
        let deck = match index {
            None => &mut self.baseline,
            Some(index) => {
                let deck = &mut self.decks[index];
                if deck.cards.is_empty() {
                    *deck = Deck::of(self.space.half(index, self.half));
                }
                deck
            }
        };
        deck.deal(&mut self.rng)
    }

    /// Which candidate each member is; `None` is the baseline.
    fn members(&self, request: &BlockRequest) -> Result<Vec<Option<usize>>, EvaluateError> {
        if request.cell != self.space.cell || !request.weights.is_empty() {
            let why = format!("the record is of {}, not of {}", self.space.cell, request.cell);
            return Err(EvaluateError::NotRecorded(why));
        }
        request.members.iter().map(|m| self.member(&m.body)).collect()
    }

    fn member(&self, body: &Body) -> Result<Option<usize>, EvaluateError> {
        match body {
            Body::Libc => Ok(None),
            Body::LibcTuned => {
                Err(EvaluateError::NotRecorded(format!("libc-tuned in {}", self.space.cell)))
            }
            Body::Foreign { path, symbol } => {
                Err(EvaluateError::NotRecorded(format!("{path}:{symbol} in {}", self.space.cell)))
            }
            Body::Machine(code) => match self.space.places.get(body) {
                Some(index) => Ok(Some(*index)),
                None => {
                    let name = self.space.name_of(body).unwrap_or_else(|| {
                        format!(
                            "a loop of {} bytes that no recorded id stands for",
                            code.bytes.len()
                        )
                    });
                    Err(EvaluateError::NotRecorded(format!("{name} in {}", self.space.cell)))
                }
            },
        }
    }

    /// One line a request: its number, what was asked, and every answer. What cannot be written
    /// ends the trace.
    fn tell(&mut self, request: &BlockRequest, members: &[Option<usize>], result: &BlockResult) {
        let Some(trace) = &mut self.trace else { return };
        let candidates: &[Candidate] = &self.space.candidates;
        let names: Vec<String> = members
            .iter()
            .map(|m| m.map_or("libc".into(), |i| candidates[i].variant.to_string()))
            .collect();
        let ticks: Vec<String> = result.samples.iter().map(|s| s.ticks.to_string()).collect();
        let line = format!(
            "{} seed {} layouts {} blocks {} members {} ticks {}\n",
            self.requests,
            request.seed,
            request.layouts,
            request.blocks,
            names.join(" "),
            ticks.join(" ")
        );
        if trace.write_all(line.as_bytes()).is_err() {
            self.trace = None;
        }
    }
}

/// The half of the epochs that a seed's search draws from.
fn half(seed: u64) -> u32 {
    (seed % 2) as u32
}

impl Evaluator for Replay<'_> {
    fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
        let members = self.members(request)?;
        let mut result = BlockResult {
            samples: Vec::new(),
            failures: Vec::new(),
            clock: Clock { cycles_per_tick: 1.0, ..Clock::default() },
            disturbed: 0,
        };
        for layout in 0..request.layouts {
            for block in 0..request.blocks {
                // A block is one moment of the machine.
                let drift = self.drift.as_mut().map_or(0.0, |d| d.pass(members.len() as u64));
                let moment = drift + self.moments.deal(&mut self.rng);
                for (member, index) in members.iter().enumerate() {
                    let relative = self.deal(*index);
                    let log = self.space.baseline_log_ticks + relative + moment;
                    result.samples.push(Sample {
                        member: member as u32,
                        layout,
                        block,
                        ticks: (log.exp() * f64::from(CALLS)).round() as u64,
                        calls: CALLS,
                        thread: 0,
                        disturbance: Disturbance::default(),
                    });
                }
            }
        }
        self.requests += 1;
        self.tell(request, &members, &result);
        Ok(result)
    }

    fn clock(&mut self) -> Duration {
        // Samples are counted here, and no decision hangs on time.
        Duration::ZERO
    }

    fn verify(
        &mut self,
        _: Op,
        bodies: &[Body],
        _: Check,
    ) -> Result<Vec<Result<(), Failure>>, EvaluateError> {
        // What has times was verified when they were made.
        bodies.iter().map(|body| self.member(body).map(|_| Ok(()))).collect()
    }
}
