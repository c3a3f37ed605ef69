//! Which features may be used here, and why not the others.

use raw_cpuid::CpuIdReader;
use serde::{Deserialize, Serialize};

use super::cpuid::Leaves;
use super::feature::{Feature, FeatureSet};
use super::xcr;

/// A feature that may not be used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Which.
    pub feature: Feature,
    /// For what reason.
    pub why: Why,
}

/// Why a feature may not be used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Why {
    /// The processor does not say that it has it.
    NotReported,
    /// The processor has it, but its registers are not saved over a context switch.
    NotEnabled {
        /// What the operating system has enabled.
        xcr0: Option<u64>,
    },
    /// The processor reports it without another feature that it is built on.
    Without(Feature),
    /// The kernel grants it to a process that asks, and did not grant it to this one.
    NotGranted {
        /// Number of the error that the kernel answered with.
        errno: i32,
    },
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::NotReported => write!(f, "CPUID does not report it"),
            Why::NotEnabled { xcr0: Some(bits) } => {
                write!(f, "the operating system has not enabled the registers (XCR0 {bits:#x})")
            }
            Why::NotEnabled { xcr0: None } => {
                write!(f, "the operating system has not enabled the registers (no OSXSAVE)")
            }
            Why::Without(other) => write!(f, "it needs {other}, which is not usable"),
            Why::NotGranted { errno } => write!(
                f,
                "the kernel does not grant it to this process ({})",
                std::io::Error::from_raw_os_error(*errno)
            ),
        }
    }
}

/// All features, parted. `ask` asks the kernel for tiles, and is called only where they might
/// be usable: a system that does not know them need not be asked. Leaf 7 and its like are read by hand: the library has no accessor
/// for half of what is asked here.
pub(crate) fn read<R: CpuIdReader>(
    cpuid: &Leaves<R>,
    xcr0: Option<u64>,
    ask: impl Fn() -> Result<(), i32>,
) -> (FeatureSet, Vec<Refusal>) {
    let reported = reported(cpuid);
    let enabled = |states: u64| xcr0.is_some_and(|bits| bits & states == states);
    let mut usable = FeatureSet::EMPTY;
    let mut refused = Vec::new();
    for feature in Feature::ALL.iter().copied() {
        let why = if !reported.contains(feature) {
            Some(Why::NotReported)
        } else if states(feature).is_some_and(|s| !enabled(s)) {
            Some(Why::NotEnabled { xcr0 })
        } else if feature == Feature::AmxTile {
            ask().err().map(|errno| Why::NotGranted { errno })
        } else {
            // features stand in an order in which what is built on comes first
            base(feature).filter(|b| !usable.contains(*b)).map(Why::Without)
        };
        match why {
            None => usable = usable.with(feature),
            Some(why) => refused.push(Refusal { feature, why }),
        }
    }
    (usable, refused)
}

/// Register states that the operating system must have enabled.
fn states(feature: Feature) -> Option<u64> {
    match feature {
        Feature::Avx | Feature::Avx2 => Some(xcr::YMM),
        Feature::Avx512f | Feature::Avx512vl | Feature::Avx512bw => Some(xcr::ZMM),
        Feature::AmxTile => Some(xcr::TILE),
        _ => None,
    }
}

/// The feature that another is built on. Hypervisors can hide the one and leave the other.
fn base(feature: Feature) -> Option<Feature> {
    match feature {
        Feature::Avx2 | Feature::Avx512f => Some(Feature::Avx),
        Feature::Avx512vl | Feature::Avx512bw => Some(Feature::Avx512f),
        _ => None,
    }
}

/// What CPUID reports, whether usable or not.
fn reported<R: CpuIdReader>(cpuid: &Leaves<R>) -> FeatureSet {
    let one = cpuid.leaf(1, 0);
    let seven = cpuid.leaf7(0);
    let seven_one = cpuid.leaf7(1);
    let extended = cpuid.leaf(0x8000_0001, 0);
    let capacity = cpuid.leaf(0x8000_0008, 0);
    let bit = |feature: Feature| {
        let (register, bit) = match feature {
            Feature::Mmx => (one.edx, 23),
            Feature::Sse => (one.edx, 25),
            Feature::Sse2 => (one.edx, 26),
            Feature::Avx => (one.ecx, 28),
            Feature::Avx2 => (seven.ebx, 5),
            Feature::Avx512f => (seven.ebx, 16),
            Feature::Avx512vl => (seven.ebx, 31),
            Feature::Avx512bw => (seven.ebx, 30),
            Feature::Bmi2 => (seven.ebx, 8),
            Feature::Prefetchw => (extended.ecx, 8),
            Feature::Erms => (seven.ebx, 9),
            Feature::Fsrm => (seven.edx, 4),
            Feature::Fzrm => (seven_one.eax, 10),
            Feature::Fsrs => (seven_one.eax, 11),
            Feature::Rdtscp => (extended.edx, 27),
            Feature::Clflush => (one.edx, 19),
            Feature::Clflushopt => (seven.ebx, 23),
            Feature::Clwb => (seven.ebx, 24),
            Feature::Cldemote => (seven.ecx, 25),
            Feature::Movdiri => (seven.ecx, 27),
            Feature::Movdir64b => (seven.ecx, 28),
            Feature::AmxTile => (seven.edx, 24),
            Feature::Clzero => (capacity.ebx, 0),
        };
        register >> bit & 1 == 1
    };
    Feature::ALL.iter().copied().filter(|f| bit(*f)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::cpuid::script::{Row, machine, vendor};
    use super::super::feature::{Feature, FeatureSet};
    use super::{CpuIdReader, Leaves, Refusal, Why};

    /// A machine whose kernel grants tiles.
    fn read<R: CpuIdReader>(cpuid: &Leaves<R>, xcr0: Option<u64>) -> (FeatureSet, Vec<Refusal>) {
        super::read(cpuid, xcr0, || Ok(()))
    }

    /// A server with AVX-512 and tiles.
    fn server() -> Vec<Row> {
        vec![
            vendor("GenuineIntel", 0x1f),
            ((1, 0), [0x000c_06f2, 0, 1 << 28 | 1 << 27 | 1 << 26, 1 << 19 | 1 << 23 | 3 << 25]),
            (
                (7, 0),
                [
                    1,
                    1 << 5 | 1 << 8 | 1 << 9 | 1 << 16 | 1 << 23 | 1 << 24 | 3 << 30,
                    0x1a00_0000,
                    { 1 << 4 | 1 << 24 },
                ],
            ),
            ((7, 1), [1 << 10 | 1 << 11, 0, 0, 0]),
            ((0x8000_0000, 0), [0x8000_0008, 0, 0, 0]),
            ((0x8000_0001, 0), [0, 0, 1 << 8, 1 << 27]),
            ((0x8000_0008, 0), [0, 0, 0, 0]),
        ]
    }

    fn why(refused: &[Refusal], feature: Feature) -> Option<Why> {
        refused.iter().find(|r| r.feature == feature).map(|r| r.why)
    }

    #[test]
    fn every_feature_is_usable_or_refused_once() {
        let (usable, refused) = read(&machine(&server()), Some(0x602e7));
        for feature in Feature::ALL {
            let times = refused.iter().filter(|r| r.feature == *feature).count();
            assert_eq!(times, usize::from(!usable.contains(*feature)), "{feature}");
        }
        assert!(usable.contains(Feature::AmxTile));
        assert_eq!(why(&refused, Feature::Clzero), Some(Why::NotReported));
        assert_eq!(refused.len(), 1);
    }

    #[test]
    fn tiles_that_the_kernel_does_not_grant_are_refused_with_its_reason() {
        let refuses = || Err(libc::EPERM);
        let (usable, refused) = super::read(&machine(&server()), Some(0x602e7), refuses);
        let wanted = Why::NotGranted { errno: libc::EPERM };
        assert!(!usable.contains(Feature::AmxTile) && usable.contains(Feature::Avx512f));
        assert_eq!(why(&refused, Feature::AmxTile), Some(wanted));
        assert!(wanted.to_string().contains("Operation not permitted"), "{wanted}");
    }

    #[test]
    fn the_kernel_is_asked_only_where_tiles_might_be() {
        let never = || panic!("asked");
        // Configuration without data, and the other way round, are no tiles.
        for xcr0 in [None, Some(0b111), Some(0x202e7), Some(0x402e7)] {
            let (_, refused) = super::read(&machine(&server()), xcr0, never);
            assert_eq!(why(&refused, Feature::AmxTile), Some(Why::NotEnabled { xcr0 }));
        }
        let mut rows = server();
        rows[2].1[3] &= !(1 << 24);
        let (_, refused) = super::read(&machine(&rows), Some(0x602e7), never);
        assert_eq!(why(&refused, Feature::AmxTile), Some(Why::NotReported));
    }

    #[test]
    fn registers_that_are_not_enabled_are_refused() {
        let (usable, refused) = read(&machine(&server()), Some(0b111));
        assert!(usable.contains(Feature::Avx2));
        let wanted = Why::NotEnabled { xcr0: Some(0b111) };
        for feature in [Feature::Avx512f, Feature::Avx512vl, Feature::AmxTile] {
            assert_eq!(why(&refused, feature), Some(wanted));
        }
        assert!(wanted.to_string().contains("XCR0 0x7"));

        let (usable, _) = read(&machine(&server()), None);
        assert!(!usable.contains(Feature::Avx) && usable.contains(Feature::Sse2));
    }

    #[test]
    fn a_hidden_base_hides_what_is_built_on_it() {
        let mut rows = server();
        rows[1].1[2] &= !(1 << 28);
        let (_, refused) = read(&machine(&rows), Some(0x602e7));
        assert_eq!(why(&refused, Feature::Avx), Some(Why::NotReported));
        assert_eq!(why(&refused, Feature::Avx2), Some(Why::Without(Feature::Avx)));
        assert_eq!(why(&refused, Feature::Avx512vl), Some(Why::Without(Feature::Avx512f)));
    }

    #[test]
    fn missing_leaves_report_nothing() {
        // one basic leaf and no extended one: everything else reads as ones if believed
        let old = machine(&[vendor("GenuineIntel", 1), ((1, 0), [0x6fb, 0, 0, 1 << 26])]);
        let (usable, _) = read(&old, None);
        assert_eq!(usable.iter().collect::<Vec<_>>(), [Feature::Sse2]);
    }
}
