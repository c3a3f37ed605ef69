//! Anonymous private maps.

use std::ptr::NonNull;

use super::MemError;

/// Bytes of a small page. x86-64 has no other smallest page.
pub const PAGE: usize = 4096;

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;

/// What may be done with pages. There is no value for writable and executable at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Nothing: touching it is a fault.
    Inaccessible,
    /// Read and write.
    Writable,
    /// Read and execute.
    Executable,
}

impl Protection {
    const fn bits(self) -> libc::c_int {
        match self {
            Protection::Inaccessible => libc::PROT_NONE,
            Protection::Writable => libc::PROT_READ | libc::PROT_WRITE,
            Protection::Executable => libc::PROT_READ | libc::PROT_EXEC,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Protection::Inaccessible => "inaccessible",
            Protection::Writable => "writable",
            Protection::Executable => "executable",
        }
    }
}

/// Whole pages from an address on, owned by this value, zero at first, unmapped at its end.
#[derive(Debug)]
pub(super) struct Pages {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the pages belong to this value alone and to no thread in particular.
unsafe impl Send for Pages {}

impl Pages {
    /// Maps at least `bytes`, rounded up to whole pages.
    pub(super) fn new(bytes: usize, protection: Protection) -> Result<Pages, MemError> {
        let rounded = bytes.checked_next_multiple_of(PAGE).filter(|&b| b > 0);
        let rounded = rounded.ok_or(MemError::Length { bytes })?;
        // SAFETY: a new anonymous private map at an address of the system's choice touches
        // no existing memory.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                rounded,
                protection.bits(),
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        let refused = || MemError::Map { bytes, source: std::io::Error::last_os_error() };
        if start == libc::MAP_FAILED {
            return Err(refused());
        }
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(refused)?;
        Ok(Pages { start, bytes: rounded })
    }

    /// Gives `len` bytes from `offset` on (both multiples of a page, inside the map) another
    /// protection.
    pub(super) fn protect(
        &mut self,
        offset: usize,
        len: usize,
        protection: Protection,
    ) -> Result<(), MemError> {
        assert!(offset.is_multiple_of(PAGE) && offset <= self.bytes && len <= self.bytes - offset);
        // SAFETY: the range lies inside pages that this value owns (asserted above). Slices
        // of it are lent out only by owners that know its protection.
        let refused = unsafe {
            libc::mprotect(self.start.as_ptr().add(offset).cast(), len, protection.bits())
        };
        if refused != 0 {
            let source = std::io::Error::last_os_error();
            return Err(MemError::Protect { bytes: len, what: protection.word(), source });
        }
        Ok(())
    }

    pub(super) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(super) fn len(&self) -> usize {
        self.bytes
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the pages were mapped by `new` with this length and nobody else owns them.
        // A failure would leave them mapped, which harms nothing.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// An anonymous private map that is readable and writable, zero at first.
#[derive(Debug)]
pub struct Map {
    pages: Pages,
    /// Bytes of the pages before the first of this map, and of those behind its last together.
    spare: usize,
    bytes: usize,
}

impl Map {
    /// Maps `bytes` bytes; the start is a multiple of [`PAGE`].
    ///
    /// # Errors
    /// Where the length is 0 or the system has not so much.
    pub fn new(bytes: usize) -> Result<Map, MemError> {
        Ok(Map { pages: Pages::new(bytes, Protection::Writable)?, spare: 0, bytes })
    }

    /// Maps `bytes` bytes from a multiple of 2 MiB on and asks for huge pages. Whether the
    /// system gives them shows once the pages are touched: [`Map::huge_bytes`].
    ///
    /// # Errors
    /// Where the length is 0, or the system has not so much or refuses the advice.
    pub fn huge(bytes: usize) -> Result<Map, MemError> {
        let whole = bytes.checked_next_multiple_of(HUGE).filter(|b| *b > 0);
        // A page before and one behind stay without the advice, so that the system merges the
        // map with no neighbour, and what it tells of it is of it alone.
        let all = whole.and_then(|b| b.checked_add(HUGE + 2 * PAGE));
        let all = all.ok_or(MemError::Length { bytes })?;
        let pages = Pages::new(all, Protection::Writable)?;
        let spare = (pages.start() as usize + PAGE).next_multiple_of(HUGE) - pages.start() as usize;
        let map = Map { pages, spare, bytes };
        map.advise(libc::MADV_HUGEPAGE).map_err(|source| MemError::NoHuge { bytes, source })?;
        Ok(map)
    }

    /// Asks the system to put huge pages in the place of small ones that were touched already.
    /// A kernel before 6.1 cannot; nothing changes then.
    pub fn collapse(&mut self) {
        let _ = self.advise(libc::MADV_COLLAPSE);
    }

    /// Gives all pages back: the next touch of each finds zeros, and faults. Where the map was
    /// told to have small pages, each fault brings one of them.
    ///
    /// # Errors
    /// Where the system refuses.
    ///
    /// # Safety
    /// No slice of the content may be alive.
    pub unsafe fn discard(&self) -> Result<(), MemError> {
        self.advise(libc::MADV_DONTNEED)
            .map_err(|source| MemError::Discard { bytes: self.bytes, source })
    }

    /// Advice about the whole pages of this map.
    fn advise(&self, advice: libc::c_int) -> std::io::Result<()> {
        let unit = if self.spare > 0 { HUGE } else { PAGE };
        let len = self.bytes.next_multiple_of(unit);
        // SAFETY: `spare..spare + len` lies inside the pages: `new` maps `bytes` rounded up to
        // pages, `huge` leaves room for the same in huge ones behind `spare`. What advice does
        // to content is said where it is given.
        let refused = unsafe { libc::madvise(self.as_ptr().cast(), len, advice) };
        if refused == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    }

    /// The first byte. Valid for [`Map::len`] bytes as long as the map lives.
    pub fn as_ptr(&self) -> *mut u8 {
        self.pages.start().wrapping_add(self.spare)
    }

    /// Bytes asked for.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Never: a map of nothing cannot be made.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The content.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `bytes` readable, initialised (zeroed by the system) bytes, owned by self.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.bytes) }
    }

    /// The content, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, writable, and borrowed exclusively through self.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.bytes) }
    }

    /// Asks for small pages. Before the first touch, or it changes nothing for pages that
    /// are there already.
    ///
    /// # Errors
    /// Where the system refuses; a kernel without huge pages refuses nothing here.
    pub fn advise_no_huge(&mut self) -> Result<(), MemError> {
        match self.advise(libc::MADV_NOHUGEPAGE) {
            // A kernel built without transparent huge pages does not know the advice, and has
            // only small pages to give.
            Err(source) if source.raw_os_error() != Some(libc::EINVAL) => {
                Err(MemError::Advise { bytes: self.bytes, source })
            }
            _ => Ok(()),
        }
    }

    /// Bytes of this map that huge pages back at this moment, from `/proc/self/smaps`;
    /// `None` where that cannot be read.
    ///
    /// The system may have merged the map with a neighbour; then the figure is that of both,
    /// so 0 always means none. A map by [`Map::huge`] is never merged.
    pub fn huge_bytes(&self) -> Option<u64> {
        let smaps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        huge_bytes_at(&smaps, self.as_ptr() as usize)
    }
}

/// `AnonHugePages` of the mapping of an smaps text that holds `addr`, in bytes.
fn huge_bytes_at(smaps: &str, addr: usize) -> Option<u64> {
    let mut inside = false;
    for line in smaps.lines() {
        let first = line.split_ascii_whitespace().next()?;
        if let Some(range) = address_range(first) {
            inside = range.contains(&addr);
        } else if inside && first == "AnonHugePages:" {
            let kib: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
            return Some(kib * 1024);
        }
    }
    None
}

/// `55d0c0de000-55d0c0df000` as a range.
fn address_range(text: &str) -> Option<std::ops::Range<usize>> {
    let (from, to) = text.split_once('-')?;
    Some(usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_zero_page_aligned_and_writable() {
        let mut map = Map::new(5000).expect("5000 bytes are there");
        assert_eq!(map.len(), 5000);
        assert_eq!(map.as_ptr() as usize % PAGE, 0);
        assert!(map.bytes().iter().all(|&b| b == 0));
        map.bytes_mut()[4999] = 7;
        assert_eq!(map.bytes()[4999], 7);
    }

    #[test]
    fn nothing_and_everything_are_refused() {
        assert!(matches!(Map::new(0), Err(MemError::Length { bytes: 0 })));
        assert!(matches!(Map::new(usize::MAX), Err(MemError::Length { .. })));
        assert!(matches!(Map::new(usize::MAX / 2), Err(MemError::Map { .. })));
    }

    #[test]
    fn small_pages_are_asked_for_and_told() {
        let mut map = Map::new(8 << 20).expect("8 MiB are there");
        map.advise_no_huge().expect("advice is taken");
        map.bytes_mut().fill(1);
        assert_eq!(map.huge_bytes(), Some(0));
    }

    #[test]
    fn huge_pages_are_asked_for_at_their_boundaries() {
        for bytes in [1, HUGE - 1, HUGE, 3 * HUGE + 5] {
            let mut map = Map::huge(bytes).expect("memory is there");
            assert_eq!((map.as_ptr() as usize % HUGE, map.len()), (0, bytes));
            map.bytes_mut().fill(1);
            map.collapse();
            assert!(map.bytes().iter().all(|b| *b == 1));
            // Whether there are any is the system's affair; never more than the map has.
            let huge = map.huge_bytes().expect("there is /proc");
            assert!(huge as usize <= bytes.next_multiple_of(HUGE) && huge as usize % HUGE == 0);
        }
        assert!(Map::huge(0).is_err() && Map::huge(usize::MAX - HUGE).is_err());
    }

    #[test]
    fn what_is_discarded_is_zero_again() {
        let mut map = Map::new(3 * PAGE).expect("pages are there");
        map.bytes_mut().fill(7);
        // SAFETY: no slice of the map is alive.
        unsafe { map.discard() }.expect("the advice is taken");
        assert!(map.bytes().iter().all(|b| *b == 0));
    }

    #[test]
    fn smaps_is_read_by_address() {
        let text = "7f00-8000 rw-p 00000000 00:00 0\nSize: 4 kB\nAnonHugePages:   0 kB\n\
                    9000-b000 rw-p 00000000 00:00 0 [heap]\nRss: 1 kB\nAnonHugePages:  2048 kB\n";
        assert_eq!(huge_bytes_at(text, 0xa000), Some(2 << 20));
        assert_eq!(huge_bytes_at(text, 0x7fff), Some(0));
        assert_eq!(huge_bytes_at(text, 0x8000), None);
    }
}
