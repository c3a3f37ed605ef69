//! How often something happened.

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How often it happened.
    pub hits: u64,
    /// How often it could have.
    pub of: u64,
}

/// The 97.5 % point of the normal.
const Z: f64 = 1.959_964;

impl Share {
    /// Counts those that are true.
    pub fn count(all: impl IntoIterator<Item = bool>) -> Share {
        all.into_iter()
            .fold(Share::default(), |s, hit| Share { hits: s.hits + u64::from(hit), of: s.of + 1 })
    }

    /// Hits over all; NaN where there was nothing.
    pub fn rate(self) -> f64 {
        self.hits as f64 / self.of as f64
    }

    /// The 95 % interval of the rate behind it, by Wilson's score: right at 0 and 1 too, where
    /// the textbook's interval is a point. From 0 to 1 where there was nothing.
    pub fn interval(self) -> (f64, f64) {
        if self.of == 0 {
            return (0.0, 1.0);
        }
        let (n, p) = (self.of as f64, self.rate());
        let middle = p + Z * Z / (2.0 * n);
        let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        let whole = 1.0 + Z * Z / n;
        (((middle - half) / whole).max(0.0), ((middle + half) / whole).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        let near = |a: (f64, f64), b: (f64, f64)| {
            assert!((a.0 - b.0).abs() < 5e-4 && (a.1 - b.1).abs() < 5e-4, "{a:?} {b:?}");
        };
        near(Share { hits: 10, of: 200 }.interval(), (0.0274, 0.0896));
        near(Share { hits: 0, of: 200 }.interval(), (0.0, 0.0188));
        near(Share { hits: 40, of: 40 }.interval(), (0.9124, 1.0));
        near(Share::default().interval(), (0.0, 1.0));
        assert_eq!(Share::count([true, false, true]), Share { hits: 2, of: 3 });
    }
}
