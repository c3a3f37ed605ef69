//! The best of the breed: streaming rates of copies, reads, writes and zeroing, loops and hosts
//! side by side, the best starred.

use super::columns::Columns;
use super::measured::{Measured, mb_s, reasons};
use super::paragraph;
use super::records::{HistoryRecord, of_cell};
use super::words::{NONE, says};
use crate::report::text::ratio_ci;
use crate::results::RecordedRun;
use crate::stats::Verdict;
use crate::subject::{Baseline, Drive, Level, Op, Subject};
use crate::units::human_size;

/// What another host was recorded with.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRates {
    /// Its key.
    pub key: String,
    /// Rates of the C library: op, bytes a call, millions of bytes a second.
    pub rates: Vec<(Op, u64, f64)>,
}

impl HostRates {
    /// Calls of another size stream as well, where they are not smaller than this, bytes.
    const SMALLEST: u64 = 1 << 20;

    /// What the finished runs of a host tell of streaming: of each op the newest run's C library
    /// in dram, at the size nearest to `size`. `None` where there is no such row.
    pub fn of_runs(key: &str, runs: &[RecordedRun], size: u64) -> Option<HostRates> {
        let mut rates = Vec::new();
        for op in Op::ALL {
            let outcomes = runs.iter().rev().filter_map(|run| run.outcome.as_ref());
            let cells = outcomes.filter(|o| o.op == *op).flat_map(|o| &o.sizes);
            let cells = cells.flat_map(|s| &s.cells).filter(|found| {
                let cell = &found.cell;
                cell.state.level() == Some(Level::Dram)
                    && cell.drive == Drive::Throughput
                    && cell.mix.is_none()
                    && cell.size >= HostRates::SMALLEST
            });
            let libc = cells.filter_map(|found| {
                let libc = found.baselines.iter().find(|b| b.name == Baseline::Libc.word())?;
                let ns = libc.result.as_ref().ok()?.ns;
                Some((*op, found.cell.size, mb_s(found.cell.size, ns)))
            });
            rates.extend(libc.min_by_key(|(_, at, _)| at.abs_diff(size)));
        }
        (!rates.is_empty()).then(|| HostRates { key: key.into(), rates })
    }

    fn rate(&self, op: Op) -> Option<f64> {
        self.rates.iter().find(|(known, ..)| *known == op).map(|(.., rate)| *rate)
    }
}

/// Streaming rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BreedTable {
    /// Key of this host.
    pub key: String,
    /// A cell an op, streaming.
    pub cells: Vec<Measured>,
    /// Other hosts, as recorded.
    pub hosts: Vec<HostRates>,
}

/// The rows of lmbench: what it is called, the op, who.
const ROWS: &[(&str, Op, &str)] = &[
    ("bcopy (libc)", Op::Copy, "libc"),
    ("bcopy (hand)", Op::Copy, "lmbench_bcopy_hand"),
    ("mem read", Op::Read, "lmbench_rd"),
    ("mem write", Op::Write, "lmbench_wr"),
    ("bzero", Op::Zero, "libc"),
];

/// A rate beside the best of its row: in percent of it, or a star.
fn share(rate: Option<f64>, best: f64) -> String {
    match rate {
        None => NONE.into(),
        Some(rate) if rate >= best => format!("{rate:.0}   * "),
        Some(rate) => format!("{rate:.0} {:>2.0} %", (100.0 * rate / best).min(99.0)),
    }
}

impl BreedTable {
    fn cell(&self, op: Op) -> Option<&Measured> {
        self.cells.iter().find(|cell| cell.cell.op == op)
    }

    /// The pairs of rows that the answer needs of a cell.
    pub fn pairs(cell: &Measured) -> Vec<(usize, usize)> {
        best_and_libc(cell).into_iter().collect()
    }

    /// The tables, with what answers their question.
    pub fn page(&self) -> String {
        let Some(first) = self.cells.first() else { return String::new() };
        let size = human_size(first.cell.size);
        let mut text =
            format!("\nbest of the breed: {size} streaming, MB/s (10⁶), % of the best\n");
        text.push_str("\nhosts\n\n");
        text.push_str(&self.hosts_side_by_side());
        text.push_str("\nloops on this host\n\n");
        text.push_str(&self.loops_side_by_side());
        text.push_str(&paragraph(&self.answer()));
        text.push('\n');
        text.push_str(&reasons(self.cells.iter()));
        text.push_str(&paragraph(&self.legend()));
        text
    }

    fn legend(&self) -> String {
        let recorded = match self.hosts.len() {
            0 => "No other host is recorded that streamed; looptune search --size 8M records one \
                  with --results"
                .to_string(),
            _ => {
                let sizes = |host: &HostRates| {
                    let of = |(op, size, _): &(Op, u64, f64)| format!("{op} {}", human_size(*size));
                    let list: Vec<String> = host.rates.iter().map(of).collect();
                    format!("{}: {}", host.key, list.join(", "))
                };
                let list: Vec<String> = self.hosts.iter().map(sizes).collect();
                format!("Recorded by searches, which keep the C library: {}", list.join("; "))
            }
        };
        format!("* the best of its row. {recorded}.")
    }

    fn hosts_side_by_side(&self) -> String {
        let mut columns = Columns::new(2);
        columns.column("", "");
        columns.column("this host:", &self.key);
        self.hosts.iter().for_each(|host| columns.column("recorded:", &host.key));
        for (name, op, who) in ROWS {
            let here = self.cell(*op).and_then(|cell| cell.mb_s(cell.find(who)?));
            let there = self.hosts.iter().map(|host| match *who {
                "libc" => host.rate(*op),
                _ => None,
            });
            let rates: Vec<Option<f64>> = std::iter::once(here).chain(there).collect();
            let best = rates.iter().flatten().copied().fold(0.0, f64::max);
            let shares = rates.iter().map(|rate| share(*rate, best));
            columns.row(std::iter::once((*name).to_string()).chain(shares).collect());
        }
        columns.text()
    }

    fn loops_side_by_side(&self) -> String {
        let mut columns = Columns::new(2);
        columns.column("", "loop");
        self.cells.iter().for_each(|cell| columns.column("", cell.cell.op.word()));
        let mut names: Vec<String> = Vec::new();
        for cell in &self.cells {
            for index in 0..cell.rows.len() {
                let name = general(&cell.rows[index].subject);
                if cell.times(index).is_some() && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        for name in names {
            let shares = self.cells.iter().map(|cell| {
                let index = cell.rows.iter().position(|row| general(&row.subject) == name);
                let best = cell.fastest(|_| true).and_then(|i| cell.mb_s(i)).unwrap_or(0.0);
                share(index.and_then(|i| cell.mb_s(i)), best)
            });
            columns.row(std::iter::once(name.clone()).chain(shares).collect());
        }
        columns.text()
    }

    /// Is there something to be had over the C library?
    fn answer(&self) -> String {
        let of = |cell: &Measured| {
            let op = cell.cell.op;
            let (best, libc) = best_and_libc(cell)?;
            let pair = cell.pair(best, libc)?;
            Some(match pair.verdict {
                Verdict::Faster => format!(
                    "{op} gains: {} is {} times as fast as libc",
                    cell.name(best),
                    ratio_ci(pair.ratio, pair.ratio_ci)
                ),
                verdict => format!(
                    "{op} gains nothing that this run resolves: {}, the fastest of ours, is {} \
                     times as fast as libc, {}",
                    cell.name(best),
                    ratio_ci(pair.ratio, pair.ratio_ci),
                    says(verdict)
                ),
            })
        };
        let parts: Vec<String> = self.cells.iter().filter_map(of).collect();
        if parts.is_empty() {
            return "Does it matter in the program? Nothing of libc's was measured here.".into();
        }
        format!(
            "Does it matter in the program? At most what streaming gains: {}. In 1996 lmbench \
             before and after showed little improvement to be had.",
            parts.join("; ")
        )
    }

    /// The rows for programs.
    pub fn records(&self) -> Vec<HistoryRecord> {
        let mut records: Vec<_> = self.cells.iter().flat_map(|c| of_cell("breed", c)).collect();
        for host in &self.hosts {
            records.extend(host.rates.iter().map(|(op, size, rate)| HistoryRecord {
                table: "breed",
                kind: "recorded",
                host: host.key.clone(),
                op: op.to_string(),
                size_bytes: Some(*size),
                state: "dram".into(),
                subject: Baseline::Libc.word().into(),
                mb_per_s: Some(*rate),
                ..HistoryRecord::default()
            }));
        }
        records
    }
}

/// The fastest loop that is not libc and keeps every bit, and libc.
fn best_and_libc(cell: &Measured) -> Option<(usize, usize)> {
    let libc = cell.find(Baseline::Libc.word())?;
    let ours = |s: &Subject| s.variant().is_some_and(|v| v.is_exact());
    Some((cell.fastest(ours)?, libc))
}

/// What a subject is called where ops stand side by side.
fn general(subject: &Subject) -> String {
    match subject {
        Subject::Variant(variant) => {
            let id = variant.to_string();
            id.split_once('/').map_or(id.clone(), |(_, rest)| rest.to_string())
        }
        // One row for the three: each is for one op.
        Subject::Named(named) if named.word().starts_with("lmbench_") => "lmbench".into(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    fn table(libc: f64, nt: f64) -> BreedTable {
        let size = 8 << 20;
        let names = ["libc", "lmbench_bcopy_hand", "copy/ymm/u4/nt"];
        let mut copy =
            made::cell(Op::Copy, size, Level::Dram, &made::rows(&names, &[libc, 2e6, nt]));
        let pairs = BreedTable::pairs(&copy);
        made::ask(&mut copy, &pairs);
        let read = made::cell(Op::Read, size, Level::Dram, &made::rows(&["lmbench_rd"], &[1e6]));
        let hosts = vec![HostRates { key: "other".into(), rates: vec![(Op::Copy, 4 << 20, 1e5)] }];
        BreedTable { key: "here".into(), cells: vec![copy, read], hosts }
    }

    #[test]
    fn the_answer_follows_the_figures() {
        let gains = table(1.5e6, 1e6).answer();
        assert!(gains.contains("copy/ymm/u4/nt is 1.500 [1.494, 1.506] times"), "{gains}");
        let tied = table(1.0e6, 1.001e6).answer();
        assert!(tied.contains("nothing that this run resolves"), "{tied}");
        assert!(tied.contains("the same within the band"), "{tied}");
        let loses = table(0.5e6, 1e6).answer();
        assert!(loses.contains("0.500 [0.498, 0.502] times as fast as libc, slower"), "{loses}");
        assert!(BreedTable::default().answer().contains("Nothing of libc's"));
    }

    #[test]
    fn the_best_of_a_row_is_starred() {
        let page = table(1.5e6, 1e6).page();
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
        let row = |start: &str| page.lines().find(|l| l.trim_start().starts_with(start)).unwrap();
        assert!(row("bcopy (libc)").contains("5592  6 %"), "{page}");
        assert!(row("bcopy (libc)").contains("100000   *"), "{page}");
        assert!(row("ymm/u4/nt").contains("8389   *"), "{page}");
        assert!(row("lmbench").contains("4194 50 %") && row("lmbench").contains("8389   *"));
        let records = table(1.5e6, 1e6).records();
        assert!(records.iter().any(|r| r.kind == "recorded" && r.host == "other"));
    }
}
