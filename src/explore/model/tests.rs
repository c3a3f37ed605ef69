//! Keys in, screens out; times by a script.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::explore::event::ExportJob;
use crate::explore::measure::measure;
use crate::explore::screen::{AxisRole, Heat, Overlay, Screen};
use crate::host::Feature;
use crate::subject::Level;
use crate::template::AXES;
use crate::trial::{
    BlockRequest, BlockResult, Body, Check, Clock, EvaluateError, Evaluator, Failure, FailureKind,
    Sample,
};

const TICK_HZ: f64 = 1e9;

/// Times by code: ticks a call of a body, or why there are none.
struct Script<F>(F);

impl<F: Fn(&Body) -> Result<u64, FailureKind>> Evaluator for Script<F> {
    fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
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

#[test]
fn it_begins_with_unroll_against_alignment() {
    let mut model = model();
    let effects = model.update(Event::Start);
    assert!(matches!(effects.as_slice(), [Effect::Measure(order)] if order.cell.size == 4096));
    let screen = model.screen();
    assert_eq!((screen.map.x.key.as_str(), screen.map.y.key.as_str()), ("align", "unroll"));
    assert_eq!((screen.map.x.values.len(), screen.map.y.values.len()), (11, 9));
    assert_eq!(screen.map.y.values[screen.map.cursor.1], "4");
    assert_eq!(screen.listing.id, "zero/ymm/u4");
    assert_eq!(screen.title.done, (0, 99));
    assert!(screen.map.cells.contains(&Heat::Measuring), "{:?}", screen.map.cells);
}

#[test]
fn the_map_fills_and_ranks() {
    let mut model = model();
    let screen = complete(&mut model);
    assert_eq!(screen.title.done, (99, 99));
    let slower = |heat: &Heat| match heat {
        Heat::Measured { slower, .. } => *slower,
        other => panic!("{other:?}"),
    };
    let best = screen.map.best.unwrap();
    let columns = screen.map.x.values.len();
    assert!((slower(&screen.map.cells[best.1 * columns + best.0]) - 1.0).abs() < 1e-9);
    assert!(screen.map.cells.iter().all(|heat| slower(heat) >= 1.0));
    // The shortest code is the fastest by the script.
    press(&mut model, "f");
    assert_eq!(model.cursor, best);
    let lengths = model.grid.places.iter().filter_map(Place::runnable);
    let shortest = lengths.map(|v| encode_len(&v)).min().unwrap();
    assert_eq!(encode_len(&model.variant()), shortest);
}

fn encode_len(variant: &Variant) -> usize {
    crate::encode::compile(variant).unwrap().bytes.len()
}

#[test]
fn all_is_refined_and_then_there_is_peace() {
    let mut model = model();
    let batches = settle(&mut model, by_length, |_| false);
    assert!(batches > 4);
    assert!(model.is_settled());
    let screen = model.screen();
    assert_eq!(screen.title.source, "settled");
    let figures = screen.figures;
    assert_eq!(figures.baseline.as_ref().unwrap().name, "libc");
    assert!(figures.samples >= 240, "{}", figures.samples);
    let length = encode_len(&model.variant()) as f64;
    let ratio = figures.baseline.unwrap().ratio;
    assert!((ratio - 100.0 / length).abs() < 0.01, "{ratio}");
    // 2 cycles a tick, a tick a nanosecond.
    assert!((figures.bytes_per_cycle.unwrap() - 4096.0 / (2.0 * length)).abs() < 0.5);
    assert!(screen.map.cells.iter().all(|h| matches!(h, Heat::Measured { fine: true, .. })));
    let histogram = figures.histogram.unwrap();
    let drawn: u32 = histogram.bins.iter().sum();
    assert_eq!((drawn + histogram.above) as usize, figures.samples);
}

#[test]
fn arrows_and_letters_move_within_the_map() {
    let mut model = model();
    model.update(Event::Key(Key::Home));
    let start = model.cursor;
    model.update(Event::Key(Key::Right));
    press(&mut model, "j");
    assert_eq!(model.cursor, (start.0 + 1, start.1 + 1));
    model.update(Event::Key(Key::Left));
    press(&mut model, "k");
    assert_eq!(model.cursor, start);
    for _ in 0..50 {
        model.update(Event::Key(Key::Right));
        model.update(Event::Key(Key::Up));
    }
    assert_eq!(model.cursor, (10, 0));
    model.update(Event::Mouse(Spot::Cell(2, 3)));
    assert_eq!(model.cursor, (2, 3));
}

#[test]
fn what_cannot_be_says_why() {
    let mut model = model();
    // Encodings along the rows, classes along the columns.
    model.set_axis(true, axis("class"));
    model.set_axis(false, axis("encoding"));
    let screen = model.screen();
    let at = |class: &str, encoding: &str| {
        let place = |values: &[String], word: &str| values.iter().position(|v| v == word).unwrap();
        (place(&screen.map.x.values, class), place(&screen.map.y.values, encoding))
    };
    let heat = |(x, y): (usize, usize)| screen.map.cells[y * screen.map.x.values.len() + x];
    assert_eq!(heat(at("r64", "vex")), Heat::Illegal);
    assert_eq!(heat(at("zmm", "evex")), Heat::Unsupported);
    assert_eq!(heat(at("xmm", "vex")), Heat::Unmeasured);
    model.update(Event::Mouse(Spot::Cell(at("r64", "vex").0, at("r64", "vex").1)));
    let status = model.screen().status;
    assert_eq!(status.kind, StatusKind::Notice);
    assert!(status.text.contains("rule"), "{}", status.text);
    model.update(Event::Mouse(Spot::Cell(at("zmm", "evex").0, at("zmm", "evex").1)));
    let screen = model.screen();
    assert!(screen.status.text.contains("avx512f"), "{}", screen.status.text);
    // Other hosts can run it: its code is there to be read.
    assert!(!screen.listing.lines.is_empty());
    press(&mut model, "e");
    assert_eq!(model.screen().overlay, None);
}

fn axis(key: &str) -> usize {
    AXES.iter().position(|axis| axis.key == key).unwrap()
}

#[test]
fn an_axis_that_is_there_only_with_another_can_be_looked_at() {
    let mut model = model();
    model.set_axis(true, axis("distance"));
    model.set_axis(false, axis("hint"));
    let screen = model.screen();
    let hint = |word: &str| screen.map.y.values.iter().position(|v| v == word).unwrap();
    let row = |y: usize| {
        let columns = screen.map.x.values.len();
        screen.map.cells[y * columns..(y + 1) * columns].to_vec()
    };
    assert!(row(hint("none")).iter().all(|h| *h == Heat::Illegal));
    assert!(row(hint("t0")).iter().all(|h| *h == Heat::Unmeasured));
    model.update(Event::Mouse(Spot::Cell(0, hint("none"))));
    let screen = model.screen();
    assert!(screen.status.text.contains("distance"), "{}", screen.status.text);
    assert!(screen.listing.lines.is_empty() && !screen.listing.absent.is_empty());
}

#[test]
fn the_other_axes_change_with_plus_and_minus() {
    let mut model = model();
    let role = |model: &Model| {
        let lines = model.screen().axes;
        lines.iter().find(|a| a.selected).map(|a| (a.key.clone(), a.role)).unwrap()
    };
    assert_eq!(role(&model), ("class".into(), AxisRole::Fixed));
    let mut seen = BTreeSet::new();
    for _ in 0..AXES.len() - 2 {
        assert!(seen.insert(role(&model).0));
        assert_eq!(role(&model).1, AxisRole::Fixed);
        model.update(Event::Key(Key::Tab));
    }
    assert_eq!(role(&model).0, "class");
    model.update(Event::Key(Key::BackTab));
    assert_eq!(role(&model).0, *AXES.last().unwrap().key);
    model.select(axis("class"));
    press(&mut model, "-");
    assert_eq!(id(&model), "zero/xmm/u4");
    press(&mut model, "+");
    assert_eq!(id(&model), "zero/ymm/u4");
    model.select(axis("store"));
    press(&mut model, "--");
    assert_eq!(id(&model), "zero/ymm/u4/aligned");
    // What does not apply says so.
    model.select(axis("distance"));
    press(&mut model, "+");
    assert!(model.screen().status.text.contains("does not apply"));
}

#[test]
fn axes_are_chosen_from_a_list_and_change_places() {
    let mut model = model();
    press(&mut model, "x");
    let Some(Overlay::Choice { items, at, .. }) = model.screen().overlay else { panic!() };
    assert_eq!(items.len(), AXES.len());
    assert!(items[at].starts_with("align"));
    // The letter goes to the next item that begins so.
    press(&mut model, "u");
    model.update(Event::Key(Key::Enter));
    let screen = model.screen();
    assert_eq!((screen.map.x.key.as_str(), screen.map.y.key.as_str()), ("unroll", "align"));
    assert_eq!(screen.listing.id, "zero/ymm/u4");
    press(&mut model, "yc");
    model.update(Event::Key(Key::Esc));
    assert_eq!(model.screen().map.y.key, "align");
    press(&mut model, "y");
    model.update(Event::Mouse(Spot::Item(axis("tail"))));
    assert_eq!(model.screen().map.y.key, "tail");
}

#[test]
fn the_question_changes() {
    let mut model = model();
    press(&mut model, "s");
    assert_eq!(model.screen().title.state, "l2");
    press(&mut model, "sss");
    assert_eq!(model.screen().title.state, "l1");
    press(&mut model, "]");
    assert_eq!(model.screen().title.size, "8k");
    // 32k do not fit the l1 of this world: the next state is taken, and said so.
    press(&mut model, "]]");
    let screen = model.screen();
    assert_eq!((screen.title.size.as_str(), screen.title.state.as_str()), ("32k", "l2"));
    assert!(screen.status.text.contains("too large for l1"), "{}", screen.status.text);
    for _ in 0..20 {
        press(&mut model, "[");
    }
    assert_eq!(model.screen().title.size, "16");
    press(&mut model, "o");
    assert_eq!(model.screen().title.op, "copy");
    assert_eq!(id(&model), "copy/ymm/u4");
    press(&mut model, "d");
    assert_eq!(model.screen().title.drive, "chained");
    press(&mut model, "b");
    model.update(Event::Key(Key::Down));
    model.update(Event::Key(Key::Enter));
    assert_eq!(model.screen().title.baseline, "rep");
}

#[test]
fn a_pinned_loop_is_compared_with() {
    let mut model = model();
    press(&mut model, "p");
    model.update(Event::Key(Key::Home));
    model.update(Event::Key(Key::End));
    assert!(model.screen().map.pin.is_some());
    settle(&mut model, by_length, |_| false);
    let screen = model.screen();
    let pin = screen.figures.pin.unwrap();
    assert_eq!(pin.name, "zero/ymm/u4");
    let expected =
        encode_len(&"zero/ymm/u4".parse().unwrap()) as f64 / encode_len(&model.variant()) as f64;
    assert!((pin.ratio - expected).abs() < 0.01, "{} {expected}", pin.ratio);
    assert!(pin.ci.0 <= pin.ratio && pin.ratio <= pin.ci.1);
    // Another one that has been measured apart is measured beside it.
    press(&mut model, "F");
    settle(&mut model, by_length, |_| false);
    assert!(model.screen().figures.pin.is_some() || model.pin == Some(model.variant()));
}

#[test]
fn a_jump_takes_ids_and_mends_them() {
    let mut model = model();
    press(&mut model, "/copy/xmm/u8/a64+24");
    model.update(Event::Key(Key::Enter));
    let screen = model.screen();
    assert_eq!(screen.listing.id, "copy/xmm/u8/a64+24");
    assert_eq!(screen.title.op, "copy");
    assert_eq!(screen.map.x.values[screen.map.cursor.0], "a64+24");

    press(&mut model, "/copy/xmn/u8");
    model.update(Event::Key(Key::Enter));
    let Some(Overlay::Prompt(prompt)) = model.screen().overlay else { panic!() };
    assert!(prompt.error.unwrap().contains("xmn"));
    assert_eq!(prompt.suggestions[0], "copy/xmm/u8");
    model.update(Event::Key(Key::Tab));
    model.update(Event::Key(Key::Enter));
    assert_eq!(id(&model), "copy/xmm/u8");

    press(&mut model, "/lbc");
    let Some(Overlay::Prompt(prompt)) = model.screen().overlay else { panic!() };
    assert_eq!(prompt.suggestions, ["libc"]);
    model.update(Event::Key(Key::Tab));
    model.update(Event::Key(Key::Enter));
    let Some(Overlay::Prompt(prompt)) = model.screen().overlay else { panic!() };
    assert!(prompt.error.unwrap().contains("b compares with it"));
    model.update(Event::Key(Key::Ctrl('u')));
    press(&mut model, "rep");
    model.update(Event::Key(Key::Enter));
    assert_eq!(id(&model), "copy/rep8");

    press(&mut model, "/zero/rep8/u4");
    model.update(Event::Key(Key::Enter));
    let Some(Overlay::Prompt(prompt)) = model.screen().overlay else { panic!() };
    assert!(prompt.error.unwrap().contains("rule"));
    model.update(Event::Key(Key::Esc));
    assert_eq!(model.screen().overlay, None);
}

fn exports(effects: &[Effect]) -> Vec<&ExportJob> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Export(job) => Some(job),
            _ => None,
        })
        .collect()
}

#[test]
fn an_export_asks_for_a_file_and_before_it_replaces_one() {
    let mut model = model();
    complete(&mut model);
    press(&mut model, "e");
    let Some(Overlay::Prompt(prompt)) = model.screen().overlay else { panic!() };
    assert_eq!(prompt.text, "zero-ymm-u4.S");
    let effects = model.update(Event::Key(Key::Enter));
    let [job] = exports(&effects)[..] else { panic!("{effects:?}") };
    assert!(!job.overwrite);
    assert_eq!(job.variant.to_string(), "zero/ymm/u4");
    assert!(job.measured[0].starts_with("zero 4096 l1: "), "{:?}", job.measured);
    let exists = Exported::Exists(job.path.clone());
    model.update(Event::Report(Report::Exported(exists)));
    let Some(Overlay::Prompt(prompt)) = model.screen().overlay else { panic!() };
    assert!(prompt.error.is_some());
    let effects = model.update(Event::Key(Key::Enter));
    assert!(exports(&effects)[0].overwrite);
    // Another name is another file.
    let exists = Exported::Exists("zero-ymm-u4.S".into());
    model.update(Event::Report(Report::Exported(exists)));
    press(&mut model, "2");
    let effects = model.update(Event::Key(Key::Enter));
    let [job] = exports(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!((job.overwrite, job.path.to_str()), (false, Some("zero-ymm-u4.S2")));
    let done = Exported::Written("there it is".into());
    model.update(Event::Report(Report::Exported(done)));
    assert_eq!(model.screen().status.text, "there it is");
}

#[test]
fn results_are_written_once() {
    let mut model = model();
    complete(&mut model);
    let effects = press(&mut model, "w");
    let records = effects.iter().find_map(|e| match e {
        Effect::Write(records) => Some(records),
        _ => None,
    });
    let records = records.unwrap();
    // 99 loops and the baseline.
    assert_eq!(records.len(), 100);
    let verify: Vec<_> = records.iter().filter(|r| r.verify).collect();
    assert!((3..=4).contains(&verify.len()), "{}", verify.len());
    assert!(records.iter().all(|r| r.outcome.is_ok() && !r.samples.is_empty()));
    let again = press(&mut model, "w");
    assert!(!again.iter().any(|e| matches!(e, Effect::Write(_))));
    assert!(model.screen().status.text.contains("written"));
}

#[test]
fn a_loop_that_fails_has_its_reason_and_the_others_their_times() {
    let mut model = model();
    let victim = encode_len(&"zero/ymm/u4".parse().unwrap());
    let time = |body: &Body| match by_length(body) {
        Ok(length) if length as usize == victim && matches!(body, Body::Machine(_)) => {
            Err(FailureKind::Crashed { signal: 11 })
        }
        other => other,
    };
    settle(&mut model, time, |_| false);
    let screen = model.screen();
    let at = screen.map.cursor.1 * screen.map.x.values.len() + screen.map.cursor.0;
    assert_eq!(screen.map.cells[at], Heat::Failed);
    assert!(screen.status.text.contains("SIGSEGV"), "{}", screen.status.text);
    assert!(screen.figures.note.unwrap().contains("SIGSEGV"));
    assert_eq!(screen.title.done, (99, 99));
    // It may be tried again.
    let effects = press(&mut model, "r");
    let tried = effects.iter().any(|e| match e {
        Effect::Measure(order) => order.members.first() == Some(&model.variant()),
        _ => false,
    });
    assert!(tried, "{effects:?}");
}

#[test]
fn without_a_worker_there_is_an_error_and_a_way_back() {
    let mut model = model();
    let mut effects = model.update(Event::Start);
    for _ in 0..ATTEMPTS {
        assert_eq!(effects.len(), 1);
        effects = model.update(Event::Report(Report::Trouble("no worker".into())));
    }
    assert!(effects.is_empty());
    let screen = model.screen();
    assert_eq!(screen.status.kind, StatusKind::Error);
    assert!(screen.status.text.contains("no worker"));
    assert_eq!(screen.title.source, "stopped");
    press(&mut model, "l");
    assert_eq!(model.screen().status.kind, StatusKind::Error);
    assert!(matches!(press(&mut model, "r").as_slice(), [Effect::Measure(_)]));
    // A thread that is gone does not come back.
    model.update(Event::Report(Report::Gone("a bug".into())));
    assert!(press(&mut model, "r").is_empty());
    assert!(model.screen().status.text.contains("a bug"));
}

#[test]
fn curves_show_one_axis_or_the_size() {
    let mut model = model();
    press(&mut model, "c");
    settle(&mut model, by_length, Model::is_coarse_complete);
    let curve = model.screen().curve.unwrap();
    assert_eq!(curve.x, "align");
    assert_eq!(curve.series[0].name, "zero/ymm/u4");
    assert_eq!(curve.series[0].points.len(), (AXES[axis("align")].values)().len());
    assert_eq!(curve.series[1].name, "libc");
    assert_eq!(curve.cursor, Some(0));
    model.update(Event::Key(Key::Right));
    assert_eq!(model.screen().curve.unwrap().cursor, Some(1));
    // The axis that follows the last is the size.
    press(&mut model, "x");
    model.update(Event::Key(Key::End));
    model.update(Event::Key(Key::Enter));
    settle(&mut model, by_length, Model::is_coarse_complete);
    let curve = model.screen().curve.unwrap();
    assert_eq!(curve.x, "size (bytes)");
    assert!(curve.logarithmic);
    let names: Vec<_> = curve.series.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(&names[1..], ["libc", "rep"]);
    let xs: Vec<f64> = curve.series[0].points.iter().map(|p| p.x).collect();
    assert!(xs.is_sorted() && xs.len() > 5 && xs.last() == Some(&16384.0), "{xs:?}");
    model.update(Event::Key(Key::Right));
    assert_eq!(model.screen().title.size, "8k");
    model.update(Event::Key(Key::Esc));
    assert_eq!(model.screen().curve, None);
}

#[test]
fn all_values_can_be_shown() {
    let mut model = model();
    press(&mut model, "z");
    let all = (AXES[axis("align")].values)().len();
    assert_eq!(model.screen().map.x.values.len(), all);
    assert_eq!(id(&model), "zero/ymm/u4");
    press(&mut model, "z");
    assert_eq!(model.screen().map.x.values.len(), 11);
}

/// An axis that is not the crate's: the count of the loop, under other words.
const MADE_UP: Axis = Axis {
    key: "spin",
    about: "how the loop turns",
    values: || ["left", "right"].map(String::from).to_vec(),
    coarse: || ["left", "right"].map(String::from).to_vec(),
    of: |v| Some(if v.count == crate::subject::Count::Dec { "right" } else { "left" }.into()),
    with: |v, word| {
        let count = match word {
            "left" => crate::subject::Count::Cmp,
            "right" => crate::subject::Count::Dec,
            _ => return None,
        };
        Some(Variant { count, ..*v })
    },
};

#[test]
fn an_axis_that_is_added_is_everywhere() {
    let axes: Vec<Axis> = AXES.iter().copied().chain([MADE_UP]).collect();
    let mut model = Model::new(world(axes.leak()), QUESTION);
    let screen = model.screen();
    let line = screen.axes.iter().find(|line| line.key == "spin").unwrap();
    assert_eq!(line.value.as_deref(), Some("left"));
    press(&mut model, "?");
    let Some(Overlay::Help(groups)) = model.screen().overlay else { panic!() };
    let told = groups
        .iter()
        .flat_map(|g| &g.1)
        .any(|(key, what)| key == "spin" && what == "how the loop turns");
    assert!(told);
    model.update(Event::Key(Key::Esc));
    press(&mut model, "xs");
    while !matches!(model.screen().overlay, Some(Overlay::Choice { items, at, .. }) if items[at].starts_with("spin"))
    {
        press(&mut model, "s");
    }
    model.update(Event::Key(Key::Enter));
    let screen = complete(&mut model);
    assert_eq!(screen.map.x.values, ["left", "right"]);
    assert_eq!(screen.title.done, (18, 18));
    press(&mut model, "c");
    assert_eq!(model.screen().curve.unwrap().x, "spin");
}

#[test]
fn the_keys_of_the_help_are_keys() {
    let mut model = model();
    press(&mut model, "?");
    let Some(Overlay::Help(groups)) = model.screen().overlay else { panic!() };
    let text: String = groups.iter().flat_map(|g| &g.1).map(|(keys, _)| keys.as_str()).collect();
    for c in "hjklfFczxysdo[]bpewrR?q/+-".chars() {
        assert!(text.contains(c), "{c} in {text}");
    }
    // Help goes away with the first key, which does its work.
    press(&mut model, "s");
    let screen = model.screen();
    assert_eq!((screen.overlay, screen.title.state.as_str()), (None, "l2"));
}

#[test]
fn it_ends_by_q_and_by_control_c_wherever_one_is() {
    for before in ["", "?", "x", "/ab", "e", "c"] {
        let mut model = model();
        press(&mut model, before);
        let effects = model.update(Event::Key(Key::Ctrl('c')));
        assert!(matches!(effects.as_slice(), [Effect::Quit]), "{before}");
    }
    assert!(matches!(press(&mut model(), "q").as_slice(), [Effect::Quit]));
}

fn any_key() -> impl Strategy<Value = Key> {
    let keys = "hjklxybszdo[]pfFrRc/ew?+-=_ KJ0u".chars().map(Key::Char);
    let others = [
        Key::Left,
        Key::Right,
        Key::Up,
        Key::Down,
        Key::Home,
        Key::End,
        Key::Tab,
        Key::BackTab,
        Key::Enter,
        Key::Esc,
        Key::Backspace,
        Key::PageDown,
    ];
    prop::sample::select(keys.chain(others).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Whatever is pressed, the screen holds together.
    #[test]
    fn no_sequence_of_keys_breaks_it(keys in prop::collection::vec(any_key(), 1..40)) {
        let mut model = model();
        let mut script = Script(by_length);
        let mut effects = model.update(Event::Start);
        for key in keys {
            for effect in std::mem::take(&mut effects) {
                if let Effect::Measure(order) = effect {
                    let batch = measure(&mut script, &order, TICK_HZ, 1).unwrap();
                    effects.extend(model.update(Event::Report(Report::Measured(batch))));
                }
            }
            effects.extend(model.update(Event::Key(key)));
            let screen = model.screen();
            let (columns, rows) = (screen.map.x.values.len(), screen.map.y.values.len());
            prop_assert_eq!(screen.map.cells.len(), columns * rows);
            prop_assert!(screen.map.cursor.0 < columns && screen.map.cursor.1 < rows);
            prop_assert_eq!(screen.axes.len(), AXES.len());
            prop_assert_eq!(screen.axes.iter().filter(|a| a.selected).count(), 1);
            prop_assert!(screen.title.done.0 <= screen.title.done.1);
            let roles = |role| screen.axes.iter().filter(move |a| a.role == role).count();
            prop_assert_eq!((roles(AxisRole::X), roles(AxisRole::Y)), (1, 1));
        }
    }
}
