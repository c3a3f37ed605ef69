//! The rest of the machine: firmware, kernel, settings, load, and what of it disturbs.

use std::path::Path;

use raw_cpuid::CpuIdReader;
use serde::{Deserialize, Serialize};

use super::affinity::{allowed_cpus, cpu_list, human_list};
use super::cache::Caches;
use super::clib::Clib;
use super::cpuid::{Cpu, EMULATOR, Leaves};
use super::tsc::Tsc;
use crate::units::human_size;

/// Settings and circumstances. `None` is "the system does not tell".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Revision of the microcode, as the kernel writes it.
    pub microcode: Option<String>,
    /// Release of the kernel.
    pub kernel: Option<String>,
    /// Name of the hypervisor; `None` on bare metal.
    pub hypervisor: Option<String>,
    /// Frequency governor of the CPU that measurements are pinned to.
    pub governor: Option<String>,
    /// Whether the clock may rise above its base rate.
    pub boost: Option<bool>,
    /// Whether cores run two threads.
    pub smt: Option<bool>,
    /// Mode of transparent huge pages: `always`, `madvise` or `never`.
    pub thp: Option<String>,
    /// Mean number of runnable threads over 1, 5 and 15 minutes.
    pub load: Option<[f64; 3]>,
    /// CPUs that are online.
    pub online_cpus: u32,
    /// CPUs that this process may run on.
    pub allowed_cpus: Vec<u32>,
    /// The C library.
    pub clib: Clib,
}

impl Conditions {
    pub(crate) fn read<R: CpuIdReader>(cpuid: &Leaves<R>) -> Conditions {
        let cpus = Path::new("/sys/devices/system/cpu");
        let allowed_cpus = allowed_cpus().unwrap_or_default();
        let pinned = allowed_cpus.last().copied().unwrap_or(0);
        let online = line(&cpus.join("online")).map_or(0, |l| cpu_list(&l).len() as u32);
        let governor = cpus.join(format!("cpu{pinned}/cpufreq/scaling_governor"));
        let no_turbo = || Some(line(&cpus.join("intel_pstate/no_turbo"))? == "0");
        let boost = line(&cpus.join("cpufreq/boost")).map(|l| l == "1").or_else(no_turbo);
        Conditions {
            microcode: read_microcode(),
            kernel: line(Path::new("/proc/sys/kernel/osrelease")),
            hypervisor: cpuid.hypervisor(),
            governor: line(&governor),
            boost,
            smt: line(&cpus.join("smt/active")).map(|l| l == "1"),
            thp: huge_page_mode(),
            load: line(Path::new("/proc/loadavg")).and_then(|l| load(&l)),
            online_cpus: online.max(allowed_cpus.len() as u32),
            allowed_cpus,
            clib: Clib::read(),
        }
    }

    /// The allowed CPUs as the kernel writes lists: `0-3,8`.
    pub fn allowed_list(&self) -> String {
        human_list(&self.allowed_cpus)
    }
}

/// Mode of transparent huge pages: `always`, `madvise` or `never`; `None` where the kernel has
/// none.
pub fn huge_page_mode() -> Option<String> {
    line(Path::new("/sys/kernel/mm/transparent_hugepage/enabled")).and_then(|l| chosen(&l))
}

/// The first line of a file; `None` where it cannot be read or is empty.
fn line(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().next().map(|l| l.trim().to_string()).filter(|l| !l.is_empty())
}

/// Revision of the microcode, as the kernel writes it.
pub(super) fn read_microcode() -> Option<String> {
    microcode(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

/// The microcode of the first CPU.
fn microcode(cpuinfo: &str) -> Option<String> {
    let field = |l: &str| Some(l.strip_prefix("microcode")?.split_once(':')?.1.trim().to_string());
    cpuinfo.lines().find_map(field)
}

/// The word in brackets: `always [madvise] never`.
fn chosen(choices: &str) -> Option<String> {
    let (_, rest) = choices.split_once('[')?;
    Some(rest.split_once(']')?.0.to_string())
}

fn load(line: &str) -> Option<[f64; 3]> {
    let mut numbers = line.split_whitespace().map_while(|n| n.parse::<f64>().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

/// Told and measured counter rates further apart than this do not tell of one counter.
const RATE_TOLERANCE: f64 = 0.01;
/// A calibration that spreads wider was disturbed throughout.
const SPREAD_TOLERANCE: f64 = 0.002;

/// What will disturb, one plain sentence each; the gravest first.
pub(crate) fn disturbances(
    cpu: &Cpu,
    conditions: &Conditions,
    tsc: &Tsc,
    caches: &Caches,
) -> Vec<String> {
    let mut said = Vec::new();
    let mut say = |sentence: String| said.push(sentence);
    if !tsc.invariant {
        say("The time-stamp counter is not promised to run steadily; times may be wrong.".into());
    }
    if let Some(told) = tsc.told_hz.filter(|t| (t / tsc.calibrated_hz - 1.0).abs() > RATE_TOLERANCE)
    {
        let (told, measured) = (told / 1e6, tsc.calibrated_hz / 1e6);
        say(format!(
            "The time-stamp counter is told to run at {told:.1} MHz and runs at {measured:.1}; \
             the measured rate is used."
        ));
    }
    if tsc.spread > SPREAD_TOLERANCE {
        let percent = tsc.spread * 100.0;
        say(format!("The time-stamp counter's rate was measured to {percent:.1} % only."));
    }
    if conditions.hypervisor.as_deref() == Some(EMULATOR) {
        say("The processor is emulated in software: times say nothing of real hardware.".into());
    } else if let Some(name) = &conditions.hypervisor {
        let llc = caches.llc_bytes().map_or(String::new(), |llc| {
            let llc = human_size(llc);
            format!("; of the last-level cache of {llc} it may get a small part")
        });
        say(format!(
            "This is a guest of {name}: the host may take the CPU away, and others share its \
             caches and memory{llc}."
        ));
    }
    if cpu.hybrid {
        say("Cores of unlike designs share this machine; pin with taskset to choose.".into());
    }
    match conditions.allowed_cpus.len() {
        0 => say("The CPUs this process may run on are not told; nothing is pinned.".into()),
        1 if conditions.online_cpus > 1 => {
            say("Only one CPU is allowed: this program's own work disturbs its worker.".into());
        }
        _ if conditions.online_cpus == 1 => {
            say("There is one CPU only: everything else that runs disturbs the worker.".into());
        }
        _ => {}
    }
    if let Some([now, ..]) = conditions.load
        && now > 0.5
    {
        let cpus = conditions.online_cpus;
        let s = if cpus == 1 { "" } else { "s" };
        say(format!("Other work runs: the load is {now:.1} on {cpus} CPU{s}."));
    }
    if let Some(governor) = conditions.governor.as_deref().filter(|g| *g != "performance") {
        say(format!(
            "The frequency governor is `{governor}`, not `performance`: the clock follows the load."
        ));
    }
    if conditions.boost == Some(true) {
        say("The clock may boost: it moves with heat and with what other cores do.".into());
    }
    if conditions.smt == Some(true) {
        say("Cores run two threads: work on the sibling CPU takes half of the core.".into());
    }
    if conditions.thp.as_deref() == Some("always") {
        say("Transparent huge pages are `always`: pages of other programs' buffers differ.".into());
    }
    let clib = &conditions.clib;
    if let Some(tunables) = &clib.tunables {
        say(format!("GLIBC_TUNABLES is set ({tunables}): the libc baseline is not the default."));
    }
    let last = caches.llc_bytes().unwrap_or_else(|| caches.l2_bytes());
    if let Some(threshold) = clib.nt_threshold.filter(|t| *t > last) {
        say(format!(
            "libc turns to non-temporal stores from {} only, above the last-level cache of {}: it \
             may be slow on cold data for no other reason.",
            human_size(threshold),
            human_size(last)
        ));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::super::cpuid::script::machine;
    use super::*;

    #[test]
    fn the_kernels_formats_are_read() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("always"), None);
        assert_eq!(load("0.52 0.58 0.59 1/467 12345"), Some([0.52, 0.58, 0.59]));
        assert_eq!(load("0.52"), None);
        let cpuinfo = "processor\t: 0\nmicrocode\t: 0x1000065\n\nprocessor\t: 1\n";
        assert_eq!(microcode(cpuinfo).as_deref(), Some("0x1000065"));
        assert_eq!(microcode(""), None);
    }

    fn quiet() -> (Cpu, Conditions, Tsc, Caches) {
        // caches are assumed where nothing is told: 32k, 256k, no level 3
        let mut caches = Caches::judge([None; 3]);
        caches.warnings.clear();
        let conditions =
            Conditions { online_cpus: 2, allowed_cpus: vec![0, 1], ..Conditions::default() };
        let tsc = Tsc { invariant: true, told_hz: None, calibrated_hz: 2e9, spread: 0.0 };
        let nothing = Cpu::read(&machine(&[((0, 0), [0; 4])]));
        (nothing, conditions, tsc, caches)
    }

    #[test]
    fn a_quiet_machine_has_nothing_to_say() {
        let (cpu, mut conditions, tsc, caches) = quiet();
        conditions.governor = Some("performance".into());
        conditions.load = Some([0.1, 5.0, 5.0]);
        assert_eq!(disturbances(&cpu, &conditions, &tsc, &caches), [""; 0]);
    }

    #[test]
    fn each_disturbance_has_its_sentence() {
        type Change = fn(&mut Cpu, &mut Conditions, &mut Tsc);
        let cases: [(&str, Change); 14] = [
            ("not promised", |_, _, t| t.invariant = false),
            ("2100.0 MHz and runs at 2000.0", |_, _, t| t.told_hz = Some(2.1e9)),
            ("1.0 %", |_, _, t| t.spread = 0.01),
            ("guest of Xen", |_, c, _| c.hypervisor = Some("Xen".into())),
            ("in software", |_, c, _| c.hypervisor = Some(EMULATOR.into())),
            ("unlike designs", |cpu, _, _| cpu.hybrid = true),
            ("Only one CPU", |_, c, _| c.allowed_cpus = vec![1]),
            ("load is 3.5 on 2 CPUs", |_, c, _| c.load = Some([3.5, 0.0, 0.0])),
            ("`powersave`", |_, c, _| c.governor = Some("powersave".into())),
            ("boost", |_, c, _| c.boost = Some(true)),
            ("two threads", |_, c, _| c.smt = Some(true)),
            ("huge pages", |_, c, _| c.thp = Some("always".into())),
            ("GLIBC_TUNABLES", |_, c, _| c.clib.tunables = Some("glibc.x=1".into())),
            ("non-temporal", |_, c, _| c.clib.nt_threshold = Some(u64::MAX)),
        ];
        for (wanted, change) in cases {
            let (mut cpu, mut conditions, mut tsc, caches) = quiet();
            change(&mut cpu, &mut conditions, &mut tsc);
            let said = disturbances(&cpu, &conditions, &tsc, &caches);
            assert_eq!(said.len(), 1, "{wanted}: {said:?}");
            assert!(said[0].contains(wanted), "{wanted}: {said:?}");
        }
    }
}
