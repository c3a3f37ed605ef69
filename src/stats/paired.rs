//! Log-ratios paired by block, and their interval by bootstrap over layouts, then blocks.

use rand::rngs::SmallRng;
use rand::{Rng, RngExt, SeedableRng};

/// Bootstrap replicates of an interval. At 1000 the 2.5 % and 97.5 % points rest on 25
/// replicates each, whose own error is far below the interval's width.
pub const RESAMPLES: usize = 1000;

/// Fraction cut from each end before the mean over layouts. Layouts that fall on an unlucky
/// address are part of the truth and are averaged, not voted away as a median would; the
/// few that a busy neighbour spoiled are cut.
const TRIM: f64 = 0.1;

/// An estimate with its 95 % interval, on the log scale unless said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Two-sided p-value of "the truth is 0", by the bootstrap's standard error.
    pub p: f64,
}

impl Interval {
    /// The same on the linear scale: a log-ratio becomes a ratio.
    #[must_use]
    pub fn exp(self) -> Interval {
        Interval {
            estimate: self.estimate.exp(),
            low: self.low.exp(),
            high: self.high.exp(),
            p: self.p,
        }
    }

    /// Low and high.
    pub fn ends(self) -> (f64, f64) {
        (self.low, self.high)
    }
}

/// Values (logs of times, or of ratios within a block) grouped by layout.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paired {
    layouts: Vec<(u64, Vec<f64>)>,
}

impl Paired {
    /// No values.
    pub fn new() -> Paired {
        Paired::default()
    }

    /// Adds a value of a block in a layout. Layout numbers may come in any order; equal
    /// numbers are one layout.
    pub fn push(&mut self, layout: u64, value: f64) {
        match self.layouts.last_mut() {
            Some((last, values)) if *last == layout => values.push(value),
            _ => match self.layouts.iter_mut().find(|(l, _)| *l == layout) {
                Some((_, values)) => values.push(value),
                None => self.layouts.push((layout, vec![value])),
            },
        }
    }

    /// Values so far.
    pub fn len(&self) -> usize {
        self.layouts.iter().map(|(_, v)| v.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.layouts.is_empty()
    }

    /// Layouts so far.
    pub fn layouts(&self) -> usize {
        self.layouts.len()
    }

    /// Each layout with the median of its values, in the order of first appearance.
    pub fn medians(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.layouts.iter().map(|(layout, values)| (*layout, median(&mut values.clone())))
    }

    /// The location: trimmed mean over layouts of the median over a layout's blocks. NaN
    /// without values.
    pub fn location(&self) -> f64 {
        let mut scratch = Vec::new();
        let mut medians: Vec<f64> = self
            .layouts
            .iter()
            .map(|(_, values)| {
                scratch.clear();
                scratch.extend_from_slice(values);
                median(&mut scratch)
            })
            .collect();
        trimmed_mean(&mut medians)
    }

    /// The location with its 95 % interval, by resampling layouts and, within each, blocks.
    /// With one layout only blocks are resampled, with one value the interval is the value.
    pub fn interval(&self, rng: &mut impl Rng) -> Interval {
        self.interval_of(RESAMPLES, rng)
    }

    /// As [`Paired::interval`], with so many replicates (two at least): fewer where the
    /// interval is only shown.
    pub fn interval_of(&self, resamples: usize, rng: &mut impl Rng) -> Interval {
        let resamples = resamples.max(2);
        let estimate = self.location();
        let n = self.layouts.len();
        if n == 0 {
            return Interval { estimate, low: estimate, high: estimate, p: 1.0 };
        }
        // Hundreds of thousands of draws: a fast generator, seeded by the given one.
        let mut rng = SmallRng::from_rng(rng);
        let mut replicates = Vec::with_capacity(resamples);
        let mut medians = Vec::with_capacity(n);
        let mut draw = Vec::new();
        for _ in 0..resamples {
            medians.clear();
            for _ in 0..n {
                let (_, values) = &self.layouts[rng.random_range(0..n)];
                if let [only] = values[..] {
                    medians.push(only);
                    continue;
                }
                draw.clear();
                draw.extend((0..values.len()).map(|_| values[rng.random_range(0..values.len())]));
                medians.push(median(&mut draw));
            }
            replicates.push(trimmed_mean(&mut medians));
        }
        replicates.sort_unstable_by(f64::total_cmp);
        // Percentiles of a bootstrap of n values are too narrow by about sqrt(n/(n-1)), and
        // by the normal's quantile against Student's; widen around the estimate by both.
        let widen = if n > 1 { student_over_normal(n - 1) } else { 1.0 };
        let at = |q: f64| replicates[((resamples - 1) as f64 * q).round() as usize];
        let low = estimate + (at(0.025) - estimate) * widen;
        let high = estimate + (at(0.975) - estimate) * widen;
        let mean = replicates.iter().sum::<f64>() / resamples as f64;
        let spread = replicates.iter().map(|r| (r - mean).powi(2)).sum::<f64>();
        let error = (spread / (resamples - 1) as f64).sqrt() * widen;
        let p = if error > 0.0 { two_sided(estimate / error) } else { f64::from(estimate == 0.0) };
        Interval { estimate, low: low.min(estimate), high: high.max(estimate), p }
    }
}

/// The 97.5 % point of Student's t with `df` degrees of freedom over the normal's, times
/// the bootstrap's sqrt(n/(n−1)). By the Cornish–Fisher expansion; exact to 1 % from 3 on.
fn student_over_normal(df: usize) -> f64 {
    let z: f64 = 1.959_964;
    let v = df as f64;
    let first = (z.powi(3) + z) / (4.0 * v);
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v * v);
    let third =
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * v.powi(3));
    (z + first + second + third) / z * ((v + 1.0) / v).sqrt()
}

/// Probability that a standard normal lies farther from 0 than `z`.
fn two_sided(z: f64) -> f64 {
    // Abramowitz and Stegun 7.1.26, absolute error below 1.5e-7.
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let poly = t
        * (0.254_829_592
            + t * (-0.284_496_736
                + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    (poly * (-x * x).exp()).clamp(0.0, 1.0)
}

/// Median; reorders the values. NaN without values.
pub fn median(values: &mut [f64]) -> f64 {
    let n = values.len();
    match n {
        0 => f64::NAN,
        1 => values[0],
        2 => (values[0] + values[1]) / 2.0,
        _ => {
            let (below, mid, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
            let mid = *mid;
            if n % 2 == 1 {
                mid
            } else {
                let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                (lower + mid) / 2.0
            }
        }
    }
}

/// Mean without the extreme tenth at each end (at least one value stays); reorders the
/// values. NaN without values.
pub fn trimmed_mean(values: &mut [f64]) -> f64 {
    let n = values.len();
    if n == 0 {
        return f64::NAN;
    }
    let cut = (n as f64 * TRIM) as usize;
    if cut == 0 {
        return values.iter().sum::<f64>() / n as f64;
    }
    values.select_nth_unstable_by(cut, f64::total_cmp);
    let upper = &mut values[cut..];
    let keep = n - 2 * cut;
    upper.select_nth_unstable_by(keep - 1, f64::total_cmp);
    upper[..keep].iter().sum::<f64>() / keep as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn rng(seed: u64) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(seed)
    }

    /// Layout effects of ±2 %, block noise of ±0.5 %, one block in twenty spoiled by 30 %.
    fn scripted(shift: f64, layouts: u64, rng: &mut ChaCha8Rng) -> Paired {
        let mut p = Paired::new();
        for layout in 0..layouts {
            let effect = rng.random_range(-0.02..0.02);
            for _ in 0..3 {
                let spoiled = if rng.random_range(0..20) == 0 { 0.3 } else { 0.0 };
                p.push(layout, shift + effect + spoiled + rng.random_range(-0.005..0.005));
            }
        }
        p
    }

    #[test]
    fn the_interval_covers_the_truth_as_often_as_it_says() {
        for layouts in [5, 24, 100] {
            let mut rng = rng(layouts);
            let covered = (0..200)
                .filter(|_| {
                    let i = scripted(0.01, layouts, &mut rng).interval(&mut rng);
                    i.low <= 0.01 && 0.01 <= i.high
                })
                .count();
            assert!(covered >= 180, "{layouts} layouts: {covered} of 200");
        }
    }

    #[test]
    fn more_layouts_narrow_it_more_blocks_of_one_layout_do_not_pretend_to() {
        let mut rng = rng(7);
        let width = |n, rng: &mut ChaCha8Rng| {
            let i = scripted(0.0, n, rng).interval(rng);
            i.high - i.low
        };
        assert!(width(400, &mut rng) < width(25, &mut rng) / 2.0);
        let mut two = Paired::new();
        for block in 0..1000 {
            two.push(0, 0.01 + f64::from(block % 7) * 1e-5);
            two.push(1, -0.01 + f64::from(block % 5) * 1e-5);
        }
        let i = two.interval(&mut rng);
        assert!(i.high - i.low > 0.02, "two layouts that disagree by 2 % say little: {i:?}");
    }

    #[test]
    fn p_values_follow_the_distance() {
        let mut rng = rng(3);
        assert!(scripted(0.05, 50, &mut rng).interval(&mut rng).p < 1e-6);
        assert!((two_sided(1.959_964) - 0.05).abs() < 1e-4);
        assert!((two_sided(0.0) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn medians_and_trimmed_means() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&mut []).is_nan());
        let mut values: Vec<f64> = (0..20).map(f64::from).collect();
        values[19] = 1e9;
        assert_eq!(trimmed_mean(&mut values), (2..18).sum::<i32>() as f64 / 16.0);
        assert!((student_over_normal(4) - 2.776 / 1.96 * (1.25f64).sqrt()).abs() < 0.03);
    }

    #[test]
    fn no_values_and_one_value_do_not_fail() {
        let mut p = Paired::new();
        assert!(p.interval(&mut rng(1)).estimate.is_nan());
        p.push(9, 0.5);
        let i = p.interval(&mut rng(1));
        assert_eq!((i.low, i.estimate, i.high), (0.5, 0.5, 0.5));
    }
}
