//! What to measure next. Pure: everything follows from how much each loop has been measured.

use crate::search::is_cheap;
use crate::subject::{Baseline, Cell, Variant};

/// Wall time of a batch, nanoseconds: what the cursor's wish may have to wait for.
const BATCH_NS: f64 = 50e6;

/// A batch that its price estimate did not foresee is cut off here, nanoseconds.
const LIMIT_NS: u64 = 80_000_000;

/// Candidates of a first look, at most: the first of them show soon.
const MOST_COARSE: usize = 24;

/// Candidates of a closer look, at most: few, so that each gets many blocks.
const MOST_FINE: usize = 10;

/// Layouts that a loop gets by its part: so many once its interval is narrower than the band
/// of a comparison, and as many as the second number says while it is not. The floor is what
/// makes a first interval.
type Target = (u32, u32);
const FLOOR: Target = (10, 60);
const CURVE: Target = (20, 80);
const LEADER: Target = (60, 240);
const FOCUS: Target = (240, 600);

/// Layouts of a first look.
const COARSE: u32 = 2;

/// Loops that count as leaders.
const LEADERS: usize = 6;

/// Length of a pass, nanoseconds: of a first look, of a closer one, and where priming costs
/// more than the pass.
const COARSE_PASS_NS: u32 = 2_000;
const FINE_PASS_NS: u32 = 8_000;
const DEAR_PASS_NS: u32 = 20_000;

/// A loop that could be measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Where.
    pub(super) cell: Cell,
    /// Which.
    pub(super) variant: Variant,
    /// Layouts it has been measured in, beside the baseline that is looked at.
    pub(super) layouts: u32,
    /// Whether its interval is narrower than the band of a comparison.
    pub(super) fine: bool,
    /// Its time relative to the others of its cell, on a log scale; `None` before the first.
    pub(super) value: Option<f64>,
}

/// What is known when the next batch is chosen. Loops that failed are not in it.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    /// The loop under the cursor.
    pub(super) cursor: Option<Point>,
    /// The pinned loop.
    pub(super) pin: Option<Point>,
    /// The loops on the map, or of the curve, those of a first look first.
    pub(super) points: Vec<Point>,
    /// Whether the points are a curve's: all of them count alike.
    pub(super) curve: bool,
    /// What takes part in every batch.
    pub(super) baselines: Vec<Baseline>,
    /// Wall time a sample in each cell so far, nanoseconds.
    pub(super) costs: Vec<(Cell, f64)>,
}

impl Scene {
    fn cost_ns(&self, cell: &Cell) -> Option<f64> {
        self.costs.iter().find(|(c, _)| c == cell).map(|(_, cost)| cost.max(1.0))
    }
}

/// A batch to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Where.
    pub cell: Cell,
    /// What takes part besides the candidates.
    pub baselines: Vec<Baseline>,
    /// Candidates, the most wanted first; none twice.
    pub members: Vec<Variant>,
    /// Layouts to make.
    pub layouts: u32,
    /// Blocks a layout.
    pub blocks: u32,
    /// Length of a pass, nanoseconds.
    pub pass_ns: u32,
    /// When to stop, nanoseconds.
    pub limit_ns: u64,
}

/// The next batch; `None` where everything is measured as finely as it should be.
pub(super) fn next(scene: &Scene) -> Option<Order> {
    let wanted = wanted(scene);
    let (first, _) = *wanted.first()?;
    let coarse = first.layouts < COARSE;
    let cheap = is_cheap(&first.cell);
    let blocks = if cheap { 3 } else { 1 };
    let pass_ns = match (cheap, coarse) {
        (false, _) => DEAR_PASS_NS,
        (true, true) => COARSE_PASS_NS,
        (true, false) => FINE_PASS_NS,
    };
    let baselines = scene.baselines.len();
    let most = if coarse { MOST_COARSE } else { MOST_FINE };
    // Before a price is known few take part: they are the pilot.
    let (members, layouts) = match scene.cost_ns(&first.cell) {
        None => (if cheap { 8 } else { 1 }, if cheap { COARSE } else { 1 }),
        Some(cost) => {
            let samples = (BATCH_NS / cost / f64::from(blocks)) as usize;
            let layouts = if coarse { COARSE } else { 2 * COARSE };
            let members = (samples / layouts as usize).saturating_sub(baselines);
            // Where even one candidate is dear, one layout at a time.
            if members >= 1 { (members.min(most), layouts) } else { (1, 1) }
        }
    };
    let same_kind = |p: &Point| p.cell == first.cell && (p.layouts < COARSE) == coarse;
    let members: Vec<Variant> =
        wanted.iter().filter(|(p, _)| same_kind(p)).map(|(p, _)| p.variant).take(members).collect();
    let members_and_baselines = (members.len() + baselines) as f64;
    let layouts = match scene.cost_ns(&first.cell) {
        // Where few are left to refine, they get the whole batch.
        Some(cost) if !coarse => {
            let fit = BATCH_NS / (cost * f64::from(blocks) * members_and_baselines);
            (fit as u32).clamp(1, 20)
        }
        _ => layouts,
    };
    let baselines = scene.baselines.clone();
    Some(Order {
        cell: first.cell,
        baselines,
        members,
        layouts,
        blocks,
        pass_ns,
        limit_ns: LIMIT_NS,
    })
}

/// Points that have less than they should, the most wanted first, each with the part that it
/// has of its target.
fn wanted(scene: &Scene) -> Vec<(Point, f64)> {
    let mut list: Vec<(Point, u32)> = Vec::new();
    let of = |point: &Point, (fine, most): Target| if point.fine { fine } else { most };
    let mut want = |point: &Point, target: Target| match list
        .iter_mut()
        .find(|(p, _)| (p.cell, p.variant) == (point.cell, point.variant))
    {
        Some((_, t)) => *t = of(point, target).max(*t),
        None => list.push((*point, of(point, target))),
    };
    for point in scene.cursor.iter().chain(&scene.pin) {
        want(point, FOCUS);
    }
    let floor = if scene.curve { CURVE } else { FLOOR };
    for point in leaders(&scene.points) {
        want(point, LEADER);
    }
    for point in &scene.points {
        want(point, floor);
    }
    let mut short: Vec<(Point, f64)> = list
        .into_iter()
        .map(|(point, target)| (point, f64::from(point.layouts) / f64::from(target)))
        .filter(|(_, part)| *part < 1.0)
        .collect();
    let is_cursor =
        |p: &Point| scene.cursor.is_some_and(|c| (c.cell, c.variant) == (p.cell, p.variant));
    // A first look at the cursor, then at all, then what is farthest from its target. The sort
    // is stable: the order of the points is kept among equals.
    short.sort_by(|(a, part_a), (b, part_b)| {
        let looked = |p: &Point| p.layouts >= COARSE;
        let key = |p: &Point| (looked(p), !is_cursor(p));
        match (looked(a), looked(b)) {
            (true, true) => part_a.total_cmp(part_b),
            _ => key(a).cmp(&key(b)),
        }
    });
    short
}

/// The fastest of the points.
fn leaders(points: &[Point]) -> Vec<&Point> {
    let mut timed: Vec<(&Point, f64)> = points.iter().filter_map(|p| Some((p, p.value?))).collect();
    timed.sort_by(|a, b| a.1.total_cmp(&b.1));
    timed.into_iter().take(LEADERS).map(|(p, _)| p).collect()
}

/// An order of `n` things that spreads over all of them from the start, so that a half-filled
/// map shows its whole face.
pub(super) fn scattered(n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    // Fractions of the golden ratio spread evenly, whatever the number of columns.
    let place = |i: &usize| (*i as f64 * 0.618_033_988_749_894_9).fract();
    order.sort_by(|a, b| place(a).total_cmp(&place(b)));
    order
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use proptest::prelude::*;

    use super::*;
    use crate::subject::{Class, Drive, Level, Op, State, UNROLLS};

    fn cell(level: Level) -> Cell {
        Cell::new(Op::Zero, 4096, State::both(level), Drive::Throughput)
    }

    fn variants() -> Vec<Variant> {
        let classes = [Class::R64, Class::Xmm, Class::Ymm];
        let of = |class| UNROLLS.iter().map(move |u| (class, *u));
        let variant = |(class, unroll)| Variant { unroll, ..Variant::new(Op::Zero, class) };
        classes.into_iter().flat_map(of).map(variant).collect()
    }

    fn scene(level: Level, layouts: &[u32], cursor: usize, pin: Option<usize>) -> Scene {
        let point = |i: usize| Point {
            cell: cell(level),
            variant: variants()[i],
            layouts: layouts[i],
            fine: layouts[i] > 40,
            value: (layouts[i] > 0).then_some(i as f64),
        };
        Scene {
            cursor: Some(point(cursor)),
            pin: pin.map(point),
            points: (0..layouts.len()).map(point).collect(),
            curve: false,
            baselines: vec![Baseline::Libc],
            costs: vec![(cell(level), 20_000.0)],
        }
    }

    #[test]
    fn the_first_look_begins_at_the_cursor_and_goes_over_all() {
        let n = variants().len();
        let first = next(&scene(Level::L1, &vec![0; n], 7, None)).unwrap();
        assert_eq!(first.members[0], variants()[7]);
        assert_eq!(first.layouts, COARSE);
        assert!(first.members.len() > 8);
        // One that nobody has looked at goes before the refinement of all others.
        let mut layouts = vec![COARSE; n];
        layouts[20] = 0;
        let second = next(&scene(Level::L1, &layouts, 7, None)).unwrap();
        assert_eq!(second.members, [variants()[20]]);
    }

    #[test]
    fn where_the_price_is_high_few_take_part() {
        let n = variants().len();
        let mut dear = scene(Level::Dram, &vec![0; n], 0, None);
        dear.costs = vec![(cell(Level::Dram), 30e6)];
        let order = next(&dear).unwrap();
        assert_eq!((order.members.len(), order.layouts, order.blocks), (1, 1, 1));
        dear.costs.clear();
        assert_eq!(next(&dear).unwrap().members.len(), 1);
    }

    #[test]
    fn leaders_are_refined_more_than_others() {
        let n = variants().len();
        let done = next(&scene(Level::L1, &vec![FOCUS.0; n], 3, Some(4)));
        assert_eq!(done, None);
        // All but the leaders and the cursor have enough.
        let mut layouts = vec![LEADER.0 - 1; n];
        layouts[20] = FOCUS.0;
        let order = next(&scene(Level::L1, &layouts, 20, None)).unwrap();
        let leaders: HashSet<Variant> = variants()[..LEADERS].iter().copied().collect();
        assert_eq!(order.members.iter().copied().collect::<HashSet<_>>(), leaders);
    }

    #[test]
    fn a_scattered_order_is_an_order_and_spreads() {
        for n in [0, 1, 2, 99, 1000] {
            let mut order = scattered(n);
            if n == 99 {
                // Every row of nine has somebody among the first third.
                let rows: HashSet<usize> = order[..33].iter().map(|i| i / 11).collect();
                assert_eq!(rows.len(), 9);
            }
            order.sort_unstable();
            assert_eq!(order, (0..n).collect::<Vec<_>>());
        }
    }

    proptest! {
        /// Nobody is twice in a batch, nobody is in it who has enough, the cursor's wish is
        /// served, and it ends.
        #[test]
        fn every_batch_helps_and_there_is_a_last_one(
            layouts in prop::collection::vec(0..40u32, 27),
            cursor in 0..27usize,
            pin in prop::option::of(0..27usize),
            level in prop::sample::select(vec![Level::L1, Level::L2, Level::Dram]),
            cost in 1e3..1e8f64,
        ) {
            let mut layouts = layouts;
            let places: HashMap<Variant, usize> =
                variants().into_iter().enumerate().map(|(i, v)| (v, i)).collect();
            let mut batches = 0;
            loop {
                let mut scene = scene(level, &layouts, cursor, pin);
                scene.costs = vec![(cell(level), cost)];
                let Some(order) = next(&scene) else { break };
                let members: HashSet<Variant> = order.members.iter().copied().collect();
                prop_assert_eq!(members.len(), order.members.len());
                prop_assert!(!members.is_empty() && order.layouts > 0 && order.blocks > 0);
                if layouts[cursor] == 0 {
                    prop_assert_eq!(order.members[0], variants()[cursor]);
                }
                for member in &order.members {
                    let have = &mut layouts[places[member]];
                    prop_assert!(*have < FOCUS.1);
                    *have += order.layouts;
                }
                // What a batch takes is near what the cursor's wish may wait for.
                let samples = (order.members.len() + order.baselines.len()) as f64
                    * f64::from(order.layouts * order.blocks);
                prop_assert!(samples * cost < 1.5 * BATCH_NS || order.members.len() == 1);
                batches += 1;
                prop_assert!(batches < 5_000);
            }
            prop_assert!(layouts[cursor] >= FOCUS.0);
            prop_assert!(layouts.iter().all(|have| *have >= FLOOR.0));
        }
    }
}
