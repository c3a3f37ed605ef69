//! A space: cross products of axis values, united.

use super::constraints::{RULES, Rule};
use super::support::{Unsupported, supported};
use crate::host::{Feature, FeatureSet};
use crate::subject::{Op, Prefetch, Variant};
use crate::template::Axes;

/// A union of regions, each the cross product of its axes. A point that several regions
/// have belongs to the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    regions: Vec<Axes>,
}

/// What a space holds, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Points of all regions.
    pub points: u64,
    /// Points excluded, by the first rule that they break; in the order of the rules, those
    /// that exclude something.
    pub excluded: Vec<(&'static Rule, u64)>,
    /// Legal points that an earlier region has already.
    pub repeated: u64,
    /// Distinct legal points.
    pub legal: u64,
    /// Of these, what the host cannot run, by what is missing; most frequent first.
    pub unsupported: Vec<(Unsupported, u64)>,
    /// Of these, what the host can run, in the order of the space.
    pub variants: Vec<Variant>,
}

impl Space {
    /// The union of the regions. Regions without a point are dropped, and so are distances
    /// and sides of those without a prefetch: they are no part of their points.
    pub fn new(regions: impl IntoIterator<Item = Axes>) -> Space {
        let mut regions: Vec<Axes> =
            regions.into_iter().filter(|r| r.empty_axes().is_empty()).collect();
        for region in regions.iter_mut().filter(|r| !r.prefetches_at_all()) {
            region.distances.clear();
            region.sides.clear();
        }
        Space { regions }
    }

    /// Its regions.
    pub fn regions(&self) -> &[Axes] {
        &self.regions
    }

    /// The part of it that one op has.
    #[must_use]
    pub fn of(&self, op: Op) -> Space {
        let of_op = self.regions.iter().filter(|r| r.ops.contains(&op));
        Space { regions: of_op.map(|r| Axes { ops: vec![op], ..r.clone() }).collect() }
    }

    /// Whether the point lies in a region, legal or not.
    pub fn contains(&self, v: &Variant) -> bool {
        self.regions.iter().any(|r| r.contains(v))
    }

    /// Every point of every region, legal or not, in a fixed order; a point that several
    /// regions have comes several times.
    pub fn points(&self) -> impl Iterator<Item = Variant> {
        self.regions.iter().flat_map(Points::new)
    }

    /// Counts the points and collects those that are legal and that the host can run.
    pub fn census(&self, host: &FeatureSet) -> Census {
        let mut census = Census::default();
        let mut excluded = [0u64; RULES.len()];
        let mut unsupported: Vec<(Unsupported, u64)> = Vec::new();
        for (nth, region) in self.regions.iter().enumerate() {
            let earlier = &self.regions[..nth];
            for v in Points::new(region) {
                census.points += 1;
                if let Some(rule) = RULES.iter().position(|r| (r.breaks)(&v)) {
                    excluded[rule] += 1;
                } else if earlier.iter().any(|r| r.contains(&v)) {
                    census.repeated += 1;
                } else {
                    census.legal += 1;
                    match supported(&v, host) {
                        Ok(()) => census.variants.push(v),
                        Err(reason) => match unsupported.iter_mut().find(|u| u.0 == reason) {
                            Some((_, count)) => *count += 1,
                            None => unsupported.push((reason, 1)),
                        },
                    }
                }
            }
        }
        unsupported.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        census.unsupported = unsupported;
        census.excluded = RULES.iter().zip(excluded).filter(|(_, count)| *count > 0).collect();
        census
    }

    /// The legal variants, whatever a host can run, in the order of the space.
    pub fn legal(&self) -> Vec<Variant> {
        let every = Feature::ALL.iter().copied().collect();
        self.census(&every).variants
    }
}

/// The points of one region. The fixed size changes fastest, the op
/// slowest.
#[derive(Clone, Debug)]
pub struct Points<'a> {
    axes: &'a Axes,
    prefetches: Vec<Option<Prefetch>>,
    /// Index into each axis, slowest first; `None` past the last point.
    at: Option<[usize; Points::AXES]>,
}

impl<'a> Points<'a> {
    const AXES: usize = 16;

    /// From the first point of a region.
    pub fn new(axes: &'a Axes) -> Points<'a> {
        let mut points = Points { axes, prefetches: axes.prefetches(), at: None };
        if points.lengths().iter().all(|len| *len > 0) {
            points.at = Some([0; Points::AXES]);
        }
        points
    }

    fn lengths(&self) -> [usize; Points::AXES] {
        let a = self.axes;
        [
            a.ops.len(),
            a.classes.len(),
            a.encodings.len(),
            a.stores.len(),
            self.prefetches.len(),
            a.unrolls.len(),
            a.orders.len(),
            a.counts.len(),
            a.aligns.len(),
            a.heads.len(),
            a.tails.len(),
            a.touches.len(),
            a.bounces.len(),
            a.streams.len(),
            a.directions.len(),
            a.fixed.len(),
        ]
    }
}

impl Iterator for Points<'_> {
    type Item = Variant;

    fn next(&mut self) -> Option<Variant> {
        let at = self.at?;
        let a = self.axes;
        let [op, class, encoding, store, prefetch, unroll, order, count, align, head, tail, ..] =
            at;
        let [.., touch, bounce, streams, direction, fixed] = at;
        let v = Variant {
            op: a.ops[op],
            class: a.classes[class],
            encoding: a.encodings[encoding],
            store: a.stores[store],
            prefetch: self.prefetches[prefetch],
            unroll: a.unrolls[unroll],
            order: a.orders[order],
            count: a.counts[count],
            align: a.aligns[align],
            head: a.heads[head],
            tail: a.tails[tail],
            touch: a.touches[touch],
            bounce: a.bounces[bounce],
            streams: a.streams[streams],
            direction: a.directions[direction],
            fixed: a.fixed[fixed],
        };
        let lengths = self.lengths();
        let mut next = at;
        self.at = (0..Points::AXES).rev().find_map(|axis| {
            next[axis] += 1;
            if next[axis] < lengths[axis] {
                return Some(next);
            }
            next[axis] = 0;
            None
        });
        Some(v)
    }
}
