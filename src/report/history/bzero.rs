//! The bzeros of 1996 by state, and what reading a line before writing it does, net of the bytes
//! of the instruction that reads.

use super::columns::Columns;
use super::figures::PROGRAMS;
use super::measured::{Measured, reasons, resolved};
use super::paragraph;
use super::records::{self, HistoryRecord, of_cell};
use super::words::{MARKS, NONE, mark, pair, rate};
use crate::report::text::ratio_ci;
use crate::search::Pair;
use crate::stats::Verdict;
use crate::subject::{Level, Subject};

/// The loop that reads before it writes, its placebo, and the same loop with neither.
pub const BZERO_RBW: [&str; 3] = ["i586_bzero", "i586_bzerox", "zero/r32/u8"];

/// Zeroing by state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BzeroTable {
    /// A cell a state; the first row is `generic_bzero`.
    pub cells: Vec<Measured>,
}

/// States beside each other: more would not leave room for intervals.
const ABREAST: usize = 2;

/// What the loops of a cell say of the read.
struct Rbw<'a> {
    /// Reading against the placebo: what the read does.
    read: Option<&'a Pair>,
    /// The placebo against neither: what its bytes do.
    bytes: Option<&'a Pair>,
    /// Reading against neither.
    both: Option<&'a Pair>,
}

impl Rbw<'_> {
    fn of(cell: &Measured) -> Rbw<'_> {
        let [rbw, placebo, none] = BZERO_RBW.map(|name| cell.find(name));
        let of = |a: Option<usize>, b: Option<usize>| cell.pair(a?, b?);
        Rbw { read: of(rbw, placebo), bytes: of(placebo, none), both: of(rbw, none) }
    }
}

impl BzeroTable {
    /// The pairs of rows that the answer needs of a cell.
    pub fn pairs(cell: &Measured) -> Vec<(usize, usize)> {
        let [rbw, placebo, none] = BZERO_RBW.map(|name| cell.find(name));
        let pairs = [(rbw, placebo), (placebo, none), (rbw, none), leaders(cell)];
        pairs.into_iter().filter_map(|(a, b)| Some((a?, b?))).collect()
    }

    /// The tables, with what answers their question.
    pub fn page(&self) -> String {
        let Some(first) = self.cells.first() else { return String::new() };
        let mut text = format!(
            "\nbzero: {} bytes by state; × is generic_bzero's time over the row's\n",
            first.cell.size
        );
        for abreast in self.cells.chunks(ABREAST) {
            text.push('\n');
            text.push_str(&times(abreast));
        }
        text.push_str("\nread before write, net of its placebo; above 1, the first is faster\n\n");
        text.push_str(&self.effect());
        text.push_str(&paragraph(&self.answer()));
        text.push_str("\n1996, a 133 MHz Pentium: whole programs by bzero, as posted\n\n");
        text.push_str(&programs());
        text.push('\n');
        text.push_str(&reasons(self.cells.iter()));
        let [rbw, placebo, none] = BZERO_RBW;
        text.push_str(&paragraph(&format!(
            "{rbw} reads each line before it writes it; {placebo} has a nop of the same length \
             there; {none} has neither. {MARKS}"
        )));
        text
    }

    fn effect(&self) -> String {
        let mut columns = Columns::new(2);
        columns.column("", "state");
        columns.column("the read:", "rbw × placebo");
        columns.column("its bytes:", "placebo × none");
        columns.column("both:", "rbw × none");
        for cell in &self.cells {
            let rbw = Rbw::of(cell);
            let pairs = [rbw.read, rbw.bytes, rbw.both].map(pair);
            columns.row([cell.cell.state.to_string()].into_iter().chain(pairs).collect());
        }
        columns.text()
    }

    /// Which bzero, when, and why.
    fn answer(&self) -> String {
        let mut gains = Vec::new();
        let mut costs = Vec::new();
        let mut nothing = Vec::new();
        let mut open = Vec::new();
        let mut by_bytes = Vec::new();
        for cell in &self.cells {
            let state = cell.cell.state.to_string();
            let rbw = Rbw::of(cell);
            let Some(read) = rbw.read else { continue };
            let told = format!("{state} ({})", ratio_ci(read.ratio, read.ratio_ci));
            match read.verdict {
                Verdict::Faster => gains.push(told),
                Verdict::Slower => costs.push(told),
                Verdict::Tied => nothing.push(state.clone()),
                _ => open.push(told),
            }
            // A difference that the read does not make but the placebo does.
            if !resolved(read.verdict) && rbw.bytes.is_some_and(|pair| resolved(pair.verdict)) {
                by_bytes.push(state);
            }
        }
        let mut parts = Vec::new();
        for (list, says) in [
            (&gains, "the read itself gains in"),
            (&costs, "the read itself costs in"),
            (&nothing, "it does nothing beyond the band in"),
            (&open, "it is not resolved in"),
        ] {
            if !list.is_empty() {
                parts.push(format!("{says} {}", list.join(", ")));
            }
        }
        if !by_bytes.is_empty() {
            parts.push(format!("in {} the difference is of its bytes alone", by_bytes.join(", ")));
        }
        if parts.is_empty() {
            return "Which bzero, when? The loops that read before they write have no times."
                .into();
        }
        let mut ahead: Vec<(String, Vec<String>)> = Vec::new();
        for cell in &self.cells {
            let Some(name) = lead(cell) else { continue };
            let state = cell.cell.state.to_string();
            match ahead.iter_mut().find(|(known, _)| *known == name) {
                Some((_, states)) => states.push(state),
                None => ahead.push((name, vec![state])),
            }
        }
        let ahead: Vec<String> = ahead
            .into_iter()
            .map(|(name, states)| format!("{name} in {}", states.join(", ")))
            .collect();
        format!(
            "Which bzero, when? Least time: {}. Of i586_bzero against its placebo: {}. In 1996: \
             8.5 times faster in L1, 0 to 33 % faster in L2, 33 % slower beyond.",
            ahead.join("; "),
            parts.join("; ")
        )
    }

    /// The rows for programs.
    pub fn records(&self) -> Vec<HistoryRecord> {
        let mut records: Vec<_> = self.cells.iter().flat_map(|c| of_cell("bzero", c)).collect();
        records.extend(PROGRAMS.iter().map(|figures| HistoryRecord {
            table: "bzero",
            kind: records::POSTED,
            host: "Pentium 133".into(),
            op: "zero".into(),
            subject: figures.bzero.clone(),
            program: figures.program.clone(),
            real_s: Some(figures.real_s),
            user_s: Some(figures.user_s),
            sys_s: Some(figures.sys_s),
            ticks: figures.bzero_ticks.clone(),
            ..HistoryRecord::default()
        }));
        records
    }
}

/// The second of a cell and the first.
fn leaders(cell: &Measured) -> (Option<usize>, Option<usize>) {
    let first = cell.fastest(|_| true);
    let others = |subject: &Subject| first.is_none_or(|i| cell.rows[i].subject != *subject);
    (cell.fastest(others), first)
}

/// Who is ahead in a cell: one, or two that the run does not tell apart.
fn lead(cell: &Measured) -> Option<String> {
    let (second, first) = leaders(cell);
    let first = first?;
    let name = cell.name(first);
    let Some(second) = second else { return Some(name) };
    Some(match cell.pair(second, first).map(|pair| pair.verdict) {
        Some(Verdict::Tied) => format!("{name} and {} alike", cell.name(second)),
        Some(Verdict::Undecided) => format!("{name} or {}, not told apart,", cell.name(second)),
        _ => name,
    })
}

/// What a state is called where caches are spoken of.
fn level(cell: &Measured) -> String {
    match cell.cell.state.level() {
        Some(Level::L1) => "L1".into(),
        Some(Level::L2) => "L2".into(),
        Some(Level::Llc) => "LLC".into(),
        Some(Level::Dram) => "DRAM".into(),
        None => cell.cell.state.to_string(),
    }
}

fn times(cells: &[Measured]) -> String {
    let mut columns = Columns::new(2);
    columns.column("", "bzero");
    for cell in cells {
        columns.column(&level(cell), "MB/s");
        columns.column("", "ns");
        columns.column("", "× 95 % interval");
    }
    for index in 0..cells[0].rows.len() {
        let mut row = vec![cells[0].name(index)];
        for cell in cells {
            row.push(rate(cell.mb_s(index)));
            row.extend(cell.times(index).map_or([NONE.into(), NONE.into()], |times| {
                let ratio = ratio_ci(times.ratio, times.ratio_ci);
                [
                    format!("{:.1}", times.ns),
                    match times.verdict {
                        Verdict::Reference => "1 ·".into(),
                        verdict => format!("{ratio} {}", mark(verdict)),
                    },
                ]
            }));
        }
        columns.row(row);
    }
    columns.text()
}

fn programs() -> String {
    let mut columns = Columns::new(2);
    columns.column("", "program, bzero");
    ["real s", "user s", "sys s", "ticks in bzero"]
        .iter()
        .for_each(|name| columns.column("", name));
    for figures in PROGRAMS.iter() {
        let seconds = [figures.real_s, figures.user_s, figures.sys_s];
        let mut row = vec![format!("{}, {}", figures.program, figures.bzero)];
        row.extend(seconds.map(|s| format!("{s:.2}")));
        row.push(figures.bzero_ticks.clone());
        columns.row(row);
    }
    columns.text()
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;
    use crate::subject::Op;

    fn table(states: &[(Level, [f64; 3])]) -> BzeroTable {
        let names = ["generic_bzero", "i586_bzero", "i586_bzerox", "zero/r32/u8"];
        let cells = states.iter().map(|(level, [rbw, placebo, none])| {
            let rows = made::rows(&names, &[100.0, *rbw, *placebo, *none]);
            let mut cell = made::cell(Op::Zero, 4096, *level, &rows);
            let pairs = BzeroTable::pairs(&cell);
            made::ask(&mut cell, &pairs);
            cell
        });
        BzeroTable { cells: cells.collect() }
    }

    #[test]
    fn the_answer_follows_the_read_and_its_placebo() {
        let one = table(&[(Level::L1, [150.0, 120.0, 120.0]), (Level::Dram, [90.0, 120.0, 99.0])]);
        let answer = one.answer();
        assert!(answer.contains("gains in dram (1.333 [1.328, 1.339])"), "{answer}");
        assert!(answer.contains("costs in l1 (0.800 [0.797, 0.803])"), "{answer}");
        assert!(answer.contains("generic_bzero in l1; i586_bzero in dram"), "{answer}");
        let other = table(&[(Level::L1, [90.0, 120.0, 99.0]), (Level::Dram, [120.0, 120.0, 99.0])]);
        let answer = other.answer();
        assert!(answer.contains("gains in l1") && !answer.contains("costs"), "{answer}");
        assert!(answer.contains("nothing beyond the band in dram"), "{answer}");
        assert!(answer.contains("in dram the difference is of its bytes alone"), "{answer}");
        assert!(BzeroTable::default().page().is_empty());
        let alike = table(&[(Level::L1, [100.2, 120.0, 120.0])]).answer();
        assert!(alike.contains("generic_bzero and i586_bzero alike in l1"), "{alike}");
    }

    #[test]
    fn what_is_not_resolved_is_said() {
        let mut one = table(&[(Level::L2, [99.0, 100.0, 100.0])]);
        for pair in &mut one.cells[0].pairs {
            (pair.ratio_ci, pair.verdict) = ((0.97, 1.03), Verdict::Undecided);
        }
        assert!(one.answer().contains("not resolved in l2 (1.010 [0.970, 1.030])"));
    }

    #[test]
    fn pages_fit_and_show_both_times() {
        let states = [Level::L1, Level::L2, Level::Llc, Level::Dram];
        let one = table(&states.map(|level| (level, [1234567.0, 1345678.0, 100.0])));
        let page = one.page();
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
        for figure in ["492.43", "0x1f28c253", "1617865274", "DRAM", "LLC"] {
            assert!(page.contains(figure), "{figure}");
        }
        let records = one.records();
        assert_eq!(records.iter().filter(|r| r.kind == "1996").count(), 11);
        assert_eq!(records.iter().filter(|r| r.kind == "pair").count(), 16);
        let text = super::super::history_csv(&records).unwrap();
        assert!(text.starts_with("table,kind,host,op,size_bytes,state,subject,against,ns,"));
    }
}
