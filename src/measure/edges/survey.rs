//! Which footprints are walked. Pure but for the probe.

use super::find::{find, is_memory};
use super::reckon::SLACK;
use super::{Edge, Edges, Found, Point, Thoroughness};
use crate::measure::ring::Levels;

/// Gives latencies.
pub(super) trait Probe {
    /// Nanoseconds a hop through every line of so many bytes; `None` once time is up.
    fn lines(&mut self, bytes: u64) -> Option<f64>;

    /// Nanoseconds a hop through one line of each of so many pages; `None` once time is up.
    fn pages(&mut self, pages: u64) -> Option<f64>;

    /// Nanoseconds of an access to a line that was flushed.
    fn memory(&mut self) -> Option<f64>;
}

/// The smallest footprint: in every first level.
const LEAST: u64 = 4 << 10;

/// The largest: filling more takes longer than it is worth, and the states of larger caches are
/// made of less.
pub(super) const MOST: u64 = 64 << 20;

const PAGE: u64 = 4096;

/// Points of memory's latency after which larger footprints say nothing new: with three the
/// plateau is one.
const SURELY_MEMORY: usize = 3;

/// From here on translations are looked at: a first level of them covers 64 pages.
const TRANSLATIONS_FROM: u64 = 256 << 10;

/// Steps from one footprint to the next: where an edge is told nearby, elsewhere, and beyond
/// [`LARGE`], where a walk is dear.
fn step(bytes: u64, told: &Levels, how: Thoroughness) -> f64 {
    let near = [told.l1d, told.l2].into_iter().flatten().any(|edge| {
        let ratio = bytes as f64 / edge as f64;
        (0.5..1.6).contains(&ratio)
    });
    match (how, near, bytes >= LARGE) {
        (Thoroughness::Thorough, true, _) => 1.125,
        (Thoroughness::Thorough, false, _) => 1.19,
        (Thoroughness::Quick, true, false) => 1.19,
        (Thoroughness::Quick, false, false) if bytes >= MIDDLE => 1.25,
        (Thoroughness::Quick, _, _) => 1.41,
    }
}

const LARGE: u64 = 4 << 20;

/// From here on a last level that is told as ten times as large often ends.
const MIDDLE: u64 = 1 << 20;

/// Walks footprints from small to large, until memory is reached or time is up.
pub(super) fn survey(probe: &mut impl Probe, told: &Levels, how: Thoroughness) -> Edges {
    let Some(memory_ns) = probe.memory() else { return Edges::default() };
    let mut curve: Vec<Point> = Vec::new();
    let mut bytes = LEAST;
    let mut in_memory = 0;
    while bytes <= MOST && in_memory < SURELY_MEMORY {
        let Some(ns) = probe.lines(bytes) else { break };
        let mut translation_ns = 0.0;
        if bytes >= TRANSLATIONS_FROM {
            let pages = bytes / PAGE;
            let Some(paged) = probe.pages(pages) else { break };
            // The same number of lines side by side: what their caches take.
            translation_ns = (paged - at(&curve, pages * 64)).max(0.0);
        }
        let point = Point { bytes, ns, translation_ns };
        in_memory = if is_memory(point.cache_ns(), memory_ns) { in_memory + 1 } else { 0 };
        curve.push(point);
        bytes = next(bytes, step(bytes, told, how));
    }
    let mut edges = find(curve, memory_ns);
    for _ in 0..SECOND_LOOKS {
        if !look_again(probe, told, &mut edges) {
            break;
        }
    }
    edges
}

/// How often an edge that lies below the told one is looked at again.
const SECOND_LOOKS: usize = 2;

/// Walks the footprints around edges that lie below what is told once more: a neighbour's burst
/// makes a cache seem smaller, never larger, so the faster of two walks is the truer. Whether
/// there was something to look at, and time.
fn look_again(probe: &mut impl Probe, told: &Levels, edges: &mut Edges) -> bool {
    let levels = [(told.l1d, edges.l1d), (told.l2, edges.l2), (told.llc, edges.llc)];
    let doubted: Vec<std::ops::Range<u64>> = levels
        .into_iter()
        .filter_map(|(told, found)| match (told, found) {
            (Some(told), Found::Edge(Edge { bytes, low, high: Some(high) }))
                if told as f64 > bytes as f64 * SLACK =>
            {
                Some(low / 2..told.min(high * 2))
            }
            _ => None,
        })
        .collect();
    let mut looked = false;
    for point in &mut edges.curve {
        if doubted.iter().any(|range| range.contains(&point.bytes)) {
            let Some(ns) = probe.lines(point.bytes) else { return false };
            point.ns = point.ns.min(ns);
            looked = true;
        }
    }
    if looked {
        *edges = find(std::mem::take(&mut edges.curve), edges.memory_ns);
    }
    looked
}

/// The next footprint: whole lines.
fn next(bytes: u64, step: f64) -> u64 {
    ((bytes as f64 * step) as u64).next_multiple_of(64)
}

/// The latency of a footprint, by the nearest that is not smaller.
fn at(curve: &[Point], bytes: u64) -> f64 {
    let point = curve.iter().find(|p| p.bytes >= bytes).or(curve.last());
    point.map_or(0.0, |p| p.ns)
}

/// Machines that exist in numbers only.
#[cfg(test)]
pub(super) mod script {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    pub(in crate::measure::edges) struct Machine {
        pub(in crate::measure::edges) l1d: u64,
        pub(in crate::measure::edges) l2: u64,
        pub(in crate::measure::edges) llc: Option<u64>,
        pub(in crate::measure::edges) ns: [f64; 3],
        pub(in crate::measure::edges) memory_ns: f64,
        /// How many pages translate for free, and what each hop takes beyond.
        pub(in crate::measure::edges) pages: u64,
        pub(in crate::measure::edges) pages_ns: f64,
        /// Relative spread of points, and the part of them that are three times too slow.
        pub(in crate::measure::edges) noise: f64,
        pub(in crate::measure::edges) wild: f64,
        pub(in crate::measure::edges) seed: u64,
        pub(in crate::measure::edges) most: u64,
    }

    /// A guest that reaches a sixteenth of what is told.
    pub(in crate::measure::edges) const ZEN: Machine = Machine {
        l1d: 32 << 10,
        l2: 512 << 10,
        llc: Some(2560 << 10),
        ns: [1.3, 4.0, 20.0],
        memory_ns: 150.0,
        pages: 2048,
        pages_ns: 10.0,
        noise: 0.0,
        wild: 0.0,
        seed: 0,
        most: MOST,
    };

    pub(in crate::measure::edges) const XEON: Machine = Machine {
        l1d: 48 << 10,
        l2: 2 << 20,
        llc: Some(24 << 20),
        ns: [1.6, 5.0, 35.0],
        memory_ns: 120.0,
        ..ZEN
    };

    impl Machine {
        /// Latency of `lines` in `pages`: misses begin below a cache's size and are complete
        /// above it, as where pages fall at random.
        fn at(&self, bytes: u64, pages: u64) -> f64 {
            let miss = |size: u64| {
                let ratio = bytes as f64 / size as f64;
                ((ratio.ln() / 1.3f64.ln() + 1.6) / 2.2).clamp(0.0, 1.0)
            };
            let [l1, l2, llc] = self.ns;
            let far = match self.llc {
                None => self.memory_ns,
                Some(size) => llc + (self.memory_ns - llc) * miss(size),
            };
            let cache = l1 + (l2 - l1) * miss(self.l1d) + (far - l2).max(0.0) * miss(self.l2);
            let walks = (1.0 - self.pages as f64 / pages.max(1) as f64).max(0.0);
            cache + self.pages_ns * walks
        }

        pub(in crate::measure::edges) fn curve(&self, step: f64) -> Vec<Point> {
            let mut scripted = Scripted::new(*self);
            let mut curve: Vec<Point> = Vec::new();
            let mut bytes = LEAST;
            while bytes <= self.most {
                let ns = scripted.lines(bytes).unwrap();
                let pages = bytes / PAGE;
                let paged = scripted.pages(pages).unwrap();
                let translation_ns = (paged - super::at(&curve, pages * 64)).max(0.0);
                let translation_ns = if bytes < TRANSLATIONS_FROM { 0.0 } else { translation_ns };
                curve.push(Point { bytes, ns, translation_ns });
                bytes = next(bytes, step);
            }
            curve
        }
    }

    /// A machine as a probe, with the walks it was asked for.
    pub(in crate::measure::edges) struct Scripted {
        machine: Machine,
        rng: ChaCha8Rng,
        pub(in crate::measure::edges) walked: Vec<u64>,
        pub(in crate::measure::edges) walks_left: usize,
        /// Footprints whose first walk a neighbour makes three times as slow.
        pub(in crate::measure::edges) burst: std::ops::Range<u64>,
    }

    impl Scripted {
        pub(in crate::measure::edges) fn new(machine: Machine) -> Scripted {
            let rng = ChaCha8Rng::seed_from_u64(machine.seed);
            Scripted { machine, rng, walked: Vec::new(), walks_left: usize::MAX, burst: 0..0 }
        }

        fn noisy(&mut self, ns: f64) -> f64 {
            let spread = 1.0 + self.machine.noise * self.rng.random_range(0.0..1.0);
            let wild = self.rng.random_range(0.0..1.0) < self.machine.wild;
            ns * spread * if wild { 3.0 } else { 1.0 }
        }
    }

    impl Probe for Scripted {
        fn lines(&mut self, bytes: u64) -> Option<f64> {
            self.walks_left = self.walks_left.checked_sub(1)?;
            let first = !self.walked.contains(&bytes);
            self.walked.push(bytes);
            let ns = self.noisy(self.machine.at(bytes, bytes / PAGE));
            Some(if first && self.burst.contains(&bytes) { ns * 3.0 } else { ns })
        }

        fn pages(&mut self, pages: u64) -> Option<f64> {
            let ns = self.machine.at(pages * 64, pages);
            Some(self.noisy(ns))
        }

        fn memory(&mut self) -> Option<f64> {
            Some(self.machine.memory_ns)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::script::{Machine, Scripted, XEON, ZEN};
    use super::*;

    const TOLD: Levels = Levels { l1d: Some(32 << 10), l2: Some(512 << 10), llc: Some(32 << 20) };

    fn size(found: Found) -> f64 {
        match found {
            Found::Edge(edge) => edge.bytes as f64,
            other => panic!("no edge: {other:?}"),
        }
    }

    #[test]
    fn a_survey_ends_soon_after_memory_is_reached() {
        for how in [Thoroughness::Quick, Thoroughness::Thorough] {
            let mut probe = Scripted::new(ZEN);
            let edges = survey(&mut probe, &TOLD, how);
            assert!((size(edges.llc) / 2560e3).abs() < 1.4, "{edges:?}");
            assert!(*probe.walked.last().unwrap() < 16 << 20, "{:?}", probe.walked);
        }
    }

    #[test]
    fn what_is_told_only_chooses_the_steps() {
        let absurd = [
            Levels { l1d: None, l2: None, llc: None },
            Levels { l1d: Some(0), l2: Some(u64::MAX), llc: Some(1) },
            Levels { l1d: Some(1), l2: Some(2), llc: Some(3) },
        ];
        for told in absurd {
            for machine in [ZEN, XEON, Machine { noise: 0.1, wild: 0.03, seed: 5, ..ZEN }] {
                let edges = survey(&mut Scripted::new(machine), &told, Thoroughness::Quick);
                let near = |found, size_: u64| {
                    let ratio = size(found) / size_ as f64;
                    assert!((0.7..1.45).contains(&ratio), "{found:?} for {size_}, {told:?}");
                };
                near(edges.l1d, machine.l1d);
                near(edges.l2, machine.l2);
                near(edges.llc, machine.llc.unwrap());
            }
        }
    }

    #[test]
    fn a_burst_of_a_neighbours_does_not_halve_a_cache() {
        let mut probe = Scripted::new(ZEN);
        probe.burst = 150 << 10..420 << 10;
        let edges = survey(&mut probe, &TOLD, Thoroughness::Quick);
        assert!((0.7..1.4).contains(&(size(edges.l2) / f64::from(512 << 10))), "{edges:?}");
        // Without a second look it does.
        let mut once = Scripted::new(ZEN);
        once.burst = probe.burst.clone();
        let nobody = Levels { l1d: None, l2: None, llc: None };
        let halved = survey(&mut once, &nobody, Thoroughness::Quick);
        assert!(size(halved.l2) < f64::from(300 << 10), "{halved:?}");
    }

    #[test]
    fn where_time_is_up_what_is_there_is_used() {
        let mut probe = Scripted::new(ZEN);
        probe.walks_left = 14;
        let edges = survey(&mut probe, &TOLD, Thoroughness::Quick);
        assert_eq!(edges.curve.len(), 14);
        assert!((size(edges.l1d) / 32e3 - 1.0).abs() < 0.4, "{edges:?}");
        assert!(!matches!(edges.llc, Found::Absent), "{edges:?}");
        probe.walks_left = 0;
        assert_eq!(survey(&mut probe, &TOLD, Thoroughness::Quick).l1d, Found::Unclear);
    }
}
