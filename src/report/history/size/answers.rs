//! What a run says of sizes, of hot and streaming data, of registers.

use super::super::figures::{self, SLOW};
use super::super::measured::Measured;
use super::super::words::{by_verdict, ranges};
use super::{Best, SizeTable, TUNED_AT, fp_pair, stream_pair};
use crate::search::Pair;
use crate::stats::Verdict;

impl SizeTable {
    /// Is one loop good for every size?
    pub(super) fn which_size(&self) -> String {
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
    pub(super) fn hot_or_stream(&self) -> String {
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
}

/// The second machine of 1996.
pub(super) fn slow() -> String {
    let part = |f: &figures::SlowFigures| {
        format!("{}: libc {:.2}, asami {:.2}", f.size_bytes, f.libc_mb_s, f.asami_mb_s)
    };
    let parts: Vec<String> = SLOW.iter().map(part).collect();
    format!("1996 at 90 MHz: {} MB/s.", parts.join("; "))
}

/// The size, and whether FP was ahead of integer in 1996.
pub(super) fn hot_1996(size: u64) -> Option<bool> {
    let figures = figures::of_size(size)?;
    Some(figures.hot_fp_mb_s()? > figures.hot_integer_mb_s()?)
}

/// Is it the registers?
pub(super) fn fp_or_integer(
    cells: &[Measured],
    how: &str,
    then: fn(u64) -> Option<bool>,
) -> String {
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
