//! What a watched call leaves behind.

/// Vector registers that an image has room for: zmm0–31.
pub(super) const VECTORS: usize = 32;

/// Values of the callee-saved registers before the call, with their hardware numbers. No
/// byte of them is 0, and all differ, so that a swap shows as well as a change.
pub(super) const SAVED: [(u8, u64); 6] = [
    (3, 0xB3E1_5AA7_91C6_2D4F),
    (5, 0x5D9C_63F1_487E_B20B),
    (12, 0xC17F_8E24_D659_3AB4),
    (13, 0xD28B_97C5_1E4A_F063),
    (14, 0xE49D_B16C_25F8_730E),
    (15, 0xF5A6_C279_3B81_4D97),
];

/// Registers as they were on return from a watched call, with those before it.
#[repr(C, align(64))]
pub struct RegisterImage {
    /// The image that `fxsave` writes: x87 control word, abridged tag word, MXCSR.
    pub(super) legacy: [u8; 512],
    pub(super) before: [[u8; 64]; VECTORS],
    pub(super) after: [[u8; 64]; VECTORS],
    pub(super) saved: [u64; SAVED.len()],
    pub(super) rax: u64,
    pub(super) stack_before: u64,
    pub(super) stack_after: u64,
    pub(super) flags: u64,
    pub(super) mxcsr_before: u32,
    pub(super) control_before: u16,
    /// Which register states are in use, by their bits of XCR0; zeroes where nobody asks.
    pub(super) states: u32,
}

/// Configuration and data of tiles, by their bits of XCR0.
const TILES: u32 = 0b11 << 17;

/// MXCSR bits 0–5: exceptions that happened, kept until somebody clears them.
const MXCSR_STICKY: u32 = 0x3F;

/// The direction flag in rflags.
const DIRECTION: u64 = 1 << 10;

impl RegisterImage {
    /// The return value.
    pub fn returned(&self) -> usize {
        self.rax as usize
    }

    /// Hardware number of the first register that belongs to the caller and came back
    /// changed: rbx, rbp, r12–r15, or rsp (4).
    pub fn callee_saved_changed(&self) -> Option<u8> {
        if self.stack_before != self.stack_after {
            return Some(4);
        }
        SAVED.iter().zip(&self.saved).find(|((_, was), is)| was != *is).map(|((reg, _), _)| *reg)
    }

    /// Whether the direction flag is set.
    pub fn direction_flag(&self) -> bool {
        self.flags & DIRECTION != 0
    }

    /// One bit for each x87/MMX register in use; 0 when all are empty.
    pub fn x87_in_use(&self) -> u8 {
        self.legacy[4]
    }

    /// Whether tiles are configured or hold data, as far as the host has tiles.
    pub fn tiles_in_use(&self) -> bool {
        self.states & TILES != 0
    }

    /// Whether the x87 control word changed.
    pub fn x87_control_changed(&self) -> bool {
        u16::from_le_bytes([self.legacy[0], self.legacy[1]]) != self.control_before
    }

    /// Whether control or mask bits of MXCSR changed; exception flags do not count.
    pub fn mxcsr_changed(&self) -> bool {
        let [.., a, b, c, d] = self.legacy[..28] else { return false };
        (u32::from_le_bytes([a, b, c, d]) ^ self.mxcsr_before) & !MXCSR_STICKY != 0
    }

    /// What the vector register (0–31) held before the call, as far as the host has it.
    pub fn vector_before(&self, register: usize) -> &[u8; 64] {
        &self.before[register]
    }

    /// What the vector register (0–31) held on return, as far as the host has it; zero
    /// where it has not.
    pub fn vector_after(&self, register: usize) -> &[u8; 64] {
        &self.after[register]
    }
}
