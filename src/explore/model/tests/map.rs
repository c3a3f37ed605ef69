//! The map, its axes and its question.

use std::collections::BTreeSet;

use super::*;

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
fn what_stays_noisy_is_given_up() {
    let mut model = model();
    let calls = std::cell::Cell::new(0u64);
    // Every batch finds another time, half as much again or not.
    let noisy = |body: &Body| {
        calls.set(calls.get() + 1);
        Ok(by_length(body)? * (10 + calls.get() % 6) / 10)
    };
    settle(&mut model, noisy, |_| false);
    let screen = model.screen();
    assert_eq!(screen.title.source, "settled");
    assert!(screen.map.cells.iter().any(|h| matches!(h, Heat::Measured { fine: false, .. })));
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
