//! MMX registers and the x87 stack, which share their room.

use super::{Blame, JUNK_64, Machine, number};
use looptune::ir::{Insn, X87};

/// What a register of the x87 stack holds.
#[derive(Clone, Copy)]
enum Number {
    /// A number of double precision, as its bits.
    Real(u64),
    Integer(u64),
}

pub(super) struct Numbers {
    stack: Vec<Number>,
    mmx: [u64; 8],
    mmx_in_use: bool,
    /// What the caller left in use and nobody has touched is the caller's.
    touched: bool,
}

/// Registers of the x87 stack.
const DEPTH: usize = 8;

impl Numbers {
    pub(super) fn new(occupied: bool) -> Numbers {
        let stack = if occupied { vec![Number::Real(1f64.to_bits()); DEPTH] } else { vec![] };
        Numbers { stack, mmx: [JUNK_64; 8], mmx_in_use: false, touched: false }
    }

    pub(super) fn in_use(&self) -> bool {
        self.touched && (self.mmx_in_use || !self.stack.is_empty())
    }

    fn push(&mut self, new: Number) -> Result<(), Blame> {
        if self.mmx_in_use || self.stack.len() == DEPTH {
            return Err(Blame::X87Overflow);
        }
        self.stack.push(new);
        Ok(())
    }

    /// The top of the stack as it is stored.
    fn top(&self, kind: X87) -> Result<u64, Blame> {
        match (self.stack.last(), kind) {
            _ if self.mmx_in_use => Err(Blame::X87Mixed),
            (None, _) => Err(Blame::X87Underflow),
            (Some(Number::Real(bits)), X87::Real) | (Some(Number::Integer(bits)), X87::Integer) => {
                Ok(*bits)
            }
            // Zero is zero in both.
            (Some(Number::Real(0) | Number::Integer(0)), _) => Ok(0),
            _ => Err(Blame::X87Mixed),
        }
    }
}

/// A number as a register of more precision gives it back: signalling NaNs come out quiet.
fn through_register(bits: u64) -> u64 {
    const QUIET: u64 = 1 << 51;
    if f64::from_bits(bits).is_nan() { bits | QUIET } else { bits }
}

impl Machine<'_> {
    pub(super) fn numbers(&mut self, insn: &Insn) -> Result<(), Blame> {
        self.numbers.touched = true;
        match *insn {
            Insn::Emms => {
                self.numbers.mmx_in_use = false;
                self.numbers.stack.clear();
            }
            Insn::X87Load { kind, mem } => {
                let bits = number(&self.load(self.address(mem), 8)?);
                self.numbers.push(match kind {
                    X87::Real => Number::Real(through_register(bits)),
                    X87::Integer => Number::Integer(bits),
                })?;
            }
            Insn::X87Zero => self.numbers.push(Number::Real(0))?,
            Insn::X87Store { kind, mem } => {
                let bits = self.numbers.top(kind)?;
                self.numbers.stack.pop();
                self.store(self.address(mem), &bits.to_le_bytes())?;
            }
            Insn::X87Keep { mem } => {
                let bits = self.numbers.top(X87::Real)?;
                self.store(self.address(mem), &bits.to_le_bytes())?;
            }
            Insn::X87Pop => {
                self.numbers.stack.pop().ok_or(Blame::X87Underflow)?;
            }
            _ => self.mmx(insn)?,
        }
        Ok(())
    }

    fn mmx(&mut self, insn: &Insn) -> Result<(), Blame> {
        self.numbers.mmx_in_use = true;
        match *insn {
            Insn::MmxLoad { dst, mem } => {
                let value = number(&self.load(self.address(mem), 8)?);
                self.numbers.mmx[usize::from(dst)] = value;
            }
            Insn::MmxZero { dst } => self.numbers.mmx[usize::from(dst)] = 0,
            Insn::MmxStore { mem, src } | Insn::MmxStoreNt { mem, src } => {
                self.unfenced |= matches!(insn, Insn::MmxStoreNt { .. });
                let value = self.numbers.mmx[usize::from(src)].to_le_bytes();
                self.store(self.address(mem), &value)?;
            }
            _ => return Err(Blame::Unexpected(*insn)),
        }
        Ok(())
    }
}
