//! The choice of least regret.

/// Regret of a choice in one situation with its 95 % interval: 0 is the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regret {
    /// Time over the best time, minus one.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Regrets whose times are closer than this are equal: what two per cent of time buy is less
/// than what the next worst situation can cost. Of times, not of regrets: at a regret of 90 %
/// two points are one per cent of the time, and noise.
const NEAR: f64 = 0.02;

impl Regret {
    fn equals(&self, other: &Regret) -> bool {
        (self.value.max(0.0).ln_1p() - other.value.max(0.0).ln_1p()).abs() <= NEAR
            || (self.low <= other.high && other.low <= self.high)
    }
}

/// Which rows are not beaten in every situation by one and the same other row. One row of
/// regrets a choice, one column a situation.
pub fn undominated(rows: &[Vec<Regret>]) -> Vec<bool> {
    let beaten = |row: &[Regret], by: &[Regret]| {
        !row.is_empty() && row.iter().zip(by).all(|(a, b)| b.high < a.low)
    };
    rows.iter().map(|row| !rows.iter().any(|by| beaten(row, by))).collect()
}

/// Means of ln(1 + regret) closer than this are equal: half of [`NEAR`], because noise of
/// several situations averages.
const MEAN_NEAR: f64 = 0.01;

fn worst_first(row: &[Regret]) -> Vec<Regret> {
    let mut row = row.to_vec();
    row.sort_by(|a, b| b.value.total_cmp(&a.value));
    row
}

/// The weighted mean of ln(1 + regret).
fn mean(row: &[Regret], weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    let sum: f64 = row.iter().zip(weights).map(|(r, w)| w * r.value.max(0.0).ln_1p()).sum();
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Whether a choice is as good as another by regrets: from the worst on, the first that are not
/// equal decide; where all are, the means, to two hundredths. Looser than what
/// [`least_regrets`] picks by, where each must equal the best of each rank: whoever was chosen
/// before need not be chosen again, only not be beaten.
pub fn is_as_good(choice: &[Regret], other: &[Regret], weights: &[f64]) -> bool {
    for (a, b) in worst_first(choice).iter().zip(&worst_first(other)) {
        if !a.equals(b) {
            return a.value < b.value;
        }
    }
    mean(choice, weights) <= mean(other, weights) + NEAR
}

/// Indices of the leximax choices, the least mean first: those with the least worst regret;
/// among those whose worst is equal (within their intervals or two per cent of time) the least next
/// worst, and so on; then the least weighted mean of ln(1 + regret), to the hundredth. What is
/// left cannot be told apart by regrets. Choices beaten in every situation are out first. Empty
/// without rows. Rows must have one regret a weight.
pub fn least_regrets(rows: &[Vec<Regret>], weights: &[f64]) -> Vec<usize> {
    let alive = undominated(rows);
    let sorted: Vec<Vec<Regret>> = rows.iter().map(|row| worst_first(row)).collect();
    let mut left: Vec<usize> = (0..rows.len()).filter(|i| alive[*i]).collect();
    #[allow(clippy::needless_range_loop, reason = "the rank indexes every row, not one")]
    for rank in 0..weights.len() {
        let worst = |i: usize| &sorted[i][rank];
        let by_worst = |a: &usize, b: &usize| worst(*a).value.total_cmp(&worst(*b).value);
        let Some(best) = left.iter().copied().min_by(by_worst) else { return Vec::new() };
        left.retain(|i| worst(*i).equals(worst(best)));
    }
    let mean = |i: usize| mean(&rows[i], weights);
    left.sort_by(|a, b| mean(*a).total_cmp(&mean(*b)));
    let least = left.first().map_or(0.0, |i| mean(*i));
    left.retain(|i| mean(*i) <= least + MEAN_NEAR);
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[f64]) -> Vec<Regret> {
        values
            .iter()
            .map(|v| Regret { value: *v, low: (v - 0.001).max(0.0), high: v + 0.001 })
            .collect()
    }

    #[test]
    fn the_least_worst_wins_over_the_best_average() {
        // The second is perfect three times and loses half once.
        let rows = [row(&[0.10, 0.10, 0.10, 0.10]), row(&[0.0, 0.0, 0.0, 0.5])];
        assert_eq!(least_regrets(&rows, &[1.0; 4]), [0]);
    }

    #[test]
    fn a_near_tie_in_the_worst_is_decided_by_the_next() {
        // Noise of one point must not decide while the next state differs by half.
        let rows = [row(&[0.00, 0.50, 0.505]), row(&[0.00, 0.02, 0.515])];
        assert_eq!(least_regrets(&rows, &[1.0; 3]), [1]);
    }

    #[test]
    fn the_mean_decides_last_and_respects_weights() {
        let rows = [row(&[0.019, 0.0]), row(&[0.0, 0.019])];
        assert_eq!(least_regrets(&rows, &[5.0, 1.0]), [1]);
        assert_eq!(least_regrets(&rows, &[1.0, 5.0]), [0]);
    }

    #[test]
    fn what_cannot_be_told_apart_is_all_given() {
        let rows = [row(&[0.004, 0.5]), row(&[0.0, 0.505]), row(&[0.0, 0.56])];
        // The least mean first.
        assert_eq!(least_regrets(&rows, &[1.0; 2]), [1, 0]);
        assert_eq!(least_regrets(&rows, &[0.0; 2]).len(), 2);
    }

    #[test]
    fn who_was_chosen_stays_until_beaten_by_more_than_noise() {
        let best = row(&[0.0, 0.86, 0.01]);
        for as_good in [[0.015, 0.885, 0.0], [0.0, 0.80, 0.5], [0.02, 0.87, 0.02]] {
            assert!(is_as_good(&row(&as_good), &best, &[1.0; 3]), "{as_good:?}");
        }
        for beaten in [[0.0, 0.95, 0.0], [0.05, 0.86, 0.01]] {
            assert!(!is_as_good(&row(&beaten), &best, &[1.0; 3]), "{beaten:?}");
        }
        // Equal at every rank, and yet worse in all that counts.
        let all = [row(&[0.019; 3]), row(&[0.0; 3])];
        assert!(is_as_good(&all[0], &all[1], &[1.0; 3]));
        let wide = |v: f64| vec![Regret { value: v, low: 0.0, high: 1.0 }; 3];
        assert!(!is_as_good(&wide(0.05), &wide(0.0), &[1.0; 3]));
    }

    #[test]
    fn what_is_beaten_everywhere_is_out() {
        let rows = [row(&[0.0, 0.0]), row(&[0.2, 0.3]), row(&[0.3, 0.0])];
        assert_eq!(undominated(&rows), [true, false, true]);
        assert!(least_regrets(&[], &[]).is_empty());
    }
}
