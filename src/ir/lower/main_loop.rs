//! Head, set-up, loop and tail of the loop classes.

use super::emit::{At, Data, Debts, Emit};
use crate::ir::{Cond, Gp, Insn, Part, RepOp, Width};
use crate::subject::{Count, Head, Hint, Order, Side, Store, Tail};

impl Emit<'_> {
    /// Sizes above the threshold.
    pub(super) fn main_path(&mut self, threshold: u32) {
        let head = self.v.head_span();
        if head > 0 {
            self.part(Part::Head);
            self.label(Part::Head, 0);
            self.head(Data::aside(&self.v), head as i32);
        }
        self.part(Part::Setup);
        self.label(Part::Setup, 0);
        let inclusive = self.inclusive();
        if self.v.class == crate::subject::Class::Mmx && !self.copies() {
            self.push(Insn::MmxZero { dst: 0 });
        }
        self.set_up(inclusive, head > 0);
        self.loop_top();
        self.part(Part::Loop);
        self.label(Part::Loop, 0);
        self.iteration();
        self.part(Part::Tail);
        self.label(Part::Tail, 0);
        if inclusive {
            self.left_over();
        } else {
            self.last_block();
        }
        self.part(Part::Exit);
        self.label(Part::Exit, 0);
        let data = Data::of(&self.v);
        let slots = match self.v.order {
            Order::Batch => self.v.unroll.into(),
            Order::Pair => 1,
        };
        self.leave(Debts {
            sfence: self.v.store == Store::Nt,
            emms: data == Data::Mmx,
            vzeroupper: self.dirty(data, slots),
            rax: false,
        });
        self.note_boundaries(threshold);
    }

    /// Turns of the loop, each with the head taken and not, and the first steps of a tail.
    fn note_boundaries(&mut self, threshold: u32) {
        let (block, width) = (self.v.block(), self.v.class.width());
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
    fn inclusive(&self) -> bool {
        self.v.store == Store::Nt || self.v.tail != Tail::Overlap
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
        self.prefetches(indexed);
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

    fn prefetches(&mut self, indexed: bool) {
        let Some(prefetch) = self.v.prefetch else { return };
        let lines = (self.v.block() / 64).max(1);
        for line in 0..lines {
            let disp = i32::from(prefetch.distance) + 64 * line as i32;
            let at = if indexed { At::Size(disp) } else { At::Start(disp) };
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

    /// The registers of one turn.
    fn block(&mut self, indexed: bool, store: Store) {
        let data = Data::of(&self.v);
        let unroll = usize::from(self.v.unroll);
        let place = |i: usize| {
            let disp = i as i32 * data.width();
            if indexed { At::Size(disp) } else { At::Start(disp) }
        };
        if self.copies() && self.v.order == Order::Batch {
            (0..unroll).for_each(|i| self.load(data, i, place(i)));
            (0..unroll).for_each(|i| self.store(data, i, place(i), store));
            return;
        }
        let rotating = data.rotating();
        for i in 0..unroll {
            if self.copies() {
                self.load(data, i % rotating, place(i));
            }
            self.store(data, i % rotating, place(i), store);
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
        self.jcc(Cond::E, Part::Exit, 0);
        match self.v.tail {
            Tail::Overlap => {
                let data = Data::aside(&self.v);
                if self.v.unroll == 1 {
                    let last = At::Size(-data.width());
                    self.transfer(data, std::iter::once(last));
                } else {
                    self.step_loop(data, Part::Tail, Some(2));
                }
            }
            Tail::Bytes => self.byte_loop(),
            Tail::Rep => self.string_tail(),
        }
    }

    /// One byte at a time; the size register holds at least 1.
    pub(super) fn byte_loop(&mut self) {
        let vector = self.v.class.is_vector();
        if !self.copies() && vector {
            self.push(Insn::Zero { dst: self.zero });
        }
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
        self.push(Insn::Zero { dst: Gp::Rax });
        self.push(Insn::Rep { op: RepOp::Stos, width: Width::B1 });
        self.push(Insn::Mov { dst: Gp::Rax, src: Gp::R8 });
    }
}
