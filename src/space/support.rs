//! What a host must have for a variant.

use crate::host::{Feature, FeatureSet};
use crate::subject::{Class, Encoding, Hint, Op, Order, Store, Tail, Variant};

/// The host lacks what a variant needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unsupported {
    /// The features that are missing.
    pub missing: FeatureSet,
}

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<&str> = self.missing.iter().map(Feature::word).collect();
        write!(f, "needs {}, which this host does not have or does not allow", words.join(" and "))
    }
}

impl std::error::Error for Unsupported {}

/// The features that the variant's code needs beyond the general instructions of x86-64. Of a
/// function for one size, those of its class: the size may spare it some.
pub fn features_of(v: &Variant) -> FeatureSet {
    let mut needs = match (v.class, v.encoding) {
        // The x87 loops empty the stack with MMX's emms before they begin.
        (Class::Mmx | Class::X87 | Class::X87i, _) => FeatureSet::EMPTY.with(Feature::Mmx),
        // Small sizes and tails use vector registers that come with these.
        (Class::Tmm, _) => {
            FeatureSet::EMPTY.with(Feature::AmxTile).with(Feature::Avx512f).with(Feature::Avx512vl)
        }
        (Class::M64b, _) => FeatureSet::EMPTY.with(Feature::Movdir64b).with(Feature::Sse),
        (Class::Clzero, _) => FeatureSet::EMPTY.with(Feature::Clzero).with(Feature::Sse),
        (Class::Xmm, Encoding::Legacy) => FeatureSet::EMPTY.with(Feature::Sse),
        (_, Encoding::Vex) => FeatureSet::EMPTY.with(Feature::Avx),
        // A masked zmm serves small sizes and tails too.
        (Class::Zmm, _) if v.tail == Tail::Mask => FeatureSet::EMPTY.with(Feature::Avx512f),
        // Those of zmm use its 16- and 32-byte forms otherwise, in the same encoding.
        (_, Encoding::Evex) => FeatureSet::EMPTY.with(Feature::Avx512f).with(Feature::Avx512vl),
        _ => FeatureSet::EMPTY,
    };
    // A batch of 32 reaches down to registers 0-15, whose upper halves vzeroupper cleans.
    if v.encoding == Encoding::Evex
        && v.class != Class::Xmm
        && v.order != Order::Pair
        && v.unroll > 16
    {
        needs = needs.with(Feature::Avx);
    }
    if v.op == Op::Write {
        // All bits are set by integer instructions.
        match (v.class, v.encoding) {
            (Class::Xmm, Encoding::Legacy) => needs = needs.with(Feature::Sse2),
            (Class::Ymm, Encoding::Vex) => needs = needs.with(Feature::Avx2),
            _ => {}
        }
    }
    if v.tail == Tail::Mask {
        needs = needs.with(Feature::Avx512bw).with(Feature::Bmi2);
    }
    if v.store == Store::Nt {
        needs = needs.with(Feature::Sse);
        if matches!(v.class, Class::R32 | Class::R64) {
            needs = needs.with(Feature::Sse2);
        }
    }
    match v.prefetch.map(|p| p.hint) {
        Some(Hint::W) => needs.with(Feature::Prefetchw),
        Some(Hint::T0 | Hint::T1 | Hint::T2 | Hint::Nta) => needs.with(Feature::Sse),
        Some(Hint::Nop) | None => needs,
    }
}

/// Whether a host with these features can run the variant.
///
/// # Errors
/// Names the features that are missing.
pub fn supported(v: &Variant, host: &FeatureSet) -> Result<(), Unsupported> {
    let missing = features_of(v).minus(*host);
    if missing.is_empty() { Ok(()) } else { Err(Unsupported { missing }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(id: &str, host: &[Feature]) -> String {
        let host = host.iter().copied().collect();
        supported(&id.parse().unwrap(), &host).map_or_else(|e| e.to_string(), |()| "ok".into())
    }

    #[test]
    fn the_reason_names_what_is_missing() {
        assert_eq!(missing("zero/r64/u4", &[]), "ok");
        assert_eq!(missing("zero/rep8", &[]), "ok");
        assert!(missing("zero/zmm", &[Feature::Avx512f]).starts_with("needs avx512vl,"));
        assert!(missing("copy/ymm/evex", &[Feature::Avx]).contains("avx512f and avx512vl"));
        assert!(missing("copy/r64/pf-w@64-dst", &[Feature::Sse]).contains("prefetchw"));
        assert_eq!(missing("copy/r64/pf-nop@64", &[]), "ok");
    }
}
