//! General registers and flags.

use super::{Blame, Flags, Machine, number};
use looptune::ir::{Gp, Insn};

impl Machine<'_> {
    pub(super) fn general(&mut self, insn: &Insn) -> Result<(), Blame> {
        let value = |r: Gp| self.gp[r as usize];
        let wide = |imm: i32| imm as i64 as u64;
        let (to, result) = match *insn {
            Insn::Mov { dst, src } => (dst, value(src)),
            Insn::MovImm { dst, imm } => (dst, imm.into()),
            Insn::Lea { dst, mem } => (dst, self.address(mem)),
            Insn::Zero { dst } => (dst, self.logic(0)),
            Insn::Ones { dst } => (dst, self.logic(u64::MAX)),
            Insn::Add { dst, src } => (dst, self.add(value(dst), value(src))),
            Insn::AddImm { dst, imm } => (dst, self.add(value(dst), wide(imm))),
            Insn::Sub { dst, src } => (dst, self.subtract(value(dst), value(src))),
            Insn::SubImm { dst, imm } => (dst, self.subtract(value(dst), wide(imm))),
            Insn::Neg { dst } => (dst, self.subtract(0, value(dst))),
            Insn::AndImm { dst, imm } => (dst, self.logic(value(dst) & wide(imm))),
            Insn::ShrImm { dst, imm } => (dst, self.logic(value(dst) >> imm)),
            Insn::Cmp { a, b } => (a, self.compare(value(a), value(b))),
            Insn::CmpImm { a, imm } => (a, self.compare(value(a), wide(imm))),
            Insn::Test { a, b } => {
                let kept = value(a);
                self.logic(kept & value(b));
                (a, kept)
            }
            Insn::TestImm { a, imm } => {
                let kept = value(a);
                self.logic(kept & u64::from(imm));
                (a, kept)
            }
            Insn::Bzhi { dst, src, index } => {
                // The lowest byte counts; beyond the register nothing is cleared.
                let keep = value(index) & 0xff;
                let kept = if keep > 63 { u64::MAX } else { (1 << keep) - 1 };
                let result = self.logic(value(src) & kept);
                self.flags.carry = keep > 63;
                (dst, result)
            }
            Insn::Push { src } => {
                let pushed = value(src).to_le_bytes();
                let top = value(Gp::Rsp).wrapping_sub(8);
                self.gp[Gp::Rsp as usize] = top;
                self.store(top, &pushed)?;
                (Gp::Rsp, top)
            }
            Insn::Leave => {
                let frame = value(Gp::Rbp);
                self.gp[Gp::Rsp as usize] = frame;
                let saved = number(&self.load(frame, 8)?);
                self.gp[Gp::Rbp as usize] = saved;
                (Gp::Rsp, frame.wrapping_add(8))
            }
            _ => return Err(Blame::Unexpected(*insn)),
        };
        self.gp[to as usize] = result;
        Ok(())
    }

    fn logic(&mut self, result: u64) -> u64 {
        self.flags = Flags { zero: result == 0, sign: (result as i64) < 0, ..Flags::default() };
        result
    }

    fn add(&mut self, a: u64, b: u64) -> u64 {
        let (result, carry) = a.overflowing_add(b);
        let overflow = (a as i64).overflowing_add(b as i64).1;
        self.flags = Flags { carry, zero: result == 0, sign: (result as i64) < 0, overflow };
        result
    }

    fn subtract(&mut self, a: u64, b: u64) -> u64 {
        let (result, carry) = a.overflowing_sub(b);
        let overflow = (a as i64).overflowing_sub(b as i64).1;
        self.flags = Flags { carry, zero: result == 0, sign: (result as i64) < 0, overflow };
        result
    }

    /// Flags of the difference; the first operand stays.
    fn compare(&mut self, a: u64, b: u64) -> u64 {
        self.subtract(a, b);
        a
    }
}
