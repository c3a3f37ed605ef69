//! Times.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Picoseconds: the unit in which times are stored, so that rounding is only for people.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Picos(pub u64);

impl Picos {
    /// From nanoseconds; what is below 0 or not a number becomes 0.
    pub fn from_ns(ns: f64) -> Picos {
        Picos((ns * 1000.0).round().max(0.0) as u64)
    }

    /// Nanoseconds.
    pub fn ns(self) -> f64 {
        self.0 as f64 / 1000.0
    }
}

/// Time since the first time that this was asked: a clock that never goes back.
pub fn uptime() -> Duration {
    static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    ORIGIN.elapsed()
}

/// A duration for people, three significant digits, from nanoseconds.
pub fn human_ns(ns: f64) -> String {
    let (value, unit) = match ns {
        v if v < 1e3 => (v, "ns"),
        v if v < 1e6 => (v / 1e3, "µs"),
        v if v < 1e9 => (v / 1e6, "ms"),
        v => (v / 1e9, "s"),
    };
    let digits = match value {
        v if v < 10.0 => 2,
        v if v < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}")
}

/// Reads a duration such as `10s`, `500ms` or `2m`; seconds.
pub fn parse_seconds(text: &str) -> Option<f64> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(split);
    let unit = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        _ => return None,
    };
    number.parse::<f64>().ok().map(|n| n * unit).filter(|s| *s > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_and_show() {
        assert_eq!(human_ns(21.34), "21.3 ns");
        assert_eq!(human_ns(1234.0), "1.23 µs");
        assert_eq!(parse_seconds("10s"), Some(10.0));
        assert_eq!(parse_seconds("500ms"), Some(0.5));
        assert_eq!(parse_seconds("10"), None);
        assert_eq!(parse_seconds("0s"), None);
        assert_eq!(Picos::from_ns(21.3).0, 21_300);
    }
}
