//! The buffers of a cell: a ring of pairs in two maps, and one pair more to warm up on.

use rand::{Rng, RngExt};

use super::ring::{DRAWN_OFFSET, Levels, Ring};
use super::{MeasureError, draw};
use crate::mem::{Map, SharedPage};
use crate::subject::{Cell, Level, Op, Pages};

/// A layout moves the buffers by up to so many pages, so that other physical pages carry
/// them.
const SPARE_PAGES: usize = 256;

const PAGE: usize = 4096;

/// Words filled between two beats: a MiB.
const BEAT_WORDS: usize = 1 << 17;

/// Buffers below this are not worth asking the system whether they fit.
const SURELY_THERE: u64 = 64 << 20;

/// Code is warmed up on calls up to this size; on larger ones the first lines of code are
/// lost in the time of the data, and a warm-up call would disturb the caches.
const WARM_SIZE: u64 = 16 << 10;

/// The buffers of a cell, filled, backed by pages as the cell asks, and placed.
pub struct Rig {
    cell: Cell,
    level: Level,
    ring: Ring,
    dst: Map,
    src: Option<Map>,
    order: (u64, Vec<u32>),
    dst_start: usize,
    src_start: usize,
    destinations: Vec<usize>,
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
        let level = cell.state.level().ok_or_else(|| {
            MeasureError::NoState(format!("the state {} asks for two levels", cell.state))
        })?;
        let bytes = usize::try_from(ring.stride * (ring.pairs + warm_slots(&ring)))
            .map_err(|_| MeasureError::NoState("larger than the address space".into()))?;
        // One page more than the layouts' moves need: the distance moves dst within a page.
        let bytes = bytes + (SPARE_PAGES + 2) * PAGE;
        let maps = if cell.op.copies() { 2 } else { 1 };
        fits_memory(bytes as u64 * maps)?;
        if cell.mix.is_some() && u32::try_from(bytes).is_err() {
            return Err(MeasureError::NoState("larger than calls of a mix can be told of".into()));
        }
        let dst = map(bytes, cell.conditions.pages, shared, |_| 0x5a5a_5a5a_5a5a_5a5a)?;
        let src = match cell.op {
            // Every word another value: no page can be shared or compressed away, and a
            // wrong byte would show.
            Op::Copy => Some(map(bytes, cell.conditions.pages, shared, |i| {
                (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            })?),
            Op::Zero | Op::Read | Op::Write => None,
        };
        let (dst_start, src_start) = (dst.as_ptr() as usize, 0);
        let order = (0, draw::visit_order(0, ring.pairs as usize));
        let mut rig = Rig {
            cell: *cell,
            level,
            ring,
            dst,
            src,
            order,
            dst_start,
            src_start,
            destinations: Vec::new(),
        };
        rig.place(0, 0, &mut draw::layout(0, 0, &cell.conditions.placement).0);
        Ok(rig)
    }

    /// Whether the rig's buffers serve another cell as they are.
    pub fn serves(&self, cell: &Cell) -> bool {
        *cell == Cell { drive: cell.drive, ..self.cell }
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        self.dst.len() + self.src.as_ref().map_or(0, Map::len)
    }

    pub(super) fn level(&self) -> Level {
        self.level
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

    /// Pairs of the ring.
    pub(super) fn pairs(&self) -> u32 {
        self.order.1.len() as u32
    }

    /// Places the buffers anew: (dst − src) mod 4096 becomes `delta` plus the placement's
    /// offsets, pages are drawn from `rng`, and `seed` gives the order of visits.
    pub(super) fn place(&mut self, seed: u64, delta: u16, rng: &mut impl Rng) {
        if self.order.0 != seed {
            self.order = (seed, draw::visit_order(seed, self.ring.pairs as usize));
        }
        let placement = self.cell.conditions.placement;
        let mut page = || rng.random_range(0..SPARE_PAGES) * PAGE;
        self.dst_start =
            self.dst.as_ptr() as usize + page() + usize::from(delta) + usize::from(placement.dst);
        self.src_start = self
            .src
            .as_ref()
            .map_or(0, |src| src.as_ptr() as usize + page() + usize::from(placement.src));
        let (start, stride) = (self.dst_start, self.ring.stride as usize);
        self.destinations.clear();
        self.destinations.extend(self.order.1.iter().map(|i| start + *i as usize * stride));
    }

    /// Destination addresses in visit order.
    pub(super) fn destinations(&self) -> &[usize] {
        &self.destinations
    }

    /// Pairs in visit order.
    pub(super) fn visits(&self) -> impl Iterator<Item = Pair> + '_ {
        self.destinations.iter().map(|dst| self.pair_of(*dst))
    }

    /// The pair that stands outside the ring, to warm code up on; `None` for sizes that need
    /// none.
    pub(super) fn warm_pair(&self) -> Option<Pair> {
        let slot = self.ring.pairs + warm_slots(&self.ring) - 1;
        (self.cell.size <= WARM_SIZE)
            .then(|| self.pair_of(self.dst_start + (slot * self.ring.stride) as usize))
    }

    /// The first slot of the maps, from which others are counted.
    pub(super) fn base(&self) -> Pair {
        self.pair_of(self.dst_start)
    }

    /// The pair with this destination.
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

/// Whether buffers of so many bytes leave enough memory for their verification, which needs
/// as much again. Beyond it the system would end this process, or others.
fn fits_memory(bytes: u64) -> Result<(), MeasureError> {
    if bytes < SURELY_THERE {
        return Ok(());
    }
    let Some(available) = available_memory() else { return Ok(()) };
    if bytes > available / 3 {
        return Err(MeasureError::NoState(format!(
            "buffers of {} MiB and their verification do not fit the {} MiB of free memory",
            bytes >> 20,
            available >> 20
        )));
    }
    Ok(())
}

/// Bytes that can be had without pushing others out, where the system tells.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

fn map(
    bytes: usize,
    pages: Pages,
    shared: Option<&SharedPage>,
    word: impl Fn(usize) -> u64,
) -> Result<Map, MeasureError> {
    let mut map = Map::new(bytes)?;
    match pages {
        Pages::Small => map.advise_no_huge()?,
        other => return Err(MeasureError::NoState(format!("no buffers with {other} pages"))),
    }
    for (i, chunk) in map.bytes_mut().chunks_mut(8).enumerate() {
        chunk.copy_from_slice(&word(i).to_le_bytes()[..chunk.len()]);
        if i % BEAT_WORDS == 0 {
            shared.inspect(|s| s.beat());
        }
    }
    match map.huge_bytes() {
        Some(bytes) if bytes > 0 => Err(MeasureError::HugePages { bytes }),
        _ => Ok(map),
    }
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
    fn a_rig_serves_both_drives_of_its_cell_only() {
        let cell = Cell::new(Op::Zero, 256, State::both(Level::L1), Drive::Throughput);
        let rig = Rig::new(&cell, &LEVELS, None).expect("the state exists");
        assert!(rig.serves(&Cell { drive: Drive::Chained, ..cell }));
        assert!(!rig.serves(&Cell { size: 257, ..cell }));
        let huge = Cell::new(Op::Zero, 1 << 20, State::both(Level::L1), Drive::Throughput);
        assert!(matches!(Rig::new(&huge, &LEVELS, None), Err(MeasureError::NoState(_))));
    }
}
