//! What an interval of a ratio says.

use serde::{Deserialize, Serialize};

/// Verdict of a subject against a reference. With band b: `tied` if the interval of the time
/// ratio lies inside [1/(1+b), 1+b]; else `faster` or `slower` if it excludes 1, and would
/// were it a tenth wider; else `undecided`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Verdict {
    /// It is what others are compared with.
    Reference,
    /// It takes less time.
    Faster,
    /// It takes more time.
    Slower,
    /// No difference that matters.
    Tied,
    /// The data do not say.
    Undecided,
}

/// A 95 % interval wider by this is one of 97 %. Of equals whose intervals are wider than the band
/// one in twenty excludes 1, so a verdict that asked for no more would be false as often as that,
/// and, by chance, oftener.
const WIDER: f64 = 2.170_1 / 1.960_0;

/// The ends of an interval of 97 %, of those of one of 95 % of a log ratio.
pub fn surer((low, high): (f64, f64)) -> (f64, f64) {
    let more = (high - low) / 2.0 * (WIDER - 1.0);
    (low - more, high + more)
}

impl Verdict {
    /// Every verdict.
    pub const ALL: &'static [Verdict] =
        &[Verdict::Reference, Verdict::Faster, Verdict::Slower, Verdict::Tied, Verdict::Undecided];

    /// The word used in files and tables.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Reference => "reference",
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Tied => "tied",
            Verdict::Undecided => "undecided",
        }
    }

    /// The verdict of a word, if there is one.
    pub fn from_word(word: &str) -> Option<Verdict> {
        Verdict::ALL.iter().copied().find(|v| v.word() == word)
    }

    /// The verdict for a subject whose time over the reference's time has this interval.
    pub fn of_time_ratio(interval: (f64, f64), band: f64) -> Verdict {
        let (low, high) = interval;
        let (surely_above, surely_below) = surer((low.ln(), high.ln()));
        if low >= 1.0 / (1.0 + band) && high <= 1.0 + band {
            Verdict::Tied
        } else if surely_below < 0.0 {
            Verdict::Faster
        } else if surely_above > 0.0 {
            Verdict::Slower
        } else {
            Verdict::Undecided
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_band_ties_and_only_an_interval_without_1_decides() {
        let verdict = |low, high| Verdict::of_time_ratio((low, high), 0.01);
        assert_eq!(verdict(0.995, 1.005), Verdict::Tied);
        assert_eq!(verdict(1.001, 1.009), Verdict::Tied);
        assert_eq!(verdict(1.002, 1.02), Verdict::Slower);
        assert_eq!(verdict(1.0005, 1.02), Verdict::Undecided, "a tenth wider, it holds 1");
        assert_eq!(verdict(0.95, 0.99), Verdict::Faster);
        assert_eq!(verdict(0.95, 1.05), Verdict::Undecided);
        assert!(Verdict::ALL.iter().all(|v| Verdict::from_word(v.word()) == Some(*v)));
    }
}
