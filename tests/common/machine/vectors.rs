//! Vector and mask registers.

use super::{Blame, JUNK, JUNK_64, Machine};
use looptune::ir::{Insn, Mem, Vec as VecRegister, VecEncoding, VecMove};

/// Registers whose upper parts old SSE code would have to preserve.
const OLD: usize = 16;

pub(super) struct Vectors {
    registers: [[u8; 64]; 32],
    /// Whether one of the old ones has an upper part in use.
    dirty: [bool; OLD],
    masks: [u64; 8],
}

impl Vectors {
    pub(super) fn new() -> Vectors {
        Vectors { registers: [[JUNK; 64]; 32], dirty: [false; OLD], masks: [JUNK_64; 8] }
    }

    /// The first register that is left dirty.
    pub(super) fn dirty(&self) -> Option<usize> {
        self.dirty.iter().position(|d| *d)
    }

    /// SSE leaves the upper part alone; VEX and EVEX clear what they do not write.
    fn write(&mut self, register: VecRegister, value: &[u8; 64]) {
        let (number, bytes) = (usize::from(register.number), usize::from(register.bytes));
        let whole = &mut self.registers[number];
        whole[..bytes].copy_from_slice(&value[..bytes]);
        if register.encoding != VecEncoding::Sse {
            whole[bytes..].fill(0);
            if let Some(dirty) = self.dirty.get_mut(number) {
                *dirty = bytes > 16;
            }
        }
    }
}

impl Machine<'_> {
    pub(super) fn vector(&mut self, insn: &Insn) -> Result<(), Blame> {
        match *insn {
            Insn::Vzeroupper => {
                self.vectors.dirty = [false; OLD];
                self.vectors.registers[..OLD].iter_mut().for_each(|v| v[16..].fill(0));
            }
            Insn::VecLoad { dst, mem, kind } => {
                let at = self.reached(dst, mem, kind, insn)?;
                let value = self.load(at, dst.bytes.into())?;
                self.vectors.write(dst, &value);
            }
            Insn::VecStore { mem, src, kind } => {
                let at = self.reached(src, mem, kind, insn)?;
                self.unfenced |= kind == VecMove::NonTemporal;
                let value = self.vectors.registers[usize::from(src.number)];
                self.store(at, &value[..usize::from(src.bytes)])?;
            }
            Insn::VecZero { dst } => {
                self.no_penalty(dst, insn)?;
                self.vectors.write(dst, &[0; 64]);
            }
            Insn::VecOnes { dst } => {
                self.no_penalty(dst, insn)?;
                self.vectors.write(dst, &[0xff; 64]);
            }
            Insn::MaskFrom { mask, src } => {
                self.vectors.masks[usize::from(mask)] = self.gp[src as usize];
            }
            Insn::MaskLoad { dst, mem, mask } => {
                let mut value = [0; 64];
                for byte in self.masked(dst, mask) {
                    let at = self.address(mem).wrapping_add(byte as u64);
                    value[byte] = self.load(at, 1)?[0];
                }
                self.vectors.write(dst, &value);
            }
            Insn::MaskStore { mem, src, mask } => {
                let value = self.vectors.registers[usize::from(src.number)];
                for byte in self.masked(src, mask) {
                    let at = self.address(mem).wrapping_add(byte as u64);
                    self.store(at, &value[byte..=byte])?;
                }
            }
            _ => return Err(Blame::Unexpected(*insn)),
        }
        Ok(())
    }

    /// Bytes of a register that a mask lets through; the others are not touched, not even to
    /// fault.
    fn masked(&self, register: VecRegister, mask: u8) -> Vec<usize> {
        let mask = self.vectors.masks[usize::from(mask)];
        (0..usize::from(register.bytes)).filter(|byte| mask >> byte & 1 == 1).collect()
    }

    fn no_penalty(&self, register: VecRegister, insn: &Insn) -> Result<(), Blame> {
        match register.encoding {
            VecEncoding::Sse if self.vectors.dirty().is_some() => Err(Blame::SseWhileDirty(*insn)),
            _ => Ok(()),
        }
    }

    /// The address of an access, if its instruction takes that.
    fn reached(
        &self,
        register: VecRegister,
        mem: Mem,
        kind: VecMove,
        insn: &Insn,
    ) -> Result<u64, Blame> {
        self.no_penalty(register, insn)?;
        let at = self.address(mem);
        if kind != VecMove::Unaligned && !at.is_multiple_of(register.bytes.into()) {
            return Err(Blame::Unaligned { at, insn: *insn });
        }
        Ok(at)
    }
}
