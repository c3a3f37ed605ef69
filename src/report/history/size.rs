//! Copies by size, hot and streaming: which size, hot or streaming, FP registers or integer.

use super::columns::Columns;
use super::figures::{self, SLOW};
use super::measured::{Measured, reasons};
use super::records::{HistoryRecord, of_cell};
use super::words::{NONE, by_verdict, ranges, rate};
use super::{paragraph, records};
use crate::search::Pair;
use crate::stats::Verdict;
use crate::subject::{Class, Subject};

/// The copies by size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeTable {
    /// The same data again: the fastest state that each size can be in.
    pub hot: Vec<Measured>,
    /// Walking two large buffers.
    pub stream: Vec<Measured>,
}

/// Subjects with a column of their own, and its head.
const NAMED: &[(&str, &str)] = &[
    ("libc", "libc"),
    ("libc_bcopy_1996", "rep32"),
    ("hasty_asami_bcopy", "asami"),
    ("evans_fp_bcopy", "ev-fp"),
    ("evans_int_bcopy", "ev-int"),
    ("i586_fastmove", "fastmv"),
    ("lmbench_bcopy_hand", "hand"),
];

/// The size whose best loop answers for all sizes: a page, where the copies of 1996 were tuned.
const TUNED_AT: u64 = 4096;

/// Through which registers a loop goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// General registers and the string instructions.
    Integer,
    /// The x87 stack.
    Fp,
    /// Vectors.
    Vector,
}

fn way(subject: &Subject) -> Option<Way> {
    Some(match subject.variant()?.class {
        class if class.is_x87() => Way::Fp,
        class if class.is_rep() => Way::Integer,
        Class::R32 | Class::R64 => Way::Integer,
        _ => Way::Vector,
    })
}

/// The fastest of each way in a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Best {
    integer: Option<usize>,
    fp: Option<usize>,
    /// Of the loops that keep every bit.
    all: Option<usize>,
}

impl Best {
    fn of(cell: &Measured) -> Best {
        Best {
            integer: cell.fastest(|s| way(s) == Some(Way::Integer)),
            fp: cell.fastest(|s| way(s) == Some(Way::Fp)),
            all: cell.fastest(|s| s.variant().is_some_and(|v| v.is_exact())),
        }
    }
}

/// The FP loop against the integer loop.
fn fp_pair(cell: &Measured) -> Option<(usize, usize)> {
    let best = Best::of(cell);
    Some((best.fp?, best.integer?))
}

/// The loop that is best hot, where it streams, against the one that is best there; `None`
/// where they are one.
fn stream_pair(hot: &Measured, stream: &Measured) -> Option<(usize, usize)> {
    let best = stream.find(&hot.name(Best::of(hot).all?))?;
    let there = Best::of(stream).all?;
    (best != there).then_some((best, there))
}

impl SizeTable {
    /// The pairs of rows that the answers need of a hot cell.
    pub fn hot_pairs(hot: &Measured) -> Vec<(usize, usize)> {
        fp_pair(hot).into_iter().collect()
    }

    /// The pairs of rows that the answers need of a streaming cell; `hot` is of the same size.
    pub fn stream_pairs(hot: Option<&Measured>, stream: &Measured) -> Vec<(usize, usize)> {
        let across = hot.and_then(|hot| stream_pair(hot, stream));
        fp_pair(stream).into_iter().chain(across).collect()
    }

    /// Both tables, with what answers their questions.
    pub fn page(&self) -> String {
        let mut text = String::from("\ncopy by size, hot: the same data again; MB/s (10⁶)\n\n");
        text.push_str(&table(&self.hot, true));
        text.push_str(&states(&self.hot));
        text.push_str(&leaders(&self.hot));
        text.push_str(&paragraph(&self.which_size()));
        text.push_str(&paragraph(&fp_or_integer(&self.hot, "hot", hot_1996)));
        text.push_str("\ncopy by size, streaming: walking two large buffers; MB/s (10⁶)\n\n");
        text.push_str(&table(&self.stream, false));
        text.push_str(&states(&self.stream));
        text.push_str(&leaders(&self.stream));
        text.push_str(&paragraph(&slow()));
        text.push_str(&paragraph(&self.hot_or_stream()));
        text.push_str(&paragraph(&fp_or_integer(&self.stream, "streaming", |_| None)));
        text.push('\n');
        text.push_str(&reasons(self.hot.iter().chain(&self.stream)));
        text.push_str(&paragraph(&self.legend()));
        text
    }

    fn legend(&self) -> String {
        let heads = NAMED.iter().filter(|(name, head)| name != head);
        let heads: Vec<String> = heads.map(|(name, head)| format!("{head} is {name}")).collect();
        let set = |wanted: Way| {
            let mut names: Vec<String> = Vec::new();
            for row in self.hot.iter().chain(&self.stream).flat_map(|cell| &cell.rows) {
                let name = row.subject.to_string();
                let plain = matches!(row.subject, Subject::Variant(_));
                if plain && way(&row.subject) == Some(wanted) && !names.contains(&name) {
                    names.push(name);
                }
            }
            names.join(" ")
        };
        format!(
            "{}. int: the fastest of {} and the named integer loops; x87: of {} and the named x87 \
             loops, those that change bits too (evans_fp_bcopy, timed only); best: of all of them \
             that keep every bit and of {}. Best means the least time of the same contest.",
            heads.join(", "),
            set(Way::Integer),
            set(Way::Fp),
            set(Way::Vector)
        )
    }

    /// Is one loop good for every size?
    fn which_size(&self) -> String {
        let tuned = self.hot.iter().find(|cell| cell.cell.size == TUNED_AT).or(self.hot.last());
        let chosen = tuned.and_then(|cell| Some((cell, cell.name(Best::of(cell).all?))));
        let Some((tuned, name)) = chosen else {
            return "Which size? Nothing was measured hot that could tell.".into();
        };
        let verdict = |cell: &Measured| {
            let times = cell.times(cell.find(&name)?)?;
            cell.times(cell.find("libc")?)?;
            Some((cell.cell.size, times.verdict))
        };
        let verdicts: Vec<_> = self.hot.iter().filter_map(verdict).collect();
        if verdicts.is_empty() {
            return "Which size? libc has no times here, so nothing stands against it.".into();
        }
        let losses = verdicts.iter().filter(|(_, v)| *v == Verdict::Slower).count();
        let wins = verdicts.iter().filter(|(_, v)| *v == Verdict::Faster).count();
        let so = match (wins, losses) {
            (0, 0) => "so no size tells them apart",
            (_, 0) => "so it loses at no size",
            (0, _) => "so it wins at no size",
            _ => "so what it is worth depends on the sizes that are called",
        };
        format!(
            "Which size? Against libc, {name} (the best at {} bytes hot) is {}: {so}.",
            tuned.cell.size,
            by_verdict(&verdicts)
        )
    }

    /// Is the best loop hot the best one streaming?
    fn hot_or_stream(&self) -> String {
        let mut same = Vec::new();
        let mut open = Vec::new();
        let mut loses = Vec::new();
        let mut sizes = Vec::new();
        let mut worst: Option<(&Measured, Pair)> = None;
        for stream in &self.stream {
            let size = stream.cell.size;
            let Some(hot) = self.hot.iter().find(|hot| hot.cell.size == size) else { continue };
            if Best::of(hot).all.is_none() || Best::of(stream).all.is_none() {
                continue;
            }
            sizes.push(size);
            let pair = stream_pair(hot, stream).and_then(|(a, b)| stream.pair(a, b));
            match pair {
                None => same.push(size),
                Some(pair) if pair.verdict == Verdict::Slower => {
                    loses.push(size);
                    if worst.is_none_or(|(_, known)| pair.ratio < known.ratio) {
                        worst = Some((stream, *pair));
                    }
                }
                Some(pair) if pair.verdict == Verdict::Tied => same.push(size),
                Some(_) => open.push(size),
            }
        }
        if sizes.is_empty() {
            return "Hot or streaming? No size was measured both ways.".into();
        }
        let mut parts = Vec::new();
        for (list, says) in [
            (&same, "also best, or the same within the band, streaming"),
            (&open, "not told apart from the best one streaming"),
            (&loses, "slower than the best one streaming"),
        ] {
            if !list.is_empty() {
                parts.push(format!("{says} at {}", ranges(&sizes, list)));
            }
        }
        let most = worst.map_or(String::new(), |(cell, pair)| {
            let low_high = (1.0 / pair.ratio_ci.1, 1.0 / pair.ratio_ci.0);
            format!(
                "; most at {}: {} takes {:.2} [{:.2}, {:.2}] times as long as {}",
                cell.cell.size,
                cell.name(pair.row),
                1.0 / pair.ratio,
                low_high.0,
                low_high.1,
                cell.name(pair.against)
            )
        });
        format!("Hot or streaming? The loop that is best hot is {}{most}.", parts.join("; "))
    }

    /// The rows for programs.
    pub fn records(&self) -> Vec<HistoryRecord> {
        let cells = self.hot.iter().chain(&self.stream);
        let mut records: Vec<_> = cells.flat_map(|cell| of_cell("size", cell)).collect();
        for figures in figures::SIZES.iter() {
            let posted = [
                ("stream", "libc", figures.stream_libc_mb_s),
                ("stream", "hasty_asami_bcopy", figures.stream_asami_mb_s),
                ("hot", "libc", figures.hot_libc_mb_s()),
                ("hot", "best integer", figures.hot_integer_mb_s()),
                ("hot", "fp", figures.hot_fp_mb_s()),
            ];
            for (state, subject, rate) in posted {
                let record = of_1996("Pentium 133", figures.size_bytes, state, subject, rate);
                records.extend(record);
            }
        }
        for figures in SLOW.iter() {
            for (subject, rate) in
                [("libc", figures.libc_mb_s), ("hasty_asami_bcopy", figures.asami_mb_s)]
            {
                let size = figures.size_bytes;
                records.extend(of_1996("Pentium 90", size, "stream", subject, Some(rate)));
            }
        }
        records
    }
}

fn of_1996(
    host: &str,
    size: u64,
    state: &str,
    subject: &str,
    rate: Option<f64>,
) -> Option<HistoryRecord> {
    Some(HistoryRecord {
        table: "size",
        kind: records::POSTED,
        host: host.into(),
        op: "copy".into(),
        size_bytes: Some(size),
        state: state.into(),
        subject: subject.into(),
        mb_per_s: Some(rate?),
        ..HistoryRecord::default()
    })
}

fn table(cells: &[Measured], hot: bool) -> String {
    let mut columns = Columns::new(1);
    columns.column("", "size");
    NAMED.iter().for_each(|(_, head)| columns.column("", head));
    ["int", "x87", "best"].iter().for_each(|head| columns.column("", head));
    let posted: &[&str] = if hot { &["libc", "int", "fp"] } else { &["libc", "asami"] };
    posted.iter().for_each(|head| columns.column("1996", head));
    for cell in cells {
        let best = Best::of(cell);
        let mut row = vec![cell.cell.size.to_string()];
        let named = NAMED.iter().map(|(name, _)| cell.find(name));
        let all = named.chain([best.integer, best.fp, best.all]);
        row.extend(all.map(|index| rate(index.and_then(|i| cell.mb_s(i)))));
        let figures = figures::of_size(cell.cell.size);
        let posted = |get: fn(&figures::SizeFigures) -> Option<f64>| rate(figures.and_then(get));
        match hot {
            true => row.extend([
                posted(figures::SizeFigures::hot_libc_mb_s),
                posted(figures::SizeFigures::hot_integer_mb_s),
                posted(figures::SizeFigures::hot_fp_mb_s),
            ]),
            false => {
                row.extend([posted(|f| f.stream_libc_mb_s), posted(|f| f.stream_asami_mb_s)]);
            }
        }
        columns.row(row);
    }
    columns.text()
}

/// In which state each size was.
fn states(cells: &[Measured]) -> String {
    by_size(cells, "Measured", |cell| Some(format!("in {}", cell.cell.state)))
}

/// Which loop was best.
fn leaders(cells: &[Measured]) -> String {
    by_size(cells, "Best:", |cell| Some(cell.name(Best::of(cell).all?)))
}

/// What is told of sizes, neighbours together.
fn by_size(cells: &[Measured], what: &str, tell: impl Fn(&Measured) -> Option<String>) -> String {
    let sizes: Vec<u64> = cells.iter().map(|cell| cell.cell.size).collect();
    let mut told: Vec<(String, Vec<u64>)> = Vec::new();
    for cell in cells {
        let Some(text) = tell(cell) else { continue };
        match told.iter_mut().find(|(known, _)| *known == text) {
            Some((_, of)) => of.push(cell.cell.size),
            None => told.push((text, vec![cell.cell.size])),
        }
    }
    if told.is_empty() {
        return paragraph(&format!("{what} {NONE}"));
    }
    let part = |(text, of): &(String, Vec<u64>)| format!("{text} at {}", ranges(&sizes, of));
    let parts: Vec<String> = told.iter().map(part).collect();
    paragraph(&format!("{what} {}.", parts.join("; ")))
}

fn slow() -> String {
    let part = |f: &figures::SlowFigures| {
        format!("{}: libc {:.2}, asami {:.2}", f.size_bytes, f.libc_mb_s, f.asami_mb_s)
    };
    let parts: Vec<String> = SLOW.iter().map(part).collect();
    format!("1996 at 90 MHz: {} MB/s.", parts.join("; "))
}

/// The size, and whether FP was ahead of integer in 1996.
fn hot_1996(size: u64) -> Option<bool> {
    let figures = figures::of_size(size)?;
    Some(figures.hot_fp_mb_s()? > figures.hot_integer_mb_s()?)
}

/// Is it the registers?
fn fp_or_integer(cells: &[Measured], how: &str, then: fn(u64) -> Option<bool>) -> String {
    let pairs: Vec<(u64, &Pair)> = cells
        .iter()
        .filter_map(|cell| {
            let (fp, integer) = fp_pair(cell)?;
            Some((cell.cell.size, cell.pair(fp, integer)?))
        })
        .collect();
    if pairs.is_empty() {
        return format!("FP or integer? No x87 loop and no integer loop have times {how}.");
    }
    let verdicts: Vec<_> = pairs.iter().map(|(size, pair)| (*size, pair.verdict)).collect();
    let ends = [
        pairs.iter().max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio)),
        pairs.iter().min_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio)),
    ];
    let at = |(size, pair): &(u64, &Pair)| {
        let (low, high) = pair.ratio_ci;
        format!("{:.2} [{low:.2}, {high:.2}] at {size}", pair.ratio)
    };
    let mut ends: Vec<String> = ends.into_iter().flatten().map(at).collect();
    ends.dedup();
    let told: Vec<(u64, bool)> =
        cells.iter().filter_map(|c| Some((c.cell.size, then(c.cell.size)?))).collect();
    let ahead = told.iter().filter(|(_, fp)| *fp).count();
    let posted = match told.len() {
        0 => String::new(),
        all => format!("; in 1996 FP was ahead at {ahead} of the {all} sizes that were posted"),
    };
    format!(
        "FP or integer? Against the best integer loop, {how}, the best x87 loop is {}; it has {} \
         times its speed{posted}.",
        by_verdict(&verdicts),
        ends.join(" to ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::made::{cell, rows};
    use super::*;
    use crate::subject::{Level, Op};

    /// A table of made-up nanoseconds by size: libc, an integer, an x87, a vector loop.
    fn table(hot: &[(u64, [f64; 4])], stream: &[(u64, [f64; 4])]) -> SizeTable {
        let names = ["libc", "copy/r64/u4", "hasty_asami_bcopy", "copy/ymm/u4"];
        let made = |level: Level, list: &[(u64, [f64; 4])]| -> Vec<Measured> {
            list.iter().map(|(size, ns)| cell(Op::Copy, *size, level, &rows(&names, ns))).collect()
        };
        let mut table = SizeTable { hot: made(Level::L1, hot), stream: made(Level::Dram, stream) };
        for hot in &mut table.hot {
            super::super::made::ask(hot, &SizeTable::hot_pairs(hot));
        }
        for stream in &mut table.stream {
            let hot = table.hot.iter().find(|hot| hot.cell.size == stream.cell.size);
            let pairs = SizeTable::stream_pairs(hot, stream);
            super::super::made::ask(stream, &pairs);
        }
        table
    }

    #[test]
    fn answers_follow_the_figures() {
        let hot = [(64, [2.0, 4.0, 8.0, 3.0]), (4096, [100.0, 400.0, 800.0, 50.0])];
        let stream = [(64, [20.0, 20.0, 21.0, 20.0]), (4096, [900.0, 500.0, 400.0, 800.0])];
        let one = table(&hot, &stream);
        let page = one.page();
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
        assert!(one.which_size().contains("faster at 4096; slower at 64"), "{}", one.which_size());
        let fp = fp_or_integer(&one.hot, "hot", hot_1996);
        assert!(fp.contains("slower at every size from 64 to 4096"), "{fp}");
        let fp = fp_or_integer(&one.stream, "streaming", |_| None);
        assert!(fp.contains("faster at 4096; slower at 64"), "{fp}");
        let both = one.hot_or_stream();
        assert!(both.contains("slower than the best one streaming at 4096"), "{both}");
        assert!(both.contains("copy/ymm/u4 takes 2.00"), "{both}");
        // The same figures the other way round say the opposite.
        let other = table(&[(4096, [50.0, 800.0, 400.0, 100.0])], &stream[1..]);
        let other_size = other.which_size();
        assert!(other_size.contains("slower at 4096: so it wins at no size"), "{other_size}");
        assert!(fp_or_integer(&other.hot, "hot", hot_1996).contains("faster at 4096"));
    }

    #[test]
    fn figures_of_both_times_stand_side_by_side() {
        let one = table(&[(32768, [1000.0, 2000.0, 4000.0, 500.0])], &[]);
        let page = one.page();
        let row = page.lines().find(|line| line.starts_with("  32768")).unwrap();
        for figure in ["32768", "16384", "8192", "65536", "66.6", "99.2", "93.6"] {
            assert!(row.contains(figure), "{figure}: {row}");
        }
        assert!(page.contains("ahead at 0 of the 1 sizes"), "{page}");
        assert!(page.contains("No size was measured both ways"), "{page}");
        let posted = one.records();
        assert_eq!(posted.iter().filter(|r| r.kind == "1996").count(), 17 + 18 + 18 + 18 + 8 + 6);
        assert!(posted.iter().any(|r| r.kind == "pair" && r.verdict == "slower"));
    }

    #[test]
    fn what_is_not_resolved_is_said() {
        let mut one = table(&[(64, [3.0, 4.0, 4.0, 3.0])], &[(64, [20.0, 20.0, 20.0, 20.0])]);
        for pair in one.hot.iter_mut().flat_map(|cell| &mut cell.pairs) {
            (pair.ratio_ci, pair.verdict) = ((0.9, 1.1), Verdict::Undecided);
        }
        assert!(fp_or_integer(&one.hot, "hot", hot_1996).contains("not told apart at 64"));
    }
}
