//! The names by which machines are told apart.

use serde::{Deserialize, Serialize};

use super::cpuid::{Cpu, Leaves};
use super::feature::FeatureSet;
use super::process::ask_for_tiles;
use super::{usable, xcr};

/// What two processes compare to know that they stand on the same machine. Cheap to read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The vendor's twelve letters.
    pub vendor: String,
    /// Display family.
    pub family: u32,
    /// Display model.
    pub model: u32,
    /// Stepping.
    pub stepping: u32,
    /// Features that may be used.
    pub usable: FeatureSet,
    /// Register states that the operating system has enabled.
    pub xcr0: Option<u64>,
}

impl Fingerprint {
    /// Of the CPU the calling thread runs on.
    pub fn read() -> Fingerprint {
        let cpuid = Leaves::native();
        let xcr0 = xcr::read(&cpuid);
        Fingerprint::of(&Cpu::read(&cpuid), usable::read(&cpuid, xcr0, ask_for_tiles).0, xcr0)
    }

    pub(crate) fn of(cpu: &Cpu, usable: FeatureSet, xcr0: Option<u64>) -> Fingerprint {
        Fingerprint {
            vendor: cpu.vendor.clone(),
            family: cpu.family,
            model: cpu.model,
            stepping: cpu.stepping,
            usable,
            xcr0,
        }
    }

    /// What another machine has otherwise, as one sentence; `None` if they are alike.
    pub fn difference(&self, other: &Fingerprint) -> Option<String> {
        let mut parts = Vec::new();
        let name = |f: &Fingerprint| {
            format!("{} family {} model {} stepping {}", f.vendor, f.family, f.model, f.stepping)
        };
        if name(self) != name(other) {
            parts.push(format!("{} against {}", name(self), name(other)));
        }
        let words = |set: FeatureSet| set.iter().map(|f| f.word()).collect::<Vec<_>>().join(" ");
        for (set, only) in [
            (self.usable.minus(other.usable), "only here"),
            (other.usable.minus(self.usable), "only there"),
        ] {
            if !set.is_empty() {
                parts.push(format!("usable {only}: {}", words(set)));
            }
        }
        if self.xcr0 != other.xcr0 {
            let hex = |x: Option<u64>| x.map_or("absent".to_string(), |bits| format!("{bits:#x}"));
            parts.push(format!("XCR0 {} against {}", hex(self.xcr0), hex(other.xcr0)));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// `vendor-family-model-stepping-hash`: letters, digits and `-` only.
pub(crate) fn host_key(cpu: &Cpu, usable: FeatureSet, microcode: Option<&str>) -> String {
    let vendor = match cpu.vendor.as_str() {
        "GenuineIntel" => "intel".to_string(),
        "AuthenticAMD" => "amd".to_string(),
        "HygonGenuine" => "hygon".to_string(),
        other => {
            let letters = other.chars().filter(char::is_ascii_alphanumeric);
            letters.collect::<String>().to_ascii_lowercase()
        }
    };
    let vendor = if vendor.is_empty() { "unknown".to_string() } else { vendor };
    // words, not bits of the set: the order of features may change, the key must not
    let mut words: Vec<&str> = usable.iter().map(|f| f.word()).collect();
    words.sort_unstable();
    let text = format!("{} {}", words.join(" "), microcode.unwrap_or_default());
    let hash = fnv1a(text.as_bytes());
    let short = (hash >> 32 ^ hash) & 0xff_ffff;
    format!("{vendor}-{}-{}-{}-{short:06x}", cpu.family, cpu.model, cpu.stepping)
}

/// FNV-1a, 64 bits. Written out because stored keys must outlive releases of the standard
/// library, whose hashers promise nothing.
fn fnv1a(bytes: &[u8]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::super::feature::Feature;
    use super::super::march::Microarch;
    use super::*;

    fn cpu(vendor: &str) -> Cpu {
        Cpu {
            vendor: vendor.into(),
            brand: "unknown".into(),
            family: 25,
            model: 1,
            stepping: 1,
            microarch: Microarch::Zen3,
            hybrid: false,
        }
    }

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn keys_are_readable_and_safe_in_file_names() {
        let set = FeatureSet::EMPTY.with(Feature::Sse2).with(Feature::Avx);
        let key = host_key(&cpu("AuthenticAMD"), set, Some("0x1"));
        assert!(key.starts_with("amd-25-1-1-"), "{key}");
        assert_ne!(key, host_key(&cpu("AuthenticAMD"), set, Some("0x2")), "microcode counts");
        let less = set.without(Feature::Avx);
        assert_ne!(key, host_key(&cpu("AuthenticAMD"), less, Some("0x1")), "features count");
        let odd = host_key(&cpu("../ VIA/\u{e9} "), set, None);
        assert!(odd.starts_with("via-25-"), "{odd}");
        assert!(host_key(&cpu("//"), set, None).starts_with("unknown-25-"));
        // a stored folder must be found again by later releases
        assert_eq!(key, "amd-25-1-1-c3b407");
    }

    #[test]
    fn fingerprints_say_how_they_differ() {
        let a = Fingerprint::of(&cpu("AuthenticAMD"), FeatureSet::EMPTY, Some(7));
        assert_eq!(a.difference(&a), None);
        let more = FeatureSet::EMPTY.with(Feature::Erms);
        let b = Fingerprint::of(&cpu("GenuineIntel"), more, None);
        let said = a.difference(&b).unwrap();
        for part in ["GenuineIntel", "only there: erms", "XCR0 0x7 against absent"] {
            assert!(said.contains(part), "{said}");
        }
    }
}
