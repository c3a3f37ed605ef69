//! Data caches: what the processor (or else the kernel) tells, and what of it can be true.

use std::path::Path;

use raw_cpuid::CpuIdReader;
use serde::{Deserialize, Serialize};

use super::cpuid::Leaves;
use crate::units::human_size;

/// One level of data cache, as told: nothing here is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// Bytes in all.
    pub size_bytes: u64,
    /// Bytes a line.
    pub line_bytes: u32,
    /// Ways of a set; 0 where it is not told.
    pub ways: u32,
    /// Most logical CPUs that share it; 0 where it is not told.
    pub shared_by: u32,
}

/// The data caches: the levels as told, and sizes that are safe to work with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caches {
    /// Level 1, data.
    pub l1d: Option<Cache>,
    /// Level 2.
    pub l2: Option<Cache>,
    /// Level 3.
    pub l3: Option<Cache>,
    /// What was told and cannot be true, and what is used in its place; one sentence each.
    pub warnings: Vec<String>,
    used: Used,
}

/// Sizes after judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Used {
    l1d: u64,
    l2: u64,
    llc: Option<u64>,
    line: u32,
}

/// Assumed where level 1 is not told: every x86-64 core of the last fifteen years has at
/// least this.
const L1D_FALLBACK: u64 = 32 << 10;
/// Assumed where level 2 is not told: the smallest that cores with a level 3 have had.
const L2_FALLBACK: u64 = 256 << 10;
/// Level 1 outside these bounds is a slip of a hypervisor: cores have 8 to 64 KiB.
const L1D_BOUNDS: std::ops::RangeInclusive<u64> = 4 << 10..=256 << 10;
/// Level 2 above this is a slip: cores have at most 12 MiB.
const L2_MAX: u64 = 64 << 20;
/// Level 3 above this is a slip, or the sum of many sockets: one core reaches at most some
/// hundreds of MiB.
const L3_MAX: u64 = 1 << 30;
/// The only line length of x86-64 processors.
const LINE: u32 = 64;

impl Caches {
    /// Asks CPUID, then the kernel for what CPUID does not tell.
    pub(crate) fn read<R: CpuIdReader>(cpuid: &Leaves<R>) -> Caches {
        let mut told = deterministic(cpuid);
        if told == [None; 3] {
            told = legacy_amd(cpuid);
        }
        if told == [None; 3] {
            told = from_kernel(Path::new("/sys/devices/system/cpu/cpu0/cache"));
        }
        Caches::judge(told)
    }

    /// Judges what was told of levels 1, 2 and 3.
    pub(crate) fn judge([l1d, l2, l3]: [Option<Cache>; 3]) -> Caches {
        let mut warnings = Vec::new();
        let size = |c: Option<Cache>| c.map_or(0, |c| c.size_bytes);

        let mut l1d_used = size(l1d);
        if !L1D_BOUNDS.contains(&l1d_used) {
            let told = told(l1d);
            warnings.push(format!("L1d {told}; {} is assumed", human_size(L1D_FALLBACK)));
            l1d_used = L1D_FALLBACK;
        }
        let mut l2_used = size(l2);
        if l2_used <= l1d_used || l2_used > L2_MAX {
            let fallback = L2_FALLBACK.max(4 * l1d_used);
            let why = if l2_used > 0 && l2_used <= l1d_used { ", not above L1d" } else { "" };
            warnings.push(format!("L2 {}{why}; {} is assumed", told(l2), human_size(fallback)));
            l2_used = fallback;
        }
        let llc_used = match size(l3) {
            0 => {
                if l3.is_some() {
                    warnings.push("L3 is told as 0 bytes; L2 is taken as the last level".into());
                }
                None
            }
            bytes if bytes <= l2_used => {
                let told = told(l3);
                warnings.push(format!("L3 {told}, not above L2; L2 is taken as the last level"));
                None
            }
            bytes if bytes > L3_MAX => {
                let fallback = (8 << 20).max(8 * l2_used);
                warnings.push(format!("L3 {}; {} is assumed", told(l3), human_size(fallback)));
                Some(fallback)
            }
            bytes => Some(bytes),
        };
        for (name, cache) in [("L1d", l1d), ("L2", l2), ("L3", l3)] {
            if let Some(c) = cache.filter(|c| c.line_bytes != LINE && c.size_bytes > 0) {
                let line = c.line_bytes;
                warnings.push(format!("{name} lines are told as {line} bytes; {LINE} is used"));
            }
        }
        let used = Used { l1d: l1d_used, l2: l2_used, llc: llc_used, line: LINE };
        Caches { l1d, l2, l3, warnings, used }
    }

    /// Bytes of level 1 data cache to reckon with.
    pub fn l1d_bytes(&self) -> u64 {
        self.used.l1d
    }

    /// Bytes of level 2 to reckon with: more than level 1 always.
    pub fn l2_bytes(&self) -> u64 {
        self.used.l2
    }

    /// Bytes of the level that is shared and last, to reckon with: more than level 2 always;
    /// `None` where level 2 is the last. A guest may get a small part of it.
    pub fn llc_bytes(&self) -> Option<u64> {
        self.used.llc
    }

    /// Bytes of a line: 64.
    pub fn line_bytes(&self) -> u32 {
        self.used.line
    }
}

fn told(cache: Option<Cache>) -> String {
    match cache {
        None => "is not told".to_string(),
        Some(c) if c.size_bytes == 0 => "is told as 0 bytes".to_string(),
        Some(c) => format!("is told as {}", human_size(c.size_bytes)),
    }
}

/// Leaf 4 of Intel, 8000_001D of AMD: both list caches in one layout, and end with type 0.
fn deterministic<R: CpuIdReader>(cpuid: &Leaves<R>) -> [Option<Cache>; 3] {
    const SUBLEAVES: u32 = 16; // far more than there are caches; a broken list has no end
    let topology_extensions = cpuid.leaf(0x8000_0001, 0).ecx >> 22 & 1 == 1;
    let leaf = if topology_extensions { 0x8000_001d } else { 4 };
    let mut levels = [None; 3];
    for subleaf in 0..SUBLEAVES {
        let r = cpuid.leaf(leaf, subleaf);
        let field = |register: u32, shift: u32, bits: u32| register >> shift & ((1 << bits) - 1);
        let (kind, level) = (field(r.eax, 0, 5), field(r.eax, 5, 3));
        const DATA: u32 = 1;
        const UNIFIED: u32 = 3;
        match kind {
            0 => break,
            DATA | UNIFIED => {}
            _ => continue,
        }
        let Some(place) = (level as usize).checked_sub(1).and_then(|l| levels.get_mut(l)) else {
            continue;
        };
        let line = field(r.ebx, 0, 12) + 1;
        let partitions = field(r.ebx, 12, 10) + 1;
        let ways = field(r.ebx, 22, 10) + 1;
        let sets = u64::from(r.ecx) + 1;
        // 12 + 10 + 10 + 33 bits may pass 64; what does is absurd and judged as such
        let size = u64::from(line)
            .checked_mul(u64::from(partitions) * u64::from(ways))
            .and_then(|b| b.checked_mul(sets))
            .unwrap_or(u64::MAX);
        let shared_by = field(r.eax, 14, 12) + 1;
        *place = Some(Cache { size_bytes: size, line_bytes: line, ways, shared_by });
    }
    levels
}

/// Leaves 8000_0005 and 8000_0006 of AMD before topology extensions. The library decodes
/// their table of ways; only the sizes are taken here.
fn legacy_amd<R: CpuIdReader>(cpuid: &Leaves<R>) -> [Option<Cache>; 3] {
    let library = cpuid.library();
    let cache = |size_bytes: u64, line: u8| {
        let line_bytes = u32::from(line);
        (size_bytes > 0).then_some(Cache { size_bytes, line_bytes, ways: 0, shared_by: 0 })
    };
    let l1d = library
        .get_l1_cache_and_tlb_info()
        .and_then(|l1| cache(u64::from(l1.dcache_size()) << 10, l1.dcache_line_size()));
    // Intel fills the second leaf too, but not the first
    let Some(second) = library.get_l2_l3_cache_and_tlb_info().filter(|_| l1d.is_some()) else {
        return [l1d, None, None];
    };
    let l2 = cache(u64::from(second.l2cache_size()) << 10, second.l2cache_line_size());
    let l3 = cache(u64::from(second.l3cache_size()) * (512 << 10), second.l3cache_line_size());
    [l1d, l2, l3]
}

/// What the kernel knows of one CPU's caches, from its folder of `indexN`.
fn from_kernel(folder: &Path) -> [Option<Cache>; 3] {
    let mut levels = [None; 3];
    let Ok(entries) = std::fs::read_dir(folder) else { return levels };
    for index in entries.filter_map(Result::ok).map(|e| e.path()) {
        let read = |name: &str| {
            let text = std::fs::read_to_string(index.join(name)).unwrap_or_default();
            text.trim().to_string()
        };
        if !matches!(read("type").as_str(), "Data" | "Unified") {
            continue;
        }
        let number = |name: &str| read(name).parse::<u32>().unwrap_or(0);
        let level = (number("level") as usize).checked_sub(1);
        let Some(place) = level.and_then(|l| levels.get_mut(l)) else { continue };
        let size = read("size");
        let kib = size.strip_suffix('K').unwrap_or_default().parse::<u64>().unwrap_or(0);
        *place = Some(Cache {
            size_bytes: kib << 10,
            line_bytes: number("coherency_line_size"),
            ways: number("ways_of_associativity"),
            shared_by: super::affinity::cpu_list(&read("shared_cpu_list")).len() as u32,
        });
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::super::cpuid::script::{machine, vendor};
    use super::*;

    fn cache(size_bytes: u64) -> Option<Cache> {
        Some(Cache { size_bytes, line_bytes: 64, ways: 8, shared_by: 1 })
    }

    #[test]
    fn what_can_be_true_is_used_without_a_word() {
        let caches = Caches::judge([cache(48 << 10), cache(2 << 20), cache(320 << 20)]);
        assert_eq!(caches.warnings, [""; 0]);
        assert_eq!((caches.l1d_bytes(), caches.l2_bytes()), (48 << 10, 2 << 20));
        assert_eq!(caches.llc_bytes(), Some(320 << 20));
        let two_levels = Caches::judge([cache(32 << 10), cache(6 << 20), None]);
        assert!(two_levels.warnings.is_empty() && two_levels.llc_bytes().is_none());
    }

    #[test]
    fn what_cannot_be_true_is_replaced_and_said() {
        let cases: [([Option<Cache>; 3], usize); 7] = [
            ([None, None, None], 2),
            ([cache(0), cache(0), cache(0)], 3),
            ([cache(32 << 10), cache(16 << 10), cache(8 << 20)], 1),
            ([cache(32 << 10), cache(1 << 20), cache(4 << 30)], 1),
            ([cache(32 << 10), cache(1 << 20), cache(512 << 10)], 1),
            ([cache(u64::MAX), cache(u64::MAX), cache(u64::MAX)], 3),
            ([cache(1), cache(2), cache(3)], 3),
        ];
        for (told, count) in cases {
            let caches = Caches::judge(told);
            assert_eq!(caches.warnings.len(), count, "{told:?}: {:?}", caches.warnings);
            assert!(L1D_BOUNDS.contains(&caches.l1d_bytes()), "{told:?}");
            assert!(caches.l2_bytes() > caches.l1d_bytes(), "{told:?}");
            assert!(caches.llc_bytes().is_none_or(|b| b > caches.l2_bytes()), "{told:?}");
        }
    }

    #[test]
    fn lines_are_64_bytes_whatever_is_told() {
        let mut odd = cache(32 << 10).unwrap();
        odd.line_bytes = 0;
        let caches = Caches::judge([Some(odd), cache(256 << 10), None]);
        assert_eq!(caches.line_bytes(), 64);
        assert!(caches.warnings[0].contains("told as 0 bytes; 64"), "{:?}", caches.warnings);
    }

    #[test]
    fn leaf_4_lists_data_and_unified_caches() {
        // 48 KiB 12 ways, an instruction cache to skip, 2 MiB 16 ways shared by 2
        let rows = [
            vendor("GenuineIntel", 4),
            ((1, 0), [0, 0, 0, 0]),
            ((4, 0), [1 | 1 << 5, 11 << 22 | 63, 63, 0]),
            ((4, 1), [2 | 1 << 5, 7 << 22 | 63, 63, 0]),
            ((4, 2), [3 | 2 << 5 | 1 << 14, 15 << 22 | 63, 2047, 0]),
            ((4, 3), [0, 0, 0, 0]),
        ];
        let caches = Caches::read(&machine(&rows));
        let l1d = Cache { size_bytes: 48 << 10, line_bytes: 64, ways: 12, shared_by: 1 };
        let l2 = Cache { size_bytes: 2 << 20, line_bytes: 64, ways: 16, shared_by: 2 };
        assert_eq!((caches.l1d, caches.l2, caches.l3), (Some(l1d), Some(l2), None));
        assert!(caches.warnings.is_empty());
    }

    #[test]
    fn a_list_without_end_and_full_of_ones_is_survived() {
        let caches = Caches::read(&machine(&[vendor("GenuineIntel", 4), ((1, 0), [0; 4])]));
        assert_eq!(caches.l1d_bytes(), L1D_FALLBACK);
    }

    #[test]
    fn old_amd_leaves_and_the_kernel_are_asked_too() {
        let rows = [
            vendor("AuthenticAMD", 1),
            ((0x8000_0000, 0), [0x8000_0006, 0, 0, 0]),
            ((0x8000_0001, 0), [0, 0, 0, 0]),
            ((0x8000_0005, 0), [0, 0, 64 << 24 | 64, 0]),
            ((0x8000_0006, 0), [0, 0, 512 << 16 | 64, 12 << 18 | 64]),
        ];
        let caches = Caches::read(&machine(&rows));
        assert_eq!((caches.l1d_bytes(), caches.l2_bytes()), (64 << 10, 512 << 10));
        assert_eq!(caches.llc_bytes(), Some(6 << 20));

        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index0");
        std::fs::create_dir(&index).unwrap();
        let files = [
            ("type", "Data"),
            ("level", "1"),
            ("size", "48K"),
            ("coherency_line_size", "64"),
            ("ways_of_associativity", "12"),
            ("shared_cpu_list", "0,4-5"),
        ];
        for (name, content) in files {
            std::fs::write(index.join(name), format!("{content}\n")).unwrap();
        }
        let l1d = Cache { size_bytes: 48 << 10, line_bytes: 64, ways: 12, shared_by: 3 };
        assert_eq!(from_kernel(folder.path()), [Some(l1d), None, None]);
        assert_eq!(from_kernel(Path::new("/nonexistent")), [None; 3]);
    }
}
