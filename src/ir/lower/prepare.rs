//! What a class needs before its loop, and what it leaves to be put right.

use super::data::{Data, vec_slot};
use super::emit::{Debts, Emit, ROW_STEP};
use crate::ir::{Gp, Insn, Mem, VecEncoding, VecMove, Width, X87};
use crate::subject::{Class, Op, Order};

/// Where the 64 bytes below the stack pointer begin that a leaf function may use.
const SCRATCH: i32 = -64;

/// Tile palette 1 and eight tiles of 16 rows of 64 bytes, as the 64 bytes that `ldtilecfg`
/// reads.
const TILES: [u32; 16] = {
    let mut words = [0; 16];
    words[0] = 1;
    let mut pair = 0;
    while pair < 4 {
        // Bytes a row, 16 bits a tile, from byte 16 on.
        words[4 + pair] = 0x0040_0040;
        pair += 1;
    }
    // Rows, 8 bits a tile, from byte 48 on.
    words[12] = 0x1010_1010;
    words[13] = 0x1010_1010;
    words
};

impl Emit<'_> {
    /// Gets the class's registers ready, once, where the main path begins.
    pub(super) fn prepare(&mut self) {
        match self.v.class {
            Class::Mmx if !self.copies() => self.push(Insn::MmxZero { dst: 0 }),
            Class::X87 | Class::X87i => {
                // Registers that a caller left in use would overflow the stack and spoil the
                // bytes. They are the caller's to save, so that emptying them is fair.
                self.push(Insn::Emms);
                if self.v.class == Class::X87 && !self.copies() {
                    self.push(Insn::X87Zero);
                }
            }
            Class::Tmm => self.configure_tiles(),
            Class::M64b if !self.copies() => self.zero_line(),
            Class::Clzero => self.push(Insn::Mov { dst: Gp::R8, src: Gp::Rax }),
            _ => {}
        }
    }

    /// Right after the loop, however many turns it took.
    pub(super) fn after_loop(&mut self) {
        if self.v.class == Class::Clzero {
            self.push(Insn::Mov { dst: Gp::Rax, src: Gp::R8 });
        }
    }

    /// What the main path has to put right.
    pub(super) fn main_debts(&self) -> Debts {
        let data = Data::of(&self.v);
        let slots = match self.v.order {
            Order::Batch | Order::Reverse => self.v.unroll.into(),
            Order::Pair => 1,
        };
        Debts {
            sfence: self.v.leaves_cache(),
            emms: data == Data::Mmx,
            vzeroupper: self.dirty(data, slots) || self.dirty_fill(),
            x87: data == Data::X87(X87::Real) && !self.copies(),
            tiles: data == Data::Tile,
            frame: self.v.bounce.is_some(),
            rax: false,
        }
    }

    /// Writes the configuration below the stack pointer and loads it.
    fn configure_tiles(&mut self) {
        let word = Gp::Rcx;
        let mut held = None;
        for (i, value) in TILES.into_iter().enumerate() {
            if held.replace(value) != Some(value) {
                self.push(match value {
                    0 => Insn::Zero { dst: word },
                    imm => Insn::MovImm { dst: word, imm },
                });
            }
            let mem = Mem::at(Gp::Rsp, SCRATCH + 4 * i as i32);
            self.push(Insn::Store { width: Width::B4, mem, src: word });
        }
        self.push(Insn::TileConfig { mem: Mem::at(Gp::Rsp, SCRATCH) });
        self.push(Insn::MovImm { dst: ROW_STEP, imm: 64 });
        if self.v.op == Op::Zero {
            self.push(Insn::TileZero { tile: 0 });
        }
    }

    /// Writes a line of zeroes below the stack pointer, for lines to be moved from.
    fn zero_line(&mut self) {
        for i in 0..4 {
            let mem = Mem::at(Gp::Rsp, SCRATCH + 16 * i);
            let src = vec_slot(16, VecEncoding::Sse, 0);
            self.push(Insn::VecStore { mem, src, kind: VecMove::Unaligned });
        }
    }

    /// One whole line past the caches: from memory, or of zeroes.
    pub(super) fn move_line(&mut self, from: Mem, to: Mem) {
        let address = |register| match to {
            Mem { base, index: None, disp: 0 } => Insn::Mov { dst: register, src: base },
            mem => Insn::Lea { dst: register, mem },
        };
        if self.v.class == Class::Clzero {
            self.push(address(Gp::Rax));
            self.push(Insn::LineZero);
            return;
        }
        let mem = if self.copies() { from } else { Mem::at(Gp::Rsp, SCRATCH) };
        let to = match to {
            Mem { base, index: None, disp: 0 } => base,
            _ => {
                self.push(address(Gp::R9));
                Gp::R9
            }
        };
        self.push(Insn::LineMove { to, mem });
    }
}
