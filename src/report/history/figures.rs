//! The figures of 1996, as they were posted: a Pentium at 133 MHz with 512 KB of pipeline-burst
//! cache and 60 ns memory; a second one at 90 MHz with 256 KB.

use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Copy rates by size. Megabytes are 10⁶ bytes.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct SizeFigures {
    pub(super) size_bytes: u64,
    pub(super) stream_libc_mb_s: Option<f64>,
    pub(super) stream_asami_mb_s: Option<f64>,
    hot_libc_b_s: Option<f64>,
    hot_integer_b_s: Option<f64>,
    hot_fp_b_s: Option<f64>,
}

impl SizeFigures {
    pub(super) fn hot_libc_mb_s(&self) -> Option<f64> {
        self.hot_libc_b_s.map(|rate| rate / 1e6)
    }

    pub(super) fn hot_integer_mb_s(&self) -> Option<f64> {
        self.hot_integer_b_s.map(|rate| rate / 1e6)
    }

    pub(super) fn hot_fp_mb_s(&self) -> Option<f64> {
        self.hot_fp_b_s.map(|rate| rate / 1e6)
    }
}

/// Streaming rates at 90 MHz.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct SlowFigures {
    pub(super) size_bytes: u64,
    pub(super) libc_mb_s: f64,
    pub(super) asami_mb_s: f64,
}

/// What a program took with a bzero in the kernel.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ProgramFigures {
    pub(super) program: String,
    pub(super) bzero: String,
    pub(super) real_s: f64,
    pub(super) user_s: f64,
    pub(super) sys_s: f64,
    /// Time-stamp ticks inside it, written as they were posted.
    pub(super) bzero_ticks: String,
}

fn read<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect();
    let rows: Result<Vec<T>, csv::Error> = rows;
    rows.expect("the built-in figures parse: a test reads each of them")
}

/// Copies by size.
pub(super) static SIZES: LazyLock<Vec<SizeFigures>> =
    LazyLock::new(|| read(include_str!("../../../templates/history/size.csv")));

/// Streaming copies at 90 MHz.
pub(super) static SLOW: LazyLock<Vec<SlowFigures>> =
    LazyLock::new(|| read(include_str!("../../../templates/history/stream_90mhz.csv")));

/// Whole programs by bzero.
pub(super) static PROGRAMS: LazyLock<Vec<ProgramFigures>> =
    LazyLock::new(|| read(include_str!("../../../templates/history/bzero.csv")));

/// The figures of a size.
pub(super) fn of_size(size: u64) -> Option<&'static SizeFigures> {
    SIZES.iter().find(|figures| figures.size_bytes == size)
}

/// The sizes of the tables of 1996: powers of two from 32 bytes to 4 MiB.
pub fn history_sizes() -> Vec<u64> {
    SIZES.iter().map(|figures| figures.size_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_parses_and_is_whole() {
        assert_eq!(history_sizes(), (5..=22).map(|p| 1 << p).collect::<Vec<u64>>());
        assert!(of_size(32).is_some_and(|f| f.stream_libc_mb_s.is_none()));
        assert!(of_size(16384).is_some_and(|f| f.hot_fp_mb_s().is_none()));
        assert!(SIZES[10..].iter().all(|f| f.hot_fp_mb_s().is_some_and(|rate| rate > 50.0)));
        assert!(SIZES.iter().all(|f| f.hot_libc_mb_s() <= f.hot_integer_mb_s()));
        assert_eq!((SLOW.len(), PROGRAMS.len()), (3, 11));
        assert!(PROGRAMS.iter().all(|p| p.real_s > p.sys_s && p.user_s > 0.0));
    }
}
