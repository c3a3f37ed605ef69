//! What a function that others wrote may change of the process it runs in, and how it is put
//! back, so that the next function does not pay for it.
#![allow(unsafe_code, reason = "signals, timers and children are known to the system alone")]

use std::path::PathBuf;

/// Highest signal number, real-time signals among them.
const LAST_SIGNAL: libc::c_int = 64;

/// Signal actions, blocked signals and the current folder, as they were at some moment.
pub struct Surroundings {
    folder: Option<PathBuf>,
    actions: Vec<(libc::c_int, libc::sigaction)>,
    blocked: libc::sigset_t,
}

impl std::fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Surroundings {
    /// As they are now. What the system does not tell is not put back.
    pub fn read() -> Surroundings {
        let mut actions = Vec::new();
        for signal in 1..=LAST_SIGNAL {
            // SAFETY: sigaction is plain numbers, for which zeros are valid.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: nothing is set; the pointer is to `action`. Signals that the C library
            // keeps for itself are refused.
            if unsafe { libc::sigaction(signal, std::ptr::null(), &mut action) } == 0 {
                actions.push((signal, action));
            }
        }
        // SAFETY: a set of signals is plain bits, for which zeros are valid.
        let mut blocked: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: nothing is set; the pointer is to `blocked`.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &mut blocked) };
        Surroundings { folder: std::env::current_dir().ok(), actions, blocked }
    }

    /// Puts them back and stops the process's timers. What the system refuses stays.
    pub fn restore(&self) {
        // SAFETY: itimerval is plain numbers; zeros stop a timer.
        let stopped: libc::itimerval = unsafe { std::mem::zeroed() };
        for timer in [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF] {
            // SAFETY: the pointer is to `stopped`, which is only read.
            unsafe { libc::setitimer(timer, &stopped, std::ptr::null_mut()) };
        }
        for (signal, action) in &self.actions {
            // SAFETY: the action is what this process had before, and its handlers are code
            // that lives as long as the process.
            unsafe { libc::sigaction(*signal, action, std::ptr::null_mut()) };
        }
        // SAFETY: the pointer is to `blocked`, which is only read.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.blocked, std::ptr::null_mut()) };
        if let Some(folder) = &self.folder {
            // It may have been removed meanwhile; then there is no way back.
            let _ = std::env::set_current_dir(folder);
        }
    }
}

/// Who this process is, and whether it had children.
#[derive(Clone, Copy, Debug)]
pub struct Household {
    pid: u32,
    childless: bool,
}

impl Household {
    /// Of this process, now.
    pub fn read() -> Household {
        Household { pid: std::process::id(), childless: !has_children() }
    }

    /// Ends this process at once if it is a copy (by `fork`) of the one that made the value:
    /// two that do the same work would answer twice.
    pub fn leave_if_copy(&self) {
        if std::process::id() != self.pid {
            leave(0);
        }
    }

    /// Whether children have come since. Always false where there were some before.
    pub fn has_grown(&self) -> bool {
        self.childless && has_children()
    }
}

fn has_children() -> bool {
    // SAFETY: siginfo is plain numbers, for which zeros are valid.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let ask = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: the pointer is to `info`; the children are only looked at.
    unsafe { libc::waitid(libc::P_ALL, 0, &mut info, ask) == 0 }
}

/// Ends this process without anything that others asked to be done on its way out.
pub fn leave(status: i32) -> ! {
    // SAFETY: ends the process; nothing of it is used again.
    unsafe { libc::_exit(status) }
}

/// Kills what is left of a process group that was begun for a child of ours, by its leader's
/// process id.
pub fn kill_group(leader: u32) {
    // Of the numbers that are no group of another's, 0 and 1 would be everybody's.
    if let Some(group) = libc::pid_t::try_from(leader).ok().filter(|group| *group > 1) {
        // SAFETY: sends a signal and touches no memory; fails where nobody is left.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_a_signal_are_put_back() {
        let action = || {
            let found = Surroundings::read().actions;
            found.iter().find(|(s, _)| *s == libc::SIGUSR2).map(|(_, a)| a.sa_sigaction)
        };
        // The folder belongs to all tests of the process: it is left where it is.
        let before = Surroundings { folder: None, ..Surroundings::read() };
        assert_eq!(action(), Some(libc::SIG_DFL));
        // SAFETY: SIG_IGN is no handler of ours.
        unsafe { libc::signal(libc::SIGUSR2, libc::SIG_IGN) };
        assert_eq!(action(), Some(libc::SIG_IGN));
        before.restore();
        assert_eq!(action(), Some(libc::SIG_DFL));
    }

    #[test]
    fn a_process_is_no_copy_of_itself() {
        Household::read().leave_if_copy();
    }
}
