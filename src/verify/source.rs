//! Bytes of the source, and what the reference makes of them.

use super::reference;
use crate::subject::Op;

/// The source repeats after so many bytes: a prime, so that no power of two, no page and no
/// unroll is a period of it, and an access at a wrong distance meets other bytes.
pub(super) const PERIOD: usize = 65_521;

/// A byte differs from as many before it: the nearest wrong neighbours are never equal.
const DISTINCT: usize = 32;

/// Two bytes each of numbers that registers for numbers may not keep: the highest ones of
/// signalling NaNs and of denormals, of both signs.
const NUMBERS: [[u8; 2]; 4] = [[0xf4, 0x7f], [0x03, 0x00], [0xf5, 0xff], [0x02, 0x80]];

/// One of them comes every so many bytes. Odd, so that each kind (a signalling NaN is every
/// second) ends at every address modulo 8 within [`NUMBERS_RUN`] bytes.
const NUMBERS_STEP: usize = 61;

/// Bytes within which a walk by 8 bytes from anywhere meets a signalling NaN and a denormal.
pub(super) const NUMBERS_RUN: usize = 8 * NUMBERS_STEP + 8;

/// The byte of one of the [`NUMBERS`] where one stands. Numbers and denormals come by turns,
/// half a step apart.
fn numbers_byte(position: usize) -> Option<u8> {
    const HALF: usize = NUMBERS_STEP / 2;
    let (turn, within) = (position / NUMBERS_STEP, position % NUMBERS_STEP);
    let sign = turn % 2 * 2;
    match within {
        0 | 1 => Some(NUMBERS[sign][within]),
        HALF | 31 => Some(NUMBERS[sign + 1][within - HALF]),
        _ => None,
    }
}

/// What the destination holds before a call. The source never has this byte and neither
/// has a zeroed destination: a byte that was not written shows, and so does one that was
/// written outside.
pub(super) const UNWRITTEN: u8 = 0xA5;

/// The source and the wanted results from every phase of the period, at least a period long.
pub(super) struct Blocks {
    source: Vec<u8>,
    copied: Vec<u8>,
    zeroed: Vec<u8>,
    written: Vec<u8>,
    /// A read leaves what it was given.
    read: Vec<u8>,
    unwritten: Vec<u8>,
}

impl Blocks {
    pub(super) fn new() -> Blocks {
        let mut source = Vec::with_capacity(2 * PERIOD);
        for position in 0..PERIOD {
            if let Some(byte) = numbers_byte(position) {
                source.push(byte);
                continue;
            }
            let near = &source[position.saturating_sub(DISTINCT)..];
            let mut hash = mix(position as u64);
            let taken = |byte: u8| byte == UNWRITTEN || NUMBERS.as_flattened().contains(&byte);
            while taken(hash as u8) || near.contains(&(hash as u8)) {
                hash = mix(hash);
            }
            source.push(hash as u8);
        }
        source.extend_from_within(..);
        let wanted = |op| {
            let mut wanted = vec![UNWRITTEN; source.len()];
            reference::run(op, &mut wanted, &source);
            wanted
        };
        let (copied, zeroed) = (wanted(Op::Copy), wanted(Op::Zero));
        let (written, read) = (wanted(Op::Write), wanted(Op::Read));
        Blocks { source, copied, zeroed, written, read, unwritten: vec![UNWRITTEN; PERIOD] }
    }

    /// Writes the source from position 0 on.
    pub(super) fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(PERIOD) {
            chunk.copy_from_slice(&self.source[..chunk.len()]);
        }
    }

    /// The first byte that is not the source's from `position` on.
    pub(super) fn source_differs(&self, position: usize, got: &[u8]) -> Option<usize> {
        differs(&self.source, position, got).map(|(at, _)| at)
    }

    /// The first byte that is not what the op makes of the source from `position` on, and
    /// what it should be.
    pub(super) fn result_differs(
        &self,
        op: Op,
        position: usize,
        got: &[u8],
    ) -> Option<(usize, u8)> {
        differs(self.results(op), position, got)
    }

    /// The bytes that the op makes of the source from `position` on, at most a period.
    pub(super) fn result(&self, op: Op, position: usize, len: usize) -> &[u8] {
        &self.results(op)[position % PERIOD..][..len.min(PERIOD)]
    }

    fn results(&self, op: Op) -> &[u8] {
        match op {
            Op::Copy => &self.copied,
            Op::Zero => &self.zeroed,
            Op::Read => &self.read,
            Op::Write => &self.written,
        }
    }

    /// The first byte that somebody wrote.
    pub(super) fn first_written(&self, got: &[u8]) -> Option<usize> {
        got.chunks(PERIOD).enumerate().find_map(|(index, chunk)| {
            let same = chunk == &self.unwritten[..chunk.len()];
            let first = || chunk.iter().position(|&byte| byte != UNWRITTEN);
            if same { None } else { first().map(|at| index * PERIOD + at) }
        })
    }
}

/// The first byte of `got` that differs from a two-period block read from `position` on.
fn differs(block: &[u8], position: usize, got: &[u8]) -> Option<(usize, u8)> {
    let phase = position % PERIOD;
    got.chunks(PERIOD).enumerate().find_map(|(index, chunk)| {
        let wanted = &block[phase..phase + chunk.len()];
        if chunk == wanted {
            return None;
        }
        let at = chunk.iter().zip(wanted).position(|(g, w)| g != w)?;
        Some((index * PERIOD + at, wanted[at]))
    })
}

/// Spreads a number over all bits.
const fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ number >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let number = (number ^ number >> 29).wrapping_mul(0xA3B1_9B27_4C5D_0F85);
    number ^ number >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_bytes_tell_where_they_are_from() {
        let blocks = Blocks::new();
        let source = &blocks.source;
        assert!(!source.contains(&UNWRITTEN));
        for at in 0..PERIOD {
            let near = &source[at + 1..at + DISTINCT];
            assert!(!near.contains(&source[at]) || at + DISTINCT > PERIOD);
        }
        for value in (0..=255u8).filter(|&v| v != UNWRITTEN) {
            assert!(source.contains(&value), "{value}");
        }
        // A loop that is wrong by a power of two, or by any small distance, meets mostly
        // other bytes.
        for distance in (1..1000).chain((10..16).map(|p| 1 << p)) {
            let equal = (0..4096).filter(|&i| source[i] == source[i + distance]).count();
            // The numbers come again after two steps.
            let most = if distance % (2 * NUMBERS_STEP) == 0 { 300 } else { 60 };
            assert!(equal < most, "{distance}: {equal} of 4096");
        }
    }

    #[test]
    fn differences_are_found_across_periods() {
        let blocks = Blocks::new();
        let mut long = vec![0; 3 * PERIOD + 5];
        blocks.fill(&mut long);
        assert_eq!(blocks.source_differs(0, &long), None);
        assert_eq!(blocks.source_differs(70_000, &long[70_000..]), None);
        let last = long.len() - 1;
        let wanted = long[last];
        long[last] = UNWRITTEN;
        assert_eq!(blocks.result_differs(Op::Copy, 9, &long[9..]), Some((last - 9, wanted)));
        assert_eq!(blocks.first_written(&vec![UNWRITTEN; 200_000]), None);
        let mut outside = vec![UNWRITTEN; 200_000];
        outside[199_999] = 0;
        assert_eq!(blocks.first_written(&outside), Some(199_999));
        assert_eq!(blocks.result_differs(Op::Zero, 3, &[0, 0, 1]), Some((2, 0)));
    }
}
