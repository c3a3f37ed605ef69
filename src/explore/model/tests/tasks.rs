//! What one does from the map: jumps, exports, curves, the way out.

use proptest::prelude::*;

use super::*;

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

    press(&mut model, "/evans_fp_bcpy");
    let Some(Overlay::Prompt(prompt)) = model.screen().overlay else { panic!() };
    assert_eq!(prompt.suggestions[0], "evans_fp_bcopy");
    model.update(Event::Key(Key::Tab));
    model.update(Event::Key(Key::Enter));
    assert_eq!(id(&model), "copy/x87/u8/reverse");

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
    assert!(job.measured[0].starts_with("zero 4k l1: "), "{:?}", job.measured);
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
fn curves_show_placements_of_the_buffers() {
    let mut model = model();
    press(&mut model, "c");
    // Behind the last axis; what has no source has one coordinate only.
    for _ in 0..AXES.len() - axis("align") {
        model.update(Event::Key(Key::Tab));
    }
    settle(&mut model, by_length, Model::is_coarse_complete);
    let curve = model.screen().curve.unwrap();
    assert_eq!((curve.x.as_str(), curve.cursor), ("dst mod 64", Some(0)));
    let labels: Vec<&str> = curve.series[0].points.iter().map(|p| p.label.as_str()).collect();
    assert_eq!((labels.len(), labels[1], labels.last()), (13, "1", Some(&"63")));
    assert_eq!(curve.series[1].name, "libc");
    model.update(Event::Key(Key::Right));
    assert_eq!(model.screen().curve.unwrap().cursor, Some(1));
    // The figures are those of the placement.
    assert!(model.screen().figures.ns.is_some() && model.screen().figures.clock_ghz.is_some());
    model.update(Event::Key(Key::Tab));
    assert_eq!(model.screen().curve.unwrap().x, "size (bytes)");
    model.update(Event::Key(Key::Esc));
    settle(&mut model, by_length, Model::is_coarse_complete);
    assert_eq!(id(&model), "zero/ymm/u4");
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
    token: "made-up",
    default: "none",
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
fn a_pasted_text_is_never_keys() {
    let mut model = model();
    let paste = |text: &str| Event::Paste(text.into());
    let effects = model.update(paste("zoq\nq"));
    assert!(!effects.iter().any(|e| matches!(e, Effect::Quit)));
    assert_eq!(model.screen().title.op, "zero");
    assert_eq!(model.screen().status.kind, StatusKind::Notice);
    press(&mut model, "/");
    model.update(paste("copy/\nxmm"));
    model.update(paste(&"x".repeat(100_000)));
    let Some(Overlay::Prompt(prompt)) = model.screen().overlay else { panic!() };
    assert!(prompt.text.starts_with("copy/xmmxxx") && prompt.text.len() < 5000);
}

#[test]
fn one_sample_is_no_certainty() {
    let mut world = world(AXES);
    let Question { op, size, state, drive } = QUESTION;
    let cell = Cell::new(op, size, state, drive);
    let known =
        |samples, ns| Known { samples, ns: (ns, ns, ns), relative: None, bytes_per_cycle: 30.0 };
    let loop_ = Subject::Variant("zero/ymm/u4".parse().unwrap());
    let libc = Subject::Baseline(Baseline::Libc);
    world.recorded = Some("a folder".into());
    world.ledger.put(&cell, loop_, (Role::Candidate, None), Ok(known(1, 40.0)));
    world.ledger.put(&cell, libc, (Role::Baseline, None), Ok(known(500, 80.0)));
    let screen = Model::new(world, QUESTION).screen();
    assert!(screen.map.cells.iter().all(|h| !matches!(h, Heat::Measured { fine: true, .. })));
    assert_eq!(screen.figures.baseline.unwrap().verdict, "undecided");
    assert!(screen.figures.note.unwrap().contains("one sample"));
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
