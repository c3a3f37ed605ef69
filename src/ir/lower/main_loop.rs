//! Head, set-up, loop and tail of the loop classes.

use super::data::Data;
use super::emit::{At, Emit, mem};
use crate::ir::{Cond, Gp, Insn, Mem, Part, RepOp, Width};
use crate::subject::{Count, Direction, Head, Hint, Order, Side, Store, Tail, Touch};

/// Takes what is read of a line before it is written; no data is in it at the beginning of a
/// turn.
const TOUCHED: Gp = Gp::R9;

impl Emit<'_> {
    /// Sizes above the threshold.
    pub(super) fn main_path(&mut self, threshold: u32) {
        let head = self.v.head_span();
        if head > 0 {
            self.part(Part::Head);
            self.label(Part::Head, 0);
            let aside = Data::aside(&self.v);
            match self.v.direction {
                Direction::Forward => self.head(aside, head as i32),
                Direction::Backward => self.head_from_end(aside, head as i32),
            }
        }
        self.part(Part::Setup);
        self.label(Part::Setup, 0);
        self.prepare();
        if self.v.is_nest() {
            self.nest();
        } else if self.v.direction == Direction::Backward {
            self.backward(head > 0);
        } else {
            self.forward(head > 0);
        }
        self.part(Part::Exit);
        self.label(Part::Exit, 0);
        let debts = self.main_debts();
        self.leave(debts);
        self.note_boundaries(threshold);
    }

    /// The loop from the first byte up, and its tail. `check`: a head may have left too little
    /// for a turn.
    fn forward(&mut self, check: bool) {
        let inclusive = self.inclusive();
        self.set_up(inclusive, check);
        self.loop_top();
        self.part(Part::Loop);
        self.label(Part::Loop, 0);
        self.iteration();
        self.part(Part::Tail);
        self.label(Part::Tail, 0);
        self.after_loop();
        if inclusive {
            self.left_over();
        } else {
            self.last_block();
        }
    }

    /// Turns of the loop, each with the head taken and not, and the first steps of a tail.
    fn note_boundaries(&mut self, threshold: u32) {
        if let Some(part) = self.parts_of() {
            (1..=2).flat_map(|n| [n * part, n * part + 1]).for_each(|n| self.boundary(n));
        }
        let (block, width) = (self.v.block(), Data::aside(&self.v).width() as u32);
        for turns in 1..=3 {
            // Without a head both are the same.
            let heads = [0, self.v.head_span()];
            for head in heads.into_iter().take(if heads[1] > 0 { 2 } else { 1 }) {
                for n in [0, 1, width, width + 1].map(|more| turns * block + head + more) {
                    if n > threshold {
                        self.boundary(n);
                    }
                }
            }
        }
    }

    /// Whether the loop runs while at least a block is left, rather than more than one: only
    /// an overlapping tail of plain stores may redo a whole block.
    pub(super) fn inclusive(&self) -> bool {
        self.v.leaves_cache() || self.v.tail != Tail::Overlap
    }

    /// Aligns the asked pointer to `span`, having moved `span` bytes unaligned.
    pub(super) fn head(&mut self, data: Data, span: i32) {
        let pointer = if self.v.head == Head::Src { Gp::Rsi } else { Gp::Rdi };
        let width = data.width();
        self.push(Insn::TestImm { a: pointer, imm: (span - 1) as u8 });
        self.jcc(Cond::E, Part::Setup, 0);
        self.transfer(data, (0..span / width).map(move |i| At::Start(i * width)));
        // Minus the bytes up to the next multiple.
        let negative = Gp::R9;
        self.push(Insn::Mov { dst: negative, src: pointer });
        self.push(Insn::AndImm { dst: negative, imm: span - 1 });
        self.push(Insn::SubImm { dst: negative, imm: span });
        self.push(Insn::Sub { dst: Gp::Rdi, src: negative });
        if self.copies() {
            self.push(Insn::Sub { dst: Gp::Rsi, src: negative });
        }
        self.push(Insn::Add { dst: self.n, src: negative });
    }

    /// Turns the size into what the loop counts with. After a head, too little may be left
    /// for a turn.
    fn set_up(&mut self, inclusive: bool, check: bool) {
        let n = self.n;
        let block = self.v.block() as i32;
        let skip = match self.v.count {
            Count::Cmp => {
                let limit = self.dst(At::Size(-block));
                self.push(Insn::Lea { dst: n, mem: limit });
                if check {
                    self.push(Insn::Cmp { a: Gp::Rdi, b: n });
                }
                if inclusive { Cond::A } else { Cond::Ae }
            }
            Count::Dec => {
                self.push(Insn::SubImm { dst: n, imm: block });
                if inclusive { Cond::B } else { Cond::Be }
            }
            Count::Negidx => {
                let (dst, src) = (self.dst(At::Size(-block)), self.src(At::Size(-block)));
                self.push(Insn::Lea { dst: Gp::Rdi, mem: dst });
                if self.copies() {
                    self.push(Insn::Lea { dst: Gp::Rsi, mem: src });
                }
                self.push(Insn::Neg { dst: n });
                self.push(Insn::AddImm { dst: n, imm: block });
                if inclusive { Cond::G } else { Cond::Ns }
            }
        };
        if check {
            self.jcc(skip, Part::Tail, 0);
        }
    }

    /// One turn and the jump back.
    fn iteration(&mut self) {
        let n = self.n;
        let block = self.v.block() as i32;
        let inclusive = self.inclusive();
        let indexed = self.v.count == Count::Negidx;
        self.extras(|disp| if indexed { At::Size(disp) } else { At::Start(disp) });
        self.block(indexed, self.v.store);
        let back = match self.v.count {
            Count::Cmp => {
                self.advance(block);
                self.push(Insn::Cmp { a: Gp::Rdi, b: n });
                if inclusive { Cond::Be } else { Cond::B }
            }
            Count::Dec => {
                self.advance(block);
                self.push(Insn::SubImm { dst: n, imm: block });
                if inclusive { Cond::Ae } else { Cond::A }
            }
            Count::Negidx => {
                self.push(Insn::AddImm { dst: n, imm: block });
                if inclusive { Cond::Le } else { Cond::S }
            }
        };
        self.jcc(back, Part::Loop, 0);
    }

    /// What a turn does besides moving: prefetches, and reads of the lines to be written.
    /// `place` tells where a distance from the turn's first byte is.
    pub(super) fn extras(&mut self, place: impl Fn(i32) -> At) {
        let lines = (self.v.block() / 64).max(1) as i32;
        // Backwards the turn's first line is its last, and ahead is below.
        let ahead = match self.v.direction {
            Direction::Forward => 1,
            Direction::Backward => -1,
        };
        if let Some(prefetch) = self.v.prefetch {
            for line in 0..lines {
                let at = place(ahead * i32::from(prefetch.distance) + 64 * line);
                let (src, dst) = (self.src(at), self.dst(at));
                let mems = match prefetch.side {
                    Side::Src => [Some(src), None],
                    Side::Dst => [None, Some(dst)],
                    Side::Both => [Some(src), Some(dst)],
                };
                for mem in mems.into_iter().flatten() {
                    self.push(match prefetch.hint {
                        // Two opcode bytes, as the instruction it stands for.
                        Hint::Nop => Insn::Nop { len: 2 + mem.encoded_len() },
                        hint => Insn::Prefetch { hint, mem },
                    });
                }
            }
        }
        if matches!(self.v.touch, Touch::Rbw | Touch::Placebo) {
            for line in 0..lines {
                let mem = self.dst(place(64 * line));
                self.push(match self.v.touch {
                    Touch::Rbw => Insn::Load { width: Width::B4, dst: TOUCHED, mem },
                    // A prefix and an opcode byte, as the load it stands for.
                    _ => Insn::Nop { len: 2 + mem.encoded_len() },
                });
            }
        }
    }

    /// The registers of one turn.
    pub(super) fn block(&mut self, indexed: bool, store: Store) {
        let width = Data::of(&self.v).width();
        self.moves(store, |i| {
            let disp = i as i32 * width;
            if indexed { At::Size(disp) } else { At::Start(disp) }
        });
    }

    /// As many moves as the loop is unrolled, each at its place.
    pub(super) fn moves(&mut self, store: Store, place: impl Fn(usize) -> At) {
        let n = self.n;
        let (from, to) = (|i| mem(Gp::Rsi, n, place(i)), |i| mem(Gp::Rdi, n, place(i)));
        self.between(from, to, store);
    }

    /// The same between any two places.
    pub(super) fn between(
        &mut self,
        from: impl Fn(usize) -> Mem,
        to: impl Fn(usize) -> Mem,
        store: Store,
    ) {
        let data = Data::of(&self.v);
        let unroll = usize::from(self.v.unroll);
        if data == Data::Line {
            (0..unroll).for_each(|i| self.move_line(from(i), to(i)));
            return;
        }
        if self.copies() && self.v.order != Order::Pair {
            (0..unroll).for_each(|i| self.load_from(data, i, from(i)));
            match self.v.order {
                Order::Reverse => {
                    (0..unroll).rev().for_each(|i| self.store_to(data, i, to(i), store));
                }
                _ => (0..unroll).for_each(|i| self.store_to(data, i, to(i), store)),
            }
            return;
        }
        let rotating = data.rotating(&self.v);
        for i in 0..unroll {
            if self.copies() {
                self.load_from(data, i % rotating, from(i));
            }
            self.store_to(data, i % rotating, to(i), store);
        }
    }

    /// The last block, ending at the last byte; it overlaps what the loop did.
    fn last_block(&mut self) {
        let n = self.n;
        match self.v.count {
            Count::Cmp => {
                if self.copies() {
                    // The source goes back as far as the destination does.
                    self.push(Insn::Sub { dst: Gp::Rdi, src: n });
                    self.push(Insn::Sub { dst: Gp::Rsi, src: Gp::Rdi });
                }
                self.push(Insn::Mov { dst: Gp::Rdi, src: n });
            }
            Count::Dec => {
                self.push(Insn::Add { dst: Gp::Rdi, src: n });
                if self.copies() {
                    self.push(Insn::Add { dst: Gp::Rsi, src: n });
                }
            }
            // The pointers stand there already.
            Count::Negidx => {}
        }
        self.block(false, Store::Plain);
    }

    /// What is left after an inclusive loop: fewer bytes than a block, perhaps none.
    fn left_over(&mut self) {
        let n = self.n;
        let block = self.v.block() as i32;
        match self.v.count {
            Count::Cmp => {
                self.push(Insn::Sub { dst: n, src: Gp::Rdi });
                self.push(Insn::AddImm { dst: n, imm: block });
            }
            Count::Dec => self.push(Insn::AddImm { dst: n, imm: block }),
            Count::Negidx => {
                self.push(Insn::Add { dst: Gp::Rdi, src: n });
                if self.copies() {
                    self.push(Insn::Add { dst: Gp::Rsi, src: n });
                }
                self.push(Insn::Neg { dst: n });
                self.push(Insn::AddImm { dst: n, imm: block });
            }
        }
        self.tail();
    }

    /// As many bytes as the size register holds, fewer than a block: the flags tell whether
    /// none. At least a register's width lies before the end.
    pub(super) fn tail(&mut self) {
        self.jcc(Cond::E, Part::Exit, 0);
        let data = Data::aside(&self.v);
        match self.v.tail {
            Tail::Overlap => {
                if self.v.block() as i32 == data.width() {
                    let last = At::Size(-data.width());
                    self.transfer(data, std::iter::once(last));
                } else {
                    self.step_loop(data, Part::Tail, Some(2));
                }
            }
            Tail::Bytes => self.byte_loop(),
            Tail::Rep => self.string_tail(),
            Tail::Mask => self.masked_tail(data),
        }
    }

    /// Whole registers, then a masked one of 1 byte to a whole register.
    fn masked_tail(&mut self, data: Data) {
        if self.v.unroll > 1 {
            let width = data.width();
            self.push(Insn::CmpImm { a: self.n, imm: width });
            self.jcc(Cond::Be, Part::Tail, 4);
            self.label(Part::Tail, 3);
            self.transfer(data, std::iter::once(At::Start(0)));
            self.advance(width);
            self.push(Insn::SubImm { dst: self.n, imm: width });
            self.push(Insn::CmpImm { a: self.n, imm: width });
            self.jcc(Cond::A, Part::Tail, 3);
            self.label(Part::Tail, 4);
        }
        self.masked(At::Start(0));
    }

    /// One byte at a time; the size register holds at least 1.
    pub(super) fn byte_loop(&mut self) {
        self.fill_after_vectors();
        self.label(Part::Tail, 1);
        self.transfer(Data::Gp(Width::B1), std::iter::once(At::Start(0)));
        self.advance(1);
        self.push(Insn::SubImm { dst: self.n, imm: 1 });
        self.jcc(Cond::Ne, Part::Tail, 1);
    }

    /// A string instruction for the rest.
    fn string_tail(&mut self) {
        self.push(Insn::Mov { dst: Gp::Rcx, src: self.n });
        if self.copies() {
            self.push(Insn::Rep { op: RepOp::Movs, width: Width::B1 });
            return;
        }
        self.push(Insn::Mov { dst: Gp::R8, src: Gp::Rax });
        self.fill(Gp::Rax);
        self.push(Insn::Rep { op: RepOp::Stos, width: Width::B1 });
        self.push(Insn::Mov { dst: Gp::Rax, src: Gp::R8 });
    }
}
