//! Buffers between guard pages.

use super::MemError;
use super::map::{PAGE, Pages, Protection};

/// Usable whole pages with an inaccessible page right before and right after them: a read or
/// write of one byte too many is a fault.
#[derive(Debug)]
pub struct Guarded {
    pages: Pages,
}

impl Guarded {
    /// Makes at least `usable_bytes` (rounded up to whole pages) usable, zero at first.
    ///
    /// # Errors
    /// Where the length is 0 or the system has not so much.
    pub fn new(usable_bytes: usize) -> Result<Guarded, MemError> {
        let length = MemError::Length { bytes: usable_bytes };
        let Some(usable) = usable_bytes.checked_next_multiple_of(PAGE).filter(|&b| b > 0) else {
            return Err(length);
        };
        let all = usable.checked_add(2 * PAGE).ok_or(length)?;
        let mut pages = Pages::new(all, Protection::Inaccessible)?;
        pages.protect(PAGE, usable, Protection::Writable)?;
        Ok(Guarded { pages })
    }

    /// Usable bytes, a multiple of [`PAGE`].
    pub fn len(&self) -> usize {
        self.pages.len() - 2 * PAGE
    }

    /// Never: at least one page is usable.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first usable byte; valid for [`Guarded::len`] bytes as long as this lives.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.pages.start().wrapping_add(PAGE)
    }

    /// Address of the first usable byte.
    pub fn address(&self) -> usize {
        self.pages.start() as usize + PAGE
    }

    /// The usable bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `len` bytes after the first guard page are readable and initialised
        // (zeroed by the system), owned by self.
        unsafe { std::slice::from_raw_parts(self.pages.start().add(PAGE), self.len()) }
    }

    /// The usable bytes, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, writable, and borrowed exclusively through self.
        unsafe { std::slice::from_raw_parts_mut(self.pages.start().add(PAGE), self.len()) }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    /// Whether the system can read one byte at an address: asked of the system, which
    /// answers with an error where a program would die.
    fn readable(addr: usize) -> bool {
        let (_reader, writer) = std::io::pipe().expect("a pipe");
        // SAFETY: the byte is only read, by the system, with errors instead of faults.
        unsafe { libc::write(writer.as_raw_fd(), addr as *const _, 1) == 1 }
    }

    #[test]
    fn both_sides_are_guarded_and_all_between_is_usable() {
        let mut buffer = Guarded::new(5000).expect("three pages are there");
        assert_eq!(buffer.len(), 2 * PAGE);
        assert_eq!(buffer.as_mut_ptr() as usize, buffer.address());
        buffer.bytes_mut().fill(3);
        assert!(buffer.bytes().iter().all(|&b| b == 3));
        let (start, len) = (buffer.address(), buffer.len());
        assert!(readable(start) && readable(start + len - 1));
        assert!(!readable(start - 1) && !readable(start + len));
    }

    #[test]
    fn absurd_lengths_are_refused() {
        assert!(Guarded::new(0).is_err());
        assert!(Guarded::new(usize::MAX - PAGE).is_err());
    }
}
