//! What a function may do to registers.

use crate::host::{Feature, FeatureSet};
use crate::jit::RegisterImage;
use crate::trial::Misbehaviour;

/// Vector registers whose upper parts belong to the caller; 16–31 may change freely.
const SHARED: usize = 16;

/// Bytes of the lowest part of a vector register, which is scratch, and of the steps in
/// which wider instructions reach beyond it.
const LANE: usize = 16;

/// Which upper parts a host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Uppers {
    /// None: there are only xmm.
    None,
    /// Bits 128–255.
    Ymm,
    /// Bits 128–255 and 256–511.
    Zmm,
}

impl Uppers {
    pub(super) fn of(features: FeatureSet) -> Uppers {
        if features.contains(Feature::Avx512f) {
            Uppers::Zmm
        } else if features.contains(Feature::Avx) {
            Uppers::Ymm
        } else {
            Uppers::None
        }
    }

    /// Lanes of a register, the lowest included.
    const fn lanes(self) -> usize {
        match self {
            Uppers::None => 1,
            Uppers::Ymm => 2,
            Uppers::Zmm => 4,
        }
    }
}

/// Judges the registers that came back from a call for a destination at `dst`.
pub(super) fn judge(image: &RegisterImage, dst: usize, uppers: Uppers) -> Result<(), Misbehaviour> {
    if image.returned() != dst {
        return Err(Misbehaviour::WrongReturn);
    }
    if let Some(register) = image.callee_saved_changed() {
        return Err(Misbehaviour::CalleeSaved { register });
    }
    if image.direction_flag() {
        return Err(Misbehaviour::DirectionFlag);
    }
    if image.x87_in_use() != 0 {
        return Err(Misbehaviour::TagWord);
    }
    if image.tiles_in_use() {
        return Err(Misbehaviour::TilesInUse);
    }
    if image.x87_control_changed() {
        return Err(Misbehaviour::X87Control);
    }
    if image.mxcsr_changed() {
        return Err(Misbehaviour::Mxcsr);
    }
    for register in 0..SHARED {
        let (before, _) = image.vector_before(register).as_chunks::<LANE>();
        let (after, _) = image.vector_after(register).as_chunks::<LANE>();
        for lane in 1..uppers.lanes() {
            // Untouched, or cleaned: anything else makes the caller's SSE code slow.
            if after[lane] != before[lane] && after[lane] != [0; LANE] {
                return Err(Misbehaviour::UpperHalf { register: register as u8 });
            }
        }
    }
    Ok(())
}
