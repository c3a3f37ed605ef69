//! Head, loop and tail from the last byte down. The pointers stand at the end of what is still
//! to be done; rax holds the first byte all along.

use super::data::Data;
use super::emit::{At, Emit};
use crate::ir::{Cond, Gp, Insn, Part};
use crate::subject::{Count, Head, Store, Tail};

impl Emit<'_> {
    /// Moves `span` bytes unaligned that end at the end, and the end of the asked pointer down
    /// to a multiple of `span`. The pointers stand at the start before and after.
    pub(super) fn head_from_end(&mut self, data: Data, span: i32) {
        let pointer = if self.v.head == Head::Src { Gp::Rsi } else { Gp::Rdi };
        let width = data.width();
        let over = Gp::R9;
        self.push(Insn::Mov { dst: over, src: pointer });
        self.push(Insn::Add { dst: over, src: self.n });
        self.push(Insn::AndImm { dst: over, imm: span - 1 });
        self.jcc(Cond::E, Part::Setup, 0);
        self.transfer(data, (0..span / width).map(move |i| At::Size(i * width - span)));
        // The moves took the register.
        self.push(Insn::Mov { dst: over, src: pointer });
        self.push(Insn::Add { dst: over, src: self.n });
        self.push(Insn::AndImm { dst: over, imm: span - 1 });
        self.push(Insn::Sub { dst: self.n, src: over });
    }

    /// The loop and its tail. `check`: a head may have left too little for a turn.
    pub(super) fn backward(&mut self, check: bool) {
        let (n, block) = (self.n, self.v.block() as i32);
        let inclusive = self.inclusive();
        self.push(Insn::Add { dst: Gp::Rdi, src: n });
        if self.copies() {
            self.push(Insn::Add { dst: Gp::Rsi, src: n });
        }
        let (skip, back) = match self.v.count {
            Count::Dec => {
                self.push(Insn::SubImm { dst: n, imm: block });
                if inclusive { (Cond::B, Cond::Ae) } else { (Cond::Be, Cond::A) }
            }
            _ => {
                // The first place where a whole block is left.
                self.push(Insn::Mov { dst: n, src: Gp::Rax });
                self.push(Insn::AddImm { dst: n, imm: block });
                if check {
                    self.push(Insn::Cmp { a: Gp::Rdi, b: n });
                }
                if inclusive { (Cond::B, Cond::Ae) } else { (Cond::Be, Cond::A) }
            }
        };
        if check {
            self.jcc(skip, Part::Tail, 0);
        }
        self.loop_top();
        self.part(Part::Loop);
        self.label(Part::Loop, 0);
        self.extras(|disp| At::Start(disp - block));
        let (width, last) = (Data::of(&self.v).width(), i32::from(self.v.unroll) - 1);
        self.moves(self.v.store, |i| At::Start((last - i as i32) * width - block));
        self.advance(-block);
        match self.v.count {
            Count::Dec => self.push(Insn::SubImm { dst: n, imm: block }),
            _ => self.push(Insn::Cmp { a: Gp::Rdi, b: n }),
        }
        self.jcc(back, Part::Loop, 0);
        self.part(Part::Tail);
        self.label(Part::Tail, 0);
        if inclusive {
            self.left_below();
        } else {
            self.first_block();
        }
    }

    /// Back to the first byte; the flags tell nothing.
    fn rewind(&mut self) {
        if self.copies() {
            self.push(Insn::Sub { dst: Gp::Rsi, src: Gp::Rdi });
            self.push(Insn::Add { dst: Gp::Rsi, src: Gp::Rax });
        }
        self.push(Insn::Mov { dst: Gp::Rdi, src: Gp::Rax });
    }

    /// The first block; it overlaps what the loop did.
    fn first_block(&mut self) {
        self.rewind();
        self.block(false, Store::Plain);
    }

    /// What is left below an inclusive loop: fewer bytes than a block, perhaps none. What lies
    /// after them is done already, and may be done again.
    fn left_below(&mut self) {
        let n = self.n;
        self.push(Insn::Mov { dst: n, src: Gp::Rdi });
        self.rewind();
        self.push(Insn::Sub { dst: n, src: Gp::Rax });
        if self.v.tail != Tail::Overlap {
            self.tail();
            return;
        }
        self.jcc(Cond::E, Part::Exit, 0);
        let data = Data::aside(&self.v);
        self.label(Part::Tail, 1);
        self.transfer(data, std::iter::once(At::Start(0)));
        self.advance(data.width());
        self.push(Insn::SubImm { dst: n, imm: data.width() });
        self.jcc(Cond::A, Part::Tail, 1);
    }
}
