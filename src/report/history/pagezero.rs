//! Pages zeroed past the caches, over unroll and alignment: what memory leaves a loop, what the
//! loop needs, what was measured.

use super::columns::Columns;
use super::measured::{Measured, reasons};
use super::paragraph;
use super::records::{HistoryRecord, of_cell};
use super::words::{NONE, says};
use crate::report::text::ratio_ci;
use crate::search::Pair;
use crate::stats::Verdict;
use crate::subject::{Align, Store, Subject, Variant};

/// Non-temporal loops over a page, and the same loops with plain stores in a cache.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PagezeroTable {
    /// The loops with plain stores in L1: what they take by themselves.
    pub own: Option<Measured>,
    /// The non-temporal loops, a cell a state.
    pub past: Vec<Measured>,
}

/// Bytes an iteration.
fn bytes(variant: &Variant) -> f64 {
    f64::from(variant.unroll) * f64::from(variant.class.width())
}

/// A variant that has a place in the grid: through general registers.
fn in_grid(subject: &Subject) -> Option<Variant> {
    match subject {
        Subject::Variant(variant) if !variant.class.is_vector() => Some(*variant),
        _ => None,
    }
}

/// The loops of a cell that have a place in the grid, each with the row it stands in.
fn loops(cell: &Measured) -> impl Iterator<Item = (usize, Variant)> + '_ {
    cell.rows.iter().enumerate().filter_map(|(index, row)| Some((index, in_grid(&row.subject)?)))
}

/// The rows of the grid: the loops, without regard to where they stand.
fn kinds(cell: &Measured) -> Vec<Variant> {
    let mut kinds: Vec<Variant> = Vec::new();
    for (_, variant) in loops(cell) {
        let kind = Variant { align: Align::NATURAL, ..variant };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The columns of the grid.
fn aligns(cell: &Measured) -> Vec<Align> {
    let mut aligns: Vec<Align> = Vec::new();
    for (_, variant) in loops(cell) {
        if !aligns.contains(&variant.align) {
            aligns.push(variant.align);
        }
    }
    aligns
}

fn align_word(align: Align) -> String {
    match align.skew {
        0 => format!("a{}", align.modulus),
        skew => format!("a{}+{skew}", align.modulus),
    }
}

fn kind_word(kind: &Variant) -> String {
    format!("{}/u{}", kind.class, kind.unroll)
}

/// A loop of the grid by its row and column.
fn short(cell: &Measured, index: usize) -> String {
    in_grid(&cell.rows[index].subject).map_or_else(
        || cell.name(index),
        |variant| format!("{}/{}", kind_word(&variant), align_word(variant.align)),
    )
}

/// The slowest and the fastest of some rows, where they are two.
fn extremes(cell: &Measured, of: impl Fn(&Variant) -> bool) -> Option<(usize, usize)> {
    let timed = loops(cell)
        .filter(|(_, variant)| of(variant))
        .filter_map(|(index, _)| Some((index, cell.times(index)?.ns)));
    let timed: Vec<(usize, f64)> = timed.collect();
    let slowest = timed.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
    let fastest = timed.iter().min_by(|a, b| a.1.total_cmp(&b.1))?.0;
    (slowest != fastest).then_some((slowest, fastest))
}

/// Slowest against fastest over the alignments of each loop.
fn over_alignments(cell: &Measured) -> Vec<(usize, usize)> {
    let of = |kind: &Variant| {
        extremes(cell, |variant| Variant { align: Align::NATURAL, ..*variant } == *kind)
    };
    kinds(cell).iter().filter_map(of).collect()
}

/// Slowest against fastest over the unrolls of each class and alignment.
fn over_unrolls(cell: &Measured) -> Vec<(usize, usize)> {
    let mut groups: Vec<Variant> = Vec::new();
    for (_, variant) in loops(cell) {
        let group = Variant { unroll: 1, ..variant };
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let of = |group: &Variant| extremes(cell, |v| Variant { unroll: 1, ..*v } == *group);
    groups.iter().filter_map(of).collect()
}

/// Bytes a cycle that memory takes: what the fastest of all loops of the cell reaches.
fn limit(cell: &Measured) -> Option<f64> {
    Some(cell.times(cell.fastest(|_| true)?)?.bytes_per_cycle)
}

/// What is foretold of a loop, and what was found.
#[derive(Clone, Copy, Debug, Default)]
struct Foretold {
    /// Cycles an iteration that memory leaves.
    need: Option<f64>,
    /// Cycles an iteration that the loop takes by itself.
    own: Option<f64>,
    /// Bytes a cycle: the smaller of what memory and loop allow.
    predicted: Option<f64>,
    measured: Option<f64>,
}

impl PagezeroTable {
    /// The pairs of rows that the answer needs of a cell.
    pub fn pairs(cell: &Measured) -> Vec<(usize, usize)> {
        let mut pairs = over_alignments(cell);
        pairs.extend(over_unrolls(cell));
        pairs
    }

    /// What a loop by itself takes, bytes a cycle.
    fn own_rate(&self, variant: &Variant) -> Option<f64> {
        let own = self.own.as_ref()?;
        let plain = Variant { store: Store::Plain, ..*variant };
        let (index, _) = loops(own).find(|(_, known)| *known == plain)?;
        Some(own.times(index)?.bytes_per_cycle)
    }

    fn foretold(&self, cell: &Measured, variant: &Variant) -> Foretold {
        let row = loops(cell).find(|(_, known)| known == variant);
        let limit = limit(cell);
        let own = self.own_rate(variant);
        Foretold {
            need: limit.map(|limit| bytes(variant) / limit),
            own: own.map(|own| bytes(variant) / own),
            predicted: limit.zip(own).map(|(limit, own)| limit.min(own)),
            measured: row.and_then(|(i, _)| Some(cell.times(i)?.bytes_per_cycle)),
        }
    }

    /// The tables, with what answers their question.
    pub fn page(&self) -> String {
        let mut text = String::new();
        if let Some(own) = &self.own {
            text.push_str(
                "\npagezero, the loops by themselves (plain stores in l1): cycles an iteration\n\n",
            );
            text.push_str(&self.own_grid(own));
        }
        for cell in &self.past {
            text.push_str(&format!(
                "\npagezero, movnti in {}: bytes/cycle measured / predicted\n\n",
                cell.cell.state
            ));
            text.push_str(&self.grid(cell));
            text.push_str(&paragraph(&fastest(cell)));
            text.push_str(&paragraph(&self.answer(cell)));
        }
        text.push('\n');
        text.push_str(&reasons(self.own.iter().chain(&self.past)));
        text.push_str(&paragraph(
            "aA: the loop's first instruction at a multiple of A, aA+K: K bytes behind one, a1: \
             where it falls. leaves: the cycles an iteration may take before the loop and not \
             memory is the limit: its bytes over the bytes a cycle of the fastest loop there. \
             predicted: the smaller of that speed and the loop's own with plain stores in l1, \
             which are a byte shorter.",
        ));
        text
    }

    fn own_grid(&self, own: &Measured) -> String {
        let aligns = aligns(own);
        let mut columns = Columns::new(2);
        columns.column("", "loop");
        columns.column("", "bytes");
        aligns.iter().for_each(|align| columns.column("", &align_word(*align)));
        for kind in kinds(own) {
            let mut row = vec![kind_word(&kind), format!("{:.0}", bytes(&kind))];
            for align in &aligns {
                let rate = self.own_rate(&Variant { align: *align, ..kind });
                row.push(rate.map_or(NONE.into(), |rate| format!("{:.2}", bytes(&kind) / rate)));
            }
            columns.row(row);
        }
        columns.text()
    }

    fn grid(&self, cell: &Measured) -> String {
        let aligns = aligns(cell);
        let mut columns = Columns::new(2);
        columns.column("", "loop");
        columns.column("", "bytes");
        columns.column("cycles", "leaves");
        aligns.iter().for_each(|align| columns.column("", &align_word(*align)));
        let two = |value: Option<f64>| value.map_or(NONE.to_string(), |v| format!("{v:.2}"));
        for kind in kinds(cell) {
            let need = limit(cell).map(|limit| bytes(&kind) / limit);
            let mut row = vec![kind_word(&kind), format!("{:.0}", bytes(&kind)), two(need)];
            for align in &aligns {
                let found = self.foretold(cell, &Variant { align: *align, ..kind });
                row.push(format!("{}/{}", two(found.measured), two(found.predicted)));
            }
            columns.row(row);
        }
        columns.text()
    }

    /// Do alignment and unrolling matter where memory is the limit?
    fn answer(&self, cell: &Measured) -> String {
        let state = cell.cell.state;
        let found: Vec<(Variant, Foretold)> =
            loops(cell).map(|(_, variant)| (variant, self.foretold(cell, &variant))).collect();
        let known: Vec<(&Variant, f64, f64)> =
            found.iter().filter_map(|(v, f)| Some((v, f.own?, f.need?))).collect();
        let starving = known.iter().filter(|(_, own, need)| own > need).count();
        let keeps_up = match (known.len(), starving) {
            (0, _) => "what the loops need by themselves was not measured".to_string(),
            (all, 0) => format!("each of the {all} loops needs fewer cycles than memory leaves"),
            (all, 1) => format!("1 of {all} loops needs more cycles than memory leaves"),
            (all, n) => format!("{n} of {all} loops need more cycles than memory leaves"),
        };
        format!(
            "Do alignment and unrolling matter when memory is the limit? In {state}, {}; {}; \
             {keeps_up}. In 2016: 2 cycles an iteration were needed, and crossing a 16-byte \
             boundary cost 3.",
            matters(cell, "alignment", &over_alignments(cell)),
            matters(cell, "unrolling", &over_unrolls(cell)),
        )
    }

    /// The rows for programs.
    pub fn records(&self) -> Vec<HistoryRecord> {
        let cells = self.own.iter().chain(&self.past);
        let mut records: Vec<_> = cells.flat_map(|c| of_cell("pagezero", c)).collect();
        for cell in &self.past {
            for (index, variant) in loops(cell) {
                let (name, state) = (cell.name(index), cell.cell.state.to_string());
                let of_row = |record: &&mut HistoryRecord| {
                    record.kind == "time" && record.subject == name && record.state == state
                };
                if let Some(record) = records.iter_mut().find(of_row) {
                    let found = self.foretold(cell, &variant);
                    record.predicted_bytes_per_cycle = found.predicted;
                    record.need_cycles_per_iteration = found.need;
                    record.own_cycles_per_iteration = found.own;
                }
            }
        }
        records
    }
}

/// Who sets the limit.
fn fastest(cell: &Measured) -> String {
    let Some(best) = cell.fastest(|_| true) else { return "Nothing was timed.".into() };
    let rate = cell.times(best).map_or(0.0, |times| times.bytes_per_cycle);
    let mb_s = cell.mb_s(best).unwrap_or(0.0);
    let name = cell.name(best);
    let mut text =
        format!("Memory's limit is that of {name}: {rate:.2} bytes/cycle, {mb_s:.0} MB/s");
    let mut classes = kinds(cell);
    classes.dedup_by_key(|kind| kind.class);
    for class in classes.iter().map(|kind| kind.class) {
        let own = cell.fastest(|s| in_grid(s).is_some_and(|v| v.class == class));
        if let Some(times) = own.and_then(|index| cell.times(index)) {
            text.push_str(&format!("; {class} reaches {:.2}", times.bytes_per_cycle));
        }
    }
    format!("{text}.")
}

/// Whether the slowest and the fastest of each group differ by more than the band.
fn matters(cell: &Measured, what: &str, groups: &[(usize, usize)]) -> String {
    let pairs: Vec<&Pair> =
        groups.iter().filter_map(|(slow, fast)| cell.pair(*slow, *fast)).collect();
    let band = crate::search::band(&cell.cell);
    // The slowest of many is slower by luck alone: only what is beyond the band counts.
    let beyond =
        |pair: &&&Pair| pair.verdict == Verdict::Slower && pair.ratio_ci.1 < 1.0 / (1.0 + band);
    let count = pairs.iter().filter(beyond).count();
    let Some(largest) = pairs.iter().min_by(|a, b| a.ratio.total_cmp(&b.ratio)) else {
        return format!("{what} was not measured");
    };
    let told = format!(
        "the most: {} has {} times the speed of {}, {}",
        short(cell, largest.row),
        ratio_ci(largest.ratio, largest.ratio_ci),
        short(cell, largest.against),
        says(largest.verdict)
    );
    let all = pairs.len();
    match count {
        0 => format!("{what} matters beyond the band in none of {all} groups ({told})"),
        n => format!("{what} matters beyond the band in {n} of {all} groups ({told})"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;
    use crate::subject::{Level, Op};

    fn table(past: [f64; 4]) -> PagezeroTable {
        let names = |store: &str| -> Vec<String> {
            ["u1/a16", "u1/a16+8", "u2/a16", "u2/a16+8"]
                .iter()
                .map(|of| format!("zero/r32/{of}{store}/head-none/n4096"))
                .collect()
        };
        let cell = |level, store, ns: &[f64]| {
            let names = names(store);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut cell = made::cell(Op::Zero, 4096, level, &made::rows(&names, ns));
            let pairs = PagezeroTable::pairs(&cell);
            made::ask(&mut cell, &pairs);
            cell
        };
        // At two cycles a nanosecond: 1, 1.5, 1 and 1 cycles an iteration.
        let own = cell(Level::L1, "", &[512.0, 768.0, 256.0, 256.0]);
        PagezeroTable { own: Some(own), past: vec![cell(Level::Dram, "/nt", &past)] }
    }

    #[test]
    fn the_answer_follows_the_figures() {
        // Memory leaves 4 bytes in 2 cycles: all keep up.
        let slow = table([1024.0; 4]);
        let answer = slow.answer(&slow.past[0]);
        assert!(answer.contains("each of the 4 loops needs fewer"), "{answer}");
        assert!(answer.contains("alignment matters beyond the band in none of 2"), "{answer}");
        // Memory is as fast as the faster loops: the unaligned one cannot keep up.
        let fast = table([512.0, 768.0, 512.0, 512.0]);
        let answer = fast.answer(&fast.past[0]);
        assert!(answer.contains("1 of 4 loops needs more cycles"), "{answer}");
        assert!(answer.contains("alignment matters beyond the band in 1 of 2 groups"), "{answer}");
        assert!(answer.contains("unrolling matters beyond the band in 1 of 2 groups"), "{answer}");
    }

    #[test]
    fn differences_within_the_band_do_not_matter() {
        let even = table([1000.0, 1010.0, 1004.0, 1012.0]);
        let answer = even.answer(&even.past[0]);
        assert!(answer.contains("alignment matters beyond the band in none of 2"), "{answer}");
        assert!(answer.contains("unrolling matters beyond the band in none of 2"), "{answer}");
    }

    #[test]
    fn measured_stands_beside_predicted() {
        let fast = table([512.0, 768.0, 512.0, 512.0]);
        let page = fast.page();
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
        // 4096 bytes in 1024 cycles; in 1536.
        assert!(page.contains("4.00/4.00") && page.contains("2.67/2.67"), "{page}");
        let records = fast.records();
        let skewed = records.iter().find(|r| r.subject.contains("r32/a16+8/nt")).unwrap();
        assert_eq!(skewed.need_cycles_per_iteration, Some(1.0));
        assert_eq!(skewed.own_cycles_per_iteration, Some(1.5));
        assert!((skewed.predicted_bytes_per_cycle.unwrap() - 8.0 / 3.0).abs() < 1e-9);
    }
}
