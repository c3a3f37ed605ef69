//! What all rows of a loop say together.

use crate::trial::Summary;

/// Samples below which a row counts for nothing: one disturbed sample is not outvoted.
const LEAST: u32 = 3;

/// Samples below which extremes of a median stand where a 95 % interval should.
pub(super) const TOLD: u32 = 6;

/// The rows of a loop in a cell of a run, weighted by their samples. Of many loops the best
/// single row is the luckiest one; their rows together are less so.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Looks {
    samples: f32,
    /// Samples × cycles a byte.
    cost: f32,
    /// The same of the rows that have an interval, with those of its ends.
    told: [f32; 4],
}

impl Looks {
    /// A row; `None` where it has too few samples or no sensible time.
    pub(super) fn of(summary: &Summary) -> Option<Looks> {
        let figure = summary.bytes_per_cycle;
        let (ns, low, high) = (summary.median.ns(), summary.ci.0.ns(), summary.ci.1.ns());
        let usable = figure.is_finite() && figure > 0.0 && ns > 0.0 && low > 0.0 && high > 0.0;
        if !usable || summary.samples < LEAST {
            return None;
        }
        let samples = summary.samples as f32;
        let cost = |time: f64| samples * (time / ns / figure) as f32;
        let told = match summary.samples {
            TOLD.. => [samples, cost(ns), cost(low), cost(high)],
            _ => [0.0; 4],
        };
        Some(Looks { samples, cost: cost(ns), told })
    }

    /// Counts another in.
    pub(super) fn add(&mut self, other: &Looks) {
        self.samples += other.samples;
        self.cost += other.cost;
        for (own, other) in self.told.iter_mut().zip(other.told) {
            *own += other;
        }
    }

    /// Samples of all rows.
    pub(super) fn samples(&self) -> u64 {
        self.samples as u64
    }

    /// Bytes a cycle: of the rows with an interval where there are any, else of all; `None`
    /// where there is none.
    pub(super) fn figure(&self) -> Option<f64> {
        let [told, cost, ..] = self.told;
        let (samples, cost) = if told > 0.0 { (told, cost) } else { (self.samples, self.cost) };
        (cost > 0.0).then(|| f64::from(samples / cost))
    }

    /// 95 % interval of the same; `None` where no row has one.
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        let [samples, _, low, high] = self.told;
        (samples > 0.0).then(|| (f64::from(samples / high), f64::from(samples / low)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Picos;

    fn row(samples: u32, figure: f64) -> Option<Looks> {
        let ns = |ns: f64| Picos::from_ns(ns);
        let ci = (ns(9.0), ns(12.0));
        let (median, bytes_per_cycle) = (ns(10.0), figure);
        Looks::of(&Summary { samples, median, ci, ratio: None, bytes_per_cycle })
    }

    #[test]
    fn rows_are_weighted_and_few_samples_count_for_nothing() {
        assert_eq!(row(2, 36.0), None);
        let mut looks = row(3, 36.0).unwrap();
        assert!((looks.figure().unwrap() - 36.0).abs() < 1e-3);
        assert_eq!(looks.interval(), None);
        looks.add(&row(3, 18.0).unwrap());
        // The mean of times, not of speeds, and not the best.
        assert!((looks.figure().unwrap() - 24.0).abs() < 1e-3);
        assert_eq!((looks.samples(), looks.interval()), (6, None));
        looks.add(&row(30, 20.0).unwrap());
        assert!((looks.figure().unwrap() - 20.0).abs() < 1e-3);
        let (low, high) = looks.interval().unwrap();
        assert!((low - 20.0 / 1.2).abs() < 1e-3 && (high - 20.0 / 0.9).abs() < 1e-3);
    }
}
