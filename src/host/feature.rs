//! Features of a processor that generated code or the measurement may need.

use serde::{Deserialize, Serialize};

use crate::units::words;

words! {
    /// A feature, by the name the field gives it.
    Feature {
        /// MMX registers.
        Mmx = "mmx",
        /// SSE: `movntq`, `prefetcht0` and kin, `sfence`.
        Sse = "sse",
        /// SSE2: 16-byte moves, `movnti`, `mfence`.
        Sse2 = "sse2",
        /// AVX: VEX encodings, 32-byte moves (asks the operating system too).
        Avx = "avx",
        /// AVX2 (told, not needed by moves).
        Avx2 = "avx2",
        /// AVX-512 foundation: 64-byte moves (asks the operating system too).
        Avx512f = "avx512f",
        /// AVX-512 vector lengths: EVEX encodings of 16- and 32-byte moves.
        Avx512vl = "avx512vl",
        /// AVX-512 byte and word forms: masks by the byte.
        Avx512bw = "avx512bw",
        /// BMI2: `bzhi`.
        Bmi2 = "bmi2",
        /// `prefetchw`.
        Prefetchw = "prefetchw",
        /// Enhanced `rep movsb`/`stosb`.
        Erms = "erms",
        /// Fast short `rep movsb`.
        Fsrm = "fsrm",
        /// Fast zero-length `rep movsb`.
        Fzrm = "fzrm",
        /// Fast short `rep stosb`.
        Fsrs = "fsrs",
        /// `rdtscp`.
        Rdtscp = "rdtscp",
        /// `clflush`.
        Clflush = "clflush",
        /// `clflushopt`.
        Clflushopt = "clflushopt",
        /// `clwb`.
        Clwb = "clwb",
        /// `cldemote`.
        Cldemote = "cldemote",
        /// `movdiri`.
        Movdiri = "movdiri",
        /// `movdir64b`.
        Movdir64b = "movdir64b",
        /// AMX tiles.
        AmxTile = "amx-tile",
        /// `clzero` (AMD).
        Clzero = "clzero",
    }
}

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FeatureSet(u32);

impl FeatureSet {
    /// The empty set.
    pub const EMPTY: FeatureSet = FeatureSet(0);

    /// This set and one feature more.
    #[must_use]
    pub const fn with(self, feature: Feature) -> FeatureSet {
        FeatureSet(self.0 | 1 << feature as u32)
    }

    /// This set without one feature.
    #[must_use]
    pub const fn without(self, feature: Feature) -> FeatureSet {
        FeatureSet(self.0 & !(1 << feature as u32))
    }

    /// All features of both sets.
    #[must_use]
    pub const fn union(self, other: FeatureSet) -> FeatureSet {
        FeatureSet(self.0 | other.0)
    }

    /// Whether the feature is in the set.
    pub const fn contains(self, feature: Feature) -> bool {
        self.0 & (1 << feature as u32) != 0
    }

    /// The features, in canonical order.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.iter().copied().filter(move |f| self.contains(*f))
    }

    /// The features of this set that another lacks.
    #[must_use]
    pub const fn minus(self, other: FeatureSet) -> FeatureSet {
        FeatureSet(self.0 & !other.0)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Feature> for FeatureSet {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> FeatureSet {
        features.into_iter().fold(FeatureSet::EMPTY, FeatureSet::with)
    }
}
