//! What a process asks of the system about itself and its files.
#![allow(unsafe_code, reason = "prctl, getrusage and flock are system calls")]

use std::fs::File;
use std::os::fd::AsRawFd;

use super::HostError;

/// Takes a file for this process alone, as long as the file is open here and however this
/// process ends; `false` where another process has it. Only those who ask heed it.
///
/// # Errors
/// Where the system refuses for another reason: some file systems know no such locks.
pub fn take_alone(file: &File) -> std::io::Result<bool> {
    // SAFETY: the call takes two numbers, the first that of a file which `file` keeps open, and
    // touches no memory of ours.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(true);
    }
    match std::io::Error::last_os_error() {
        e if e.kind() == std::io::ErrorKind::WouldBlock => Ok(false),
        e => Err(e),
    }
}

/// Ends this process (by SIGKILL) when the thread that started it ends, however that comes.
/// A parent that was gone before the call sends nothing; it shows as the end of the pipe to
/// it, which the caller must heed anyway.
///
/// # Errors
/// Where the system refuses, or the parent went during the call.
pub fn die_with_parent() -> Result<(), HostError> {
    let parent = std::os::unix::process::parent_id();
    let signal = libc::SIGKILL as libc::c_ulong;
    // SAFETY: this option takes the signal's number and touches no memory of ours.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal, 0, 0, 0) } != 0 {
        return Err(HostError::ParentDeath(std::io::Error::last_os_error()));
    }
    if std::os::unix::process::parent_id() != parent {
        return Err(HostError::Orphaned);
    }
    Ok(())
}

/// Makes this process end without a core file when a signal ends it: in a process whose
/// deaths are ordinary answers, they would only fill the disk.
///
/// # Errors
/// Where the system refuses.
pub fn no_core_files() -> Result<(), HostError> {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to `none`, which is only read.
    if unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) } != 0 {
        return Err(HostError::CoreFiles(std::io::Error::last_os_error()));
    }
    Ok(())
}

/// Asks the kernel to let this process, and all it will start, use tiles: their registers are so
/// large that a process has them saved only on demand. Asking again does no harm.
///
/// # Errors
/// The error's number, where the kernel does not grant it.
pub(crate) fn ask_for_tiles() -> Result<(), i32> {
    /// `ARCH_REQ_XCOMP_PERM`, of `asm/prctl.h`.
    const REQUEST: libc::c_long = 0x1023;
    /// The data of tiles, by its bit of XCR0.
    const TILE_DATA: libc::c_long = 18;
    // SAFETY: this request takes a number and touches no memory of ours.
    match unsafe { libc::syscall(libc::SYS_arch_prctl, REQUEST, TILE_DATA) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or_default()),
    }
}

/// Context switches of the calling thread since its start: voluntary, involuntary.
pub fn context_switches() -> (u64, u64) {
    let usage = usage(libc::RUSAGE_THREAD);
    (usage.ru_nvcsw as u64, usage.ru_nivcsw as u64)
}

/// Page faults of the calling thread since its start that needed no disk.
pub fn minor_faults() -> u64 {
    usage(libc::RUSAGE_THREAD).ru_minflt as u64
}

fn usage(who: libc::c_int) -> libc::rusage {
    // SAFETY: rusage is plain numbers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to `usage`. The call fails only for an unknown `who` or a bad
    // pointer; the zeros then stay.
    unsafe { libc::getrusage(who, &mut usage) };
    usage
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_for_tiles_has_one_answer() {
        assert_eq!(ask_for_tiles(), ask_for_tiles());
    }

    #[test]
    fn sleeping_is_a_voluntary_switch() {
        let before = context_switches().0;
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(context_switches().0 > before);
    }
}
