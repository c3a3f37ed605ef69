//! Made-up measurements for the tests of the tables.

use super::measured::Measured;
use crate::search::{Pair, Row, RowTimes};
use crate::stats::Verdict;
use crate::subject::{Cell, Drive, Level, Op, State, Subject};

/// Half the width of every interval, as a part.
const HALF: f64 = 0.004;

fn verdict(time_ratio: f64) -> Verdict {
    Verdict::of_time_ratio((time_ratio * (1.0 - HALF), time_ratio * (1.0 + HALF)), 0.01)
}

/// Rows of so many nanoseconds; the first is the reference.
pub(super) fn rows(names: &[&str], ns: &[f64]) -> Vec<(Subject, f64)> {
    let subject = |name: &&str| Subject::parse(name).expect("names of tests are right");
    names.iter().map(subject).zip(ns.iter().copied()).collect()
}

/// A cell with these rows at 2 cycles a nanosecond.
pub(super) fn cell(op: Op, size: u64, level: Level, rows: &[(Subject, f64)]) -> Measured {
    let first = rows[0].1;
    let row = |(index, (subject, ns)): (usize, &(Subject, f64))| Row {
        subject: subject.clone(),
        result: Ok(RowTimes {
            ns: *ns,
            ci: (ns * (1.0 - HALF), ns * (1.0 + HALF)),
            bytes_per_cycle: size as f64 / ns / 2.0,
            threads: None,
            ratio: first / ns,
            ratio_ci: (first / ns * (1.0 - HALF), first / ns * (1.0 + HALF)),
            verdict: if index == 0 { Verdict::Reference } else { verdict(ns / first) },
        }),
    };
    Measured {
        cell: Cell::new(op, size, State::both(level), Drive::Throughput),
        rows: rows.iter().enumerate().map(row).collect(),
        pairs: Vec::new(),
    }
}

/// Adds pairs as a contest would give them.
pub(super) fn ask(cell: &mut Measured, pairs: &[(usize, usize)]) {
    for (row, against) in pairs {
        let (Some(one), Some(other)) = (cell.times(*row), cell.times(*against)) else { continue };
        let ratio = other.ns / one.ns;
        cell.pairs.push(Pair {
            row: *row,
            against: *against,
            ratio,
            ratio_ci: (ratio * (1.0 - HALF), ratio * (1.0 + HALF)),
            verdict: verdict(1.0 / ratio),
        });
    }
}
