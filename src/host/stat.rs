//! What the system counts of the CPUs' time: how much of it somebody else took.

/// Time of all CPUs since the system started, in the kernel's ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// All of it.
    pub all: u64,
    /// What the host of a guest gave to others while the guest wanted to run.
    pub steal: u64,
}

impl CpuTimes {
    /// As they are now; `None` where the system does not tell.
    pub fn read() -> Option<CpuTimes> {
        parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// Part of the CPUs' time since an earlier look that was stolen, 0 to 1; `None` where no
    /// time has passed on the kernel's clock.
    pub fn steal_since(&self, earlier: &CpuTimes) -> Option<f64> {
        let all = self.all.checked_sub(earlier.all).filter(|all| *all > 0)?;
        Some(self.steal.saturating_sub(earlier.steal) as f64 / all as f64)
    }
}

/// The line of all CPUs: user, nice, system, idle, iowait, irq, softirq, steal; what guests of
/// this system took follows, and is part of user and nice.
fn parse(text: &str) -> Option<CpuTimes> {
    let line = text.lines().find_map(|l| l.strip_prefix("cpu "))?;
    let times: Option<Vec<u64>> = line.split_whitespace().take(8).map(|n| n.parse().ok()).collect();
    let times = times.filter(|t| t.len() == 8)?;
    Some(CpuTimes { all: times.iter().sum(), steal: times[7] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_a_part_of_all_time() {
        let text = |n| format!("cpu  10 0 5 80 1 2 2 {n} 7 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
        let (before, after) = (parse(&text(0)).unwrap(), parse(&text(25)).unwrap());
        assert_eq!(before, CpuTimes { all: 100, steal: 0 });
        assert_eq!(after.steal_since(&before), Some(1.0));
        assert_eq!(after.steal_since(&after), None);
        assert_eq!(before.steal_since(&after), None);
    }

    #[test]
    fn what_is_no_such_file_is_not_told() {
        assert_eq!(parse(""), None);
        assert_eq!(parse("cpu  1 2 3\n"), None);
        assert_eq!(parse("cpu  1 2 3 x 5 6 7 8\n"), None);
    }
}
