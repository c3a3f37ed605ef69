//! Everything that was measured, cell by cell, and what it says.

use std::collections::HashMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::event::Batch;
use crate::search::net_ns;
use crate::stats::{Interval, Paired, median};
use crate::subject::{Cell, Subject};
use crate::trial::{Clock, Failure, FailureKind, Role, Sample, Summary};
use crate::units::Picos;

/// Bootstrap replicates of an interval that is drawn, not claimed: its ends move by an eighth of
/// its width from one drawing to the next.
const RESAMPLES: usize = 120;

/// Batches that may bring nothing for a loop before it counts as failed.
const PATIENCE: u32 = 5;

/// Samples that an interval rests on, at most, the last ones: drawing it again with every
/// batch must not keep a key waiting, and what is drawn needs no more.
const WINDOW: usize = 600;

/// Raw samples of a subject that go to a file, at most, the last ones.
const WRITTEN: usize = 2_000;

/// Fewer samples than this make no interval to speak of.
const SCANT: usize = 6;

/// A sample in its place.
#[derive(Clone, Copy, Debug)]
struct Taken {
    /// Over all batches of the cell.
    layout: u64,
    block: u32,
    /// ln of gross ticks a call.
    gross: f64,
    /// ln of net nanoseconds a call.
    net: f64,
    raw: Sample,
}

/// Why a loop has no time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Whether this host cannot run it at all.
    pub unsupported: bool,
    /// The reason, for people.
    pub text: String,
    /// As the worker told it, where it did.
    pub failure: Option<Failure>,
}

/// What is known of a subject's time in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// Samples behind it.
    pub samples: usize,
    /// Nanoseconds a call and 95 % interval.
    pub ns: (f64, f64, f64),
    /// ln of its time over the reference's, and 95 % interval, where both were measured.
    pub relative: Option<(f64, f64, f64)>,
    /// Bytes of the op a core cycle.
    pub bytes_per_cycle: f64,
}

impl Known {
    /// Whether it rests on so few samples that its interval says nothing.
    pub fn is_scant(&self) -> bool {
        self.samples < SCANT
    }

    /// Width of the tighter of its intervals, as a ratio minus one.
    pub fn width(&self) -> f64 {
        if self.is_scant() {
            return f64::INFINITY;
        }
        let ns = self.ns.2 / self.ns.1.max(f64::MIN_POSITIVE);
        let relative = self.relative.map_or(f64::INFINITY, |(_, low, high)| (high - low).exp());
        ns.min(relative) - 1.0
    }
}

/// A subject in a cell.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Baseline or candidate.
    pub role: Role,
    /// Length of its code, where it is ours.
    pub code_bytes: Option<u32>,
    /// Why it has no time.
    pub trouble: Option<Trouble>,
    /// What is known of its time.
    pub known: Option<Known>,
    /// Batches that brought nothing, in a row.
    empty: u32,
    samples: Vec<Taken>,
    /// Nanoseconds a call of samples that somebody else made.
    recorded: Vec<f64>,
    /// Samples that were handed to a file, and whether some were not.
    written: usize,
    fresh: bool,
}

impl Entry {
    fn new(role: Role, code_bytes: Option<u32>) -> Entry {
        Entry {
            role,
            code_bytes,
            trouble: None,
            known: None,
            empty: 0,
            samples: Vec::new(),
            recorded: Vec::new(),
            written: 0,
            fresh: false,
        }
    }

    /// Layouts it was measured in.
    pub fn layouts(&self) -> u32 {
        let layouts = self.samples.chunk_by(|a, b| a.layout == b.layout);
        // An empty batch counts for two, so that nobody is asked for ever.
        layouts.count() as u32 + 2 * self.empty
    }

    /// Nanoseconds a call, one a sample: net of samples made here, gross of recorded ones.
    pub fn times(&self) -> impl Iterator<Item = f64> {
        self.samples.iter().map(|s| s.net.exp()).chain(self.recorded.iter().copied())
    }
}

/// A cell.
#[derive(Clone, Debug, Default)]
pub struct Book {
    entries: HashMap<Subject, Entry>,
    layouts: u64,
    /// The clock of the last batch.
    pub clock: Clock,
    /// Wall time a sample, nanoseconds.
    pub cost_ns: Option<f64>,
    tick_hz: f64,
}

impl Book {
    /// A subject's entry.
    pub fn entry(&self, subject: &Subject) -> Option<&Entry> {
        self.entries.get(subject)
    }

    /// Every subject with its entry.
    pub fn entries(&self) -> impl Iterator<Item = (&Subject, &Entry)> {
        self.entries.iter()
    }

    /// Core clock during the last batch, GHz: median, least and most; `None` before the first.
    pub fn clock_ghz(&self) -> Option<(f64, f64, f64)> {
        let ghz = |cycles_per_tick: f64| cycles_per_tick * self.tick_hz / 1e9;
        let (least, most) = self.clock.range;
        let told = (ghz(self.clock.cycles_per_tick), ghz(least), ghz(most));
        (told.0.is_finite() && told.0 > 0.0).then_some(told)
    }

    /// What others are compared with where drifts of the clock must not count: the baseline
    /// with the most samples, by name where several have as many.
    fn reference(&self) -> Option<Subject> {
        let baselines = self.entries.iter().filter(|(subject, entry)| {
            matches!(subject, Subject::Baseline(_)) && !entry.samples.is_empty()
        });
        baselines
            .min_by_key(|(subject, entry)| (std::cmp::Reverse(entry.samples.len()), *subject))
            .map(|(subject, _)| subject.clone())
    }

    fn take(&mut self, cell: &Cell, batch: &Batch) {
        self.clock = batch.clock;
        let base = self.layouts;
        let mut made = 0;
        let mut changed = Vec::new();
        for heard in &batch.heard {
            let new = || Entry::new(heard.role, heard.code_bytes);
            let entry = self.entries.entry(heard.subject.clone()).or_insert_with(new);
            match &heard.outcome {
                Err(failure) => {
                    entry.samples.clear();
                    entry.trouble = Some(Trouble {
                        unsupported: matches!(failure.kind, FailureKind::Unsupported(_)),
                        text: failure.to_string(),
                        failure: Some(failure.clone()),
                    });
                }
                Ok(samples) if samples.is_empty() => {
                    entry.empty += 1;
                    if entry.empty >= PATIENCE {
                        let text = "the worker gives no samples of it".into();
                        entry.trouble = Some(Trouble { unsupported: false, text, failure: None });
                    }
                }
                Ok(samples) => {
                    entry.empty = 0;
                    made += samples.len();
                    for raw in samples {
                        let layout = base + u64::from(raw.layout);
                        self.layouts = self.layouts.max(layout + 1);
                        entry.samples.push(Taken {
                            layout,
                            block: raw.block,
                            gross: (raw.ticks as f64 / f64::from(raw.calls)).ln(),
                            net: net_ns(raw, &batch.clock, self.tick_hz).ln(),
                            raw: Sample { layout: layout as u32, ..*raw },
                        });
                    }
                    changed.push(heard.subject.clone());
                }
            }
        }
        if made > 0 {
            let cost = batch.wall_ns / made as f64;
            // The last batches count more: passes grow longer, verification is done once.
            self.cost_ns = Some(self.cost_ns.map_or(cost, |old| 0.5 * (old + cost)));
        }
        for subject in changed {
            let known = self.reckon(cell, &subject);
            if let Some(entry) = self.entries.get_mut(&subject) {
                entry.known = known;
            }
        }
    }

    fn reckon(&self, cell: &Cell, subject: &Subject) -> Option<Known> {
        let entry = self.entries.get(subject)?;
        let mut net = Paired::new();
        window(&entry.samples).iter().for_each(|s| net.push(s.layout, s.net));
        if net.is_empty() {
            return None;
        }
        let ns = interval(&net).exp();
        let relative = self.reference().map(|reference| self.paired(subject, &reference));
        let relative = relative.filter(|p| !p.is_empty()).map(|p| ends(interval(&p)));
        let cycles = ns.estimate * self.clock.cycles_per_tick * self.tick_hz / 1e9;
        Some(Known {
            samples: entry.samples.len(),
            ns: ends(ns),
            relative,
            bytes_per_cycle: cell.size as f64 / cycles,
        })
    }

    /// ln of a subject's time over another's, in the blocks that both took part in: the last
    /// ones of the subject.
    fn paired(&self, subject: &Subject, other: &Subject) -> Paired {
        let mut paired = Paired::new();
        if let (Some(a), Some(b)) = (self.entries.get(subject), self.entries.get(other)) {
            for (own, theirs) in together(window(&a.samples), &b.samples) {
                paired.push(own.layout, own.gross - theirs.gross);
            }
        }
        paired
    }

    /// Time of `other` over that of `subject` with its 95 % interval; `None` where they were
    /// never in one block.
    pub fn ratio(&self, subject: &Subject, other: &Subject) -> Option<(f64, f64, f64)> {
        // The other may have far more samples: the window is the subject's.
        let paired = self.paired(subject, other);
        (!paired.is_empty()).then(|| {
            let (estimate, low, high) = ends(interval(&paired).exp());
            (1.0 / estimate, 1.0 / high, 1.0 / low)
        })
    }

    /// Layouts in which both took part, ever.
    pub fn layouts_with(&self, subject: &Subject, other: &Subject) -> u32 {
        let (Some(a), Some(b)) = (self.entries.get(subject), self.entries.get(other)) else {
            return 0;
        };
        let mut layouts: Vec<u64> =
            together(&a.samples, &b.samples).map(|(own, _)| own.layout).collect();
        layouts.dedup();
        layouts.len() as u32
    }

    fn summary(&self, subject: &Subject, entry: &Entry, known: &Known) -> Summary {
        let ratio = self.reference().map(|r| self.paired(subject, &r)).filter(|p| !p.is_empty());
        let mut net: Vec<f64> = entry.times().collect();
        Summary {
            samples: known.samples as u32,
            median: Picos::from_ns(median(&mut net)),
            ci: (Picos::from_ns(known.ns.1), Picos::from_ns(known.ns.2)),
            ratio: ratio.map(|p| (-p.location()).exp()),
            bytes_per_cycle: known.bytes_per_cycle,
        }
    }
}

/// The samples of two that were made in one block. Both come in the order of layout and block.
fn together<'a>(
    a: &'a [Taken],
    b: &'a [Taken],
) -> impl Iterator<Item = (&'a Taken, &'a Taken)> + 'a {
    let first = a.first().map_or(0, |s| s.layout);
    let mut rest = b[b.partition_point(|s| s.layout < first)..].iter().peekable();
    a.iter().filter_map(move |own| {
        let place = (own.layout, own.block);
        while rest.next_if(|s| (s.layout, s.block) < place).is_some() {}
        rest.next_if(|s| (s.layout, s.block) == place).map(|theirs| (own, theirs))
    })
}

fn window(samples: &[Taken]) -> &[Taken] {
    &samples[samples.len().saturating_sub(WINDOW)..]
}

fn interval(paired: &Paired) -> Interval {
    // The same data give the same interval.
    let mut rng = ChaCha8Rng::seed_from_u64(paired.len() as u64);
    paired.interval_of(RESAMPLES, &mut rng)
}

fn ends(interval: Interval) -> (f64, f64, f64) {
    (interval.estimate, interval.low, interval.high)
}

/// A subject of a cell with what a file should hold of it.
pub struct Unwritten<'a> {
    /// Where.
    pub cell: Cell,
    /// Who.
    pub subject: &'a Subject,
    /// Its entry.
    pub entry: &'a Entry,
    /// Times, or why there are none.
    pub outcome: Result<Summary, Failure>,
    /// Raw samples.
    pub samples: Vec<Sample>,
    /// The clock of the cell's last batch.
    pub clock: Clock,
}

/// All cells.
#[derive(Clone, Debug)]
pub struct Ledger {
    books: HashMap<Cell, Book>,
    tick_hz: f64,
}

impl Ledger {
    /// Nothing measured yet. `tick_hz`: time-stamp ticks a second.
    pub fn new(tick_hz: f64) -> Ledger {
        Ledger { books: HashMap::new(), tick_hz }
    }

    /// A cell's book.
    pub fn book(&self, cell: &Cell) -> Option<&Book> {
        self.books.get(cell)
    }

    /// A subject's entry in a cell.
    pub fn entry(&self, cell: &Cell, subject: &Subject) -> Option<&Entry> {
        self.book(cell)?.entry(subject)
    }

    /// What is known of a subject's time in a cell.
    pub fn known(&self, cell: &Cell, subject: &Subject) -> Option<&Known> {
        self.entry(cell, subject)?.known.as_ref()
    }

    /// Adds a batch.
    pub fn take(&mut self, batch: &Batch) {
        self.book_mut(&batch.cell).take(&batch.cell, batch);
    }

    /// Puts a figure that somebody else made.
    pub fn put(
        &mut self,
        cell: &Cell,
        subject: Subject,
        (role, code_bytes): (Role, Option<u32>),
        outcome: Result<Known, Trouble>,
    ) {
        let mut entry = Entry::new(role, code_bytes);
        match outcome {
            Ok(known) => entry.known = Some(known),
            Err(trouble) => entry.trouble = Some(trouble),
        }
        self.book_mut(cell).entries.insert(subject, entry);
    }

    /// Adds times of samples that somebody else made, nanoseconds a call, of a subject that a
    /// figure was put for.
    pub fn put_times(&mut self, cell: &Cell, subject: &Subject, times: Vec<f64>) {
        if let Some(entry) = self.book_mut(cell).entries.get_mut(subject) {
            entry.recorded = times;
        }
    }

    /// Forgets a subject in a cell, so that it is measured again.
    pub fn forget(&mut self, cell: &Cell, subject: &Subject) {
        if let Some(book) = self.books.get_mut(cell) {
            book.entries.remove(subject);
        }
    }

    fn book_mut(&mut self, cell: &Cell) -> &mut Book {
        let tick_hz = self.tick_hz;
        self.books.entry(*cell).or_insert_with(|| Book { tick_hz, ..Book::default() })
    }

    /// Wall time a sample, by cell, nanoseconds.
    pub fn costs(&self) -> Vec<(Cell, f64)> {
        self.books.iter().filter_map(|(cell, book)| Some((*cell, book.cost_ns?))).collect()
    }

    /// What no file holds yet, in the order of cells and subjects; it counts as written then.
    pub fn unwritten(&mut self) -> Vec<Unwritten<'_>> {
        let mut list = Vec::new();
        for book in self.books.values_mut() {
            for entry in book.entries.values_mut() {
                // A failure has no samples: it is told once.
                let size = entry.samples.len().max(usize::from(entry.trouble.is_some()));
                entry.fresh = size > entry.written;
                entry.written = size;
            }
        }
        for (cell, book) in &self.books {
            for (subject, entry) in &book.entries {
                let outcome = match (&entry.trouble, &entry.known) {
                    (Some(trouble), _) => trouble.failure.clone().map(Err),
                    (None, Some(known)) => Some(Ok(book.summary(subject, entry, known))),
                    (None, None) => None,
                };
                if let (true, Some(outcome)) = (entry.fresh, outcome) {
                    let skipped = entry.samples.len().saturating_sub(WRITTEN);
                    let samples = entry.samples[skipped..].iter().map(|s| s.raw).collect();
                    let clock = book.clock;
                    list.push(Unwritten { cell: *cell, subject, entry, outcome, samples, clock });
                }
            }
        }
        list.sort_by(|a, b| (a.cell, a.subject).cmp(&(b.cell, b.subject)));
        list
    }
}
