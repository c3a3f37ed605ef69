//! Destination and source between guard pages, and the judgement of what stands in them.

use super::cases::{Case, Place};
use super::source::{Blocks, UNWRITTEN};
use crate::mem::{Guarded, MemError};
use crate::subject::Op;
use crate::trial::Misbehaviour;

/// Where buffers begin that do not lie against a guard page: room before them, and a
/// multiple of 64.
const FREE: usize = 1024;

/// Bytes watched on both sides of a destination or source after every call. More than the
/// widest register written a whole step too far; what is still farther is found by the sweep.
const CANARY: usize = 128;

/// A destination and a source of one usable length.
pub(super) struct Buffers {
    pub(super) dst: Guarded,
    pub(super) src: Guarded,
    largest: usize,
}

/// Offsets of a case in its buffers.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) dst: usize,
    pub(super) src: usize,
}

impl Buffers {
    /// Buffers for cases of up to `n` bytes.
    pub(super) fn for_size(n: usize, blocks: &Blocks) -> Result<Buffers, MemError> {
        let usable = n.saturating_add(2 * FREE);
        let (dst, src) = (Guarded::new(usable)?, Guarded::new(usable)?);
        let mut buffers = Buffers { dst, src, largest: n };
        buffers.reset(blocks);
        Ok(buffers)
    }

    /// Whether these are the buffers for `n` bytes: large enough, and not much too large.
    pub(super) fn serves(&self, n: usize) -> bool {
        n <= self.largest && self.largest / 4 <= n
    }

    /// Makes everything as before the first call.
    pub(super) fn reset(&mut self, blocks: &Blocks) {
        self.dst.bytes_mut().fill(UNWRITTEN);
        blocks.fill(self.src.bytes_mut());
    }

    /// Where a case lies.
    pub(super) fn spot(&self, op: Op, case: Case) -> Spot {
        let at = |place, len: usize| match place {
            Place::Start => 0,
            Place::End => len - case.n,
            Place::At(offset) => FREE + offset as usize,
        };
        Spot {
            dst: at(case.dst, self.dst.len()),
            // An op without a source reads none; the same place for each keeps it simple.
            src: if op.copies() { at(case.src, self.src.len()) } else { 0 },
        }
    }

    /// Compares what stands at a spot and around it with the reference.
    pub(super) fn judge(
        &self,
        op: Op,
        blocks: &Blocks,
        spot: Spot,
        n: usize,
    ) -> Result<(), Misbehaviour> {
        let dst = self.dst.bytes();
        let end = spot.dst + n;
        if let Some((at, wanted)) = blocks.result_differs(op, spot.src, &dst[spot.dst..end]) {
            let got = dst[spot.dst + at];
            let all = blocks.result(op, spot.src, n);
            return Err(quietened(all, &dst[spot.dst..end]).unwrap_or(Misbehaviour::WrongByte {
                at: at as u64,
                wanted,
                got,
            }));
        }
        let low = spot.dst.saturating_sub(CANARY);
        let high = (end + CANARY).min(dst.len());
        for range in [low..spot.dst, end..high] {
            let first = range.start;
            if let Some(at) = blocks.first_written(&dst[range]) {
                return Err(outside(first + at, spot));
            }
        }
        if op.copies() {
            let src = self.src.bytes();
            let low = spot.src.saturating_sub(CANARY);
            let high = (spot.src + n + CANARY).min(src.len());
            if let Some(at) = blocks.source_differs(low, &src[low..high]) {
                return Err(source_changed(low + at, spot));
            }
        }
        Ok(())
    }

    /// Makes the destination at a spot as it was before the call.
    pub(super) fn restore(&mut self, spot: Spot, n: usize) {
        self.dst.bytes_mut()[spot.dst..spot.dst + n].fill(UNWRITTEN);
    }

    /// Looks at every byte of both buffers, all cases done; offsets are told from the last
    /// one.
    pub(super) fn sweep(
        &self,
        op: Op,
        blocks: &Blocks,
        last: Option<Case>,
    ) -> Result<(), Misbehaviour> {
        let spot = last.map_or(Spot { dst: 0, src: 0 }, |case| self.spot(op, case));
        if let Some(at) = blocks.first_written(self.dst.bytes()) {
            return Err(outside(at, spot));
        }
        match blocks.source_differs(0, self.src.bytes()) {
            Some(at) => Err(source_changed(at, spot)),
            None => Ok(()),
        }
    }
}

/// Whether all that differs is that signalling NaNs of 8 bytes came out quiet; the first of
/// them. Looks at no more than there is of the wanted bytes.
fn quietened(wanted: &[u8], got: &[u8]) -> Option<Misbehaviour> {
    const QUIET: u8 = 0x08;
    let mut first = None;
    for (high, (&w, &g)) in wanted.iter().zip(got).enumerate().filter(|(_, (w, g))| w != g) {
        // The quiet bit stands in the seventh byte of the number.
        let at = high.checked_sub(6)?;
        let number = |bytes: &[u8]| {
            let bytes: [u8; 8] = bytes.get(at..at + 8)?.try_into().ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        let (wanted, got) = (number(wanted)?, number(got)?);
        let is_nan = f64::from_bits(wanted).is_nan();
        if !is_nan || w & QUIET != 0 || g != w | QUIET {
            return None;
        }
        let at = at as u64;
        first.get_or_insert(Misbehaviour::BitsChanged { at, wanted, got });
    }
    first
}

fn outside(at: usize, spot: Spot) -> Misbehaviour {
    Misbehaviour::OutsideWrite { at: at as i64 - spot.dst as i64 }
}

/// A change before the source counts as one of its first byte.
fn source_changed(at: usize, spot: Spot) -> Misbehaviour {
    Misbehaviour::SourceChanged { at: at.saturating_sub(spot.src) as u64 }
}
