//! Loops that run in parts: each part of the bytes has something before it, or goes through a
//! block, or walks several pages at once. r10 is where the inner loop ends, r9 the pointer that
//! an op does not have by itself; the size register holds the bytes left.

use super::data::Data;
use super::emit::{At, Emit};
use crate::ir::{Cond, Gp, Insn, Mem, Part, Width};
use crate::subject::{STREAM_PAGE, Store, Touch};

const LIMIT: Gp = Gp::R10;
const POINTER: Gp = Gp::R9;
const CHUNK: Gp = Gp::R11;

/// Bytes that a touch of the stack may lie apart from the next: a guard page is no larger.
const PROBE: u16 = 4096;

/// Numbers of the places within [`Part::Loop`].
const INNER: u32 = 0;
const OUTER: u32 = 1;
const WHOLE: u32 = 2;
const AHEAD: u32 = 3;
const SECOND: u32 = 4;
const REST: u32 = 5;

impl Emit<'_> {
    /// The loops and their tail.
    pub(super) fn nest(&mut self) {
        if let Some(bytes) = self.v.bounce {
            self.frame(bytes);
            self.parts(bytes.into(), |emit| {
                emit.through_block();
            });
        } else if self.v.touch == Touch::SrcBlock {
            self.parts(Touch::SOURCE_BLOCK, |emit| {
                emit.read_ahead();
                emit.straight(INNER, true);
            });
        } else {
            self.pages();
        }
        self.part(Part::Tail);
        self.label(Part::Tail, 0);
        self.after_loop();
        self.push(Insn::Test { a: self.n, b: self.n });
        self.tail();
    }

    /// Bytes of the parts, where the loop runs in some.
    pub(super) fn parts_of(&self) -> Option<u32> {
        let pages = self.v.streams.count() * STREAM_PAGE;
        match (self.v.bounce, self.v.touch) {
            (Some(bytes), _) => Some(bytes.into()),
            (None, Touch::SrcBlock) => Some(Touch::SOURCE_BLOCK),
            _ => (pages > STREAM_PAGE).then_some(pages),
        }
    }

    /// Parts of at most `most` bytes, each a whole number of blocks, while a block is left.
    /// The chunk's register is free once `body` has begun.
    fn parts(&mut self, most: u32, body: impl FnOnce(&mut Self)) {
        let (n, block) = (self.n, self.v.block() as i32);
        self.part(Part::Loop);
        self.label(Part::Loop, OUTER);
        self.push(Insn::Mov { dst: CHUNK, src: n });
        self.push(Insn::AndImm { dst: CHUNK, imm: -block });
        self.jcc(Cond::E, Part::Tail, 0);
        self.push(Insn::CmpImm { a: CHUNK, imm: most as i32 });
        self.jcc(Cond::Be, Part::Loop, WHOLE);
        self.push(Insn::MovImm { dst: CHUNK, imm: most });
        self.label(Part::Loop, WHOLE);
        self.push(Insn::Sub { dst: n, src: CHUNK });
        body(self);
        self.jmp(Part::Loop, OUTER);
    }

    /// The plain loop over the bytes of the chunk's register, at least a block.
    fn straight(&mut self, top: u32, aligned: bool) {
        self.push(Insn::Lea { dst: LIMIT, mem: Mem::indexed(Gp::Rdi, CHUNK, 0) });
        if aligned {
            self.loop_top();
        }
        self.label(Part::Loop, top);
        self.extras(At::Start);
        self.block(false, self.v.store);
        self.advance(self.v.block() as i32);
        self.push(Insn::Cmp { a: Gp::Rdi, b: LIMIT });
        self.jcc(Cond::B, Part::Loop, top);
    }

    /// Reads a part of the source, line by line, before it is copied.
    fn read_ahead(&mut self) {
        self.push(Insn::Mov { dst: POINTER, src: Gp::Rsi });
        self.push(Insn::Lea { dst: LIMIT, mem: Mem::indexed(Gp::Rsi, CHUNK, 0) });
        self.label(Part::Loop, AHEAD);
        let mem = Mem::at(POINTER, 0);
        self.push(Insn::Load { width: Width::B4, dst: Gp::Rcx, mem });
        self.step(POINTER, 64);
        self.push(Insn::Cmp { a: POINTER, b: LIMIT });
        self.jcc(Cond::B, Part::Loop, AHEAD);
    }

    /// A block on the stack that begins at a line, each of its pages touched in order, so that
    /// a guard page below the stack is met and not jumped over.
    fn frame(&mut self, bytes: u16) {
        self.push(Insn::Push { src: Gp::Rbp });
        self.push(Insn::Mov { dst: Gp::Rbp, src: Gp::Rsp });
        for _ in 0..bytes / PROBE {
            self.push(Insn::SubImm { dst: Gp::Rsp, imm: PROBE.into() });
            let mem = Mem::at(Gp::Rsp, 0);
            self.push(Insn::Load { width: Width::B4, dst: POINTER, mem });
        }
        if !bytes.is_multiple_of(PROBE) {
            self.push(Insn::SubImm { dst: Gp::Rsp, imm: (bytes % PROBE).into() });
        }
        self.push(Insn::AndImm { dst: Gp::Rsp, imm: -64 });
    }

    /// From the source into the block, then from the block to the destination.
    fn through_block(&mut self) {
        let (data, block) = (Data::of(&self.v), self.v.block() as i32);
        let at = move |base, i: usize| Mem::at(base, i as i32 * data.width());
        self.push(Insn::Mov { dst: POINTER, src: Gp::Rsp });
        self.push(Insn::Lea { dst: LIMIT, mem: Mem::indexed(POINTER, CHUNK, 0) });
        self.loop_top();
        self.label(Part::Loop, INNER);
        self.extras(At::Start);
        self.between(|i| at(Gp::Rsi, i), |i| at(POINTER, i), Store::Plain);
        self.step(Gp::Rsi, block);
        self.step(POINTER, block);
        self.push(Insn::Cmp { a: POINTER, b: LIMIT });
        self.jcc(Cond::B, Part::Loop, INNER);
        self.push(Insn::Mov { dst: POINTER, src: Gp::Rsp });
        self.loop_top();
        self.label(Part::Loop, SECOND);
        self.between(|i| at(POINTER, i), |i| at(Gp::Rdi, i), self.v.store);
        self.step(Gp::Rdi, block);
        self.step(POINTER, block);
        self.push(Insn::Cmp { a: POINTER, b: LIMIT });
        self.jcc(Cond::B, Part::Loop, SECOND);
    }

    /// Pages side by side while there are enough, then the plain loop.
    fn pages(&mut self) {
        let count = self.v.streams.count();
        let (page, block) = (STREAM_PAGE as i32, self.v.block() as i32);
        let whole = page * count as i32;
        let width = Data::of(&self.v).width();
        self.push(Insn::CmpImm { a: self.n, imm: whole });
        self.jcc(Cond::B, Part::Loop, REST);
        self.part(Part::Loop);
        self.label(Part::Loop, OUTER);
        self.push(Insn::Lea { dst: LIMIT, mem: Mem::at(Gp::Rdi, page) });
        self.loop_top();
        self.label(Part::Loop, INNER);
        for stream in 0..count as i32 {
            self.extras(move |disp| At::Start(stream * page + disp));
            self.moves(self.v.store, |i| At::Start(stream * page + i as i32 * width));
        }
        self.advance(block);
        self.push(Insn::Cmp { a: Gp::Rdi, b: LIMIT });
        self.jcc(Cond::B, Part::Loop, INNER);
        self.advance(whole - page);
        self.push(Insn::SubImm { dst: self.n, imm: whole });
        self.push(Insn::CmpImm { a: self.n, imm: whole });
        self.jcc(Cond::Ae, Part::Loop, OUTER);
        self.label(Part::Loop, REST);
        self.push(Insn::Mov { dst: CHUNK, src: self.n });
        self.push(Insn::AndImm { dst: CHUNK, imm: -block });
        self.jcc(Cond::E, Part::Tail, 0);
        self.push(Insn::Sub { dst: self.n, src: CHUNK });
        self.straight(SECOND, false);
    }
}
