//! What is kept of a run survives crashes, damage and other versions.

mod crash;

use std::fs;
use std::path::{Path, PathBuf};

use looptune::results::{
    Folder, Journal, RecordedTrial, ResultsError, Wanted, WantedCalls, hosts, read_decisions,
    read_trials,
};
use looptune::search::{
    BaselineOutcome, BaselineTimes, CellOutcome, Excluded, RegretRow, Robust, SearchOutcome,
    SizeOutcome, Standing, Stop, Timed,
};
use looptune::stats::Verdict;
use looptune::subject::{
    Baseline, Cell, Conditions, Contract, Drive, Extent, Level, Mix, Op, State, Subject, Variant,
};
use looptune::trial::{
    Clock, Disturbance, Failure, FailureKind, Misbehaviour, Observer, Phase, Role, Sample, Summary,
    Trial,
};
use looptune::units::Picos;

const KEY: &str = "amd-25-1-1-3fa2c1";

fn cell(level: Level) -> Cell {
    Cell::new(Op::Zero, 4096, State::both(level), Drive::Throughput)
}

fn id(text: &str) -> Variant {
    text.parse().unwrap()
}

fn journal(results: &Path) -> Journal {
    let host: toml::Table = "cpu = \"some \\\"cpu\\\"\"\ncaches = [32768, 524288]".parse().unwrap();
    Journal::open(results, KEY, &host, 7, "looptune search --op zero", |e| panic!("{e}")).unwrap()
}

/// Tells the journal of a trial that took `ns`, or that failed.
fn tell(
    journal: &mut Journal,
    phase: Phase,
    level: Level,
    subject: &str,
    ns: Result<f64, Failure>,
) {
    tell_in(journal, phase, cell(level), subject, ns);
}

fn tell_in(
    journal: &mut Journal,
    phase: Phase,
    cell: Cell,
    subject: &str,
    ns: Result<f64, Failure>,
) {
    let subject = Subject::parse(subject).unwrap();
    let sample = Sample {
        member: 0,
        layout: 1,
        block: 2,
        thread: 0,
        ticks: 34_567,
        calls: 89,
        disturbance: Disturbance { switches: 1, repeats: 2 },
    };
    journal.trial(&Trial {
        phase,
        role: if matches!(subject, Subject::Variant(_)) { Role::Candidate } else { Role::Baseline },
        cell,
        subject: &subject,
        code_bytes: Some(113),
        fully_verified: phase == Phase::Race,
        outcome: ns.map(|ns| Summary {
            samples: 40,
            median: Picos::from_ns(ns),
            ci: (Picos::from_ns(ns * 0.99), Picos::from_ns(ns * 1.01)),
            ratio: Some(1.1),
            bytes_per_cycle: 31.8,
        }),
        samples: &[sample],
        clock: Clock { cycles_per_tick: 1.25, ..Clock::default() },
    });
}

fn wrong() -> Failure {
    let kind = FailureKind::Incorrect(Misbehaviour::WrongByte { at: 64, wanted: 0, got: 165 });
    Failure { kind, case: "n=65, \"dst\"+3\nsrc+0".into() }
}

fn timed(variant: &str, ns: f64) -> Timed {
    let ci = (ns - 0.5, ns + 0.5);
    Timed { variant: id(variant), ns, ci, bytes_per_cycle: 31.8, code_bytes: 113 }
}

fn standing(variant: &str, ns: f64, verdict: Verdict) -> Standing {
    Standing {
        timed: timed(variant, ns),
        ratio_to_best: ns / 42.0,
        ratio_ci: (0.99, 1.02),
        verdict,
        non_temporal: variant.contains("nt"),
    }
}

fn found_in(level: Level) -> CellOutcome {
    CellOutcome {
        cell: cell(level),
        trials: 12_012,
        samples: 40_111,
        stop: Stop::Converged,
        winner: Some(timed("zero/ymm/u4/a64", 42.125)),
        ties: vec![id("zero/ymm/u8")],
        standings: vec![
            standing("zero/ymm/u8", 42.0, Verdict::Reference),
            standing("zero/ymm/u4/a64", 42.125, Verdict::Tied),
            standing("zero/ymm/u2/nt", 611.0, Verdict::Slower),
        ],
        baselines: vec![
            BaselineOutcome {
                name: "libc".into(),
                result: Ok(BaselineTimes {
                    ns: 46.5,
                    ci: (46.0, 47.0),
                    ratio: 1.1,
                    ratio_ci: (1.09, 1.11),
                    verdict: Verdict::Slower,
                }),
            },
            BaselineOutcome { name: "rep".into(), result: Err(wrong()) },
        ],
        excluded: Excluded { unsupported: 12, incorrect: 3, crashed: 1, hung: 2 },
        cycles_per_ns: 3.4,
        driver_ns: 1.6,
    }
}

fn robust(variant: &str, regret: f64) -> Robust {
    let row = |level| RegretRow { cell: cell(level), regret, ci: (regret / 2.0, regret * 2.0) };
    Robust {
        variant: id(variant),
        max_regret: regret,
        by_cell: vec![row(Level::L1), row(Level::Dram)],
    }
}

fn outcome() -> SearchOutcome {
    SearchOutcome {
        op: Op::Zero,
        contract: Contract::User,
        seed: 7,
        seconds: 4.75,
        sizes: vec![SizeOutcome {
            extent: Extent::fixed(4096),
            cells: vec![found_in(Level::L1), found_in(Level::Dram)],
            absent: vec![("llc".into(), "told as 0 bytes, \"absurd\"".into())],
            robust: Some(robust("zero/ymm/u8", 0.03125)),
            best_plain: Some(robust("zero/ymm/u8", 0.03125)),
            best_nt: Some(robust("zero/ymm/u2/nt", 10.5)),
            best_kernel: Some(robust("zero/r64/u4", 1.5)),
        }],
        warnings: vec!["the clock moved, by 8 %".into()],
    }
}

/// The same of a mix of sizes.
fn mixed(name: &str, digest: u64) -> SizeOutcome {
    let mix = Mix::new(name, digest, 46.123).unwrap();
    let mut size = outcome().sizes.remove(0);
    size.extent = Extent { mix: Some(mix), size: 4096 };
    size.cells.iter_mut().for_each(|c| c.cell.mix = Some(mix));
    let choices = [&mut size.robust, &mut size.best_plain, &mut size.best_nt];
    for robust in choices.into_iter().chain([&mut size.best_kernel]) {
        robust.iter_mut().flat_map(|r| &mut r.by_cell).for_each(|row| row.cell.mix = Some(mix));
    }
    size
}

fn trials_file(results: &Path) -> PathBuf {
    results.join(KEY).join("trials.csv")
}

fn decisions_file(results: &Path) -> PathBuf {
    results.join(KEY).join("decisions.csv")
}

/// A folder with one finished run of three trials.
fn finished(results: &Path) -> String {
    let mut journal = journal(results);
    tell(&mut journal, Phase::Screen, Level::L1, "zero/ymm/u4/a64", Ok(42.1));
    tell(&mut journal, Phase::Screen, Level::L1, "zero/ymm/u2", Err(wrong()));
    tell(&mut journal, Phase::Confirm, Level::L1, "./a,b.so:memset", Ok(46.3));
    let run = journal.run().to_string();
    journal.finish_search(&outcome()).unwrap();
    run
}

#[test]
fn what_is_written_is_read() {
    let room = tempfile::tempdir().unwrap();
    let run = finished(room.path());
    let read = read_trials(&trials_file(room.path())).unwrap();
    assert_eq!(read.warnings, [""; 0]);
    let [first, failed, foreign]: [RecordedTrial; 3] = read.rows.try_into().unwrap();
    assert_eq!(first.run, run);
    assert_eq!(first.cell, cell(Level::L1));
    assert_eq!(first.subject, Subject::Variant(id("zero/ymm/u4/a64")));
    assert_eq!(first.outcome.as_ref().unwrap().median, Picos(42_100));
    assert_eq!(first.cycles_per_tick, 1.25);
    let failure = failed.outcome.unwrap_err();
    assert_eq!(failure.word, "incorrect");
    assert!(failure.text.contains("n=65, \"dst\"+3 src+0"), "{}", failure.text);
    assert_eq!(foreign.role, Role::Baseline);
    assert_eq!(foreign.subject.to_string(), "./a,b.so:memset");

    let decisions = read_decisions(&decisions_file(room.path())).unwrap();
    assert_eq!(decisions.warnings, [""; 0]);
    assert_eq!(decisions.rows.len(), 1);
    assert_eq!(decisions.rows[0].run, run);
    assert_eq!(decisions.rows[0].outcome.as_ref().unwrap(), &outcome());

    let folder = Folder::of_host(room.path(), KEY).unwrap();
    let runs = folder.runs().unwrap().rows;
    assert_eq!((runs[0].id.as_str(), runs[0].seed), (run.as_str(), 7));
    assert_eq!(runs[0].command, "looptune search --op zero");
    assert_eq!(folder.host_facts()["cpu"].as_str(), Some("some \"cpu\""));
    let samples = fs::read_to_string(folder.path().join("samples.csv")).unwrap();
    assert_eq!(samples.lines().count(), 2, "a header and the confirmed trial's sample");
    assert_eq!(hosts(room.path()).unwrap(), [KEY]);
}

#[test]
fn mixes_come_back_beside_the_size_of_their_largest_call() {
    let room = tempfile::tempdir().unwrap();
    let mut found = outcome();
    found.sizes.extend([mixed("a, \"b\"", 1), mixed("a, \"b\"", 2)]);
    let mut journal = journal(room.path());
    tell_in(&mut journal, Phase::Confirm, found.sizes[1].cells[0].cell, "zero/ymm/u4", Ok(9.5));
    journal.finish_search(&found).unwrap();
    let trials = read_trials(&trials_file(room.path())).unwrap();
    assert_eq!((trials.rows[0].cell, trials.warnings.len()), (found.sizes[1].cells[0].cell, 0));
    let decisions = read_decisions(&decisions_file(room.path())).unwrap();
    assert_eq!(decisions.warnings, [""; 0]);
    assert_eq!(decisions.rows[0].outcome.as_ref(), Some(&found));
    let folder = Folder::of_host(room.path(), KEY).unwrap();
    let mut wanted = Wanted {
        op: Op::Zero,
        calls: WantedCalls::Mix { name: "a, \"b\"".into(), digest: None },
        state: None,
        drive: Drive::Throughput,
        contract: Contract::User,
        fixed: false,
        conditions: Conditions::DEFAULT,
    };
    let choice = folder.choose(&wanted, None).unwrap();
    assert_eq!(choice.figures[0].cell.mix, found.sizes[1].extent.mix);
    wanted.calls = WantedCalls::Mix { name: "web".into(), digest: None };
    let message = folder.choose(&wanted, None).unwrap_err().to_string();
    assert!(message.contains("zero of the mix web") && message.contains("--mix"), "{message}");
    // A row that lacks half of a mix is told, not guessed.
    let text = fs::read_to_string(trials_file(room.path())).unwrap();
    fs::write(trials_file(room.path()), text.replace("0000000000000001", "x1")).unwrap();
    let broken = read_trials(&trials_file(room.path())).unwrap();
    assert!(broken.rows.is_empty() && broken.warnings[0].contains("`x1` is no mix_digest"));
}

#[test]
fn files_from_before_there_were_mixes_or_conditions_are_read() {
    let room = tempfile::tempdir().unwrap();
    finished(room.path());
    let before = read_decisions(&decisions_file(room.path())).unwrap();
    for file in [trials_file(room.path()), decisions_file(room.path())] {
        let text = fs::read_to_string(&file).unwrap();
        let header = text.lines().next().unwrap();
        assert!(header.ends_with(",mix,mix_digest,mean_bytes,source,threads"), "{header}");
        let old = text.lines().map(|line| line.rsplitn(6, ',').last().unwrap().to_string() + "\n");
        fs::write(&file, old.collect::<String>()).unwrap();
    }
    let trials = read_trials(&trials_file(room.path())).unwrap();
    assert_eq!((trials.rows.len(), trials.warnings), (3, vec![]));
    assert_eq!(trials.rows[0].cell, cell(Level::L1));
    assert_eq!(read_decisions(&decisions_file(room.path())).unwrap(), before);
    // A new run adds its columns below, and both are read.
    finished(room.path());
    assert_eq!(read_trials(&trials_file(room.path())).unwrap().rows.len(), 6);
}

#[test]
fn a_killed_run_is_recognised_and_answers_provisionally() {
    let room = tempfile::tempdir().unwrap();
    let mut killed = journal(room.path());
    tell(&mut killed, Phase::Screen, Level::L1, "zero/ymm/u4/a64", Ok(40.0));
    tell(&mut killed, Phase::Race, Level::L1, "zero/ymm/u8", Ok(42.0));
    tell(&mut killed, Phase::Race, Level::L1, "zero/ymm/u2/nt", Ok(600.0));
    tell(&mut killed, Phase::Race, Level::Dram, "zero/ymm/u8", Ok(1400.0));
    tell(&mut killed, Phase::Race, Level::Dram, "zero/ymm/u2/nt", Ok(1000.0));
    let run = killed.run().to_string();
    drop(killed); // its rows reach the file; nothing is decided
    let folder = Folder::of_host(room.path(), KEY).unwrap();
    assert_eq!(folder.decisions().unwrap().rows, []);
    let mut wanted = Wanted {
        op: Op::Zero,
        calls: WantedCalls::Size(4096),
        state: None,
        drive: Drive::Throughput,
        contract: Contract::User,
        fixed: false,
        conditions: Conditions::DEFAULT,
    };
    let robust = folder.choose(&wanted, None).unwrap();
    assert!(robust.provisional);
    assert_eq!(robust.variant, id("zero/ymm/u8"), "40 % in dram beats 1,300 % in l1");
    assert_eq!(robust.figures.len(), 2);
    wanted.state = Some(State::both(Level::Dram));
    let dram = folder.choose(&wanted, Some(&run)).unwrap();
    assert_eq!((dram.variant, dram.provisional), (id("zero/ymm/u2/nt"), true));

    finished(room.path());
    let decided = folder.choose(&wanted, None).unwrap();
    assert_eq!((decided.variant, decided.provisional), (id("zero/ymm/u4/a64"), false));
    assert_eq!(decided.figures.len(), 2);
    assert_eq!(decided.figures[0].baselines[0].0, "libc");
    wanted.state = None;
    assert_eq!(folder.choose(&wanted, None).unwrap().max_regret, Some(0.03125));
}

#[test]
fn what_is_not_recorded_is_told_with_the_command_that_would() {
    let room = tempfile::tempdir().unwrap();
    finished(room.path());
    let folder = Folder::of_host(room.path(), KEY).unwrap();
    let state = Some(State::both(Level::L2));
    let wanted = Wanted {
        op: Op::Copy,
        calls: WantedCalls::Size(1 << 20),
        state,
        drive: Drive::Throughput,
        contract: Contract::User,
        fixed: false,
        conditions: Conditions::DEFAULT,
    };
    let message = folder.choose(&wanted, None).unwrap_err().to_string();
    assert!(message.contains("copy of 1048576 bytes in l2"), "{message}");
    assert!(message.contains("zero 4096 (l1, dram)"), "{message}");
    assert!(message.contains("looptune search --op copy --size 1M --state l2"), "{message}");
    let message = folder.choose(&wanted, Some("2020")).unwrap_err().to_string();
    assert!(
        message.contains("no run `2020`") && message.contains(&folder.runs().unwrap().rows[0].id)
    );
    let message = Folder::of_host(room.path(), "intel-6").unwrap_err().to_string();
    assert!(message.contains("intel-6") && message.contains(KEY), "{message}");
    assert!(matches!(Folder::of_host(room.path(), "../x"), Err(ResultsError::HostKey(_))));
    let empty = room.path().join("nowhere");
    assert_eq!(hosts(&empty).unwrap(), [""; 0]);
    assert!(read_trials(&empty).unwrap().rows.is_empty());
}

#[test]
fn folders_that_cannot_be_written_are_named_with_the_way_out() {
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("results");
    fs::write(&file, "in the way").unwrap();
    let open = |results: &Path, key: &str| {
        Journal::open(results, key, &toml::Table::new(), 1, "x", |_| {}).unwrap_err().to_string()
    };
    let message = open(&file, KEY);
    assert!(message.contains("is a file, not a folder"), "{message}");
    assert!(message.contains(&file.display().to_string()), "{message}");
    assert!(message.contains("--results DIR"), "{message}");
    fs::create_dir_all(room.path().join("r").join(KEY).join("trials.csv")).unwrap();
    let message = open(&room.path().join("r"), KEY);
    assert!(message.contains("trials.csv") && message.contains("--results DIR"), "{message}");
    assert!(open(room.path(), "a/b").contains("no host key"));
}

#[test]
fn trouble_is_told_once_and_stops_nothing() {
    use std::cell::Cell as Counter;
    use std::rc::Rc;
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join(KEY);
    let told = Rc::new(Counter::new(0));
    let count = Rc::clone(&told);
    let mut journal = Journal::open(room.path(), KEY, &toml::Table::new(), 1, "x", move |_| {
        count.set(count.get() + 1);
    })
    .unwrap();
    tell(&mut journal, Phase::Screen, Level::L1, "zero/ymm", Ok(40.0));
    fs::create_dir(folder.join("decisions.csv")).unwrap();
    let error = journal.finish_search(&outcome()).unwrap_err();
    assert!(error.to_string().contains("decisions.csv"), "{error}");
    assert_eq!(told.get(), 1);
    assert_eq!(read_trials(&folder.join("trials.csv")).unwrap().rows.len(), 1);
    assert!(read_decisions(&folder.join("decisions.csv")).is_err());
    assert!(read_trials(Path::new("/dev/zero")).is_err(), "a device has no end");
}

#[test]
fn ten_thousand_trials_are_kept_quickly() {
    let room = tempfile::tempdir().unwrap();
    let mut journal = journal(room.path());
    let begun = std::time::Instant::now();
    for i in 0..10_000 {
        tell(&mut journal, Phase::Screen, Level::L1, "zero/ymm/u4/a64", Ok(f64::from(i)));
    }
    journal.finish().unwrap();
    println!("10,000 rows written in {:?}", begun.elapsed());
    let begun = std::time::Instant::now();
    let read = read_trials(&trials_file(room.path())).unwrap();
    println!("and read in {:?}", begun.elapsed());
    assert_eq!(read.rows.len(), 10_000);
    let decisions = read_decisions(&decisions_file(room.path())).unwrap();
    assert_eq!(decisions.rows.len(), 1);
    assert_eq!(decisions.rows[0].outcome, None);
    let baseline = Subject::Baseline(Baseline::Libc);
    assert!(read.rows.iter().all(|t| t.subject != baseline));
}

#[test]
fn names_of_loops_and_compilers_are_kept_as_names() {
    let room = tempfile::tempdir().unwrap();
    let mut journal = journal(room.path());
    for name in ["sse2_pagezero", "compiler-o3"] {
        tell(&mut journal, Phase::Bench, Level::L1, name, Ok(42.0));
    }
    journal.finish().unwrap();
    let text = fs::read_to_string(trials_file(room.path())).unwrap();
    assert!(text.contains(",sse2_pagezero,") && text.contains(",compiler-o3,"), "{text}");
    let read = read_trials(&trials_file(room.path())).unwrap();
    assert!(read.warnings.is_empty());
    let subjects: Vec<String> = read.rows.iter().map(|t| t.subject.to_string()).collect();
    assert_eq!(subjects, ["sse2_pagezero", "compiler-o3"]);
    let folder = Folder::of_host(room.path(), KEY).unwrap();
    let page = looptune::report::plain(&folder).unwrap();
    assert!(page.contains("2 trials are recorded, 2 of them with times"), "{page}");
}

#[test]
fn a_newer_run_of_fewer_states_hides_no_fuller_one() {
    let room = tempfile::tempdir().unwrap();
    let full = finished(room.path());
    let mut narrow = outcome();
    narrow.sizes[0].cells.truncate(1);
    narrow.sizes[0].robust = Some(robust("zero/ymm/u2/nt", 0.0));
    journal(room.path()).finish_search(&narrow).unwrap();
    let folder = Folder::of_host(room.path(), KEY).unwrap();
    let all = Wanted {
        op: Op::Zero,
        calls: WantedCalls::Size(4096),
        state: None,
        drive: Drive::Throughput,
        contract: Contract::User,
        fixed: false,
        conditions: Conditions::DEFAULT,
    };
    let choice = folder.choose(&all, None).unwrap();
    assert_eq!((choice.run.as_str(), choice.variant), (full.as_str(), id("zero/ymm/u8")));
    assert_eq!(choice.states, ["l1", "dram"]);
    // Of a single state the newest run knows as much as any.
    let one = Wanted { state: Some(State::both(Level::L1)), ..all };
    assert_ne!(folder.choose(&one, None).unwrap().run, full);
    let text = looptune::report::plain(&folder).unwrap();
    assert!(text.contains("dram") && text.contains(&full), "{text}");
}

#[test]
fn a_folder_reads_as_tables() {
    let room = tempfile::tempdir().unwrap();
    let mut killed = journal(room.path());
    tell(&mut killed, Phase::Screen, Level::L1, "zero/ymm/u4/a64", Ok(40.0));
    drop(killed);
    let folder = Folder::of_host(room.path(), KEY).unwrap();
    let text = looptune::report::plain(&folder).unwrap();
    assert!(text.contains("1 run, 0 finished; cut off: "), "{text}");
    assert!(text.contains("1 trials are recorded"), "{text}");
    let run = finished(room.path());
    let text = looptune::report::plain(&folder).unwrap();
    for part in
        ["2 runs, 1 finished", &run, "zero/ymm/u4/a64", "1.100 [1.090, 1.110] slower", "robust"]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}
