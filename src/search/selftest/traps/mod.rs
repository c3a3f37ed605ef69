//! The traps of measuring, one by one. Each has one check that is made twice: with the
//! countermeasure, where it must hold, and without, where it fails if the trap bites on this
//! machine. What a check asks is either something that physics forbids (a call in memory that
//! is faster than one in the cache) or that two measurements of one thing agree.

mod address;
mod clock;
mod desk;
mod memory;
mod program;
mod show;
mod told;

pub use self::desk::TrapHost;
use self::desk::{Cannot, Figure, TrapDesk};
pub use self::show::{Finding, Shown, Side, TrapTest, Trapped, traps};
use crate::trial::Countermeasure;
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

    /// Whether a figure is what it ought to be.
    fn holds(self, value: f64) -> bool {
        let near_1 = |tolerance: f64| value.ln().abs() <= tolerance;
        match self {
            // Reading beside writing, and two loops of reading, differ a little.
            Trap::UnwrittenSource => value >= 0.8,
            Trap::FirstTouch | Trap::FreshPages => near_1(0.2),
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
