//! How quick the screen was, as a JSON document.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

/// Writes down when what was seen.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    started: Instant,
    first_cells: Option<Duration>,
    complete: Option<(Duration, usize)>,
    frames: u64,
    /// When each key came, and when the screen showed what it did.
    keys: Vec<(Duration, Duration, bool)>,
}

impl Trace {
    /// To be written to `path`; times count from `started`.
    pub fn new(path: PathBuf, started: Instant) -> Trace {
        Trace { path, started, first_cells: None, complete: None, frames: 0, keys: Vec::new() }
    }

    /// A frame was shown: with so many points of the map done, of so many, and the keys that
    /// came since the last, and whether something was being measured.
    pub(super) fn frame(&mut self, (done, all): (usize, usize), keys: &[Instant], measuring: bool) {
        let now = Instant::now();
        let at = now - self.started;
        self.frames += 1;
        if done > 0 {
            self.first_cells.get_or_insert(at);
        }
        if done == all && all > 0 {
            self.complete.get_or_insert((at, all));
        }
        for key in keys {
            self.keys.push((*key - self.started, now - *key, measuring));
        }
    }

    /// Writes the document.
    pub(super) fn write(&self) -> io::Result<()> {
        let ms = |d: Duration| (d.as_secs_f64() * 1e5).round() / 100.0;
        let mut latencies: Vec<Duration> = self.keys.iter().map(|k| k.1).collect();
        latencies.sort();
        let keys: Vec<_> = self
            .keys
            .iter()
            .map(|(at, latency, measuring)| {
                json!({"at_ms": ms(*at), "redraw_ms": ms(*latency), "measuring": measuring})
            })
            .collect();
        let document = json!({
            "first_cells_ms": self.first_cells.map(ms),
            "coarse_complete_ms": self.complete.map(|c| ms(c.0)),
            "points": self.complete.map(|c| c.1),
            "frames": self.frames,
            "redraw_median_ms": latencies.get(latencies.len() / 2).copied().map(ms),
            "redraw_max_ms": latencies.last().copied().map(ms),
            "keys": keys,
        });
        std::fs::write(&self.path, format!("{document:#}\n"))
    }
}
