//! Plateaus and edges in a curve of latencies. Pure.

use super::{Edge, Edges, Found, Point};
use crate::stats::median;

/// What one more plateau must explain: the sum over its points of how far they lie from the
/// others' levels, as logarithms. A single wild point is less, three at the next level are more.
const PLATEAU_PRICE: f64 = 1.6;

/// A plateau reaches over footprints of at least this ratio, or it is part of a slope.
const LEAST_SPAN: f64 = 1.45;

/// A level is at least so many times as slow as the one before it: levels of caches lie further
/// apart on every core, and the spread of one level is less.
const LEAST_STEP: f64 = 1.5;

/// Levels of a hierarchy: three caches and memory.
const MOST_LEVELS: usize = 4;

/// Parts of the way from one level to the next within which a point clearly belongs to one.
const CLEARLY: f64 = 0.15;

/// A level with this part of memory's latency is memory: flushed lines lie in few pages and rows,
/// and are reached a little faster or slower than those of a long walk.
const MEMORY_PART: f64 = 0.6;

/// First levels outside of these bounds are none: cores have 8 to 128 KiB. Where something else
/// (an emulator) hides the first steps, nothing that follows can be given a name.
const L1D_BOUNDS: std::ops::RangeInclusive<u64> = 6 << 10..=256 << 10;

/// Whether a latency is that of memory.
pub(super) fn is_memory(ns: f64, memory_ns: f64) -> bool {
    ns >= memory_ns * MEMORY_PART
}

/// Sees plateaus in a curve (footprints ascending) and names the ends of those that are caches.
pub(super) fn find(curve: Vec<Point>, memory_ns: f64) -> Edges {
    let values = smoothed(&curve);
    let plateaus = plateaus(&curve, &values);
    let in_memory = plateaus.last().is_some_and(|p| is_memory(p.ns, memory_ns));
    let caches = plateaus.len() - usize::from(in_memory);
    let mut found = [Found::Unclear; 3];
    for (i, place) in found.iter_mut().enumerate().take(caches) {
        let edge = match plateaus.get(i + 1) {
            Some(next) => edge(&curve, &values, &plateaus[i], next),
            // The walk ended inside: as large as it was at least.
            None => curve.last().map(|p| Edge { bytes: p.bytes, low: p.bytes, high: None }),
        };
        *place = edge.map_or(Found::Unclear, Found::Edge);
    }
    if in_memory && caches == 2 {
        found[2] = Found::Absent;
    }
    let named =
        matches!(found[0], Found::Edge(e) if e.high.is_some() && L1D_BOUNDS.contains(&e.bytes));
    let [l1d, l2, llc] = if named { found } else { [Found::Unclear; 3] };
    Edges { l1d, l2, llc, memory_ns, curve }
}

/// Latencies without translations, each the median of itself and its neighbours: one wild point
/// does not show.
fn smoothed(curve: &[Point]) -> Vec<f64> {
    let raw: Vec<f64> = curve.iter().map(|p| p.cache_ns().max(f64::MIN_POSITIVE)).collect();
    let at = |i: usize| match (i.checked_sub(1).and_then(|b| raw.get(b)), raw.get(i + 1)) {
        (Some(before), Some(after)) => median(&mut [*before, raw[i], *after]),
        // The ends have one neighbour: the smaller, since noise only adds.
        (Some(other), None) | (None, Some(other)) => raw[i].min(*other),
        (None, None) => raw[i],
    };
    // Latency does not fall with the footprint: what does is noise above it.
    let mut values: Vec<f64> = (0..raw.len()).map(at).collect();
    for i in (0..values.len().saturating_sub(1)).rev() {
        values[i] = values[i].min(values[i + 1]);
    }
    values
}

/// Points of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plateau {
    /// Index of its first point.
    from: usize,
    /// Index after its last.
    to: usize,
    /// Median latency.
    ns: f64,
}

/// The cheapest way to see the curve as levels: what points differ from their level's median,
/// and a price a level.
fn plateaus(curve: &[Point], values: &[f64]) -> Vec<Plateau> {
    let n = curve.len();
    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    let part = |from: usize, to: usize| -> Option<(f64, f64)> {
        if (curve[to - 1].bytes as f64) < curve[from].bytes as f64 * LEAST_SPAN {
            return None;
        }
        let level = median(&mut logs[from..to].to_vec());
        Some((level, logs[from..to].iter().map(|v| (v - level).abs()).sum()))
    };
    // best[k][end]: cost and cuts of the first `end` points as k levels.
    type Way = Option<(f64, Vec<Plateau>)>;
    let mut best: Vec<Vec<Way>> = vec![vec![None; n + 1]; MOST_LEVELS + 1];
    best[0][0] = Some((0.0, Vec::new()));
    for levels in 1..=MOST_LEVELS {
        for to in 1..=n {
            let mut cheapest: Way = None;
            for (from, known) in best[levels - 1][..to].iter().enumerate() {
                let Some((before, way)) = known else { continue };
                let Some((level, spread)) = part(from, to) else { continue };
                let slower = |last: &Plateau| level - last.ns.ln() >= LEAST_STEP.ln();
                let cost = before + spread + PLATEAU_PRICE;
                if way.last().is_none_or(slower) && cheapest.as_ref().is_none_or(|c| cost < c.0) {
                    let plateau = Plateau { from, to, ns: level.exp() };
                    let way = way.iter().copied().chain([plateau]).collect();
                    cheapest = Some((cost, way));
                }
            }
            best[levels][to] = cheapest;
        }
    }
    let ways = best.into_iter().filter_map(|mut of| of.pop().flatten());
    ways.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(Vec::new(), |(_, way)| way)
}

/// The end of a plateau: between the last point that clearly lies on it and the first from which
/// on all clearly lie on the next.
fn edge(curve: &[Point], values: &[f64], this: &Plateau, next: &Plateau) -> Option<Edge> {
    let way = |part: f64| this.ns + (next.ns - this.ns) * part;
    let range = this.from..next.to;
    let first_off = range.clone().find(|i| values[*i] > way(CLEARLY))?;
    let low = first_off.checked_sub(1).filter(|i| range.contains(i))?;
    let last_not_on = range.clone().rev().find(|i| values[*i] < way(1.0 - CLEARLY))?;
    let high = (last_not_on + 1 < range.end).then_some(last_not_on + 1);
    // Where the middle is crossed, between two points on logarithmic scales.
    let over = range.clone().find(|i| values[*i] > way(0.5))?;
    let before = over.checked_sub(1)?;
    let (a, b) = (values[before].ln(), values[over].ln());
    let part = ((way(0.5).ln() - a) / (b - a)).clamp(0.0, 1.0);
    let (x, y) = ((curve[before].bytes as f64).ln(), (curve[over].bytes as f64).ln());
    let bytes = (x + (y - x) * part).exp() as u64 / GRAIN * GRAIN;
    Some(Edge { bytes, low: curve[low].bytes, high: high.map(|i| curve[i].bytes) })
}

/// Sizes are told in multiples of this: a page.
const GRAIN: u64 = 4 << 10;

#[cfg(test)]
mod tests {
    use super::super::survey::script::{Machine, XEON, ZEN};
    use super::*;

    fn bytes(found: Found) -> u64 {
        match found {
            Found::Edge(edge) => {
                assert!(edge.low <= edge.bytes && edge.high.is_none_or(|h| h >= edge.bytes));
                edge.bytes
            }
            other => panic!("no edge: {other:?}"),
        }
    }

    fn near(found: Found, size: u64) {
        let at = bytes(found) as f64 / size as f64;
        assert!((0.75..1.34).contains(&at), "{found:?} for {size}");
    }

    #[test]
    fn clean_steps_are_three_caches() {
        for machine in [ZEN, XEON] {
            let edges = find(machine.curve(1.19), machine.memory_ns);
            near(edges.l1d, machine.l1d);
            near(edges.l2, machine.l2);
            near(edges.llc, machine.llc.unwrap());
        }
    }

    #[test]
    fn noise_makes_no_edge_and_hides_none() {
        // Two wild points side by side, where an edge might be, cannot be told from one.
        let right = |seed| {
            let machine = Machine { noise: 0.12, wild: 0.01, seed, ..ZEN };
            let edges = find(machine.curve(1.25), machine.memory_ns);
            let at = |found, size: u64| match found {
                Found::Edge(Edge { bytes, .. }) => {
                    (0.7..1.4).contains(&(bytes as f64 / size as f64))
                }
                _ => false,
            };
            at(edges.l1d, machine.l1d) && at(edges.l2, machine.l2) && at(edges.llc, 2560 << 10)
        };
        let wrong = (0..400).filter(|seed| !right(*seed)).count();
        assert!(wrong <= 16, "{wrong} of 400");
    }

    #[test]
    fn without_a_last_level_there_is_none() {
        let machine = Machine { llc: None, ..ZEN };
        let edges = find(machine.curve(1.25), machine.memory_ns);
        near(edges.l2, machine.l2);
        assert_eq!(edges.llc, Found::Absent);
    }

    #[test]
    fn a_walk_that_ends_inside_a_cache_says_at_least() {
        let machine = Machine { most: 4 << 20, llc: Some(64 << 20), ..ZEN };
        let edges = find(machine.curve(1.25), machine.memory_ns);
        let Found::Edge(edge) = edges.llc else { panic!("{:?}", edges.llc) };
        assert_eq!(edge.high, None);
        assert!(edge.low >= 3 << 20);
    }

    #[test]
    fn a_slope_by_translations_is_no_edge() {
        // Translations double the latency inside the last level from 8 MiB on.
        let machine = Machine { llc: Some(32 << 20), pages_ns: 25.0, pages: 2048, ..ZEN };
        let with = find(machine.curve(1.25), machine.memory_ns);
        near(with.llc, 32 << 20);
        // The same latencies, taken for the cache's own: the edge lies elsewhere.
        let mut curve = machine.curve(1.25);
        curve.iter_mut().for_each(|p| p.translation_ns = 0.0);
        let without = find(curve, machine.memory_ns);
        assert_ne!(without.llc, with.llc);
    }

    #[test]
    fn nothing_and_nonsense_are_unclear() {
        for curve in [vec![], vec![Point { bytes: 4096, ns: 1.0, translation_ns: 0.0 }]] {
            let edges = find(curve, 100.0);
            assert_eq!([edges.l1d, edges.l2, edges.llc], [Found::Unclear; 3]);
        }
        let flat: Vec<Point> =
            (12..26).map(|p| Point { bytes: 1 << p, ns: 9.0, translation_ns: 0.0 }).collect();
        let edges = find(flat, 10.0);
        assert_eq!([edges.l1d, edges.l2, edges.llc], [Found::Unclear; 3]);
        let zeros: Vec<Point> =
            (12..26).map(|p| Point { bytes: 1 << p, ns: 0.0, translation_ns: 5.0 }).collect();
        assert_eq!(find(zeros, 0.0).l1d, Found::Unclear);
    }
}
