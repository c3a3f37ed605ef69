//! What people are told of traps.

use super::Trap;

impl Trap {
    /// What the figure of its check is, and what it ought to be: a sentence.
    pub fn asks(self) -> &'static str {
        match self {
            Trap::UnwrittenSource => {
                "Time of a copy out of memory over the time of only reading as much there. A copy \
                 reads all of it, so it cannot be below 1."
            }
            Trap::FirstTouch => {
                "Time of a loop that comes first in a block over that of the same loop after it. \
                 Pages are there before, so it is near 1."
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
}
