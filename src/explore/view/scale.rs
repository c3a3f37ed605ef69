//! From figures to places on an axis of a chart.

/// Spans of this factor and more are drawn by factors: on equal steps the lower half of the
/// figures would lie in one line.
const LOGARITHMIC: f64 = 20.0;

/// An axis of a chart: figures from `low` to `high` on places from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Scale {
    /// The scale of steps or, where all figures are above 0, of factors.
    pub(super) fn of(values: impl Iterator<Item = f64>, logarithmic: bool) -> Option<Scale> {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        (low <= high).then_some(Scale { low, high, logarithmic: logarithmic && low > 0.0 })
    }

    /// The scale of figures that run upwards: some air at both ends, factors where they span
    /// many.
    pub(super) fn upwards(values: impl Iterator<Item = f64>) -> Option<Scale> {
        let tight = Scale::of(values, false)?;
        if tight.low > 0.0 && tight.high / tight.low >= LOGARITHMIC {
            let air = ((tight.high.ln() - tight.low.ln()) * 0.04).exp();
            // Figures at the ends of what a number can be must not leave them.
            let low = (tight.low / air).max(f64::MIN_POSITIVE);
            let high = (tight.high * air).min(f64::MAX);
            return Some(Scale { low, high, logarithmic: true });
        }
        let air = (tight.high - tight.low) * 0.06;
        // A single figure still needs a span: one per cent of itself.
        let air = if air > 0.0 { air } else { (tight.low.abs() * 0.01).max(f64::MIN_POSITIVE) };
        Some(Scale { low: tight.low - air, high: tight.high + air, logarithmic: false })
    }

    /// The place of a figure, 0 to 1; the middle where there is only one.
    pub(super) fn place(&self, value: f64) -> f64 {
        let warp = |v: f64| if self.logarithmic { v.max(f64::MIN_POSITIVE).ln() } else { v };
        let (low, high) = (warp(self.low), warp(self.high));
        let place = (warp(value) - low) / (high - low);
        if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.5 }
    }

    /// Round figures on the scale, `most` of them at most, as numbers and as text.
    pub(super) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        if self.logarithmic { self.factors(most) } else { self.steps(most) }
    }

    fn steps(&self, most: usize) -> Vec<(f64, String)> {
        let span = self.high - self.low;
        if most == 0 || !span.is_finite() || span <= 0.0 {
            return Vec::new();
        }
        let rough = span / most as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|step| (self.high / step).floor() - (self.low / step).ceil() < most as f64);
        let Some(step) = step.filter(|step| step.is_normal()) else { return Vec::new() };
        let digits = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        let first = (self.low / step).ceil();
        let ticks = (0..most).map(|i| (first + i as f64) * step);
        ticks
            .take_while(|tick| *tick <= self.high)
            // no minus before a zero
            .map(|tick| if tick == 0.0 { 0.0 } else { tick })
            .map(|tick| (tick, format!("{tick:.digits$}")))
            .collect()
    }

    fn factors(&self, most: usize) -> Vec<(f64, String)> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let of = |parts: &[f64], first: usize, every: usize| -> Vec<(f64, String)> {
            let powers = decades.clone().skip(first).step_by(every);
            let ticks = powers.flat_map(|power| parts.iter().map(move |p| p * 10f64.powi(power)));
            ticks
                .filter(|tick| (self.low..=self.high).contains(tick))
                .map(|tick| {
                    let digits = (-tick.log10().floor()).clamp(0.0, 9.0) as usize;
                    (tick, format!("{tick:.digits$}"))
                })
                .collect()
        };
        let finer = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]].map(|parts| of(parts, 0, 1));
        let fits = finer.into_iter().find(|ticks| ticks.len() <= most);
        fits.unwrap_or_else(|| {
            // Fewer than one a decade, and where they say the most.
            let sparse = (2..=decades.clone().count()).find_map(|every| {
                let shifted = (0..every).map(|first| of(&[1.0], first, every));
                shifted.filter(|ticks| ticks.len() <= most).max_by_key(Vec::len)
            });
            sparse.unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: Scale, most: usize) -> Vec<String> {
        scale.ticks(most).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round() {
        let scale = Scale::upwards([21.2, 24.9].into_iter()).unwrap();
        assert_eq!(texts(scale, 5), ["21", "22", "23", "24", "25"]);
        assert_eq!(texts(scale, 3), ["22", "24"]);
        let scale = Scale::upwards([0.0125, 0.0131].into_iter()).unwrap();
        assert_eq!(texts(scale, 4), ["0.0126", "0.0128", "0.0130"]);
    }

    #[test]
    fn wide_spans_go_by_factors() {
        let scale = Scale::upwards([1.5, 90_000.0].into_iter()).unwrap();
        assert_eq!(texts(scale, 6), ["1", "10", "100", "1000", "10000", "100000"]);
        assert_eq!(texts(scale, 3).len(), 3);
        assert_eq!(texts(scale, 2).len(), 2);
        assert!((scale.place(300.0) - 0.5).abs() < 0.1);
    }

    #[test]
    fn odd_figures_have_a_place() {
        assert_eq!(Scale::upwards([f64::NAN].into_iter()), None);
        let one = Scale::upwards([7.0].into_iter()).unwrap();
        assert!((one.place(7.0) - 0.5).abs() < 1e-9);
        for value in [0.0, -1.0, 1e300, f64::MIN_POSITIVE] {
            let scale = Scale::upwards([value].into_iter()).unwrap();
            assert!((0.0..=1.0).contains(&scale.place(value)), "{value}");
            assert!(scale.ticks(5).len() <= 5);
        }
        let widest = Scale::upwards([5e-324, f64::MAX].into_iter()).unwrap();
        assert!(widest.ticks(4).len() <= 4);
    }
}
