//! Placebos: what prefetches and touches are worth beyond the bytes that they take. A loop
//! whose prefetch is a nop of the same length has the same addresses and fetches nothing; a
//! gain that such a loop has as well is not the prefetch's.

use super::Compared;
use super::study::why;
use crate::host::FeatureSet;
use crate::search::compare::Contested;
use crate::space;
use crate::stats::Verdict;
use crate::subject::{Hint, Prefetch, Touch, Variant};
use crate::units::words;

words! {
    /// What may owe its gain to its bytes.
    Suspect {
        /// The prefetch of the loop.
        Prefetch = "prefetch",
        /// What is read besides.
        Touch = "touch",
    }
}

words! {
    /// Whether a gain is credited to what is suspected.
    Credit {
        /// The gain goes with the placebo.
        Credited = "credited",
        /// Same-length nops give the gain too.
        Bytes = "not-credited",
        /// The loop is no slower without.
        NoGain = "no-gain",
        /// The data do not say.
        Undecided = "undecided",
        /// There is a gain, and no placebo of the same length to try it against.
        Untested = "untested",
    }
}

/// What a prefetch or a touch is worth. Times are over the winner's, which has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Placebo {
    /// What.
    pub suspect: Suspect,
    /// The same loop without, or why there is none or it has no time.
    pub without: Result<(Variant, Compared), String>,
    /// The same loop with nops of the same length instead, or why there is none.
    pub placebo: Result<(Variant, Compared), String>,
    /// The time without over that of the placebo: above 1, the nops alone are a gain.
    pub bytes: Option<Compared>,
    /// What follows.
    pub credit: Credit,
}

/// Loops to be measured for a verdict.
pub(super) struct Trial {
    suspect: Suspect,
    without: Result<Variant, String>,
    placebo: Result<Variant, String>,
}

/// What the winner has that wants a placebo.
pub(super) fn trials(winner: &Variant, usable: FeatureSet) -> Vec<Trial> {
    let runs = |v: Variant| match (space::check(&v), space::supported(&v, &usable)) {
        (Err(broken), _) => Err(format!("{v} cannot be: {broken}")),
        (_, Err(why)) => Err(format!("{v} {why}")),
        _ => Ok(v),
    };
    let mut trials = Vec::new();
    if let Some(prefetch) = winner.prefetch.filter(|p| p.hint != Hint::Nop) {
        let nop = Prefetch { hint: Hint::Nop, ..prefetch };
        trials.push(Trial {
            suspect: Suspect::Prefetch,
            without: runs(Variant { prefetch: None, ..*winner }),
            placebo: runs(Variant { prefetch: Some(nop), ..*winner }),
        });
    }
    if !matches!(winner.touch, Touch::None | Touch::Placebo) {
        trials.push(Trial {
            suspect: Suspect::Touch,
            without: runs(Variant { touch: Touch::None, ..*winner }),
            placebo: match winner.touch {
                Touch::Rbw => runs(Variant { touch: Touch::Placebo, ..*winner }),
                _ => Err("reading the source ahead takes a loop of its own, not bytes".into()),
            },
        });
    }
    trials
}

impl Trial {
    /// Those that can run, behind the winner.
    pub(super) fn loops(&self) -> Vec<Variant> {
        [&self.without, &self.placebo]
            .into_iter()
            .filter_map(|v| v.as_ref().ok())
            .copied()
            .collect()
    }

    /// The verdict on what was measured of [`Trial::loops`], the winner before them.
    pub(super) fn judged(&self, measured: &mut Contested) -> Placebo {
        let mut next = 1;
        let mut of = |loop_: &Result<Variant, String>| {
            let variant = *loop_.as_ref().map_err(Clone::clone)?;
            let at = next;
            next += 1;
            match measured.pair(at, 0) {
                Some(pair) => Ok((variant, at, Compared::of(&pair))),
                None => Err(why(measured, at)),
            }
        };
        let (without, placebo) = (of(&self.without), of(&self.placebo));
        let bytes = match (&without, &placebo) {
            (Ok((_, without, _)), Ok((_, placebo, _))) => {
                measured.pair(*without, *placebo).map(|pair| Compared::of(&pair))
            }
            _ => None,
        };
        let told = |o: Result<(Variant, usize, Compared), String>| o.map(|(v, _, c)| (v, c));
        let (without, placebo) = (told(without), told(placebo));
        let verdict =
            |o: &Result<(Variant, Compared), String>| o.as_ref().ok().map(|o| o.1.verdict);
        let credit = credit(verdict(&without), verdict(&placebo));
        Placebo { suspect: self.suspect, without, placebo, bytes, credit }
    }
}

/// From the verdicts of the loop without, and of that with a placebo, against the winner.
fn credit(without: Option<Verdict>, placebo: Option<Verdict>) -> Credit {
    match (without, placebo) {
        (Some(Verdict::Slower), Some(Verdict::Slower)) => Credit::Credited,
        (Some(Verdict::Slower), Some(Verdict::Tied | Verdict::Faster)) => Credit::Bytes,
        (Some(Verdict::Slower), None) => Credit::Untested,
        (Some(Verdict::Tied | Verdict::Faster), _) => Credit::NoGain,
        _ => Credit::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Feature;

    #[test]
    fn a_gain_is_credited_only_where_it_goes_with_the_placebo() {
        use Verdict::{Faster, Slower, Tied, Undecided};
        assert_eq!(credit(Some(Slower), Some(Slower)), Credit::Credited);
        assert_eq!(credit(Some(Slower), Some(Tied)), Credit::Bytes);
        assert_eq!(credit(Some(Slower), Some(Faster)), Credit::Bytes);
        assert_eq!(credit(Some(Slower), Some(Undecided)), Credit::Undecided);
        assert_eq!(credit(Some(Slower), None), Credit::Untested);
        assert_eq!(credit(Some(Tied), Some(Slower)), Credit::NoGain);
        assert_eq!(credit(Some(Undecided), Some(Slower)), Credit::Undecided);
        assert_eq!(credit(None, Some(Slower)), Credit::Undecided);
    }

    #[test]
    fn placebos_are_as_long_as_what_they_stand_for() {
        let every: FeatureSet = Feature::ALL.iter().copied().collect();
        let of = |id: &str| trials(&id.parse().unwrap(), every);
        let bytes = |v: &Variant| crate::encode::compile(v).unwrap().bytes.len();
        for id in ["copy/ymm/u4/pf-t0@512", "zero/ymm/u4/rbw", "copy/xmm/u4/pf-nta@256-both"] {
            let trials = of(id);
            assert_eq!(trials.len(), 1, "{id}");
            let [without, placebo] = trials[0].loops()[..] else { panic!("{id}") };
            let winner: Variant = id.parse().unwrap();
            assert_eq!(bytes(&placebo), bytes(&winner), "{id}");
            assert!(bytes(&without) < bytes(&winner), "{id}");
        }
        assert!(of("copy/ymm/u4").is_empty());
        assert!(of("copy/ymm/u4/pf-nop@512").is_empty());
        let source = of("copy/ymm/u4/src-block");
        assert!(source[0].placebo.is_err() && source[0].without.is_ok());
    }
}
