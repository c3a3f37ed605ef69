//! The page through which a worker tells its parent what is in flight.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use super::MemError;
use super::map::PAGE;

/// What a worker does with the member in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Nothing: no function of a member runs.
    Idle,
    /// A case of verification.
    Verifying,
    /// A timed pass.
    Timing,
}

impl Activity {
    const ALL: [Activity; 3] = [Activity::Idle, Activity::Verifying, Activity::Timing];
}

/// What stands in the page. Zeroes mean: idle, nothing happened yet.
#[repr(C)]
struct Board {
    beat: AtomicU64,
    /// Member in the upper half, [`Activity`] in the lower.
    in_flight: AtomicU64,
    n: AtomicU64,
    /// Destination code in the upper half, source code in the lower.
    places: AtomicU64,
}

/// One page that parent and worker both map. The worker writes what it is about to do; the
/// parent reads it when the worker has died or is overdue.
///
/// Every field is an atomic of its own. Stores cost as much as ordinary ones; a reader that
/// does not wait for the worker's end may see fields of two moments.
#[derive(Debug)]
pub struct SharedPage {
    page: *mut Board,
    /// Kept open in the creator: the path leads through it.
    _file: Option<OwnedFd>,
}

// SAFETY: the page is reached through atomics only.
unsafe impl Send for SharedPage {}
// SAFETY: as above.
unsafe impl Sync for SharedPage {}

impl SharedPage {
    /// Makes a page and the path under which a child process can open it as long as this
    /// value lives.
    ///
    /// # Errors
    /// Where the system refuses.
    pub fn create() -> Result<(SharedPage, String), MemError> {
        let failed = |source| MemError::SharedCreate { source };
        // SAFETY: the name is a constant text that ends with a zero byte.
        let raw = unsafe { libc::memfd_create(c"looptune".as_ptr(), libc::MFD_CLOEXEC) };
        if raw < 0 {
            return Err(failed(io::Error::last_os_error()));
        }
        // SAFETY: `raw` was just opened and belongs to nobody else.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(raw) });
        file.set_len(PAGE as u64).map_err(failed)?;
        let page = map(&file).map_err(failed)?;
        let path = format!("/proc/{}/fd/{raw}", std::process::id());
        Ok((SharedPage { page, _file: Some(file.into()) }, path))
    }

    /// Opens the page that a parent made.
    ///
    /// # Errors
    /// Where there is none at the path.
    pub fn open(path: &str) -> Result<SharedPage, MemError> {
        let failed = |source| MemError::SharedOpen { path: path.to_string(), source };
        let file = File::options().read(true).write(true).open(path).map_err(failed)?;
        // A shorter file would fault at the first access.
        if file.metadata().map_err(failed)?.len() < PAGE as u64 {
            return Err(failed(io::Error::other("shorter than a page")));
        }
        let page = map(&file).map_err(failed)?;
        Ok(SharedPage { page, _file: None })
    }

    fn board(&self) -> &Board {
        // SAFETY: `page` is a live shared map of a whole page, unmapped only by drop; every
        // bit pattern is a valid `Board`, and all its fields are atomics.
        unsafe { &*self.page }
    }

    /// Counts one sign of life.
    pub fn beat(&self) {
        self.board().beat.fetch_add(1, Ordering::Relaxed);
    }

    /// Signs of life so far.
    pub fn beats(&self) -> u64 {
        self.board().beat.load(Ordering::Acquire)
    }

    /// Tells what is about to run.
    pub fn set_in_flight(&self, member: u32, activity: Activity) {
        let word = u64::from(member) << 32 | activity as u64;
        self.board().in_flight.store(word, Ordering::Release);
    }

    /// What was running: the member and what was done with it.
    pub fn in_flight(&self) -> (u32, Activity) {
        let word = self.board().in_flight.load(Ordering::Acquire);
        let activity = Activity::ALL.get(word as u32 as usize).copied();
        ((word >> 32) as u32, activity.unwrap_or(Activity::Idle))
    }

    /// Tells which case is about to run: the number of bytes, and codes of the places of the
    /// destination and the source.
    pub fn set_case(&self, n: u64, dst: u32, src: u32) {
        self.board().n.store(n, Ordering::Release);
        self.board().places.store(u64::from(dst) << 32 | u64::from(src), Ordering::Release);
    }

    /// The case that was running: (n, dst, src) of the last [`SharedPage::set_case`].
    pub fn case(&self) -> (u64, u32, u32) {
        let n = self.board().n.load(Ordering::Acquire);
        let places = self.board().places.load(Ordering::Acquire);
        (n, (places >> 32) as u32, places as u32)
    }
}

impl Drop for SharedPage {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length; no reference outlives self.
        unsafe { libc::munmap(self.page.cast(), PAGE) };
    }
}

/// Maps the first page of a file, shared.
fn map(file: &File) -> io::Result<*mut Board> {
    // SAFETY: a new map at an address of the system's choice touches no existing memory.
    let page = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            PAGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if page == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(page.cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_side_tells_the_other_reads() {
        let (parent, path) = SharedPage::create().expect("memfd is there");
        let child = SharedPage::open(&path).expect("opens by path");
        assert_eq!(parent.in_flight(), (0, Activity::Idle));
        assert_eq!((parent.beats(), parent.case()), (0, (0, 0, 0)));
        child.beat();
        child.beat();
        child.set_in_flight(7, Activity::Timing);
        child.set_case(u64::MAX, 3, u32::MAX);
        assert_eq!(parent.beats(), 2);
        assert_eq!(parent.in_flight(), (7, Activity::Timing));
        assert_eq!(parent.case(), (u64::MAX, 3, u32::MAX));
        child.set_in_flight(u32::MAX, Activity::Verifying);
        drop(child);
        assert_eq!(parent.in_flight(), (u32::MAX, Activity::Verifying));
    }

    #[test]
    fn a_wrong_path_is_named() {
        let error = SharedPage::open("/nonexistent/page").expect_err("there is none");
        assert!(error.to_string().contains("/nonexistent/page"));
        let short = tempfile::NamedTempFile::new().expect("a temporary file");
        assert!(SharedPage::open(&short.path().to_string_lossy()).is_err());
    }
}
