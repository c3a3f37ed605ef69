//! Which CPUs this process may run on, and staying on one of them.
#![allow(unsafe_code, reason = "affinity masks are read and set by system calls")]

use super::HostError;

/// CPUs the calling thread may run on, ascending; never empty.
///
/// # Errors
/// Where the system does not tell.
pub fn allowed_cpus() -> Result<Vec<u32>, HostError> {
    // SAFETY: a mask of all zeros is a valid, empty mask.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to `set`, whose size is passed with it; 0 is the calling thread.
    let told = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) };
    if told != 0 {
        return Err(HostError::Affinity(std::io::Error::last_os_error()));
    }
    let capacity = 8 * size_of_val(&set) as u32;
    // SAFETY: `cpu` is below the number of bits in `set`.
    let is_set = |cpu: &u32| unsafe { libc::CPU_ISSET(*cpu as usize, &set) };
    let cpus: Vec<u32> = (0..capacity).filter(is_set).collect();
    if cpus.is_empty() {
        return Err(HostError::Affinity(std::io::Error::other("the mask is empty")));
    }
    Ok(cpus)
}

/// Pins the calling thread to one CPU of the allowed set.
///
/// # Errors
/// If the CPU is not allowed, or the system refuses.
pub fn pin_to(cpu: u32) -> Result<(), HostError> {
    let allowed = allowed_cpus()?;
    if !allowed.contains(&cpu) {
        return Err(HostError::NotAllowed { cpu, allowed: human_list(&allowed) });
    }
    move_to(cpu)
}

/// Pins the calling thread to a CPU that its own mask need not allow: that of a thread which
/// was started by a pinned one does not.
///
/// # Errors
/// If the system refuses.
pub fn move_to(cpu: u32) -> Result<(), HostError> {
    let refused = |why| HostError::Pin { cpu, why };
    if cpu as usize >= 8 * size_of::<libc::cpu_set_t>() {
        return Err(refused(std::io::Error::from_raw_os_error(libc::EINVAL)));
    }
    // SAFETY: a mask of all zeros is a valid, empty mask.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `cpu` is below the number of bits of the mask.
    unsafe { libc::CPU_SET(cpu as usize, &mut set) };
    // SAFETY: the pointer is to `set`, whose size is passed with it; 0 is the calling thread.
    if unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) } != 0 {
        return Err(refused(std::io::Error::last_os_error()));
    }
    Ok(())
}

/// Pins the calling thread to one CPU of the allowed set, and returns which: the last one,
/// because interrupts and other people's work gather on the first.
///
/// # Errors
/// If the system does not tell the set, or refuses.
pub fn pin_to_one() -> Result<u32, HostError> {
    let allowed = allowed_cpus()?;
    let cpu = *allowed.last().expect("allowed_cpus never returns an empty list");
    pin_to(cpu)?;
    Ok(cpu)
}

/// CPUs as the kernel lists them: `0-3,8`. Items that are none are left out.
pub(crate) fn cpu_list(text: &str) -> Vec<u32> {
    /// More CPUs than a kernel supports: a range beyond it is no range.
    const MOST: u32 = 1 << 16;
    let range = |item: &str| {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let ends = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        (ends.1 < MOST).then_some(ends.0..=ends.1)
    };
    text.split(',').filter_map(range).flatten().collect()
}

/// CPUs as the kernel lists them.
pub(crate) fn human_list(cpus: &[u32]) -> String {
    let mut items: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus.iter().copied() {
        match items.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(cpu) => *last = cpu,
            _ => items.push((cpu, cpu)),
        }
    }
    let item = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    items.iter().map(item).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_read_and_show() {
        assert_eq!(cpu_list("0-2,5, 8-9\n"), [0, 1, 2, 5, 8, 9]);
        assert_eq!(cpu_list("x,3,7-,4000000000-4000000001"), [3]);
        assert_eq!(human_list(&[0, 1, 2, 5, 8, 9]), "0-2,5,8-9");
        assert_eq!(human_list(&[]), "");
    }

    #[test]
    fn a_thread_stays_where_it_is_pinned() {
        // in a thread of its own: the mask is inherited by what the test harness starts
        std::thread::spawn(|| {
            let before = allowed_cpus().unwrap();
            let cpu = pin_to_one().unwrap();
            assert!(before.contains(&cpu));
            assert!(cpu != 0 || before == [0], "CPU 0 though there was a choice");
            assert_eq!(allowed_cpus().unwrap(), [cpu]);
            let other = if cpu == 0 { 1 } else { 0 };
            assert!(matches!(pin_to(other), Err(HostError::NotAllowed { .. })));
        })
        .join()
        .unwrap();
    }
}
