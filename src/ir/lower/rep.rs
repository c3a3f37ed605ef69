//! The classes whose main loop is one string instruction.

use super::data::Data;
use super::emit::{At, Debts, Emit};
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
            self.fill(Gp::Rax);
        }
        let debts = Debts { rax: !self.copies(), ..Debts::default() };
        if let Some(size) = self.v.fixed {
            if self.v.head_span() == 0 {
                self.part(Part::Loop);
                self.fixed_string(size);
                self.part(Part::Exit);
                self.leave(debts);
                return;
            }
            self.push(Insn::MovImm { dst: self.n, imm: size });
        }
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

    /// Count and string instruction for a known number of steps.
    pub(super) fn string_of(&mut self, class: Class, steps: u32) {
        self.push(Insn::MovImm { dst: Gp::Rcx, imm: steps });
        self.string_insn(string_width(class));
    }

    fn string_insn(&mut self, width: Width) {
        let op = if self.copies() { RepOp::Movs } else { RepOp::Stos };
        self.push(Insn::Rep { op, width });
    }

    /// Count and string instruction: whole steps of the class's width.
    fn string(&mut self, class: Class) {
        let width = string_width(class);
        let shift = class.width().trailing_zeros() as u8;
        self.push(Insn::Mov { dst: Gp::Rcx, src: self.n });
        if shift > 0 {
            self.push(Insn::ShrImm { dst: Gp::Rcx, imm: shift });
        }
        self.string_insn(width);
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
            Tail::Overlap | Tail::Mask => {
                self.jcc(Cond::E, Part::Exit, 0);
                let last = At::Size(-(width as i32));
                self.transfer(Data::narrow(&self.v, width), std::iter::once(last));
            }
        }
    }
}

const fn string_width(class: Class) -> Width {
    match class {
        Class::Rep64 => Width::B8,
        Class::Rep32 => Width::B4,
        _ => Width::B1,
    }
}
