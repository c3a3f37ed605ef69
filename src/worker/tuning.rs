//! Settings of the C library that suit the caches as they were measured.

use serde::{Deserialize, Serialize};

use crate::host::Clib;
use crate::subject::Op;
use crate::units::human_size;

/// The variable that glibc reads its settings from when a process starts.
pub const TUNABLES: &str = "GLIBC_TUNABLES";

const NT: &str = "glibc.cpu.x86_non_temporal_threshold";
const MEMSET_NT: &str = "glibc.cpu.x86_memset_non_temporal_threshold";
const REP_MOVSB: &str = "glibc.cpu.x86_rep_movsb_threshold";
const REP_STOSB: &str = "glibc.cpu.x86_rep_stosb_threshold";

/// glibc takes no smaller size for non-temporal stores, and keeps its own where one is given.
const LEAST_NT: u64 = 0x4040;

/// The largest that it takes.
const MOST_NT: u64 = u64::MAX >> 4;

/// glibc takes no smaller size for `rep movsb`.
const LEAST_REP: u64 = 0x100;

/// Sizes from which a way of copying or filling should be taken; `None`: as glibc has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thresholds {
    /// Non-temporal stores, bytes.
    pub nt: Option<u64>,
    /// `rep movsb`, bytes.
    pub rep_movsb: Option<u64>,
    /// `rep stosb`, bytes.
    pub rep_stosb: Option<u64>,
}

/// What differs from glibc's own settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tuning {
    /// The value of [`TUNABLES`] that a process starts with.
    pub tunables: String,
    /// The thresholds asked for.
    pub thresholds: Thresholds,
    /// Ranges of sizes, bytes, first and last, where copies take another path than by default.
    copies: Vec<(u64, u64)>,
    /// The same of fills.
    fills: Vec<(u64, u64)>,
}

impl Tuning {
    /// The settings for these thresholds, within what glibc takes.
    ///
    /// # Errors
    /// Why the C library here has none, for people.
    pub fn of(clib: &Clib, wanted: Thresholds) -> Result<Tuning, String> {
        if clib.glibc.is_none() {
            return Err("the C library here is not glibc, which alone reads GLIBC_TUNABLES".into());
        }
        let Some(own_nt) = clib.nt_threshold else {
            return Err("this glibc does not tell its thresholds; 2.33 and later do".into());
        };
        let thresholds = Thresholds {
            nt: wanted.nt.map(|bytes| bytes.clamp(LEAST_NT, MOST_NT)),
            rep_movsb: wanted.rep_movsb.map(|bytes| bytes.max(LEAST_REP)),
            rep_stosb: wanted.rep_stosb.map(|bytes| bytes.max(LEAST_REP)),
        };
        // What the user has set stays, but for what is set here.
        let theirs = clib.tunables.iter().flat_map(|all| all.split(':'));
        let mut settings: Vec<String> = theirs
            .filter(|one| ![NT, MEMSET_NT, REP_MOVSB, REP_STOSB].iter().any(|n| one.starts_with(n)))
            .map(String::from)
            .collect();
        let mut set = |name: &str, bytes: Option<u64>| {
            settings.extend(bytes.map(|bytes| format!("{name}={bytes}")));
        };
        set(NT, thresholds.nt);
        // Fills have a threshold of their own from 2.40 on; before, they never leave the caches.
        set(MEMSET_NT, thresholds.nt.filter(|_| clib.memset_nt_threshold.is_some()));
        set(REP_MOVSB, thresholds.rep_movsb);
        set(REP_STOSB, thresholds.rep_stosb);
        let mut copies = between(Some(own_nt), thresholds.nt);
        copies.extend(between(clib.rep_movsb_threshold, thresholds.rep_movsb));
        let mut fills = between(clib.memset_nt_threshold, thresholds.nt);
        fills.extend(between(clib.rep_stosb_threshold, thresholds.rep_stosb));
        Ok(Tuning { tunables: settings.join(":"), thresholds, copies, fills })
    }

    /// Whether an op on so many bytes goes another way than with glibc's own settings.
    pub fn differs(&self, op: Op, size: u64) -> bool {
        let ranges = match op {
            Op::Copy => &self.copies,
            Op::Zero => &self.fills,
            Op::Read | Op::Write => return false,
        };
        ranges.iter().any(|(first, last)| (*first..=*last).contains(&size))
    }
}

impl std::fmt::Display for Tuning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Thresholds { nt, rep_movsb, rep_stosb } = self.thresholds;
        let all = [("non-temporal", nt), ("rep movsb", rep_movsb), ("rep stosb", rep_stosb)];
        let told = all.iter().filter_map(|(what, from)| Some((what, (*from)?)));
        let told: Vec<String> =
            told.map(|(what, from)| format!("{what} from {}", human_size(from))).collect();
        f.write_str(&told.join(", "))
    }
}

/// The sizes between two thresholds: they change sides.
fn between(own: Option<u64>, new: Option<u64>) -> Vec<(u64, u64)> {
    match (own, new) {
        (Some(own), Some(new)) if own != new => vec![(own.min(new), own.max(new) - 1)],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glibc() -> Clib {
        Clib {
            glibc: Some("2.36".into()),
            nt_threshold: Some(192 << 20),
            rep_movsb_threshold: Some(2112),
            rep_stosb_threshold: Some(2048),
            ..Clib::default()
        }
    }

    #[test]
    fn only_sizes_that_change_sides_differ() {
        let wanted = Thresholds { nt: Some(2 << 20), ..Thresholds::default() };
        let tuning = Tuning::of(&glibc(), wanted).unwrap();
        assert_eq!(tuning.tunables, "glibc.cpu.x86_non_temporal_threshold=2097152");
        let differ = [4096, (2 << 20) - 1, 2 << 20, 64 << 20, (192 << 20) - 1, 192 << 20, 1 << 30];
        let differ = differ.map(|size| tuning.differs(Op::Copy, size));
        assert_eq!(differ, [false, false, true, true, true, false, false]);
        assert!(!tuning.differs(Op::Zero, 64 << 20), "fills never leave the caches before 2.40");
        assert_eq!(tuning.to_string(), "non-temporal from 2M");
        let newer = Clib { memset_nt_threshold: Some(192 << 20), ..glibc() };
        let tuning = Tuning::of(&newer, wanted).unwrap();
        assert!(tuning.differs(Op::Zero, 64 << 20) && tuning.tunables.contains("x86_memset_non"));
    }

    #[test]
    fn thresholds_keep_to_what_glibc_takes_and_to_what_the_user_set() {
        let clib = Clib {
            tunables: Some("glibc.malloc.check=3:glibc.cpu.x86_non_temporal_threshold=5".into()),
            ..glibc()
        };
        let wanted = Thresholds { nt: Some(1), rep_movsb: Some(1), rep_stosb: Some(1 << 20) };
        let tuning = Tuning::of(&clib, wanted).unwrap();
        assert_eq!(
            tuning.tunables,
            "glibc.malloc.check=3:glibc.cpu.x86_non_temporal_threshold=16448:\
             glibc.cpu.x86_rep_movsb_threshold=256:glibc.cpu.x86_rep_stosb_threshold=1048576"
        );
        assert!(tuning.differs(Op::Zero, 4096) && tuning.differs(Op::Copy, 300));
    }

    #[test]
    fn others_than_glibc_say_why_not() {
        let nt = Thresholds { nt: Some(1 << 20), ..Thresholds::default() };
        let why = Tuning::of(&Clib::default(), nt).unwrap_err();
        assert!(why.contains("not glibc"), "{why}");
        let old = Clib { nt_threshold: None, ..glibc() };
        assert!(Tuning::of(&old, nt).unwrap_err().contains("2.33"));
        let same = Tuning::of(&glibc(), Thresholds::default()).unwrap();
        assert!(!same.differs(Op::Copy, 1 << 30) && same.tunables.is_empty());
    }
}
