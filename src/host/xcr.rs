//! XCR0: which register states the operating system saves and restores.
#![allow(unsafe_code, reason = "`xgetbv` is an instruction that not every processor has")]

use raw_cpuid::CpuIdReader;

use super::cpuid::Leaves;

/// States that 32-byte registers need: XMM and the upper halves of YMM.
pub(crate) const YMM: u64 = 0b110;
/// States that 64-byte registers need beyond [`YMM`]: masks, upper halves of ZMM, ZMM16–31.
pub(crate) const ZMM: u64 = YMM | 0b111 << 5;
/// States that tiles need: their configuration and data.
pub(crate) const TILE: u64 = 0b11 << 17;

/// XCR0, where the operating system has switched `xsave` on; `None` elsewhere, because
/// `xgetbv` is an illegal instruction there.
pub(crate) fn read<R: CpuIdReader>(cpuid: &Leaves<R>) -> Option<u64> {
    let ecx = cpuid.leaf(1, 0).ecx;
    let (xsave, osxsave) = (ecx >> 26 & 1 == 1, ecx >> 27 & 1 == 1);
    // SAFETY: CPUID reports xsave, and OSXSAVE says that the operating system set
    // CR4.OSXSAVE, which is all that `xgetbv` asks for; register 0 always exists then.
    (xsave && osxsave).then(|| unsafe { xgetbv() })
}

#[target_feature(enable = "xsave")]
fn xgetbv() -> u64 {
    // SAFETY: register 0 exists wherever the instruction does.
    unsafe { std::arch::x86_64::_xgetbv(0) }
}

#[cfg(test)]
mod tests {
    use super::super::cpuid::script::{machine, vendor};
    use super::*;

    #[test]
    fn not_executed_without_osxsave() {
        // xsave without OSXSAVE, as an operating system that does not use it leaves it
        let off = machine(&[vendor("GenuineIntel", 1), ((1, 0), [0, 0, 1 << 26, 0])]);
        assert_eq!(read(&off), None);
    }

    #[test]
    fn the_own_answer_holds_x87_and_sse() {
        if let Some(xcr0) = read(&Leaves::native()) {
            assert_eq!(xcr0 & 0b11, 0b11);
        }
    }
}
