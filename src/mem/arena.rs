//! Memory for generated code: written in batches, never writable and executable at once.

use rand::{Rng, RngExt};

use super::MemError;
use super::map::{PAGE, Pages, Protection};

/// Entries stand at multiples of this: a cache line.
const LINE: usize = 64;

/// Most lines left free between two functions, so that no two runs of a batch see the same
/// distances; few, so that a batch stays small.
const MOST_FREE_LINES: usize = 7;

/// One gap in so many goes on to a new page.
const PAGE_JUMP_ODDS: u32 = 24;

/// The byte of unused places: a breakpoint, so that a stray jump dies where it lands.
const UNUSED: u8 = 0xCC;

/// Where a function landed. Valid until a later batch overwrites it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Address of the entry, a multiple of 64.
    pub addr: usize,
    /// Bytes of the function.
    pub len: usize,
}

/// Executable memory that is filled in batches, round and round: each batch gets fresh slots
/// behind the last one, and starts over at the front where the rest is too short.
#[derive(Debug)]
pub struct Arena {
    pages: Pages,
    next: usize,
}

impl Arena {
    /// Enough for several batches of 512 functions of 2 KiB, gaps included.
    pub const DEFAULT_BYTES: usize = 8 << 20;

    /// Maps at least `bytes`, rounded up to whole pages.
    ///
    /// # Errors
    /// Where the length is 0, or the system has not so much or refuses executable pages.
    pub fn new(bytes: usize) -> Result<Arena, MemError> {
        let mut pages = Pages::new(bytes, Protection::Writable)?;
        let len = pages.len();
        // SAFETY: `len` writable bytes owned by `pages`; no slice of them exists.
        unsafe { std::ptr::write_bytes(pages.start(), UNUSED, len) };
        pages.protect(0, len, Protection::Executable)?;
        Ok(Arena { pages, next: 0 })
    }

    /// Bytes of the arena.
    pub fn capacity(&self) -> usize {
        self.pages.len()
    }

    /// The next batch begins at the front.
    pub fn rewind(&mut self) {
        self.next = 0;
    }

    /// Writes a batch of functions, all with one change to writable and one back to
    /// executable. Distances between slots are drawn from `rng`. Slots of earlier batches stay
    /// valid until the arena has gone round to them.
    ///
    /// # Errors
    /// Where the batch is larger than the arena or the system refuses a protection; nothing
    /// is written then.
    pub fn emit(&mut self, codes: &[&[u8]], rng: &mut impl Rng) -> Result<Vec<Slot>, MemError> {
        let (offsets, end) = self.place(codes, rng)?;
        let Some(&begin) = offsets.first() else { return Ok(Vec::new()) };
        let from = begin / PAGE * PAGE;
        let len = end.next_multiple_of(PAGE) - from;
        self.pages.protect(from, len, Protection::Writable)?;
        // SAFETY: `begin..end` lies inside the pages (`place` keeps it there), which are
        // writable now, and no slice of them exists.
        unsafe { std::ptr::write_bytes(self.pages.start().add(begin), UNUSED, end - begin) };
        for (code, &offset) in codes.iter().zip(&offsets) {
            // SAFETY: `place` leaves `code.len()` bytes from each offset inside `begin..end`;
            // `code` is a slice from elsewhere: the arena lends none of its own.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    code.as_ptr(),
                    self.pages.start().add(offset),
                    code.len(),
                );
            }
        }
        self.pages.protect(from, len, Protection::Executable)?;
        self.next = end;
        let base = self.pages.start() as usize;
        Ok(codes
            .iter()
            .zip(offsets)
            .map(|(code, offset)| Slot { addr: base + offset, len: code.len() })
            .collect())
    }

    /// Offsets of a batch and the end of its last line.
    fn place(&self, codes: &[&[u8]], rng: &mut impl Rng) -> Result<(Vec<usize>, usize), MemError> {
        let capacity = self.capacity();
        let gaps: Vec<Gap> = codes.iter().map(|_| Gap::draw(rng)).collect();
        let behind = lay(codes, Some(&gaps), self.next);
        if behind.1 <= capacity {
            return Ok(behind);
        }
        let front = lay(codes, Some(&gaps), 0);
        if front.1 <= capacity {
            return Ok(front);
        }
        let tight = lay(codes, None, 0);
        if tight.1 <= capacity {
            return Ok(tight);
        }
        Err(MemError::BatchTooLarge { codes: codes.len(), needed: tight.1, capacity })
    }
}

/// Free room before a slot.
#[derive(Clone, Copy)]
struct Gap {
    lines: usize,
    new_page: bool,
}

impl Gap {
    fn draw(rng: &mut impl Rng) -> Gap {
        Gap {
            lines: rng.random_range(0..=MOST_FREE_LINES),
            new_page: rng.random_ratio(1, PAGE_JUMP_ODDS),
        }
    }
}

/// Offsets of the functions from `start` (a multiple of a line) on, and the end of the last.
fn lay(codes: &[&[u8]], gaps: Option<&[Gap]>, start: usize) -> (Vec<usize>, usize) {
    let mut next = start;
    let offsets = codes
        .iter()
        .enumerate()
        .map(|(i, code)| {
            if let Some(gap) = gaps.and_then(|g| g.get(i)) {
                if gap.new_page {
                    next = next.next_multiple_of(PAGE);
                }
                next += gap.lines * LINE;
            }
            let offset = next;
            // An empty function takes a line too: no two slots share an address.
            next += code.len().max(1).next_multiple_of(LINE);
            offset
        })
        .collect();
    (offsets, next)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn content(slot: Slot) -> Vec<u8> {
        // SAFETY: the slot was just emitted into an arena that still lives, and executable
        // pages are readable.
        unsafe { std::slice::from_raw_parts(slot.addr as *const u8, slot.len) }.to_vec()
    }

    #[test]
    fn batches_are_written_aligned_disjoint_and_staggered() {
        let mut arena = Arena::new(1 << 20).expect("a MiB is there");
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let codes: Vec<Vec<u8>> = (1..200usize).map(|i| vec![i as u8; 1 + i * 3 % 700]).collect();
        let slices: Vec<&[u8]> = codes.iter().map(Vec::as_slice).collect();
        let mut firsts = Vec::new();
        for _ in 0..30 {
            let slots = arena.emit(&slices, &mut rng).expect("fits");
            for (slot, code) in slots.iter().zip(&codes) {
                assert_eq!(slot.addr % 64, 0);
                assert_eq!(&content(*slot), code);
            }
            for pair in slots.windows(2) {
                assert!(pair[0].addr + pair[0].len <= pair[1].addr);
            }
            let gaps: std::collections::BTreeSet<usize> =
                slots.windows(2).map(|p| (p[1].addr - p[0].addr - p[0].len) / 64).collect();
            assert!(gaps.len() > 4, "{gaps:?}");
            firsts.push(slots[0].addr);
        }
        let base = firsts.iter().min().copied().unwrap_or(0);
        assert!(firsts.windows(2).all(|p| p[0] != p[1]));
        assert!(firsts.iter().all(|&f| f - base < 1 << 20), "went round");
    }

    #[test]
    fn the_arena_is_never_writable_and_executable() {
        let mut arena = Arena::new(PAGE).expect("a page is there");
        let slot = arena.emit(&[&[0xC3]], &mut ChaCha8Rng::seed_from_u64(2)).expect("fits")[0];
        let maps = std::fs::read_to_string("/proc/self/maps").expect("there is /proc");
        let line = maps
            .lines()
            .find(|line| {
                let (from, to) =
                    line.split(' ').next().and_then(|r| r.split_once('-')).expect("a range");
                let parse = |t| usize::from_str_radix(t, 16).expect("hexadecimal");
                (parse(from)..parse(to)).contains(&slot.addr)
            })
            .expect("the slot is mapped");
        assert!(line.contains(" r-xp "), "{line}");
    }

    #[test]
    fn too_much_is_refused_and_the_tightest_batch_fits() {
        let mut arena = Arena::new(2 * PAGE).expect("two pages are there");
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let code = [0xC3u8; 64];
        let full = vec![code.as_slice(); 2 * PAGE / 64];
        assert_eq!(arena.emit(&full, &mut rng).expect("exactly fits").len(), full.len());
        let more = vec![code.as_slice(); 2 * PAGE / 64 + 1];
        assert!(matches!(
            arena.emit(&more, &mut rng),
            Err(MemError::BatchTooLarge { codes: 129, needed: 8256, capacity: 8192 })
        ));
        assert!(arena.emit(&[], &mut rng).expect("nothing fits").is_empty());
    }
}
