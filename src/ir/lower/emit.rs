//! The writer that the parts of a lowering share: registers by slot, places relative to the
//! pointers, and the way out.

use super::data::{Data, vec_slot};
use crate::ir::{Cond, Function, Gp, Insn, Item, Label, Mem, Part, VecMove, X87};
use crate::subject::{Op, Store, Variant};

/// A place relative to the pointers.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    /// Bytes after the pointers.
    Start(i32),
    /// Bytes after the pointers plus the size register, whatever that holds now.
    Size(i32),
}

/// What a path has to put right before it returns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Debts {
    pub(super) sfence: bool,
    pub(super) emms: bool,
    pub(super) vzeroupper: bool,
    /// The x87 stack holds the zero.
    pub(super) x87: bool,
    /// Tiles are configured.
    pub(super) tiles: bool,
    /// The block on the stack is to be given back.
    pub(super) frame: bool,
    /// rax is to be fetched back from r8.
    pub(super) rax: bool,
}

/// Writes a function.
pub(super) struct Emit<'a> {
    pub(super) v: Variant,
    /// The register that holds the size.
    pub(super) n: Gp,
    /// The general register that holds zero, where one does.
    pub(super) zero: Gp,
    out: &'a mut Function,
}

impl<'a> Emit<'a> {
    pub(super) fn new(v: &Variant, out: &'a mut Function) -> Emit<'a> {
        let n = if v.op.copies() { Gp::Rdx } else { Gp::Rsi };
        let zero = if v.class.is_rep() { Gp::Rax } else { Gp::Rcx };
        Emit { v: *v, n, zero, out }
    }

    pub(super) fn copies(&self) -> bool {
        self.v.op.copies()
    }

    /// Makes a general register hold what an op without a source stores.
    pub(super) fn fill(&mut self, dst: Gp) {
        self.push(match self.v.op {
            Op::Write => Insn::Ones { dst },
            _ => Insn::Zero { dst },
        });
    }

    pub(super) fn push(&mut self, insn: Insn) {
        self.out.items.push(Item::Insn(insn));
    }

    pub(super) fn part(&mut self, part: Part) {
        self.out.items.push(Item::Part(part));
    }

    pub(super) fn label(&mut self, part: Part, number: u32) {
        self.out.items.push(Item::Label(Label::new(part, number as u16)));
    }

    /// The number of a place among those of a part that sizes do not name.
    pub(super) fn jmp(&mut self, part: Part, number: u32) {
        self.push(Insn::Jmp { to: Label::new(part, number as u16) });
    }

    pub(super) fn loop_top(&mut self) {
        let align = self.v.align;
        self.out.items.push(Item::LoopTop { modulus: align.modulus, skew: align.skew });
    }

    pub(super) fn jcc(&mut self, cond: Cond, part: Part, number: u32) {
        self.push(Insn::Jcc { cond, to: Label::new(part, number as u16) });
    }

    /// Notes that another path is taken from this size on.
    pub(super) fn boundary(&mut self, n: u32) {
        let n = u64::from(n);
        let list = &mut self.out.boundaries;
        // They come almost in order, so that the place is near the end.
        match list.iter().rposition(|known| *known <= n) {
            Some(at) if list[at] == n => {}
            Some(at) if at + 1 == list.len() => list.push(n),
            at => list.insert(at.map_or(0, |at| at + 1), n),
        }
    }

    /// `cmp n, imm`
    pub(super) fn compare_size(&mut self, imm: u32) {
        self.push(Insn::CmpImm { a: self.n, imm: imm as i32 });
    }

    pub(super) fn dst(&self, at: At) -> Mem {
        mem(Gp::Rdi, self.n, at)
    }

    pub(super) fn src(&self, at: At) -> Mem {
        mem(Gp::Rsi, self.n, at)
    }

    /// Loads from the source into the register of a slot.
    pub(super) fn load(&mut self, data: Data, slot: usize, at: At) {
        let mem = self.src(at);
        self.load_from(data, slot, mem);
    }

    /// The same from anywhere.
    pub(super) fn load_from(&mut self, data: Data, slot: usize, mem: Mem) {
        let insn = match data {
            Data::Gp(width) => Insn::Load { width, dst: data.gp(slot, &self.v), mem },
            Data::Mmx => Insn::MmxLoad { dst: slot as u8, mem },
            Data::X87(kind) => Insn::X87Load { kind, mem },
            Data::Tile => Insn::TileLoad { tile: slot as u8, mem: rows(mem) },
            // A line goes through no register.
            Data::Line => return,
            Data::Vec { bytes, encoding } => Insn::VecLoad {
                dst: vec_slot(bytes, encoding, slot),
                mem,
                kind: VecMove::Unaligned,
            },
        };
        self.push(insn);
    }

    /// Stores the register of a slot to the destination.
    pub(super) fn store(&mut self, data: Data, slot: usize, at: At, store: Store) {
        let mem = self.dst(at);
        self.store_to(data, slot, mem, store);
    }

    /// The same to anywhere: of an op without a source the one register, and a read loads
    /// from there.
    pub(super) fn store_to(&mut self, data: Data, slot: usize, mem: Mem, store: Store) {
        let slot = match self.v.op {
            Op::Read => return self.load_from(data, slot, mem),
            Op::Copy => slot,
            Op::Zero | Op::Write => 0,
        };
        let copies = self.copies();
        match data {
            Data::Gp(width) => {
                let src = if copies { data.gp(slot, &self.v) } else { self.zero };
                self.push(match store {
                    Store::Nt => Insn::StoreNti { width, mem, src },
                    _ => Insn::Store { width, mem, src },
                });
            }
            Data::Mmx => self.push(match store {
                Store::Nt => Insn::MmxStoreNt { mem, src: slot as u8 },
                _ => Insn::MmxStore { mem, src: slot as u8 },
            }),
            Data::X87(kind) => match (copies, kind) {
                (true, _) => self.push(Insn::X87Store { kind, mem }),
                (false, X87::Real) => self.push(Insn::X87Keep { mem }),
                // Integers leave the stack as they are stored.
                (false, X87::Integer) => {
                    self.push(Insn::X87Zero);
                    self.push(Insn::X87Store { kind, mem });
                }
            },
            Data::Tile => self.push(Insn::TileStore { mem: rows(mem), tile: slot as u8 }),
            Data::Line => {}
            Data::Vec { bytes, encoding } => self.push(Insn::VecStore {
                mem,
                src: vec_slot(bytes, encoding, slot),
                kind: match store {
                    Store::Plain => VecMove::Unaligned,
                    Store::Aligned => VecMove::Aligned,
                    Store::Nt => VecMove::NonTemporal,
                },
            }),
        }
    }

    /// One register's worth at each place with plain stores, a few loads before their
    /// stores. Says how many slots it used.
    pub(super) fn transfer(
        &mut self,
        data: Data,
        places: impl Iterator<Item = At> + Clone,
    ) -> usize {
        if !self.copies() {
            places.for_each(|at| self.store(data, 0, at, Store::Plain));
            return 1;
        }
        let group = data.free(&self.v).min(4);
        let mut rest = places;
        let mut used = 0;
        loop {
            let batch = rest.clone().take(group);
            let mut count = 0;
            for at in batch.clone() {
                self.load(data, count, at);
                count += 1;
            }
            if count == 0 {
                return used;
            }
            used = used.max(count);
            for (slot, at) in batch.enumerate() {
                self.store(data, slot, at, Store::Plain);
            }
            rest.nth(count - 1);
        }
    }

    /// Moves both pointers by a constant.
    pub(super) fn advance(&mut self, bytes: i32) {
        self.step(Gp::Rdi, bytes);
        if self.copies() {
            self.step(Gp::Rsi, bytes);
        }
    }

    /// Moves one pointer by a constant.
    pub(super) fn step(&mut self, dst: Gp, bytes: i32) {
        self.push(match bytes {
            // Minus 128 fits into a byte, plus 128 does not.
            128 => Insn::SubImm { dst, imm: -128 },
            imm if imm < -128 => Insn::SubImm { dst, imm: -imm },
            imm => Insn::AddImm { dst, imm },
        });
    }

    /// Pays the debts and returns.
    pub(super) fn leave(&mut self, debts: Debts) {
        if debts.sfence {
            self.push(Insn::Sfence);
        }
        if debts.x87 {
            self.push(Insn::X87Pop);
        }
        if debts.tiles {
            self.push(Insn::TileRelease);
        }
        if debts.emms {
            self.push(Insn::Emms);
        }
        if debts.vzeroupper {
            self.push(Insn::Vzeroupper);
        }
        if debts.frame {
            self.push(Insn::Leave);
        }
        if debts.rax {
            self.push(Insn::Mov { dst: Gp::Rax, src: Gp::R8 });
        }
        self.push(Insn::Ret);
    }
}

/// A place relative to a pointer, with the size in the register `n`.
pub(super) const fn mem(base: Gp, n: Gp, at: At) -> Mem {
    match at {
        At::Start(disp) => Mem::at(base, disp),
        At::Size(disp) => Mem::indexed(base, n, disp),
    }
}

/// Register that holds the bytes from one row of a tile to the next.
pub(super) const ROW_STEP: Gp = Gp::R8;

/// A tile's place: its rows follow each other.
const fn rows(mem: Mem) -> Mem {
    Mem { index: Some(ROW_STEP), ..mem }
}
