//! Destination, source and stack, and nothing else.

use super::{Blame, Call, JUNK};
use looptune::subject::Op;

/// Where the stack pointer is on entry: the return address lies there, and below it whole
/// frames of the largest blocks fit.
pub(super) const ENTRY_STACK: u64 = 0x7ffe_0000 - 8;
const STACK_BYTES: usize = 32 << 10;
const STACK_BOTTOM: u64 = ENTRY_STACK - STACK_BYTES as u64;

/// What a function may use below the stack pointer.
const RED_ZONE: u64 = 128;

/// A guard page is as large, and must not be jumped over.
const PAGE: u64 = 4096;

pub(super) struct Memory<'a> {
    dst_at: u64,
    src_at: u64,
    src: &'a [u8],
    dst: Vec<u8>,
    /// Which bytes of the destination have been loaded.
    loaded: Vec<bool>,
    writable: bool,
    copies: bool,
    stack: Vec<u8>,
    /// The lowest byte of the stack that was touched.
    lowest: u64,
}

impl<'a> Memory<'a> {
    pub(super) fn new(call: &Call, src: &'a [u8]) -> Memory<'a> {
        Memory {
            dst_at: call.dst,
            src_at: call.src,
            src,
            dst: vec![JUNK; call.n],
            loaded: vec![false; call.n],
            writable: call.op.stores(),
            copies: call.op.copies(),
            stack: vec![JUNK; STACK_BYTES],
            lowest: ENTRY_STACK,
        }
    }

    /// Where in the stack so many bytes lie, if they may be touched now.
    fn on_stack(&mut self, at: u64, bytes: usize, top: u64) -> Result<Option<usize>, Blame> {
        let end = at.saturating_add(bytes as u64);
        let lowest = top.saturating_sub(RED_ZONE).max(STACK_BOTTOM);
        if at < lowest || end > ENTRY_STACK {
            return Ok(None);
        }
        if at + PAGE < self.lowest {
            return Err(Blame::StackSkipped { at });
        }
        self.lowest = self.lowest.min(at);
        Ok(Some((at - STACK_BOTTOM) as usize))
    }

    /// `top`: the stack pointer.
    pub(super) fn load(&mut self, at: u64, bytes: usize, top: u64) -> Result<[u8; 64], Blame> {
        let mut value = [0; 64];
        let range = |from: u64, len: usize| within(at, bytes, from, len);
        if let Some(range) = range(self.src_at, self.src.len()).filter(|_| self.copies) {
            value[..bytes].copy_from_slice(&self.src[range]);
        } else if let Some(range) = range(self.dst_at, self.dst.len()) {
            value[..bytes].copy_from_slice(&self.dst[range.clone()]);
            self.loaded[range].fill(true);
        } else if let Some(start) = self.on_stack(at, bytes, top)? {
            value[..bytes].copy_from_slice(&self.stack[start..start + bytes]);
        } else {
            return Err(Blame::LoadOutside { at, bytes });
        }
        Ok(value)
    }

    /// `top`: the stack pointer.
    pub(super) fn store(&mut self, at: u64, value: &[u8], top: u64) -> Result<(), Blame> {
        let bytes = value.len();
        let range = within(at, bytes, self.dst_at, self.dst.len()).filter(|_| self.writable);
        if let Some(range) = range {
            self.dst[range].copy_from_slice(value);
        } else if let Some(start) = self.on_stack(at, bytes, top)? {
            self.stack[start..start + bytes].copy_from_slice(value);
        } else {
            return Err(Blame::StoreOutside { at, bytes });
        }
        Ok(())
    }

    /// The bytes at the return.
    pub(super) fn judge(&self, op: Op) -> Result<(), Blame> {
        for (at, is) in self.dst.iter().enumerate() {
            let ought = match op {
                Op::Copy => self.src[at],
                Op::Zero => 0,
                Op::Write => Op::WRITTEN,
                Op::Read => JUNK,
            };
            if *is != ought {
                return Err(Blame::WrongByte { at, is: *is, ought });
            }
        }
        match self.loaded.iter().position(|loaded| !loaded) {
            Some(at) if op == Op::Read => Err(Blame::Unread { at }),
            _ => Ok(()),
        }
    }
}

/// Where in `len` bytes from an address others lie, if they all do.
fn within(at: u64, bytes: usize, from: u64, len: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(at.checked_sub(from)?).ok()?;
    let end = start.checked_add(bytes)?;
    (end <= len).then_some(start..end)
}
