//! What each coordinate of a placement does by itself.

use rand::Rng;

use crate::stats::Paired;
use crate::subject::Placement;
use crate::units::words;

words! {
    /// A coordinate of a placement.
    Coordinate {
        /// Destination modulo 64.
        Dst = "dst mod 64",
        /// Source modulo 64.
        Src = "src mod 64",
        /// (dst − src) modulo 4096.
        Delta = "(dst - src) mod 4096",
    }
}

impl Coordinate {
    /// The value of a placement; `None` where it is redrawn.
    fn of(self, p: &Placement) -> Option<u16> {
        match self {
            Coordinate::Dst => Some(p.dst.into()),
            Coordinate::Src => Some(p.src.into()),
            Coordinate::Delta => p.delta,
        }
    }

    /// The placement without it.
    fn others(self, p: &Placement) -> Placement {
        match self {
            Coordinate::Dst => Placement { dst: 0, ..*p },
            Coordinate::Src => Placement { src: 0, ..*p },
            Coordinate::Delta => Placement { delta: None, ..*p },
        }
    }
}

/// The main effect of a coordinate: its worst value against its best, the others the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Which.
    pub coordinate: Coordinate,
    /// The value with the least time, bytes; `None` where redrawn.
    pub best: Option<u16>,
    /// The value with the most.
    pub worst: Option<u16>,
    /// Time at the worst over time at the best.
    pub spread: f64,
    /// 95 % interval of the same.
    pub ci: (f64, f64),
}

/// The effects of all coordinates that were swept. `logs`: of each placement, ln of the time in
/// each round, NaN where it has none. The rounds that pick the best and the worst value are not
/// those that say how far they lie apart, so that noise gives no spread.
pub(super) fn effects(
    placements: &[Placement],
    logs: &[Vec<f64>],
    rng: &mut impl Rng,
) -> Vec<Effect> {
    let rounds = logs.iter().map(Vec::len).min().unwrap_or(0);
    let mut found = Vec::new();
    for coordinate in Coordinate::ALL {
        let mut levels: Vec<Option<u16>> = placements.iter().map(|p| coordinate.of(p)).collect();
        levels.sort_unstable();
        levels.dedup();
        let by_round: Vec<Vec<f64>> = (0..rounds)
            .map(|round| of_round(*coordinate, placements, &levels, |i| logs[i][round]))
            .collect();
        let told: Vec<usize> =
            (0..levels.len()).filter(|l| by_round.iter().any(|r| !r[*l].is_nan())).collect();
        if told.len() < 2 {
            continue;
        }
        let mean = |level: &usize| {
            let picking = by_round.iter().step_by(2).map(|r| r[*level]).filter(|v| !v.is_nan());
            let values: Vec<f64> = picking.collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let by = |a: &&usize, b: &&usize| mean(a).total_cmp(&mean(b));
        let (Some(best), Some(worst)) = (told.iter().min_by(by), told.iter().max_by(by)) else {
            continue;
        };
        let mut apart = Paired::new();
        let judging = by_round.iter().enumerate().filter(|(i, _)| rounds < 2 || i % 2 == 1);
        for (round, of_round) in judging {
            let value = of_round[*worst] - of_round[*best];
            if !value.is_nan() {
                apart.push(round as u64, value);
            }
        }
        let spread = apart.interval(rng).exp();
        if spread.estimate.is_finite() {
            found.push(Effect {
                coordinate: *coordinate,
                best: levels[*best],
                worst: levels[*worst],
                spread: spread.estimate,
                ci: spread.ends(),
            });
        }
    }
    found
}

/// The effect of each level in a round: its log time less the mean of all that differ from it in
/// this coordinate only, averaged over the values of the others. Works for one coordinate at
/// a time as for all crossed.
fn of_round(
    coordinate: Coordinate,
    placements: &[Placement],
    levels: &[Option<u16>],
    log: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut groups: Vec<Placement> = placements.iter().map(|p| coordinate.others(p)).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut sums = vec![(0.0, 0u32); levels.len()];
    for group in groups {
        let members: Vec<(usize, f64)> = (0..placements.len())
            .filter(|i| coordinate.others(&placements[*i]) == group && !log(*i).is_nan())
            .map(|i| (i, log(i)))
            .collect();
        if members.len() < 2 {
            continue;
        }
        let mean = members.iter().map(|(_, v)| v).sum::<f64>() / members.len() as f64;
        for (i, value) in members {
            let level = levels.iter().position(|l| *l == coordinate.of(&placements[i]));
            if let Some((sum, count)) = level.and_then(|l| sums.get_mut(l)) {
                *sum += value - mean;
                *count += 1;
            }
        }
    }
    sums.into_iter().map(|(sum, n)| if n > 0 { sum / f64::from(n) } else { f64::NAN }).collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::Sweep;
    use super::*;
    use crate::subject::Op;

    /// 30 % for an odd destination, 5 % for an odd source, and noise.
    fn found(sweep: &Sweep, dst: f64, src: f64) -> Vec<Effect> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let placements = sweep.placements(Op::Copy);
        let log = |p: &Placement| f64::from(p.dst % 2) * dst + f64::from(p.src % 2) * src;
        let mut noisy = |p: &Placement| -> Vec<f64> {
            (0..16).map(|_| log(p) + rng.random_range(-0.01..0.01)).collect()
        };
        let logs: Vec<Vec<f64>> = placements.iter().map(&mut noisy).collect();
        effects(&placements, &logs, &mut ChaCha8Rng::seed_from_u64(2))
    }

    #[test]
    fn the_coordinate_that_matters_is_found_in_both_designs() {
        for sweep in [Sweep::Quick, Sweep::Full] {
            let effects = found(&sweep, 0.3, 0.05);
            let [dst, src, delta] = effects[..] else { panic!("{effects:?}") };
            assert_eq!((dst.coordinate, dst.worst.unwrap() % 2), (Coordinate::Dst, 1));
            assert!(dst.ci.0 < 0.3f64.exp() + 0.01 && dst.ci.1 > 0.3f64.exp() - 0.01, "{dst:?}");
            assert!(src.ci.0 > 1.03 && src.ci.1 < 1.08, "{src:?}");
            assert!(delta.ci.0 < 1.01 && delta.spread < 1.02, "{delta:?}");
        }
    }

    #[test]
    fn noise_gives_no_spread_and_one_value_no_effect() {
        for effect in found(&Sweep::Full, 0.0, 0.0) {
            assert!(effect.ci.0 < 1.005, "{effect:?}");
        }
        let one = Sweep::List(vec![Placement::ALIGNED]);
        assert!(found(&one, 0.3, 0.0).is_empty());
        // Two placements that differ in everything say nothing of any coordinate.
        let both = Sweep::parse("aligned,dst1/src1").unwrap();
        assert!(found(&both, 0.3, 0.0).is_empty());
    }
}
