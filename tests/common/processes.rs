//! Processes as /proc shows them.

use std::process::Command;
use std::time::{Duration, Instant};

/// Sends a signal by its name, such as `INT`.
pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &pid.to_string()]).status();
    assert!(sent.expect("there is a kill").success());
}

/// Workers of a parent, dead or alive: the page that they were given is the parent's.
pub(crate) fn workers_of(parent: u32) -> Vec<u32> {
    let page = format!("/proc/{parent}/fd/");
    let processes = std::fs::read_dir("/proc").expect("Linux");
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_worker = |pid: &u32| {
        // Empty for those that are dead and not yet reaped; gone for others.
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = line.split(|b| *b == 0).skip(1);
        words.next() == Some(b"worker")
            && words.next() == Some(b"--shared")
            && words.next().is_some_and(|path| path.starts_with(page.as_bytes()))
    };
    pids.filter(is_worker).collect()
}

/// Asserts that a parent's workers are gone soon.
pub(crate) fn no_workers_of(parent: u32) {
    let until = Instant::now() + Duration::from_secs(2);
    loop {
        let left = workers_of(parent);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < until, "workers outlive their parent: {left:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
