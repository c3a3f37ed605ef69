//! Jumps and padding: the bytes that depend on where they stand.

use crate::ir::Cond;

/// The recommended multi-byte nops, 1 to 9 bytes, as both vendors' manuals list them.
const NOPS: [&[u8]; 9] = [
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

/// The longest nop.
pub(super) const LONGEST_NOP: u8 = NOPS.len() as u8;

/// The nop of a length; `None` unless 1 ≤ `len` ≤ 9.
pub const fn nop_bytes(len: u8) -> Option<&'static [u8]> {
    match len {
        1..=LONGEST_NOP => Some(NOPS[len as usize - 1]),
        _ => None,
    }
}

/// A jump without its displacement: condition (`None`: always) and form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump {
    pub(super) cond: Option<Cond>,
    pub(super) near: bool,
}

impl Jump {
    pub(super) const fn len(self) -> u8 {
        match (self.near, self.cond) {
            (false, _) => 2,
            (true, None) => 5,
            (true, Some(_)) => 6,
        }
    }

    /// Writes the jump over `distance` bytes from its end to the front of other bytes.
    pub(super) fn write(self, distance: i32, to: &mut [u8]) {
        let distance = distance.to_le_bytes();
        match (self.cond.map(condition_code), self.near) {
            (None, false) => to[..2].copy_from_slice(&[0xeb, distance[0]]),
            (Some(code), false) => to[..2].copy_from_slice(&[0x70 | code, distance[0]]),
            (None, true) => {
                to[0] = 0xe9;
                to[1..5].copy_from_slice(&distance);
            }
            (Some(code), true) => {
                to[..2].copy_from_slice(&[0x0f, 0x80 | code]);
                to[2..6].copy_from_slice(&distance);
            }
        }
    }
}

const fn condition_code(cond: Cond) -> u8 {
    match cond {
        Cond::B => 0x2,
        Cond::Ae => 0x3,
        Cond::E => 0x4,
        Cond::Ne => 0x5,
        Cond::Be => 0x6,
        Cond::A => 0x7,
        Cond::S => 0x8,
        Cond::Ns => 0x9,
        Cond::Le => 0xe,
        Cond::G => 0xf,
    }
}
