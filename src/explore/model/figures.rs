//! The figures of the loop under the cursor.

use super::Model;
use super::face::value;
use crate::explore::ledger::{Book, Entry, Known};
use crate::explore::screen::{Figures, Histogram, Ratio};
use crate::search::band;
use crate::stats::Verdict;
use crate::subject::{Subject, Variant};
use crate::units::human_ns;

/// Bins of a histogram: as many as fit a narrow terminal.
const BINS: usize = 40;

/// Samples above this quantile are counted, not drawn: one of ten times the median would leave
/// nothing of the others' shape.
const DRAWN: f64 = 0.98;

impl Model {
    pub(super) fn figures(&self) -> Figures {
        let Some(variant) = self.place().legal() else {
            let id = self.place().variant().map(|v| v.to_string()).unwrap_or_default();
            let note = self.place().reason().map(String::from);
            return Figures { id, note, ..Figures::default() };
        };
        let subject = Subject::Variant(variant);
        let mut figures = Figures { id: variant.to_string(), ..Figures::default() };
        let entry = self.world.ledger.entry(&self.cell(), &subject);
        if let Some(why) = self.place().reason() {
            figures.note = Some(why.into());
        } else if let Some(trouble) = entry.and_then(|e| e.trouble.as_ref()) {
            figures.note = Some(trouble.text.clone());
        } else if entry.is_none() && self.world.recorded.is_some() {
            figures.note = Some("not recorded in this cell".into());
        }
        let Some((entry, known)) = entry.and_then(|e| Some((e, e.known.as_ref()?))) else {
            return figures;
        };
        figures.samples = known.samples;
        figures.ns = Some(known.ns);
        figures.bytes_per_cycle = Some(known.bytes_per_cycle);
        let limit = self.world.limits.iter().find(|(op, _)| *op == self.question.op);
        figures.share_of_limit = limit.map(|(_, limit)| known.bytes_per_cycle / limit);
        figures.clock_ghz = self.world.ledger.book(&self.cell()).and_then(Book::clock_ghz);
        figures.histogram = histogram(entry);
        figures.baseline = self.ratio_to(&subject, known, &Subject::Baseline(self.baseline));
        let pin = self.pin.filter(|pin| *pin != variant);
        figures.pin = pin.and_then(|pin| self.ratio_to(&subject, known, &Subject::Variant(pin)));
        if known.is_scant() {
            let samples = if known.samples == 1 { "one sample" } else { "a few samples" };
            figures.note = Some(format!("{samples} only: no interval to speak of"));
        } else if self.world.recorded.is_some() && figures.baseline.is_some() {
            figures.note =
                Some("recorded; a ratio to a pinned loop is of recorded times, not paired".into());
        }
        figures
    }

    /// Another subject's time over this one's: paired where they were measured together, of the
    /// recorded times where figures are recorded.
    fn ratio_to(&self, subject: &Subject, known: &Known, other: &Subject) -> Option<Ratio> {
        let cell = self.cell();
        let book = self.world.ledger.book(&cell)?;
        let mut scant = known.is_scant();
        let (ratio, low, high) = book.ratio(subject, other).or_else(|| {
            self.world.recorded.as_ref()?;
            if *other == Subject::Baseline(self.baseline)
                && let Some((estimate, low, high)) = known.relative
            {
                // Of its own run: another one's baseline is of another moment.
                return Some(((-estimate).exp(), (-high).exp(), (-low).exp()));
            }
            let theirs = book.entry(other)?.known?;
            scant |= theirs.is_scant();
            let theirs = theirs.ns;
            let own = known.ns;
            Some((theirs.0 / own.0, theirs.1 / own.2, theirs.2 / own.1))
        })?;
        // The verdict is about this loop: its time over the other's.
        let verdict = match scant {
            true => Verdict::Undecided,
            false => Verdict::of_time_ratio((1.0 / high, 1.0 / low), band(&cell)),
        };
        let (name, verdict) = (other.to_string(), verdict.to_string());
        Some(Ratio { name, ratio, ci: (low, high), verdict })
    }

    /// What is known of a loop in the cell, as lines for the head of an exported file.
    pub(super) fn figure_lines(&self, variant: &Variant) -> Vec<String> {
        let (cell, subject) = (self.cell(), Subject::Variant(*variant));
        let Some(known) = self.world.ledger.known(&cell, &subject) else { return Vec::new() };
        let (ns, low, high) = known.ns;
        let (ns, low, high) = (human_ns(ns), human_ns(low), human_ns(high));
        let mut line =
            format!("{cell}: {ns} [{low}, {high}], {:.1} bytes/cycle", known.bytes_per_cycle);
        if let Some(r) = self.ratio_to(&subject, known, &Subject::Baseline(self.baseline)) {
            let (low, high) = r.ci;
            line +=
                &format!(", {} takes {:.3} [{low:.3}, {high:.3}] times as long", r.name, r.ratio);
        }
        vec![line]
    }

    /// The timed loops of the cell, fastest first.
    pub(super) fn by_speed(&self) -> Vec<Variant> {
        let book = self.world.ledger.book(&self.cell());
        let entries = book.into_iter().flat_map(|book| book.entries());
        let mut timed: Vec<(f64, Variant)> = entries
            .filter_map(|(subject, entry)| match subject {
                Subject::Variant(v) => Some((value(&entry.known?), *v)),
                _ => None,
            })
            .collect();
        timed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        timed.into_iter().map(|(_, v)| v).collect()
    }
}

fn histogram(entry: &Entry) -> Option<Histogram> {
    let mut times: Vec<f64> = entry.times().collect();
    if times.is_empty() {
        return None;
    }
    times.sort_unstable_by(f64::total_cmp);
    let last = ((times.len() - 1) as f64 * DRAWN) as usize;
    let (low, high) = (times[0], times[last.max(times.len().min(2) - 1)]);
    let width = (high - low).max(low * 1e-6).max(f64::MIN_POSITIVE);
    let mut histogram = Histogram { range: (low, low + width), ..Histogram::default() };
    histogram.bins = vec![0; BINS];
    for time in times {
        let bin = ((time - low) / width * BINS as f64) as usize;
        match bin {
            _ if time > low + width => histogram.above += 1,
            bin => histogram.bins[bin.min(BINS - 1)] += 1,
        }
    }
    Some(histogram)
}
