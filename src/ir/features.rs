//! What an instruction asks of the processor.

use super::insn::{Insn, Vec as Register, VecEncoding, VecMove};
use crate::host::{Feature, FeatureSet};
use crate::subject::Hint;

/// Features an instruction needs beyond the x86-64 general registers. SSE and SSE2 are told
/// too, though every x86-64 processor has them: a kernel's contract may not.
pub const fn features(insn: &Insn) -> FeatureSet {
    const NONE: FeatureSet = FeatureSet::EMPTY;
    match insn {
        Insn::Sfence => NONE.with(Feature::Sse),
        Insn::Vzeroupper => NONE.with(Feature::Avx),
        Insn::Emms | Insn::MmxLoad { .. } | Insn::MmxStore { .. } | Insn::MmxZero { .. } => {
            NONE.with(Feature::Mmx)
        }
        Insn::MmxStoreNt { .. } => NONE.with(Feature::Mmx).with(Feature::Sse),
        Insn::StoreNti { .. } => NONE.with(Feature::Sse2),
        Insn::VecLoad { dst, .. } => vector(*dst),
        Insn::VecStore { src, .. } => vector(*src),
        Insn::VecZero { dst } => match (dst.encoding, dst.bytes) {
            // The integer instruction came to 32-byte VEX registers with AVX2 only.
            (VecEncoding::Vex, 32) => NONE.with(Feature::Avx).with(Feature::Avx2),
            _ => vector(*dst),
        },
        Insn::VecOnes { dst } => match (dst.encoding, dst.bytes) {
            (VecEncoding::Sse, _) => NONE.with(Feature::Sse2),
            (VecEncoding::Vex, 32) => NONE.with(Feature::Avx).with(Feature::Avx2),
            _ => vector(*dst),
        },
        Insn::MaskFrom { .. } => NONE.with(Feature::Avx512f).with(Feature::Avx512bw),
        Insn::MaskLoad { dst: register, .. } | Insn::MaskStore { src: register, .. } => {
            vector(*register).with(Feature::Avx512bw)
        }
        Insn::Bzhi { .. } => NONE.with(Feature::Bmi2),
        Insn::TileConfig { .. }
        | Insn::TileRelease
        | Insn::TileZero { .. }
        | Insn::TileLoad { .. }
        | Insn::TileStore { .. } => NONE.with(Feature::AmxTile),
        Insn::LineMove { .. } => NONE.with(Feature::Movdir64b),
        Insn::LineZero => NONE.with(Feature::Clzero),
        Insn::Prefetch { hint, .. } => match hint {
            Hint::W => NONE.with(Feature::Prefetchw),
            Hint::Nop => NONE,
            _ => NONE.with(Feature::Sse),
        },
        _ => NONE,
    }
}

const fn vector(register: Register) -> FeatureSet {
    match (register.encoding, register.bytes) {
        // movups, movaps, movntps and xorps are all of the first SSE.
        (VecEncoding::Sse, _) => FeatureSet::EMPTY.with(Feature::Sse),
        (VecEncoding::Vex, _) => FeatureSet::EMPTY.with(Feature::Avx),
        (VecEncoding::Evex, 64) => FeatureSet::EMPTY.with(Feature::Avx512f),
        (VecEncoding::Evex, _) => FeatureSet::EMPTY.with(Feature::Avx512f).with(Feature::Avx512vl),
    }
}

/// Whether an instruction stores past the cache.
pub const fn leaves_cache(insn: &Insn) -> bool {
    matches!(
        insn,
        Insn::StoreNti { .. }
            | Insn::LineMove { .. }
            | Insn::LineZero
            | Insn::MmxStoreNt { .. }
            | Insn::VecStore { kind: VecMove::NonTemporal, .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Function, lower};

    fn of(id: &str) -> String {
        let mut function = Function::default();
        lower(&id.parse().unwrap(), &mut function).unwrap();
        let set = function.insns().map(|i| features(&i)).fold(FeatureSet::EMPTY, FeatureSet::union);
        set.iter().map(Feature::word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_class_asks_for_what_it_uses() {
        for (id, features) in [
            ("copy/r64/u4", ""),
            ("zero/rep8", ""),
            ("copy/r64/nt", "sse sse2"),
            ("copy/mmx", "mmx"),
            ("zero/mmx/nt", "mmx sse"),
            ("copy/xmm", "sse"),
            ("zero/xmm/vex", "avx"),
            ("zero/ymm/u4", "avx"),
            ("copy/ymm/nt", "sse avx"),
            ("copy/zmm", "avx512f avx512vl"),
            ("copy/r64/pf-w@64-dst", "prefetchw"),
            ("copy/r64/pf-nop@64", ""),
            ("copy/x87i/u8/reverse", "mmx"),
            ("zero/clzero/u2", "sse clzero"),
            ("copy/m64b", "sse movdir64b"),
            ("zero/tmm", "avx512f avx512vl amx-tile"),
            ("write/ymm/u4", "avx avx2"),
            ("copy/xmm/evex/tail-mask", "avx512f avx512vl avx512bw bmi2"),
        ] {
            assert_eq!(of(id), features, "{id}");
        }
    }
}
