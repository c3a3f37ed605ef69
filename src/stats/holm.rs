//! Many rejections at once.

/// Holm's step-down procedure: which hypotheses are rejected so that the chance of even one
/// false rejection stays below `alpha`. One answer a p-value, in order.
pub fn holm_rejects(p: &[f64], alpha: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut rejected = vec![false; p.len()];
    for (step, index) in order.iter().enumerate() {
        if p[*index] > alpha / (p.len() - step) as f64 {
            break;
        }
        rejected[*index] = true;
    }
    rejected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_down_and_stops_at_the_first_that_stays() {
        assert_eq!(holm_rejects(&[0.01, 0.04, 0.03, 0.005], 0.05), [true, false, false, true]);
        assert_eq!(holm_rejects(&[], 0.05), [] as [bool; 0]);
        assert_eq!(holm_rejects(&[0.04], 0.05), [true]);
    }
}
