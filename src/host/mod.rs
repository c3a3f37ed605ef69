//! Facts about this machine: what its processor is and may do, how large its caches say
//! they are, how its time-stamp counter runs, and what will disturb a measurement.
//!
//! [`Host::detect`] asks once, in about 25 ms; [`Fingerprint::read`] is the cheap part by
//! which two processes tell whether they stand on the same machine. Everything that CPUID
//! says is taken as a claim: registers that the operating system has not enabled make a
//! feature unusable, and cache sizes that cannot be true are replaced, with a warning.

mod affinity;
mod cache;
mod clib;
mod conditions;
mod cpuid;
mod feature;
mod key;
mod limit;
mod march;
mod process;
mod stat;
mod surroundings;
mod tsc;
mod usable;
mod xcr;

use serde::{Deserialize, Serialize};

pub use affinity::{allowed_cpus, move_to, pin_to, pin_to_one};
pub use cache::{Cache, Caches};
pub use clib::Clib;
pub use conditions::{Conditions, huge_page_mode};
pub use cpuid::Cpu;
pub use feature::{Feature, FeatureSet};
pub use key::Fingerprint;
pub use limit::PortLimit;
pub use march::Microarch;
pub use process::{context_switches, die_with_parent, minor_faults, no_core_files, take_alone};
pub use stat::CpuTimes;
pub use surroundings::{Household, Surroundings, kill_group, leave};
pub use tsc::Tsc;
pub use usable::{Refusal, Why};

/// What the system refused to do or to say.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The affinity mask cannot be read, or names no CPU.
    #[error("the CPUs this process may run on cannot be told: {0}")]
    Affinity(std::io::Error),
    /// The CPU is not in the allowed set.
    #[error(
        "CPU {cpu} is not among those this process may run on ({allowed}); choose one of them, or widen the set with taskset"
    )]
    NotAllowed {
        /// The CPU that was asked for.
        cpu: u32,
        /// The allowed CPUs, as a list.
        allowed: String,
    },
    /// The system refused to pin the thread.
    #[error("the thread cannot be pinned to CPU {cpu}: {why}")]
    Pin {
        /// The CPU that was asked for.
        cpu: u32,
        /// What the system says.
        why: std::io::Error,
    },
    /// The parent-death signal cannot be set.
    #[error("the system does not promise to end this process with its parent: {0}")]
    ParentDeath(std::io::Error),
    /// The limit on core files cannot be set.
    #[error("the system does not let this process forgo core files: {0}")]
    CoreFiles(std::io::Error),
    /// The parent was gone before the promise held.
    #[error("the parent process is gone")]
    Orphaned,
}

/// This machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Names this machine in file names: vendor, family, model, stepping and a short hash of
    /// features and microcode.
    pub key: String,
    /// What the processor says it is.
    pub cpu: Cpu,
    /// Which register states the operating system has enabled; `None` where it uses no
    /// `xsave`.
    pub xcr0: Option<u64>,
    /// Features that may be used here.
    pub usable: FeatureSet,
    /// All other features, each with the reason.
    pub refused: Vec<Refusal>,
    /// Caches of the CPU that was asked.
    pub caches: Caches,
    /// The time-stamp counter.
    pub tsc: Tsc,
    /// The rest of the machine: firmware, kernel, settings, load.
    pub conditions: Conditions,
}

/// The part of a [`Host`] that names it; read without the calibration of its clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// As [`Host::key`].
    pub key: String,
    /// As [`Host::usable`].
    pub usable: FeatureSet,
}

impl Identity {
    /// Asks the machine, in a millisecond or two. Never fails, as [`Host::detect`].
    pub fn read() -> Identity {
        let cpuid = cpuid::Leaves::native();
        let cpu = Cpu::read(&cpuid);
        let (usable, _) = usable::read(&cpuid, xcr::read(&cpuid), process::ask_for_tiles);
        let key = key::host_key(&cpu, usable, conditions::read_microcode().as_deref());
        Identity { key, usable }
    }
}

impl Host {
    /// Asks the machine. Never fails: what cannot be told is `None` or "unknown", and what
    /// cannot be true stands among the warnings. Where there might be tiles, this process asks
    /// the kernel for them: best before it starts threads, whose signal stacks could be too
    /// small for them.
    pub fn detect() -> Host {
        let cpuid = cpuid::Leaves::native();
        let cpu = Cpu::read(&cpuid);
        let xcr0 = xcr::read(&cpuid);
        let (usable, refused) = usable::read(&cpuid, xcr0, process::ask_for_tiles);
        let caches = Caches::read(&cpuid);
        let tsc = Tsc::read(&cpuid, usable.contains(Feature::Rdtscp));
        let conditions = Conditions::read(&cpuid);
        let key = key::host_key(&cpu, usable, conditions.microcode.as_deref());
        Host { key, cpu, xcr0, usable, refused, caches, tsc, conditions }
    }

    /// Why a feature may not be used here; `None` if it may.
    pub fn refusal(&self, feature: Feature) -> Option<Why> {
        self.refused.iter().find(|r| r.feature == feature).map(|r| r.why)
    }

    /// What a worker on the same machine must answer with.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.cpu, self.usable, self.xcr0)
    }

    /// Bytes a core cycle that stores of at most `widest_store_bytes` can bring into L1.
    pub fn store_limit(&self, widest_store_bytes: u32) -> PortLimit {
        limit::store(self.cpu.microarch, widest_store_bytes)
    }

    /// Bytes a core cycle that loads of at most `widest_load_bytes` can bring out of L1.
    pub fn load_limit(&self, widest_load_bytes: u32) -> PortLimit {
        limit::load(self.cpu.microarch, widest_load_bytes)
    }

    /// Bytes a core cycle that a copy by moves of at most `widest_bytes` can do within L1:
    /// the least of the store limit, the load limit and what the address units allow, since
    /// each moved register needs a load and a store.
    pub fn copy_limit(&self, widest_bytes: u32) -> PortLimit {
        limit::copy(self.cpu.microarch, widest_bytes)
    }

    /// What will disturb a measurement here and now, one plain sentence each.
    pub fn disturbances(&self) -> Vec<String> {
        conditions::disturbances(&self.cpu, &self.conditions, &self.tsc, &self.caches)
    }
}
