//! The classes whose main loop is one string instruction.

use super::emit::{At, Data, Debts, Emit};
use crate::ir::{Cond, Gp, Insn, Part, RepOp, Width};
use crate::subject::{Class, Tail};

impl Emit<'_> {
    /// The whole function. A zero keeps its return value in r8, because `rep stos` stores
    /// rax.
    pub(super) fn rep(&mut self) {
        self.push(Insn::Endbr64);
        if self.copies() {
            self.push(Insn::Mov { dst: Gp::Rax, src: Gp::Rdi });
        } else {
            self.push(Insn::Mov { dst: Gp::R8, src: Gp::Rdi });
            self.push(Insn::Zero { dst: Gp::Rax });
        }
        let debts = Debts { rax: !self.copies(), ..Debts::default() };
        let width = self.v.class.width();
        let ladder = self.v.class != Class::Rep8 && self.v.tail == Tail::Overlap;
        if ladder {
            // A last move that ends at the end needs its width before the end.
            self.compare_size(width);
            self.jcc(Cond::B, Part::Small, 0);
            self.boundary(width);
        }
        let head = self.v.head_span();
        if head > 0 {
            self.compare_size(head);
            self.jcc(Cond::Be, Part::Setup, 0);
            self.boundary(head + 1);
            self.part(Part::Head);
            self.head(Data::Gp(Width::B8), head as i32);
        }
        self.part(Part::Setup);
        if head > 0 {
            self.label(Part::Setup, 0);
        }
        self.string(self.v.class);
        if self.v.class != Class::Rep8 {
            self.part(Part::Tail);
            self.rep_tail(width);
        }
        self.part(Part::Exit);
        if self.v.class != Class::Rep8 && self.v.tail != Tail::Rep {
            self.label(Part::Exit, 0);
        }
        self.leave(debts);
        if ladder {
            self.part(Part::Small);
            self.label(Part::Small, 0);
            self.down_ladder(width, debts);
        }
        for n in [1, width, width + 1, 2 * width, 2 * width + 1] {
            self.boundary(n);
            self.boundary(n + head);
        }
    }

    /// Count and string instruction: whole steps of the class's width.
    fn string(&mut self, class: Class) {
        let (width, shift) = match class {
            Class::Rep64 => (Width::B8, 3),
            Class::Rep32 => (Width::B4, 2),
            _ => (Width::B1, 0),
        };
        self.push(Insn::Mov { dst: Gp::Rcx, src: self.n });
        if shift > 0 {
            self.push(Insn::ShrImm { dst: Gp::Rcx, imm: shift });
        }
        let op = if self.copies() { RepOp::Movs } else { RepOp::Stos };
        self.push(Insn::Rep { op, width });
    }

    /// Fewer bytes than a step.
    fn rep_tail(&mut self, width: u32) {
        self.push(Insn::AndImm { dst: self.n, imm: width as i32 - 1 });
        match self.v.tail {
            Tail::Rep => self.string(Class::Rep8),
            Tail::Bytes => {
                self.jcc(Cond::E, Part::Exit, 0);
                self.byte_loop();
            }
            Tail::Overlap => {
                self.jcc(Cond::E, Part::Exit, 0);
                let last = At::Size(-(width as i32));
                self.transfer(Data::narrow(&self.v, width), std::iter::once(last));
            }
        }
    }
}
