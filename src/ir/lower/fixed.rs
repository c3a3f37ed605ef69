//! Functions for one size: nothing is compared with it, and what is left after the loop is
//! known.

use super::data::Data;
use super::emit::{At, Debts, Emit};
use crate::ir::{Cond, Gp, Insn, Part};
use crate::subject::Count;

impl Emit<'_> {
    /// The whole of a function for `size` bytes.
    pub(super) fn fixed(&mut self, size: u32) {
        self.entry();
        if self.v.head_span() > 0 {
            // What the head takes is not known, so that the rest is counted.
            self.push(Insn::MovImm { dst: self.n, imm: size });
            self.main_path(size);
            return;
        }
        let block = self.v.block();
        let (turns, rest) = (size / block, size % block);
        self.part(Part::Setup);
        if turns > 0 {
            self.prepare();
        }
        match turns {
            0 => {}
            // No loop at all.
            1 => {
                self.part(Part::Loop);
                self.extras(At::Start);
                self.block(false, self.v.store);
                self.after_loop();
            }
            _ => self.counted(turns * block),
        }
        self.part(Part::Tail);
        let done = if turns == 1 { block } else { 0 };
        self.known_rest(size, rest, done as i32);
        self.part(Part::Exit);
        let debts = self.main_debts();
        let debts = if turns > 0 { debts } else { self.aside_debts() };
        self.leave(debts);
    }

    /// A loop over so many bytes, a whole number of turns and more than one.
    fn counted(&mut self, bytes: u32) {
        let (n, block, total) = (self.n, self.v.block() as i32, bytes as i32);
        let indexed = self.v.count == Count::Negidx;
        match self.v.count {
            Count::Cmp => {
                let limit = self.dst(At::Start(total));
                self.push(Insn::Lea { dst: n, mem: limit });
            }
            Count::Dec => self.push(Insn::MovImm { dst: n, imm: bytes }),
            Count::Negidx => {
                self.step(Gp::Rdi, total);
                if self.copies() {
                    self.step(Gp::Rsi, total);
                }
                self.push(Insn::MovImm { dst: n, imm: bytes });
                self.push(Insn::Neg { dst: n });
            }
        }
        self.loop_top();
        self.part(Part::Loop);
        self.label(Part::Loop, 0);
        self.extras(|disp| if indexed { At::Size(disp) } else { At::Start(disp) });
        self.block(indexed, self.v.store);
        match self.v.count {
            Count::Cmp => {
                self.advance(block);
                self.push(Insn::Cmp { a: Gp::Rdi, b: n });
            }
            Count::Dec => {
                self.advance(block);
                self.push(Insn::SubImm { dst: n, imm: block });
            }
            Count::Negidx => self.push(Insn::AddImm { dst: n, imm: block }),
        }
        self.jcc(Cond::Ne, Part::Loop, 0);
        self.after_loop();
    }

    /// The bytes after the loop, `done` after the pointers: whole registers, then one that ends
    /// at the end where so much lies before it, else ever narrower ones.
    fn known_rest(&mut self, size: u32, rest: u32, done: i32) {
        let data = Data::aside(&self.v);
        let width = data.width();
        let whole = rest as i32 / width;
        self.transfer(data, (0..whole).map(move |i| At::Start(done + i * width)));
        let mut left = rest as i32 % width;
        if left > 0 && size as i32 >= width {
            let last = done + rest as i32 - width;
            self.transfer(data, std::iter::once(At::Start(last)));
            return;
        }
        let mut narrower = width / 2;
        let mut at = done + rest as i32 - left;
        let mut filled = false;
        while left > 0 {
            if left >= narrower {
                if narrower <= 8 && !filled {
                    self.fill_after_vectors();
                    filled = true;
                }
                let narrow = Data::narrow(&self.v, narrower as u32);
                self.transfer(narrow, std::iter::once(At::Start(at)));
                at += narrower;
                left -= narrower;
            }
            narrower /= 2;
        }
    }

    /// A string instruction for `size` bytes, and what its steps leave.
    pub(super) fn fixed_string(&mut self, size: u32) {
        let width = self.v.class.width();
        self.string_of(self.v.class, size / width);
        let rest = size % width;
        let data = Data::narrow(&self.v, width);
        if rest > 0 && size >= width {
            let last = At::Start(rest as i32 - width as i32);
            self.transfer(data, std::iter::once(last));
        } else {
            let mut at = 0;
            for narrower in [4, 2, 1] {
                if rest & narrower > 0 {
                    let narrow = Data::narrow(&self.v, narrower);
                    self.transfer(narrow, std::iter::once(At::Start(at)));
                    at += narrower as i32;
                }
            }
        }
    }

    /// Where no turn is made: registers of the aside only.
    fn aside_debts(&self) -> Debts {
        let vzeroupper = self.dirty(Data::aside(&self.v), 1) || self.dirty_fill();
        Debts { vzeroupper, ..Default::default() }
    }
}
