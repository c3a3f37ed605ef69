//! Entry, and the sizes below the main loop's.

use super::data::{Data, vec_slot};
use super::emit::{At, Debts, Emit};
use crate::ir::{Cond, Gp, Insn, Part, VecEncoding};
use crate::subject::{Op, Tail};

/// Registers a rung moves from the start, and as many again ending at the end, at most:
/// beyond, straight code grows without being faster than a loop.
const RUNG_REGISTERS: u32 = 8;

impl Emit<'_> {
    /// Branch target, return value and the zero, before any branch.
    pub(super) fn entry(&mut self) {
        self.push(Insn::Endbr64);
        self.push(Insn::Mov { dst: Gp::Rax, src: Gp::Rdi });
        if matches!(self.v.op, Op::Zero | Op::Write) {
            match Data::aside(&self.v) {
                Data::Vec { bytes, encoding } => self.fill_vector(bytes, encoding),
                // MMX zeroes its register where the main path begins.
                _ => self.fill(self.zero),
            }
        }
    }

    /// Makes the vector register of an op without a source hold what it stores.
    fn fill_vector(&mut self, bytes: u8, encoding: VecEncoding) {
        self.push(match self.v.op {
            Op::Write => Insn::VecOnes { dst: vec_slot(bytes, encoding, 0) },
            _ => {
                // With VEX the 16-byte form clears the rest and leaves nothing to undo.
                let bytes = if bytes == 32 { 16 } else { bytes };
                Insn::VecZero { dst: vec_slot(bytes, encoding, 0) }
            }
        });
    }

    /// Sizes up to the threshold, each path with its own return; larger ones go to the head
    /// or the set-up.
    pub(super) fn small(&mut self, threshold: u32) {
        let data = Data::aside(&self.v);
        let width = data.width() as u32;
        self.compare_size(threshold);
        let next = if self.v.head_span() > 0 { Part::Head } else { Part::Setup };
        self.jcc(Cond::A, next, 0);
        self.boundary(threshold + 1);
        self.part(Part::Small);
        if threshold > width {
            self.compare_size(width);
            self.jcc(Cond::B, Part::Small, 0);
            self.boundary(width);
            self.up_ladder(data, threshold);
            self.label(Part::Small, 0);
        }
        let debts = Debts { vzeroupper: self.dirty_fill(), ..Debts::default() };
        if self.v.tail == Tail::Mask {
            self.masked(At::Start(0));
            self.leave(debts);
            return;
        }
        self.down_ladder(width, debts);
    }

    /// Whether the register that an op without a source stores has a dirty upper half.
    pub(super) fn dirty_fill(&self) -> bool {
        self.v.op == Op::Write && Data::aside(&self.v).dirties_upper(1)
    }

    /// One masked move at a place: as many bytes as the size register holds, at most a
    /// register's width, perhaps none.
    pub(super) fn masked(&mut self, at: At) {
        const MASK: u8 = 1;
        let Data::Vec { bytes, encoding } = Data::aside(&self.v) else { return };
        let register = vec_slot(bytes, encoding, 0);
        let ones = Gp::Rcx;
        self.push(Insn::Ones { dst: ones });
        self.push(Insn::Bzhi { dst: ones, src: ones, index: self.n });
        self.push(Insn::MaskFrom { mask: MASK, src: ones });
        if self.copies() {
            let mem = self.src(at);
            self.push(Insn::MaskLoad { dst: register, mem, mask: MASK });
        }
        let mem = self.dst(at);
        self.push(match self.v.op {
            Op::Read => Insn::MaskLoad { dst: register, mem, mask: MASK },
            _ => Insn::MaskStore { mem, src: register, mask: MASK },
        });
    }

    /// From one register's width up: rung r does r to 2r bytes.
    fn up_ladder(&mut self, data: Data, threshold: u32) {
        let width = data.width();
        let mut count = 1;
        loop {
            let rung = count * width as u32;
            let more = threshold > 2 * rung;
            if more {
                self.compare_size(2 * rung);
                self.jcc(Cond::A, Part::Small, 2 * rung);
                self.boundary(2 * rung + 1);
            }
            let debts = self.rung(data, count as i32);
            self.leave(debts);
            if !more {
                return;
            }
            self.label(Part::Small, 2 * rung);
            if count == RUNG_REGISTERS {
                let first = 2 * rung + 1;
                (first..=threshold).step_by(width as usize).for_each(|n| self.boundary(n));
                self.step_loop(data, Part::Small, None);
                self.leave(Debts { vzeroupper: self.dirty(data, 1), ..Debts::default() });
                return;
            }
            count *= 2;
        }
    }

    /// Below one register's width.
    pub(super) fn down_ladder(&mut self, width: u32, debts: Debts) {
        let mut rung = width / 2;
        while rung >= 4 {
            // Vector classes have no general register with zero until the narrow sizes.
            if rung == 8 {
                self.fill_after_vectors();
            }
            self.compare_size(rung);
            self.jcc(Cond::Ae, Part::Small, rung);
            self.boundary(rung);
            rung /= 2;
        }
        self.compare_size(1);
        self.jcc(Cond::A, Part::Small, 2);
        self.jcc(Cond::B, Part::Exit, 1);
        self.transfer(Data::narrow(&self.v, 1), std::iter::once(At::Start(0)));
        self.label(Part::Exit, 1);
        self.leave(debts);
        self.boundary(1);
        self.boundary(2);
        let mut rung = 2;
        while rung < width {
            self.label(Part::Small, rung);
            let data = Data::narrow(&self.v, rung);
            let more = self.rung(data, 1);
            self.leave(Debts { vzeroupper: more.vzeroupper || debts.vzeroupper, ..debts });
            rung *= 2;
        }
    }

    /// Makes the general register of an op without a source hold what it stores, where vector
    /// registers did so far.
    pub(super) fn fill_after_vectors(&mut self) {
        let vector = matches!(Data::aside(&self.v), Data::Vec { .. });
        if vector && matches!(self.v.op, Op::Zero | Op::Write) {
            self.fill(self.zero);
        }
    }

    /// `count` registers from the start and as many ending at the end.
    fn rung(&mut self, data: Data, count: i32) -> Debts {
        let width = data.width();
        let start = (0..count).map(move |i| At::Start(i * width));
        let end = (-count..0).map(move |i| At::Size(i * width));
        let used = self.transfer(data, start.chain(end));
        Debts { vzeroupper: self.dirty(data, used), ..Debts::default() }
    }

    /// Whether using so many slots leaves upper halves to clean. A zero's register is
    /// written by the 16-byte form, or is one of the upper sixteen.
    pub(super) fn dirty(&self, data: Data, slots: usize) -> bool {
        self.v.op != Op::Zero && data.dirties_upper(slots)
    }

    /// One register at a time while more than one is left, then one that ends at the end.
    /// The size register holds the bytes left, at least 1, and at least a register's width
    /// must lie before the end. With `skip`, the bytes left may be a register or fewer.
    pub(super) fn step_loop(&mut self, data: Data, part: Part, skip: Option<u32>) {
        let width = data.width();
        self.push(Insn::SubImm { dst: self.n, imm: width });
        if let Some(last) = skip {
            self.jcc(Cond::Be, part, last);
        }
        let top = 1;
        self.label(part, top);
        self.transfer(data, std::iter::once(At::Start(0)));
        self.advance(width);
        self.push(Insn::SubImm { dst: self.n, imm: width });
        self.jcc(Cond::A, part, top);
        if let Some(last) = skip {
            self.label(part, last);
        }
        self.transfer(data, std::iter::once(At::Size(0)));
    }
}
