//! The traps of measuring, one by one. Each has one check that is made twice: with the
//! countermeasure, where it must hold, and without, where it fails if the trap bites on this
//! machine. What a check asks is either something that physics forbids (a call in memory that
//! is faster than one in the cache) or that two measurements of one thing agree.

mod address;
mod clock;
mod desk;
mod memory;
mod program;

use std::time::Instant;

pub use self::desk::TrapHost;
use self::desk::{Cannot, Figure, TrapDesk};
use super::desk::SelftestError;
use crate::trial::{Countermeasure, EvaluateError, Evaluator, Observer, Phase, Progress, Without};
use crate::units::words;

words! {
    /// A trap of measuring.
    Trap {
        /// The source was never written: all its pages are one page of zeros.
        UnwrittenSource = "unwritten-source",
        /// The destination was never touched before the first pass.
        FirstTouch = "first-touch",
        /// The destination's pages fault inside the timed region.
        FreshPages = "fresh-pages",
        /// A loop pays for what its predecessor left in the last level.
        Predecessor = "predecessor",
        /// The clock is read while non-temporal stores are still under way.
        MissingFence = "missing-fence",
        /// Non-temporal stores repeat on lines that the first of them drove out.
        RepeatedPair = "repeated-pair",
        /// Translations are warmed through the very lines that should be cold.
        NearTouch = "near-touch",
        /// A last level as large as the processor tells.
        ToldCaches = "told-caches",
        /// The first has always the same one before it.
        FixedOrder = "fixed-order",
        /// One address decides for all.
        OneAddress = "one-address",
        /// A small loop wins because of where its top falls.
        LoopAddress = "loop-address",
        /// Buffers are aligned in the benchmark only.
        AlignedOnly = "aligned-only",
        /// What an interrupt got into is kept.
        KeptOutliers = "kept-outliers",
        /// A prefetch wins because it moved bytes.
        PrefetchBytes = "prefetch-bytes",
        /// Non-temporal stores win the copy and lose the program: a small copy.
        UnreadSmall = "unread-64k",
        /// The same of a large copy.
        UnreadLarge = "unread-32m",
        /// The C library turns to non-temporal stores by a cache that is not there.
        LibcThreshold = "libc-threshold",
        /// A store that the next load must wait for looks free back to back.
        Unchained = "unchained",
    }
}

impl Trap {
    /// The countermeasure that keeps it shut, where that is one that can be left off.
    pub fn countermeasure(self) -> Option<Countermeasure> {
        Some(match self {
            Trap::UnwrittenSource => Countermeasure::WrittenSource,
            Trap::FirstTouch => Countermeasure::Prefault,
            Trap::Predecessor => Countermeasure::Settle,
            Trap::MissingFence => Countermeasure::Fence,
            Trap::RepeatedPair => Countermeasure::Ring,
            Trap::NearTouch => Countermeasure::FarTouch,
            Trap::ToldCaches => Countermeasure::MeasuredEdges,
            Trap::FixedOrder => Countermeasure::Shuffle,
            Trap::OneAddress => Countermeasure::Move,
            Trap::KeptOutliers => Countermeasure::Repeat,
            Trap::FreshPages
            | Trap::LoopAddress
            | Trap::AlignedOnly
            | Trap::PrefetchBytes
            | Trap::UnreadSmall
            | Trap::UnreadLarge
            | Trap::LibcThreshold
            | Trap::Unchained => return None,
        })
    }

    /// What the figure of its check is, and what it ought to be: a sentence.
    pub fn asks(self) -> &'static str {
        match self {
            Trap::UnwrittenSource => {
                "Time of a copy out of memory over the time of only reading as much there. A copy \
                 reads all of it, so it cannot be below 1."
            }
            Trap::FirstTouch => {
                "Time of the first pass over the time of later ones. Pages are there before, so it \
                 is near 1."
            }
            Trap::FreshPages => {
                "Time of zeroing over the time of zeroing pages that are there. It is near 1 unless \
                 every page faults in the timed region."
            }
            Trap::Predecessor => {
                "Time of a plain loop after a non-temporal one over its time after a plain one. A \
                 time is a loop's own, so it is 1."
            }
            Trap::MissingFence => {
                "Time of a few non-temporal stores over that of another measurement, in which all of \
                 them are waited for. It is 1 if none is still under way."
            }
            Trap::RepeatedPair => {
                "Time of a non-temporal loop in l1 over that of another measurement on lines that \
                 are all in l1. It is 1 if each call finds its lines there."
            }
            Trap::NearTouch => {
                "Time of a call of 64 bytes in memory over its time in the caches. Memory is not \
                 faster than they are: not below 1."
            }
            Trap::ToldCaches => {
                "Time in llc over time in dram, of the largest size that llc has room for. A cache \
                 is faster than memory: well below 1."
            }
            Trap::FixedOrder => {
                "Time of a loop over the time of the same loop, in blocks with a non-temporal one. \
                 It is 1 whoever is first."
            }
            Trap::OneAddress => {
                "Part of the contests of a loop against itself that have a winner. Equals have one \
                 in 20 at most."
            }
            Trap::LoopAddress => {
                "Slowest over fastest of one small loop: with its top at one address modulo 64, it \
                 is 1 however often it is emitted."
            }
            Trap::AlignedOnly => {
                "How far the loop that was picked is, at its worst destination offset, behind the \
                 best there, over what the best pick would be. It is 1."
            }
            Trap::KeptOutliers => {
                "The thousandth part of the passes that took longest, over the usual pass. What \
                 others got into is not kept: below 4."
            }
            Trap::PrefetchBytes => {
                "Gain of a prefetch in l1, where there is nothing to fetch, over what it is compared \
                 with. It earns nothing: not above 1."
            }
            Trap::UnreadSmall => {
                "Time of non-temporal over plain stores, 64 KiB copied from memory, over the same \
                 with the copy read afterwards, as programs do. It is 1 if the program agrees."
            }
            Trap::UnreadLarge => "The same of 32 MiB. It is 1 if the program agrees.",
            Trap::LibcThreshold => {
                "Time of the C library over that of the better of a plain and a non-temporal loop, \
                 32 MiB copied. A library that is tuned for this machine is near 1."
            }
            Trap::Unchained => {
                "Time of a masked store over a plain one, 16 bytes, over the same where the next \
                 call waits for the bytes. It is 1 if nobody has to wait."
            }
        }
    }

    /// What is done in the one and the other run: with the countermeasure, and without.
    pub fn runs(self) -> (&'static str, &'static str) {
        match self {
            Trap::UnwrittenSource => ("written source", "untouched source"),
            Trap::FirstTouch => ("faulted in before", "first touched when timed"),
            Trap::FreshPages => ("pages are there", "fresh pages"),
            Trap::Predecessor => ("flushed and settled", "one pass of writes"),
            Trap::MissingFence => ("mfence at the end", "no mfence"),
            Trap::RepeatedPair => ("a ring of pairs", "one pair again and again"),
            Trap::NearTouch => ("touched, then flushed", "flushed, then touched"),
            Trap::ToldCaches => ("measured caches", "caches as told"),
            Trap::FixedOrder => ("shuffled blocks", "always the same order"),
            Trap::OneAddress => ("emitted again and again", "one place each"),
            Trap::LoopAddress => ("one address", "all 64 addresses"),
            Trap::AlignedOnly => ("five offsets looked at", "aligned only"),
            Trap::KeptOutliers => ("repeated", "kept"),
            Trap::PrefetchBytes => ("against nops of its length", "against the bare loop"),
            Trap::UnreadSmall | Trap::UnreadLarge => ("then read", "never read"),
            Trap::LibcThreshold => ("thresholds set", "as installed"),
            Trap::Unchained => ("chained", "back to back"),
        }
    }

    /// Whether a figure is what it ought to be.
    fn holds(self, value: f64) -> bool {
        let near_1 = |tolerance: f64| value.ln().abs() <= tolerance;
        match self {
            // Reading beside writing, and two loops of reading, differ a little.
            Trap::UnwrittenSource => value >= 0.8,
            Trap::FirstTouch => value <= 2.0,
            Trap::FreshPages => near_1(0.2),
            Trap::Predecessor => near_1(0.03),
            Trap::MissingFence => near_1(0.03),
            Trap::RepeatedPair => near_1(0.1),
            Trap::NearTouch => value >= 1.0,
            Trap::ToldCaches => value <= 0.8,
            Trap::FixedOrder => near_1(0.01),
            // Of 20 contests between equals, 4 have a winner once in sixty times; 5 once in 390.
            Trap::OneAddress => value <= 0.2,
            Trap::LoopAddress => value <= 1.02,
            Trap::AlignedOnly => value <= 1.03,
            Trap::KeptOutliers => value <= 4.0,
            Trap::PrefetchBytes => value <= 1.015,
            Trap::UnreadSmall | Trap::UnreadLarge => near_1(0.07),
            Trap::LibcThreshold => value <= 1.25,
            Trap::Unchained => near_1(0.1),
        }
    }

    fn measure(self, desk: &mut TrapDesk<'_>, on: bool) -> Result<Figure, Cannot> {
        match self {
            Trap::UnwrittenSource => memory::source(desk, on),
            Trap::FirstTouch => memory::first_touch(desk),
            Trap::FreshPages => memory::fresh_pages(desk, on),
            Trap::Predecessor => memory::predecessor(desk),
            Trap::NearTouch => memory::near_touch(desk),
            Trap::RepeatedPair => memory::repeated_pair(desk),
            Trap::ToldCaches => memory::told_caches(desk, on),
            Trap::MissingFence => clock::fence(desk),
            Trap::FixedOrder => clock::fixed_order(desk),
            Trap::KeptOutliers => clock::outliers(desk),
            Trap::OneAddress => address::one_address(desk),
            Trap::LoopAddress => address::loop_address(desk, on),
            Trap::AlignedOnly => address::aligned_only(desk, on),
            Trap::PrefetchBytes => address::prefetch_bytes(desk, on),
            Trap::UnreadSmall => program::unread(desk, 64 << 10, on),
            Trap::UnreadLarge => program::unread(desk, 32 << 20, on),
            Trap::LibcThreshold => program::libc_threshold(desk, on),
            Trap::Unchained => program::unchained(desk, on),
        }
    }
}

words! {
    /// What a trap showed.
    Finding {
        /// The check holds, and fails without the countermeasure.
        Shut = "shut",
        /// The check holds, and without the countermeasure too: the trap does not bite here.
        NotSeen = "not seen here",
        /// The check does not hold: the countermeasure is not good enough here, now.
        Open = "open",
    }
}

/// One run of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The figure; see [`Trap::asks`].
    pub value: f64,
    /// What was measured, in words.
    pub text: String,
    /// Whether the figure is what it ought to be.
    pub holds: bool,
}

/// A trap that was shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Which.
    pub trap: Trap,
    /// With the countermeasure and without; or why this host cannot show it.
    pub sides: Result<(Side, Side), String>,
    /// How often it was tried with the countermeasure.
    pub tries: u32,
}

impl Shown {
    /// What it says; `None` where this host cannot show it.
    pub fn finding(&self) -> Option<Finding> {
        let (with, without) = self.sides.as_ref().ok()?;
        Some(match (with.holds, without.holds) {
            (false, _) => Finding::Open,
            (true, false) => Finding::Shut,
            (true, true) => Finding::NotSeen,
        })
    }

    /// Whether the countermeasure does not hold.
    pub fn is_open(&self) -> bool {
        self.finding() == Some(Finding::Open)
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct TrapTest {
    /// Which traps.
    pub traps: Vec<Trap>,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Countermeasures that are left off where they should be there: checks then fail.
    pub without: Without,
}

/// What was shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Trapped {
    /// One a trap, as asked.
    pub shown: Vec<Shown>,
    /// Wall time.
    pub seconds: f64,
    /// Whether the user interrupted it: traps are missing.
    pub interrupted: bool,
}

/// A check that does not hold is made again, so many times in all: a moment's noise is no
/// failure of a countermeasure.
const TRIES: u32 = 3;

/// Shows traps.
///
/// # Errors
/// Where no worker can be had.
pub fn traps(
    test: &TrapTest,
    host: &TrapHost,
    evaluator: &mut dyn Evaluator,
    observer: &mut dyn Observer,
) -> Result<Trapped, EvaluateError> {
    let began = Instant::now();
    let mut desk = TrapDesk::new(evaluator, host, test.seed);
    let mut shown = Vec::new();
    let mut interrupted = false;
    for (done, trap) in test.traps.iter().enumerate() {
        observer.progress(&Progress {
            cell: desk.cell(),
            phase: Phase::Bench,
            fraction: done as f64 / test.traps.len() as f64,
            done: (done as u64, test.traps.len() as u64),
            leader: None,
        });
        match show(*trap, &mut desk, test.without) {
            Ok(one) => shown.push(one),
            Err(EvaluateError::Interrupted) if !shown.is_empty() => {
                interrupted = true;
                break;
            }
            Err(e) => return Err(e),
        }
    }
    Ok(Trapped { shown, seconds: began.elapsed().as_secs_f64(), interrupted })
}

fn show(trap: Trap, desk: &mut TrapDesk<'_>, left_off: Without) -> Result<Shown, EvaluateError> {
    let own: Without = trap.countermeasure().into_iter().collect();
    let mut side = |on: bool| -> Result<Side, Cannot> {
        desk.leave_off(if on { left_off } else { own });
        let on = on && !trap.countermeasure().is_some_and(|c| left_off.leaves_off(c));
        let figure = trap.measure(desk, on)?;
        Ok(Side { value: figure.value, text: figure.text, holds: trap.holds(figure.value) })
    };
    let mut tries = 0;
    let mut sides = || -> Result<(Side, Side), Cannot> {
        let mut with = side(true)?;
        tries = 1;
        while !with.holds && tries < TRIES {
            with = side(true)?;
            tries += 1;
        }
        Ok((with, side(false)?))
    };
    match sides() {
        Ok(both) => Ok(Shown { trap, sides: Ok(both), tries }),
        Err(Cannot::Here(why)) => Ok(Shown { trap, sides: Err(why), tries }),
        Err(Cannot::Selftest(SelftestError::Evaluate(e))) => Err(e),
        Err(Cannot::Selftest(e @ SelftestError::Member { .. })) => {
            Ok(Shown { trap, sides: Err(e.to_string()), tries })
        }
    }
}
