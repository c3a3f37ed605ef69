//! What an interval of a ratio says.

use crate::units::words;

words! {
    /// Verdict of a subject against a reference. With band b: `tied` if the interval of the
    /// time ratio lies inside [1/(1+b), 1+b]; else `faster` or `slower` if it excludes 1;
    /// else `undecided`.
    Verdict {
        /// It is what others are compared with.
        Reference = "reference",
        /// It takes less time.
        Faster = "faster",
        /// It takes more time.
        Slower = "slower",
        /// No difference that matters.
        Tied = "tied",
        /// The data do not say.
        Undecided = "undecided",
    }
}

impl Verdict {
    /// The verdict for a subject whose time over the reference's time has this interval.
    pub fn of_time_ratio(interval: (f64, f64), band: f64) -> Verdict {
        let (low, high) = interval;
        if low >= 1.0 / (1.0 + band) && high <= 1.0 + band {
            Verdict::Tied
        } else if high < 1.0 {
            Verdict::Faster
        } else if low > 1.0 {
            Verdict::Slower
        } else {
            Verdict::Undecided
        }
    }
}
