//! How samples are distributed: the part of them that is no larger than a value.

use super::super::gather::Distribution;
use super::frame::{Frame, Grid, draw, linear};
use super::theme::Ink;

/// Part of the samples at the upper end that is not shown: one interrupted pass would
/// squeeze all others into a corner.
const SHOWN: f64 = 0.985;

/// Steps of a curve: more than anybody can see.
const STEPS: usize = 160;

/// Draws them, one curve each.
pub(in crate::report) fn distributions(title: &str, data: &[Distribution]) -> String {
    let least = data.iter().map(|d| d.quantile(0.0)).fold(f64::INFINITY, f64::min);
    let most = data.iter().map(|d| d.quantile(SHOWN)).fold(0.0, f64::max);
    let least = if least.is_finite() { least } else { 0.0 };
    let margin = ((most - least) * 0.04).max(least * 0.01).max(f64::MIN_POSITIVE);
    let x = linear("cycles a call", (least - margin).max(0.0), most + margin, 6);
    let y = linear("part of the samples, %", 0.0, 100.0, 4);
    draw(title, Frame::default(), (&x, &y), (Grid::Plain, Grid::Lines), |canvas| {
        for (index, distribution) in data.iter().enumerate().rev() {
            let mut line = Vec::new();
            for step in 0..=STEPS {
                let part = step as f64 / STEPS as f64;
                let value = distribution.quantile(part);
                if value > x.to {
                    break;
                }
                line.push((value, 100.0 * part));
            }
            canvas.line(&line, Ink::Series(index), if index == 0 { 2.25 } else { 1.5 });
            canvas.mark(distribution.quantile(0.5).min(x.to), 50.0, index, 4.0);
        }
        let names: Vec<&str> = data.iter().map(|d| d.name.as_str()).collect();
        canvas.key(&names);
    })
}
