//! The writer that the parts of a lowering share: registers by slot, places relative to the
//! pointers, and the way out.

use crate::ir::{
    Cond, Function, Gp, Insn, Item, Label, Mem, Part, Vec, VecEncoding, VecMove, Width,
};
use crate::subject::{Class, Encoding, Op, Store, Variant};

/// General registers that data of a copy may pass through, in the order they are taken.
const GP_SLOTS: [Gp; 5] = [Gp::Rcx, Gp::R8, Gp::R9, Gp::R10, Gp::R11];

/// Which registers data passes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    Gp(Width),
    Mmx,
    Vec { bytes: u8, encoding: VecEncoding },
}

impl Data {
    /// Those of the main loop.
    pub(super) fn of(v: &Variant) -> Data {
        let encoding = vec_encoding(v);
        match v.class {
            Class::R32 | Class::Rep32 => Data::Gp(Width::B4),
            Class::R64 | Class::Rep64 => Data::Gp(Width::B8),
            Class::Rep8 => Data::Gp(Width::B1),
            Class::Mmx => Data::Mmx,
            Class::Xmm => Data::Vec { bytes: 16, encoding },
            Class::Ymm => Data::Vec { bytes: 32, encoding },
            Class::Zmm => Data::Vec { bytes: 64, encoding },
        }
    }

    /// Those of small sizes, heads and step loops: MMX gives way to general registers of its
    /// width, which need no `emms`.
    pub(super) fn aside(v: &Variant) -> Data {
        match Data::of(v) {
            Data::Mmx => Data::Gp(Width::B8),
            data => data,
        }
    }

    /// The register of `width` bytes for a small size.
    pub(super) fn narrow(v: &Variant, width: u32) -> Data {
        match width {
            1 => Data::Gp(Width::B1),
            2 => Data::Gp(Width::B2),
            4 => Data::Gp(Width::B4),
            8 => Data::Gp(Width::B8),
            _ => Data::Vec { bytes: width as u8, encoding: vec_encoding(v) },
        }
    }

    /// Bytes a register holds.
    pub(super) fn width(self) -> i32 {
        match self {
            Data::Gp(Width::B1) => 1,
            Data::Gp(Width::B2) => 2,
            Data::Gp(Width::B4) => 4,
            Data::Gp(Width::B8) | Data::Mmx => 8,
            Data::Vec { bytes, .. } => bytes.into(),
        }
    }

    /// Registers free for data.
    pub(super) fn free(self) -> usize {
        match self {
            Data::Gp(_) => GP_SLOTS.len(),
            Data::Mmx => 8,
            Data::Vec { encoding: VecEncoding::Evex, .. } => 32,
            Data::Vec { .. } => 16,
        }
    }

    /// Registers that moves one after another take turns with: enough that none waits, and
    /// none whose number costs a prefix.
    pub(super) fn rotating(self) -> usize {
        self.free().min(8)
    }

    /// Whether writing the register of a slot leaves the upper half of a vector register in
    /// use that old SSE code would have to preserve.
    pub(super) fn dirties_upper(self, slots: usize) -> bool {
        match self {
            Data::Vec { bytes: 32 | 64, encoding: VecEncoding::Vex } => true,
            // Registers 16 to 31 come first and have no part in the penalty.
            Data::Vec { bytes: 32 | 64, encoding: VecEncoding::Evex } => slots > 16,
            _ => false,
        }
    }
}

fn vec_encoding(v: &Variant) -> VecEncoding {
    match v.encoding {
        Encoding::Legacy => VecEncoding::Sse,
        Encoding::Vex => VecEncoding::Vex,
        Encoding::Evex => VecEncoding::Evex,
    }
}

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
        let n = match v.op {
            Op::Copy => Gp::Rdx,
            Op::Zero => Gp::Rsi,
        };
        let zero = if v.class.is_rep() { Gp::Rax } else { Gp::Rcx };
        Emit { v: *v, n, zero, out }
    }

    pub(super) fn copies(&self) -> bool {
        self.v.op == Op::Copy
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

    fn mem(&self, base: Gp, at: At) -> Mem {
        match at {
            At::Start(disp) => Mem::at(base, disp),
            At::Size(disp) => Mem::indexed(base, self.n, disp),
        }
    }

    pub(super) fn dst(&self, at: At) -> Mem {
        self.mem(Gp::Rdi, at)
    }

    pub(super) fn src(&self, at: At) -> Mem {
        self.mem(Gp::Rsi, at)
    }

    /// Loads from the source into the register of a slot.
    pub(super) fn load(&mut self, data: Data, slot: usize, at: At) {
        let mem = self.src(at);
        self.push(match data {
            Data::Gp(width) => Insn::Load { width, dst: GP_SLOTS[slot], mem },
            Data::Mmx => Insn::MmxLoad { dst: slot as u8, mem },
            Data::Vec { bytes, encoding } => Insn::VecLoad {
                dst: vec_slot(bytes, encoding, slot),
                mem,
                kind: VecMove::Unaligned,
            },
        });
    }

    /// Stores the register of a slot (of a zero: the zero) to the destination.
    pub(super) fn store(&mut self, data: Data, slot: usize, at: At, store: Store) {
        let mem = self.dst(at);
        let copies = self.copies();
        let slot = if copies { slot } else { 0 };
        self.push(match data {
            Data::Gp(width) => {
                let src = if copies { GP_SLOTS[slot] } else { self.zero };
                match store {
                    Store::Nt => Insn::StoreNti { width, mem, src },
                    _ => Insn::Store { width, mem, src },
                }
            }
            Data::Mmx => match store {
                Store::Nt => Insn::MmxStoreNt { mem, src: slot as u8 },
                _ => Insn::MmxStore { mem, src: slot as u8 },
            },
            Data::Vec { bytes, encoding } => Insn::VecStore {
                mem,
                src: vec_slot(bytes, encoding, slot),
                kind: match store {
                    Store::Plain => VecMove::Unaligned,
                    Store::Aligned => VecMove::Aligned,
                    Store::Nt => VecMove::NonTemporal,
                },
            },
        });
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
        let group = data.free().min(4);
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
        let step = |dst| match bytes {
            // Minus 128 fits into a byte, plus 128 does not.
            128 => Insn::SubImm { dst, imm: -128 },
            imm => Insn::AddImm { dst, imm },
        };
        self.push(step(Gp::Rdi));
        if self.copies() {
            self.push(step(Gp::Rsi));
        }
    }

    /// Pays the debts and returns.
    pub(super) fn leave(&mut self, debts: Debts) {
        if debts.sfence {
            self.push(Insn::Sfence);
        }
        if debts.emms {
            self.push(Insn::Emms);
        }
        if debts.vzeroupper {
            self.push(Insn::Vzeroupper);
        }
        if debts.rax {
            self.push(Insn::Mov { dst: Gp::Rax, src: Gp::R8 });
        }
        self.push(Insn::Ret);
    }
}

/// The vector register of a slot.
pub(super) fn vec_slot(bytes: u8, encoding: VecEncoding, slot: usize) -> Vec {
    let number = match encoding {
        VecEncoding::Evex => (slot as u8 + 16) % 32,
        _ => slot as u8,
    };
    Vec { number, bytes, encoding }
}
