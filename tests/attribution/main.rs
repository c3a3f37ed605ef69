//! Why a loop wins: on scripted times, whose parts are known, and through the command line.

mod commands;
mod script;

use looptune::host::{Feature, FeatureSet};
use looptune::results::{Explained, Folder, Journal};
use looptune::search::{
    Attribution, Budget, Coordinate, Credit, Effect, Placed, PlacedPoint, PlacedRow, PlacedTimes,
    Study, Suspect, Sweep, SweepJob, attribute, candidate_entrant, sweep,
};
use looptune::stats::Verdict;
use looptune::subject::{Cell, Count, Drive, Hint, Level, Op, Placement, State, Subject, Variant};
use looptune::trial::{Failure, FailureKind};

use script::Script;

const TICK_HZ: f64 = 1e9;

fn cell() -> Cell {
    Cell::new(Op::Copy, 4096, State::both(Level::L1), Drive::Throughput)
}

fn id(text: &str) -> Variant {
    text.parse().unwrap()
}

/// What each axis costs, as logs that add up: a factor of unrolling other than 4 a tenth, a
/// loop without prefetch a fifth, an odd address of the loop 15 %. Whether a nop in the
/// prefetch's place costs that fifth is for the test.
fn additive(v: &Variant, nop: f64) -> f64 {
    let prefetch = match v.prefetch.map(|p| p.hint) {
        None => 0.2,
        Some(Hint::Nop) => nop,
        Some(_) => 0.0,
    };
    let unroll = if v.unroll == 4 { 0.0 } else { 0.1 };
    let address = if v.align.skew % 2 == 1 { 0.15 } else { 0.0 };
    let count = if v.count == Count::Cmp { 0.0 } else { -0.05 };
    100.0 * (prefetch + unroll + address + count).exp()
}

fn explained(winner: &str, times: fn(&Cell, &Variant) -> f64) -> Attribution {
    let usable: FeatureSet = Feature::ALL.iter().copied().collect();
    let winner = id(winner);
    let swept = ["copy/ymm/u2", "copy/ymm/u4", "copy/ymm/u4/pf-t0@256", "copy/ymm/u4/pf-t0@512"];
    let swept: Vec<Variant> = swept.into_iter().map(id).collect();
    let study = Study {
        cell: cell(),
        mix: None,
        winner,
        swept: &swept,
        usable,
        budget: Budget::Seconds(1e-9),
        seed: 1,
        tick_hz: TICK_HZ,
    };
    attribute(&study, &mut Script::around(winner, times), &mut ()).unwrap()
}

#[test]
fn the_parts_of_an_additive_landscape_are_found() {
    let found = explained("copy/ymm/u4/a64/pf-t0@512", |_, v| additive(v, 0.2));
    let curve = found.skew.as_ref().unwrap();
    assert_eq!((curve.own, curve.points.len()), (0, 64));
    for point in &curve.points {
        let odd = point.skew % 2 == 1;
        let wanted = if odd { Verdict::Slower } else { Verdict::Tied };
        assert_eq!(point.compared.verdict, wanted, "{point:?}");
        let (low, high) = point.compared.ratio_ci;
        let truth = if odd { 0.15f64.exp() } else { 1.0 };
        assert!(low < truth + 0.01 && high > truth - 0.01, "{point:?}");
    }
    let row = |axis: &str, value: &str| {
        let row = found.axes.iter().find(|r| (r.axis.as_str(), r.value.as_str()) == (axis, value));
        row.unwrap_or_else(|| panic!("{axis} {value}: {:?}", found.axes)).compared
    };
    for (axis, value, truth) in
        [("unroll", "1", 0.1), ("unroll", "3", 0.1), ("unroll", "6", 0.1), ("hint", "none", 0.2)]
    {
        let found = row(axis, value);
        assert_eq!(found.verdict, Verdict::Slower, "{axis} {value}");
        assert!((found.ratio.ln() - truth).abs() < 0.01, "{axis} {value}: {found:?}");
        assert!(found.ratio_ci.0 < found.ratio && found.ratio < found.ratio_ci.1);
    }
    // What costs nothing is a tie, and what would have been better is said.
    assert_eq!(row("distance", "384").verdict, Verdict::Tied);
    assert_eq!(row("order", "batch").verdict, Verdict::Tied);
    assert_eq!(row("count", "dec").verdict, Verdict::Faster);
    assert!(found.excluded.iter().all(|e| !e.why.is_empty()));
    assert!(found.object.is_none() && found.notes.is_empty());
}

#[test]
fn a_gain_that_nops_give_too_is_not_the_prefetchs() {
    let credit = |found: &Attribution| {
        let [placebo] = &found.placebos[..] else { panic!("{:?}", found.placebos) };
        assert_eq!(placebo.suspect, Suspect::Prefetch);
        let without = placebo.without.as_ref().unwrap();
        assert_eq!(without.1.verdict, Verdict::Slower);
        placebo.credit
    };
    let real = explained("copy/ymm/u4/pf-t0@512", |_, v| additive(v, 0.2));
    assert_eq!(credit(&real), Credit::Credited);
    let bytes = explained("copy/ymm/u4/pf-t0@512", |_, v| additive(v, 0.0));
    assert_eq!(credit(&bytes), Credit::Bytes);
    // All that the prefetch seems to give, its nops give.
    let worth = bytes.placebos[0].bytes.unwrap();
    assert!((worth.ratio.ln() - 0.2).abs() < 0.01, "{worth:?}");
    let none = explained("copy/ymm/u4", |_, v| additive(v, 0.2));
    assert!(none.placebos.is_empty());
}

#[test]
fn edges_and_loops_that_hardly_run_are_said() {
    let found = explained("copy/ymm/u4/pf-t0@512", |_, v| additive(v, 0.2));
    let said: Vec<String> = found.edges.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said.iter().all(|s| s.starts_with("the optimum sits on the edge of the swept range")));
    assert!(said[0].contains("512 is the largest prefetch distance"), "{said:?}");
    assert!(said[1].contains("4 is the largest unroll factor"), "{said:?}");
    let string = explained("copy/rep8", |_, _| 100.0);
    assert!(string.skew.unwrap_err().contains("no main loop"));
    let large = explained("copy/tmm/u4", |_, _| 100.0);
    assert!(large.notes[0].contains("hardly runs"), "{:?}", large.notes);
}

#[test]
fn a_sweep_names_the_worst_placement_and_what_it_hangs_on() {
    let winner = id("copy/ymm/u4");
    let rival = id("copy/ymm/u8");
    // One hangs on the source, the other on nothing.
    let times = |cell: &Cell, v: &Variant| {
        let odd = f64::from(cell.conditions.placement.src % 2);
        if v.unroll == 4 { 100.0 * (1.0 + 0.3 * odd) } else { 110.0 }
    };
    let mut script = Script::around(winner, times);
    script.know(rival);
    let entrants = [winner, rival]
        .map(|v| candidate_entrant(&looptune::search::Candidate::new(v).unwrap(), false));
    let job = SweepJob {
        cell: cell(),
        entrants: entrants.to_vec(),
        placements: Sweep::Quick.placements(Op::Copy),
        budget: Budget::Samples(2_000),
        seed: 3,
        tick_hz: TICK_HZ,
    };
    let placed = sweep(&job, &mut script, &mut ()).unwrap();
    let [own, other] = &placed.rows[..] else { panic!("{placed:?}") };
    let own = own.result.as_ref().unwrap();
    assert_eq!(own.points.len(), 12);
    assert_eq!(own.worst().unwrap().placement.to_string(), "src1");
    assert!((own.median_ns() - 100.0).abs() < 1.5, "{}", own.median_ns());
    let hangs = own.hangs_on(0.01).unwrap();
    assert_eq!((hangs.coordinate, hangs.worst), (Coordinate::Src, Some(1)));
    assert!((hangs.spread - 1.3).abs() < 0.02, "{hangs:?}");
    assert_eq!(other.result.as_ref().unwrap().hangs_on(0.01), None);
}

#[test]
fn records_give_back_what_they_were_given() {
    let room = tempfile::tempdir().unwrap();
    let host: toml::Table = "cpu = \"one\"".parse().unwrap();
    let mut journal =
        Journal::open(room.path(), "some-1-2-3", &host, 7, "looptune", |e| panic!("{e}")).unwrap();
    let mut found = explained("copy/ymm/u4/a64/pf-t0@512", |_, v| additive(v, 0.2));
    found.notes.push("a note, with a comma".into());
    found.object = Some(Err("nothing here assembles\nor links".into()));
    let string = explained("copy/rep8", |_, _| 100.0);
    let point = |placement: &str, ns| {
        let placement = Placement::parse(placement).unwrap();
        PlacedPoint { placement, ns, ci: (ns - 1.0, ns + 1.0) }
    };
    let effect = Effect {
        coordinate: Coordinate::Delta,
        best: None,
        worst: Some(64),
        spread: 1.25,
        ci: (1.2, 1.3),
    };
    let times = |effects| PlacedTimes { points: vec![point("aligned", 100.0)], effects };
    let failure = Failure { kind: FailureKind::Hung, case: "n=7".into() };
    let row = |name: &str, result| PlacedRow { subject: Subject::parse(name).unwrap(), result };
    let placed = Placed {
        cell: cell(),
        rows: vec![
            row("copy/ymm/u4", Ok(times(vec![effect]))),
            // The same id twice is two rows.
            row("copy/ymm/u4", Ok(times(Vec::new()))),
            row("libc", Err(failure)),
            row("rep", Ok(times(vec![effect]))),
        ],
    };
    journal.attribution(&found);
    journal.placed(&placed);
    journal.attribution(&string);
    journal.finish().unwrap();
    found.object = Some(Err("nothing here assembles or links".into()));
    let folder = Folder::of_host(room.path(), "some-1-2-3").unwrap();
    let read = folder.attributions().unwrap();
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    let read: Vec<Explained> = read.rows.into_iter().map(|r| r.explained).collect();
    let winner = |found| Explained::Winner(Box::new(found));
    assert_eq!(read, [winner(found), Explained::Placement(placed), winner(string)]);

    // A file cut anywhere loses what was cut and nothing before it.
    let path = folder.path().join("attributions.csv");
    let whole = std::fs::read(&path).unwrap();
    for part in 1..8 {
        std::fs::write(&path, &whole[..whole.len() * part / 8]).unwrap();
        let cut = folder.attributions().unwrap().rows;
        assert!(cut.iter().zip(&read).all(|(c, whole)| c.explained == *whole), "{part}");
    }
}
