//! The buffers of a cell: a ring of pairs in two maps, and one pair more to warm up on. Where
//! the state is of two levels, the pointers have rings of their own.

use rand::{Rng, RngExt};

use super::apart::Apart;
use super::backing::{debt, fits_memory, untouched, written};
use super::ring::{DRAWN_OFFSET, Levels, Ring};
use super::{MeasureError, draw};
use crate::mem::{Map, SharedPage};
use crate::subject::{Cell, Conditions, Level, Op, Pages, Source};

/// A layout moves the buffers by up to so many pages, so that other physical pages carry
/// them.
const SPARE_PAGES: usize = 256;

const PAGE: usize = 4096;

/// Code is warmed up on calls up to this size; on larger ones the first lines of code are
/// lost in the time of the data, and a warm-up call would disturb the caches.
const WARM_SIZE: u64 = 16 << 10;

/// The buffers of a cell, filled, backed by pages as the cell asks, and placed.
pub struct Rig {
    cell: Cell,
    ring: Ring,
    dst: Map,
    src: Option<Map>,
    /// What fills the caches with lines to be written back, where the state asks for it.
    debt: Option<Map>,
    order: Order,
    dst_start: usize,
    src_start: usize,
    destinations: Vec<usize>,
    /// Only where the pointers have rings of their own.
    sources: Vec<usize>,
}

/// In which order slots are visited.
struct Order {
    /// By which it was drawn.
    seed: u64,
    dst: Vec<u32>,
    /// Only where the pointers have rings of their own.
    src: Vec<u32>,
}

impl Order {
    fn draw(seed: u64, ring: &Ring) -> Order {
        match ring.apart {
            None => Order { seed, dst: draw::visit_order(seed, ring.pairs as usize), src: vec![] },
            Some(Apart { dst, src, .. }) => Order {
                seed,
                dst: draw::visit_order(seed, dst.slots as usize),
                src: draw::visit_order(!seed, src.slots as usize),
            },
        }
    }
}

/// A pair of buffers by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) dst: usize,
    pub(super) src: Option<usize>,
}

impl Rig {
    /// Maps, fills and places the buffers for a cell; `shared` gets a beat now and then,
    /// because a GiB takes seconds.
    ///
    /// # Errors
    /// Where the state does not exist for the cell, or memory is refused, or huge pages back
    /// it although small ones were asked for.
    pub fn new(
        cell: &Cell,
        levels: &Levels,
        shared: Option<&SharedPage>,
    ) -> Result<Rig, MeasureError> {
        let ring = Ring::plan(cell, levels).map_err(MeasureError::NoState)?;
        let slots = ring.apart.map_or(ring.pairs, |apart| apart.dst.slots.max(apart.src.slots));
        let bytes = usize::try_from(ring.stride * (slots + warm_slots(&ring)))
            .map_err(|_| MeasureError::NoState("larger than the address space".into()))?;
        // One page more than the layouts' moves need: the distance moves dst within a page.
        let bytes = bytes + (SPARE_PAGES + 2) * PAGE;
        let maps = if cell.op.copies() { 2 } else { 1 };
        let owed = match cell.state.dirty {
            true => levels.shared_by(cell.conditions.threads).debt().unwrap_or(0),
            false => 0,
        };
        let threads = u64::from(cell.conditions.threads);
        let own = (bytes as u64).saturating_mul(maps).saturating_add(owed);
        fits_memory(own.saturating_mul(threads))?;
        if cell.mix.is_some() && u32::try_from(bytes).is_err() {
            return Err(MeasureError::NoState("larger than calls of a mix can be told of".into()));
        }
        let pages = cell.conditions.pages;
        let dst = match pages {
            Pages::Fresh => untouched(bytes, pages)?,
            Pages::Small | Pages::Huge => written(bytes, pages, shared, |_| 0x5a5a_5a5a_5a5a_5a5a)?,
        };
        let src = match (cell.op, cell.conditions.source) {
            (Op::Copy, Source::Untouched) => Some(untouched(bytes, pages)?),
            // Every word another value: no page can be shared or compressed away, and a
            // wrong byte would show.
            (Op::Copy, Source::Written) => Some(written(bytes, pages, shared, |i| {
                (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            })?),
            (Op::Zero | Op::Read | Op::Write, _) => None,
        };
        let debt = match owed {
            0 => None,
            bytes => Some(debt(bytes as usize)?),
        };
        let (dst_start, src_start) = (dst.as_ptr() as usize, 0);
        let order = Order::draw(0, &ring);
        let mut rig = Rig {
            cell: *cell,
            ring,
            dst,
            src,
            debt,
            order,
            dst_start,
            src_start,
            destinations: Vec::new(),
            sources: Vec::new(),
        };
        rig.place(0, 0, &mut draw::layout(0, 0, &cell.conditions.placement).0);
        Ok(rig)
    }

    /// Whether the rig's buffers serve another cell as they are.
    pub fn serves(&self, cell: &Cell) -> bool {
        let conditions = Conditions { consumer: cell.conditions.consumer, ..self.cell.conditions };
        *cell == Cell { drive: cell.drive, conditions, ..self.cell }
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        let maps = [self.src.as_ref(), self.debt.as_ref()];
        self.dst.len() + maps.into_iter().flatten().map(Map::len).sum::<usize>()
    }

    /// The level of both pointers, where it is one.
    pub(super) fn level(&self) -> Option<Level> {
        self.cell.state.level()
    }

    /// The rings of the pointers, where each has its own.
    pub(super) fn apart(&self) -> Option<&Apart> {
        self.ring.apart.as_ref()
    }

    /// Whether a pass finds pages of the destination that nobody has touched.
    pub(super) fn is_fresh(&self) -> bool {
        self.cell.conditions.pages == Pages::Fresh
    }

    /// Pages that a call faults in where they are fresh.
    pub(super) fn pages_a_call(&self) -> u64 {
        let offset = u64::from(self.cell.conditions.placement.dst);
        (self.cell.size + offset).div_ceil(PAGE as u64)
    }

    /// Gives the destinations' pages back: the next touch of each faults.
    pub(super) fn discard_destinations(&self) -> Result<(), MeasureError> {
        // SAFETY: the map is reached by address only; no slice of it is alive.
        Ok(unsafe { self.dst.discard() }?)
    }

    /// What fills the caches with lines to be written back: address and bytes.
    pub(super) fn debt(&self) -> Option<(usize, usize)> {
        self.debt.as_ref().map(|map| (map.as_ptr() as usize, map.len()))
    }

    pub(super) fn size(&self) -> usize {
        self.cell.size as usize
    }

    /// Bytes from the start of a buffer that calls may touch.
    pub(super) fn span(&self) -> usize {
        let drawn = if self.cell.mix.is_some() { DRAWN_OFFSET } else { 0 };
        (self.cell.size + drawn) as usize
    }

    /// Pairs of the ring that calls of a mix may visit before it is primed again.
    pub(super) fn visitable(&self) -> u32 {
        (self.ring.visitable as u32).min(self.pairs())
    }

    /// Calls that a prime serves: pairs of the ring; fewer where the source has a ring of its own
    /// and the destination, in the first level, does not stay where it is.
    pub(super) fn calls(&self, dst_stays: bool) -> u32 {
        match self.ring.apart {
            Some(apart) if apart.dst.level == Level::L1 && !dst_stays => apart.leaving as u32,
            _ => self.pairs(),
        }
    }

    /// Pairs of the ring.
    pub(super) fn pairs(&self) -> u32 {
        self.ring.pairs as u32
    }

    /// Places the buffers anew: (dst − src) mod 4096 becomes `delta` plus the placement's
    /// offsets, pages are drawn from `rng`, and `seed` gives the order of visits.
    pub(super) fn place(&mut self, seed: u64, delta: u16, rng: &mut impl Rng) {
        if self.order.seed != seed {
            self.order = Order::draw(seed, &self.ring);
        }
        let placement = self.cell.conditions.placement;
        let mut page = || rng.random_range(0..SPARE_PAGES) * PAGE;
        self.dst_start =
            self.dst.as_ptr() as usize + page() + usize::from(delta) + usize::from(placement.dst);
        self.src_start = self
            .src
            .as_ref()
            .map_or(0, |src| src.as_ptr() as usize + page() + usize::from(placement.src));
        let stride = self.ring.stride as usize;
        let slots = |start: usize, order: &[u32]| -> Vec<usize> {
            order.iter().map(|i| start + *i as usize * stride).collect()
        };
        self.destinations = slots(self.dst_start, &self.order.dst);
        self.sources = slots(self.src_start, &self.order.src);
    }

    /// Destination addresses in visit order.
    pub(super) fn destinations(&self) -> &[usize] {
        &self.destinations
    }

    /// Source addresses in visit order, where they have a ring of their own.
    pub(super) fn sources(&self) -> &[usize] {
        &self.sources
    }

    /// Pairs in visit order, where they move together.
    pub(super) fn visits(&self) -> impl Iterator<Item = Pair> + '_ {
        self.destinations.iter().map(|dst| self.pair_of(*dst))
    }

    /// The pair that stands outside the ring, to warm code up on; `None` for sizes that need
    /// none.
    pub(super) fn warm_pair(&self) -> Option<Pair> {
        let slots = self.order.dst.len().max(self.order.src.len()) as u64;
        let slot = slots + warm_slots(&self.ring) - 1;
        (self.cell.size <= WARM_SIZE)
            .then(|| self.pair_of(self.dst_start + (slot * self.ring.stride) as usize))
    }

    /// The first slot of the maps, from which others are counted.
    pub(super) fn base(&self) -> Pair {
        self.pair_of(self.dst_start)
    }

    /// The pair with this destination, where they move together.
    pub(super) fn pair_of(&self, dst: usize) -> Pair {
        let src = self.src.is_some().then(|| dst - self.dst_start + self.src_start);
        Pair { dst, src }
    }
}

/// Slots behind the ring up to and with the warm-up pair, which stands a page away from the
/// ring, so that fetching ahead of it does not reach back.
fn warm_slots(ring: &Ring) -> u64 {
    if ring.stride > WARM_SIZE { 1 } else { (PAGE as u64).div_ceil(ring.stride) + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Drive, State};

    const LEVELS: Levels = Levels { l1d: Some(32 << 10), l2: Some(512 << 10), llc: Some(8 << 20) };

    #[test]
    fn buffers_lie_where_the_placement_says_and_inside_their_maps() {
        for (op, size) in [(Op::Copy, 1), (Op::Copy, 4096), (Op::Zero, 100), (Op::Copy, 20_000)] {
            let mut cell = Cell::new(op, size, State::both(Level::L2), Drive::Throughput);
            cell.conditions.placement.dst = 17;
            cell.conditions.placement.src = 3;
            let mut rig = Rig::new(&cell, &LEVELS, None).expect("the state exists");
            for layout in 0..40 {
                let (mut rng, delta) = draw::layout(5, layout, &cell.conditions.placement);
                rig.place(5, delta, &mut rng);
                let dst_map = rig.dst.bytes().as_ptr_range();
                for pair in rig.visits().chain(rig.warm_pair()) {
                    assert_eq!(pair.dst % 64, 17);
                    assert!(pair.dst >= dst_map.start as usize);
                    assert!(pair.dst + size as usize <= dst_map.end as usize);
                    let Some(src) = pair.src else { continue };
                    assert_eq!(src % 64, 3);
                    let apart = (pair.dst.wrapping_sub(src)) % 4096;
                    assert_eq!(apart, (usize::from(delta) + 17 - 3) % 4096);
                    let src_map = rig.src.as_ref().expect("a copy").bytes().as_ptr_range();
                    assert!(src >= src_map.start as usize);
                    assert!(src + size as usize <= src_map.end as usize);
                }
            }
        }
    }

    #[test]
    fn calls_of_a_mix_at_any_offset_stay_in_their_slots() {
        let mix = crate::subject::Mix::new("a", 1, 50.0).ok();
        for level in [Level::L1, Level::L2, Level::Dram] {
            let cell = Cell::new(Op::Copy, 1000, State::both(level), Drive::Throughput);
            let rig = Rig::new(&Cell { mix, ..cell }, &LEVELS, None).expect("the state exists");
            assert_eq!(rig.span(), 1063);
            let mut starts: Vec<usize> = rig.visits().map(|p| p.dst).collect();
            starts.extend(rig.warm_pair().map(|p| p.dst));
            starts.sort_unstable();
            assert!(starts.windows(2).all(|w| w[1] - w[0] >= rig.span()));
            let end = rig.dst.bytes().as_ptr_range().end as usize;
            assert!(starts.last().is_some_and(|last| last + rig.span() <= end));
            assert!(!rig.serves(&cell));
        }
    }

    #[test]
    fn pairs_are_disjoint_and_the_warm_one_is_none_of_them() {
        let cell = Cell::new(Op::Copy, 100, State::both(Level::L1), Drive::Throughput);
        let rig = Rig::new(&cell, &LEVELS, None).expect("the state exists");
        let mut starts: Vec<usize> = rig.visits().map(|p| p.dst).collect();
        starts.push(rig.warm_pair().expect("a small size").dst);
        starts.sort_unstable();
        assert!(starts.windows(2).all(|w| w[1] - w[0] >= 100));
        assert!(starts.len() > 50);
    }

    #[test]
    fn what_memory_cannot_hold_is_refused_before_it_is_mapped() {
        let cell = Cell::new(Op::Copy, 1 << 50, State::both(Level::Dram), Drive::Throughput);
        let why = Rig::new(&cell, &LEVELS, None).map(|_| ()).expect_err("a PiB is nowhere");
        assert!(why.to_string().contains("memory"), "{why}");
    }

    #[test]
    fn pointers_at_two_levels_move_apart_and_stay_inside_their_maps() {
        for (src, dst) in
            [(Level::Dram, Level::L1), (Level::L1, Level::Dram), (Level::L2, Level::L1)]
        {
            let mut cell = Cell::new(Op::Copy, 1000, State::pair(src, dst), Drive::Throughput);
            cell.conditions.placement.dst = 5;
            let mut rig = Rig::new(&cell, &LEVELS, None).expect("the state exists");
            rig.place(9, 128, &mut draw::layout(9, 3, &cell.conditions.placement).0);
            let inside = |map: &Map, slots: &[usize], offset: usize| {
                let range = map.bytes().as_ptr_range();
                for at in slots {
                    assert!(*at >= range.start as usize && at + 1000 <= range.end as usize);
                    assert_eq!(at % 64, offset);
                }
                let mut sorted = slots.to_vec();
                sorted.sort_unstable();
                assert!(sorted.windows(2).all(|w| w[1] - w[0] >= 1000), "no two share a byte");
            };
            inside(&rig.dst, rig.destinations(), 5);
            inside(rig.src.as_ref().expect("a copy"), rig.sources(), 0);
            let warm = rig.warm_pair().expect("a small size");
            assert!(!rig.destinations().contains(&warm.dst));
            assert!(warm.src.is_some_and(|src| !rig.sources().contains(&src)));
            assert_eq!(rig.calls(false) < rig.calls(true), dst == Level::L1);
            assert!(rig.calls(false) as usize <= rig.destinations().len());
        }
    }

    #[test]
    fn fresh_destinations_are_never_touched_before_a_call() {
        let mut cell = Cell::new(Op::Zero, 4096, State::both(Level::Dram), Drive::Throughput);
        cell.conditions.pages = Pages::Fresh;
        let rig = Rig::new(&cell, &LEVELS, None).expect("the state exists");
        assert_eq!((rig.is_fresh(), rig.pages_a_call()), (true, 1));
        for _ in 0..2 {
            rig.discard_destinations().expect("the system takes pages back");
            let before = crate::host::minor_faults();
            for at in rig.destinations() {
                // SAFETY: an address of a slot, inside the rig's own map.
                unsafe { (*at as *mut u8).write_volatile(1) };
            }
            let faults = crate::host::minor_faults() - before;
            assert!(faults >= rig.destinations().len() as u64, "{faults}");
        }
    }

    #[test]
    fn a_rig_serves_both_drives_of_its_cell_only() {
        let cell = Cell::new(Op::Zero, 256, State::both(Level::L1), Drive::Throughput);
        let rig = Rig::new(&cell, &LEVELS, None).expect("the state exists");
        assert!(rig.serves(&Cell { drive: Drive::Chained, ..cell }));
        assert!(!rig.serves(&Cell { size: 257, ..cell }));
        let huge = Cell::new(Op::Zero, 1 << 20, State::both(Level::L1), Drive::Throughput);
        assert!(matches!(Rig::new(&huge, &LEVELS, None), Err(MeasureError::NoState(_))));
    }
}
