//! The bytes of one instruction.

use dynasmrt::{AssemblyOffset, DynasmApi};

/// The bytes of one instruction.
#[derive(Clone, Copy, Default)]
pub(super) struct One {
    /// Bytes past the length mean nothing.
    bytes: [u8; One::ROOM],
    len: u8,
}

impl One {
    /// No instruction has more than 15 bytes, and one more makes a copy a single move.
    pub(super) const ROOM: usize = 16;

    /// Writes the bytes into others, of which there are [`One::ROOM`] from there on. Says how
    /// many they are.
    #[inline(always)]
    pub(super) fn put(&self, out: &mut [u8], at: usize) -> u8 {
        out[at..at + One::ROOM].copy_from_slice(&self.bytes);
        self.len
    }

    /// Removes the REX prefix without a bit set that dynasm writes before every legacy
    /// instruction whose register it learns at run time. It means nothing there (but for the
    /// byte registers sil and dil), and no other assembler writes it.
    pub(super) fn drop_empty_rex(&mut self) {
        const EMPTY_REX: u8 = 0x40;
        const OPERAND_SIZE: u8 = 0x66;
        let at = usize::from(self.bytes[0] == OPERAND_SIZE);
        if self.bytes[at] == EMPTY_REX {
            self.remove(at);
        }
    }

    /// Turns a 3-byte VEX prefix that says no more than the 2-byte one into that: dynasm writes
    /// the long one wherever the last operand is a register it learns at run time.
    pub(super) fn shorten_vex(&mut self) {
        const LONG: u8 = 0xc4;
        const SHORT: u8 = 0xc5;
        // Index and base not extended (the bits are inverted), the 0F opcode map.
        const PLAIN: u8 = 0x61;
        let [first, second, third, ..] = self.bytes;
        if first == LONG && second & 0x7f == PLAIN && third & 0x80 == 0 {
            self.remove(0);
            self.bytes[..2].copy_from_slice(&[SHORT, second & 0x80 | third]);
        }
    }

    fn remove(&mut self, at: usize) {
        self.bytes.copy_within(at + 1.., at);
        self.len -= 1;
    }
}

impl Extend<u8> for One {
    fn extend<T: IntoIterator<Item = u8>>(&mut self, bytes: T) {
        bytes.into_iter().for_each(|byte| self.push(byte));
    }
}

impl<'a> Extend<&'a u8> for One {
    fn extend<T: IntoIterator<Item = &'a u8>>(&mut self, bytes: T) {
        bytes.into_iter().for_each(|byte| self.push(*byte));
    }
}

impl DynasmApi for One {
    fn offset(&self) -> AssemblyOffset {
        AssemblyOffset(self.len.into())
    }

    fn push(&mut self, byte: u8) {
        self.bytes[usize::from(self.len)] = byte;
        self.len += 1;
    }

    fn align(&mut self, alignment: usize, with: u8) {
        while !usize::from(self.len).is_multiple_of(alignment) {
            self.push(with);
        }
    }
}
