//! Recorded folders for the tests of this module, written by the journal itself.

use std::path::Path;

use super::sample;
use crate::host::Host;
use crate::results::{Folder, Journal};
use crate::search::{SearchOutcome, Stop};
use crate::subject::{Baseline, Cell, Drive, Level, Op, Pages, State, Subject, Variant};
use crate::trial::{Clock, Disturbance, Observer, Phase, Role, Sample, Summary, Trial};
use crate::units::Picos;

/// The cell that trials are of.
pub(super) fn cell() -> Cell {
    Cell::new(Op::Zero, 4096, State::both(Level::L1), Drive::Throughput)
}

/// A folder with a finished search of these sizes; every loop has an interval.
pub(super) fn folder(results: &Path, key: &str, sizes: &[u64]) -> Folder {
    looks(results, key, sizes, &[12])
}

/// As [`folder`], each loop with a row for each of these numbers of samples.
pub(super) fn looks(results: &Path, key: &str, sizes: &[u64], looks: &[u32]) -> Folder {
    let command = "looptune search --op zero --size 4096 # <b> & \"quotes\"";
    let tell = |trouble: &crate::results::ResultsError| panic!("{trouble}");
    let mut journal = Journal::open(results, key, &Host::detect(), 7, command, tell).unwrap();
    for unroll in [1_u32, 2, 3, 4, 6, 8] {
        for align in ["", "/a64", "/a64+16", "/a64+32", "/a64+48"] {
            let token = if unroll == 1 { String::new() } else { format!("/u{unroll}") };
            let variant = sample::id(&format!("zero/ymm{token}{align}"));
            let slow = f64::from(unroll.abs_diff(4)) * 3.0 + align.len() as f64;
            looked(&mut journal, Subject::Variant(variant), 42.0 + slow, looks);
        }
    }
    let outcome = sample::search(sizes);
    samples(&mut journal, &outcome);
    journal.finish_search(&outcome).unwrap();
    Folder::at(&results.join(key))
}

/// A folder with a finished search, and a newer one that was interrupted before any winner.
pub(super) fn interrupted(results: &Path, key: &str, sizes: &[u64]) -> Folder {
    let folder = folder(results, key, sizes);
    let mut outcome = sample::search(sizes);
    for size in &mut outcome.sizes {
        for cell in &mut size.cells {
            (cell.stop, cell.winner) = (Stop::Interrupted, None);
            (cell.standings, cell.baselines) = (Vec::new(), Vec::new());
        }
        (size.robust, size.best_plain, size.best_nt) = (None, None, None);
        size.best_kernel = None;
    }
    let journal = Journal::open(results, key, &Host::detect(), 8, "looptune", |_| {});
    journal.unwrap().finish_search(&outcome).unwrap();
    folder
}

/// A folder with a search, explanations of it, and another one with large pages.
pub(super) fn explained(results: &Path, key: &str, sizes: &[u64]) -> Folder {
    let folder = folder(results, key, sizes);
    let open = || Journal::open(results, key, &Host::detect(), 7, "looptune", |_| {}).unwrap();
    let mut journal = open();
    journal.placed(&sample::placed());
    journal.attribution(&sample::attribution());
    journal.finish().unwrap();
    let mut outcome = sample::search(sizes);
    let under = |cell: &mut Cell| cell.conditions.pages = Pages::Huge;
    for size in &mut outcome.sizes {
        size.cells.iter_mut().for_each(|c| under(&mut c.cell));
        (size.robust, size.best_plain, size.best_nt) = (None, None, None);
        size.best_kernel = None;
    }
    open().finish_search(&outcome).unwrap();
    folder
}

/// A folder with a search whose winner has no prefetch, but whose second has.
pub(super) fn distances(results: &Path, key: &str) -> Folder {
    let mut journal = Journal::open(results, key, &Host::detect(), 7, "looptune", |_| {}).unwrap();
    for distance in [64, 128, 256, 512, 1024] {
        let variant = sample::id(&format!("zero/ymm/u4/a64/pf-t0@{distance}"));
        trial(&mut journal, Phase::Screen, Subject::Variant(variant), 45.0, &[]);
    }
    let mut outcome = sample::search(&[4096]);
    let standings = &mut outcome.sizes[0].cells[0].standings;
    let mut second = standings[0].clone();
    second.timed.variant = sample::id("zero/ymm/u4/a64/pf-t0@256");
    standings.push(second);
    journal.finish_search(&outcome).unwrap();
    Folder::at(&results.join(key))
}

fn samples(journal: &mut Journal, outcome: &SearchOutcome) {
    let winner = outcome.sizes.iter().flat_map(|s| &s.cells).find(|c| c.cell == cell());
    let winner = winner.and_then(|c| c.winner.as_ref()).map(|w| Subject::Variant(w.variant));
    let baselines = Baseline::PRESENT.iter().map(|b| Subject::Baseline(*b));
    for (place, subject) in winner.into_iter().chain(baselines).enumerate() {
        let ticks = |i: u64| 10_000 + 1_000 * place as u64 + 37 * (i % 11);
        let samples: Vec<Sample> = (0..40)
            .map(|i| Sample {
                member: 0,
                layout: i as u32 / 4,
                block: i as u32 % 4,
                thread: 0,
                ticks: ticks(i),
                calls: 100,
                disturbance: Disturbance::default(),
            })
            .collect();
        trial(journal, Phase::Race, subject, 42.0, &samples);
    }
}

fn looked(journal: &mut Journal, subject: Subject, ns: f64, looks: &[u32]) {
    for count in looks {
        record(journal, Phase::Screen, subject.clone(), ns, (*count, &[]));
    }
}

/// A folder as a bench leaves it: figures, no decision.
pub(super) fn bench(results: &Path, key: &str) -> Folder {
    let mut journal = Journal::open(results, key, &Host::detect(), 0, "looptune", |_| {}).unwrap();
    for unroll in [2_u32, 3, 4, 6, 8] {
        for align in ["", "/a64", "/a64+16", "/a64+32", "/a64+48"] {
            let variant = sample::id(&format!("zero/ymm/u{unroll}{align}"));
            let ns = 40.0 + f64::from(unroll);
            record(&mut journal, Phase::Bench, Subject::Variant(variant), ns, (300, &[]));
        }
    }
    journal.finish().unwrap();
    Folder::at(&results.join(key))
}

fn trial(journal: &mut Journal, phase: Phase, subject: Subject, ns: f64, samples: &[Sample]) {
    record(journal, phase, subject, ns, (12, samples));
}

fn record(
    journal: &mut Journal,
    phase: Phase,
    subject: Subject,
    ns: f64,
    (count, samples): (u32, &[Sample]),
) {
    let baseline = matches!(subject, Subject::Baseline(_));
    journal.trial(&Trial {
        phase,
        role: if baseline { Role::Baseline } else { Role::Candidate },
        cell: cell(),
        subject: &subject,
        code_bytes: Some(113),
        fully_verified: false,
        outcome: Ok(Summary {
            samples: count,
            median: Picos::from_ns(ns),
            ci: (Picos::from_ns(ns * 0.99), Picos::from_ns(ns * 1.01)),
            ratio: Some(1.1),
            // Far below every host's limit.
            bytes_per_cycle: 409.6 / ns / 3.06,
        }),
        samples,
        clock: Clock { cycles_per_tick: 1.25, ..Clock::default() },
    });
}

/// A loop by its id.
pub(super) fn id(text: &str) -> Variant {
    sample::id(text)
}
