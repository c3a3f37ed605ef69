//! Keys in, screens out; times by a script.

mod map;
mod tasks;

use super::*;
use crate::explore::event::ExportJob;
use crate::explore::ledger::Known;
use crate::explore::measure::measure;
use crate::explore::screen::{AxisRole, Heat, Overlay, Screen};
use crate::host::Feature;
use crate::subject::Level;
use crate::template::AXES;
use crate::trial::{
    BlockRequest, BlockResult, Body, Check, Clock, EvaluateError, Evaluator, Failure, FailureKind,
    Role, Sample,
};

const TICK_HZ: f64 = 1e9;

/// Times by code: ticks a call of a body, or why there are none.
struct Script<F>(F);

impl<F: Fn(&Body) -> Result<u64, FailureKind>> Evaluator for Script<F> {
    fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
        // What changes bits has no time here, so that it is the best of nothing.
        assert!(request.members.iter().all(|m| !m.inexact));
        let mut result = BlockResult {
            samples: Vec::new(),
            failures: Vec::new(),
            clock: Clock { cycles_per_tick: 2.0, ..Clock::default() },
            disturbed: 0,
        };
        let times: Vec<_> = request.members.iter().map(|m| (self.0)(&m.body)).collect();
        for (member, time) in times.iter().enumerate() {
            if let Err(kind) = time {
                let failure = Failure { kind: kind.clone(), case: "timing".into() };
                result.failures.push((member as u32, failure));
            }
        }
        for (layout, block) in (0..request.layouts)
            .flat_map(|layout| (0..request.blocks).map(move |block| (layout, block)))
        {
            for (member, time) in times.iter().enumerate() {
                let Ok(time) = time else { continue };
                // A little noise that differs by layout.
                let ticks = time * 1000 + u64::from(layout * 7 + block * 3) % 5;
                result.samples.push(Sample {
                    member: member as u32,
                    layout,
                    block,
                    thread: 0,
                    ticks,
                    calls: 1000,
                    disturbance: Default::default(),
                });
            }
        }
        Ok(result)
    }

    fn verify(
        &mut self,
        _: Op,
        bodies: &[Body],
        _: Check,
    ) -> Result<Vec<Result<(), Failure>>, EvaluateError> {
        Ok(vec![Ok(()); bodies.len()])
    }
}

/// Shorter code is faster; libc takes 100 ns.
fn by_length(body: &Body) -> Result<u64, FailureKind> {
    match body {
        Body::Machine(machine) => Ok(machine.bytes.len() as u64),
        _ => Ok(100),
    }
}

fn world(axes: &'static [Axis]) -> World {
    let features = [Feature::Mmx, Feature::Sse, Feature::Sse2, Feature::Avx];
    let usable = features.into_iter().fold(FeatureSet::EMPTY, FeatureSet::with);
    World {
        axes,
        usable: Some(usable),
        states: Level::ALL.iter().map(|level| State::both(*level)).collect(),
        sizes: (4..=20).map(|power| 1 << power).collect(),
        exists: Box::new(|cell| match cell.state.level() {
            Some(Level::L1) if cell.footprint() > 16 << 10 => Err("too large for l1".into()),
            _ => Ok(()),
        }),
        limits: vec![(Op::Zero, 32.0), (Op::Copy, 32.0)],
        recorded: None,
        ledger: Ledger::new(TICK_HZ),
    }
}

const QUESTION: Question =
    Question { op: Op::Zero, size: 4096, state: State::both(Level::L1), drive: Drive::Throughput };

fn model() -> Model {
    Model::new(world(AXES), QUESTION)
}

fn key(c: char) -> Event {
    Event::Key(Key::Char(c))
}

fn press(model: &mut Model, keys: &str) -> Vec<Effect> {
    keys.chars().flat_map(|c| model.update(key(c))).collect()
}

/// Measures until nothing is left; the batches that it took.
fn settle(
    model: &mut Model,
    time: impl Fn(&Body) -> Result<u64, FailureKind>,
    until: impl Fn(&Model) -> bool,
) -> usize {
    let mut script = Script(time);
    let mut effects = model.update(Event::Start);
    if effects.is_empty() {
        effects.extend(model.in_flight.clone().map(Effect::Measure));
    }
    for batches in 0..5_000 {
        let order = effects.iter().find_map(|effect| match effect {
            Effect::Measure(order) => Some(order.clone()),
            _ => None,
        });
        let Some(order) = order.filter(|_| !until(model)) else { return batches };
        let batch = measure(&mut script, &order, TICK_HZ, 1).unwrap();
        effects = model.update(Event::Report(Report::Measured(batch)));
    }
    panic!("it never settles");
}

fn complete(model: &mut Model) -> Screen {
    settle(model, by_length, Model::is_coarse_complete);
    model.screen()
}

fn id(model: &Model) -> String {
    model.screen().listing.id
}

fn encode_len(variant: &Variant) -> usize {
    crate::encode::compile(variant).unwrap().bytes.len()
}

fn axis(key: &str) -> usize {
    AXES.iter().position(|axis| axis.key == key).unwrap()
}
