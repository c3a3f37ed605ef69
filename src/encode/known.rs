//! Moves that have been encoded before. They are most of every function, a
//! search meets the same few thousand again and again, and looking one up takes less than
//! writing it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::evex::{Evex, Shape};
use super::one::One;
use crate::ir::{Gp, Mem, Vec as VecRegister, VecEncoding, Width};

/// Spreads a key that is a number already.
#[derive(Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        // Fibonacci hashing; the table looks at the high and the low bits.
        let product = (self.0 ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}

/// Which move of a general register; numbered behind the forms of vector moves.
#[derive(Clone, Copy)]
pub(super) enum General {
    Load = 9,
    Store = 10,
    StoreNti = 11,
}

/// The instructions met so far, and who encodes new ones of EVEX.
pub(super) struct Known {
    evex: Evex,
    table: HashMap<u64, One, BuildHasherDefault<Spread>>,
}

impl Known {
    pub(super) fn new() -> Known {
        Known { evex: Evex::new(), table: HashMap::default() }
    }

    /// The bytes; `write` makes those of SSE and VEX where they are new. The error says what
    /// is wrong with the operands.
    #[inline(always)]
    pub(super) fn vector(
        &mut self,
        register: VecRegister,
        shape: Shape,
        write: impl FnOnce() -> Result<One, &'static str>,
    ) -> Result<One, &'static str> {
        let key = key(register, shape);
        if let Some(known) = self.table.get(&key) {
            return Ok(*known);
        }
        let new = match register.encoding {
            VecEncoding::Evex => self.evex.encode(register, shape)?,
            VecEncoding::Sse | VecEncoding::Vex => write()?,
        };
        self.table.insert(key, new);
        Ok(new)
    }

    /// The same for a move of a general register.
    #[inline(always)]
    pub(super) fn general(
        &mut self,
        (width, register, mem): (Width, Gp, Mem),
        kind: General,
        write: impl FnOnce() -> Result<One, &'static str>,
    ) -> Result<One, &'static str> {
        let key = packed(Some(mem), kind as u64, width as u64, register as u64);
        if let Some(known) = self.table.get(&key) {
            return Ok(*known);
        }
        let new = write()?;
        self.table.insert(key, new);
        Ok(new)
    }
}

/// Everything that the bytes depend on, packed.
fn key(register: VecRegister, shape: Shape) -> u64 {
    let (form, mem) = match shape {
        Shape::Load(mem, kind) => (kind as u64, Some(mem)),
        Shape::Store(mem, kind) => (4 + kind as u64, Some(mem)),
        Shape::Zero => (8, None),
    };
    let form = form | (register.encoding as u64) << 4;
    packed(mem, form, register.bytes.into(), register.number.into())
}

/// A form of 6 bits, a width of 8, a register of 8, and a memory operand.
fn packed(mem: Option<Mem>, form: u64, width: u64, register: u64) -> u64 {
    let operand = mem.map_or(0, |mem| {
        let index = mem.index.map_or(15, |i| i as u64);
        (mem.disp as u32 as u64) << 8 | index << 4 | mem.base as u64
    });
    operand << 22 | form << 16 | width << 8 | register
}
