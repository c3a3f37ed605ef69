//! The bytes of one instruction.

use dynasmrt::{AssemblyOffset, DynasmApi};

/// The bytes of one instruction, the first one lowest. A number rather than a buffer, so
/// that it stays in registers: reading back as a whole what was written byte by byte stalls
/// the processor for longer than the rest takes.
#[derive(Clone, Copy, Default)]
pub(super) struct One {
    bytes: u128,
    len: u8,
}

impl One {
    pub(super) fn len(&self) -> u8 {
        self.len
    }

    /// Appends the bytes to others.
    #[inline(always)]
    pub(super) fn append_to(&self, out: &mut Vec<u8>) {
        // A copy of fixed size is a single move.
        let end = out.len() + usize::from(self.len);
        out.extend_from_slice(&self.bytes.to_le_bytes());
        out.truncate(end);
    }

    /// Removes the REX prefix without a bit set that dynasm writes before every legacy
    /// instruction whose register it learns at run time. It means nothing there (but for the
    /// byte registers sil and dil), and no other assembler writes it.
    #[inline(always)]
    pub(super) fn drop_empty_rex(&mut self) {
        const EMPTY_REX: u8 = 0x40;
        const OPERAND_SIZE: u8 = 0x66;
        let at = u32::from(self.byte(0) == OPERAND_SIZE);
        if self.byte(at) == EMPTY_REX {
            self.remove(at);
        }
    }

    /// Turns a 3-byte VEX prefix that says no more than the 2-byte one into that: dynasm writes
    /// the long one wherever the last operand is a register it learns at run time.
    #[inline(always)]
    pub(super) fn shorten_vex(&mut self) {
        const LONG: u8 = 0xc4;
        const SHORT: u8 = 0xc5;
        // Index and base not extended (the bits are inverted), the 0F opcode map.
        const PLAIN: u8 = 0x61;
        let (second, third) = (self.byte(1), self.byte(2));
        if self.byte(0) == LONG && second & 0x7f == PLAIN && third & 0x80 == 0 {
            self.remove(0);
            let prefix = u16::from_le_bytes([SHORT, second & 0x80 | third]);
            self.bytes = self.bytes & !0xffff | u128::from(prefix);
        }
    }

    #[inline(always)]
    fn byte(&self, at: u32) -> u8 {
        (self.bytes >> (8 * at)) as u8
    }

    #[inline(always)]
    fn remove(&mut self, at: u32) {
        let below = (1 << (8 * at)) - 1;
        self.bytes = self.bytes & below | self.bytes >> 8 & !below;
        self.len -= 1;
    }
}

impl Extend<u8> for One {
    #[inline(always)]
    fn extend<T: IntoIterator<Item = u8>>(&mut self, bytes: T) {
        bytes.into_iter().for_each(|byte| self.push(byte));
    }
}

impl<'a> Extend<&'a u8> for One {
    #[inline(always)]
    fn extend<T: IntoIterator<Item = &'a u8>>(&mut self, bytes: T) {
        bytes.into_iter().for_each(|byte| self.push(*byte));
    }
}

impl DynasmApi for One {
    fn offset(&self) -> AssemblyOffset {
        AssemblyOffset(self.len.into())
    }

    #[inline(always)]
    fn push(&mut self, byte: u8) {
        // No instruction has more than 15 bytes.
        self.bytes |= u128::from(byte) << (8 * u32::from(self.len));
        self.len += 1;
    }

    fn align(&mut self, alignment: usize, with: u8) {
        while !usize::from(self.len).is_multiple_of(alignment) {
            self.push(with);
        }
    }
}
