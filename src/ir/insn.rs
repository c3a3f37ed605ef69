//! The instructions that loops are made of. Every encoding choice is a field, never left to
//! an assembler.

use crate::subject::Hint;

/// A general register, by its hardware number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the registers'")]
pub enum Gp {
    Rax = 0,
    Rcx = 1,
    Rdx = 2,
    Rbx = 3,
    Rsp = 4,
    Rbp = 5,
    Rsi = 6,
    Rdi = 7,
    R8 = 8,
    R9 = 9,
    R10 = 10,
    R11 = 11,
}

/// Bytes of a general register that an instruction uses: 1, 2, 4 or 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the widths")]
pub enum Width {
    B1,
    B2,
    B4,
    B8,
}

/// Base, optional index (scale 1) and displacement. The displacement takes the shortest
/// form that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mem {
    /// Base register; all but rdi and rsi cost the odd longer form.
    pub base: Gp,
    /// Index register, never rsp.
    pub index: Option<Gp>,
    /// Displacement, bytes.
    pub disp: i32,
}

impl Mem {
    /// `[base + disp]`
    pub const fn at(base: Gp, disp: i32) -> Mem {
        Mem { base, index: None, disp }
    }

    /// `[base + index + disp]`
    pub const fn indexed(base: Gp, index: Gp, disp: i32) -> Mem {
        Mem { base, index: Some(index), disp }
    }

    /// Bytes of the ModRM byte, the SIB byte and the displacement, where nothing scales the
    /// displacement (EVEX does).
    pub const fn encoded_len(self) -> u8 {
        let sib = (self.index.is_some() || matches!(self.base, Gp::Rsp)) as u8;
        let disp = match self.disp {
            0 if matches!(self.base, Gp::Rbp) => 1,
            0 => 0,
            -128..=127 => 1,
            _ => 4,
        };
        1 + sib + disp
    }
}

/// How a vector instruction is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the encodings")]
pub enum VecEncoding {
    Sse,
    Vex,
    Evex,
}

/// A vector register in a length and an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vec {
    /// 0–15, with `Evex` 0–31.
    pub number: u8,
    /// Length in bytes: 16, 32 or 64.
    pub bytes: u8,
    /// Encoding of the instruction.
    pub encoding: VecEncoding,
}

/// Which move between vector register and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VecMove {
    /// `movups` / `vmovdqu` / `vmovdqu64`
    Unaligned,
    /// `movaps` / `vmovdqa` / `vmovdqa64`
    Aligned,
    /// `movntps` / `vmovntdq`; stores only.
    NonTemporal,
}

/// How the x87 reads and writes 8 bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum X87 {
    /// As a number of double precision: `fld`, `fstp`. Quietens signalling NaNs.
    Real,
    /// As an integer: `fild`, `fistp`.
    Integer,
}

/// Condition of a jump, unsigned unless said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the conditions'")]
pub enum Cond {
    /// Below.
    B,
    /// Below or equal.
    Be,
    /// Above.
    A,
    /// Above or equal.
    Ae,
    /// Equal.
    E,
    /// Not equal.
    Ne,
    /// Sign set.
    S,
    /// Sign clear.
    Ns,
    /// Signed less or equal.
    Le,
    /// Signed greater.
    G,
}

/// A place in a function, unique within it. The number is any number; lowering packs the
/// part it stands in and a size or a count into it ([`Label::new`]), so that listings can
/// call it by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u16);

impl Label {
    /// Bits of the number within a part; the rest is the part.
    const NUMBER_BITS: u32 = 13;

    /// The place `number` of a part; 0 is its beginning. Numbers above 8191 are cut.
    pub const fn new(part: Part, number: u16) -> Label {
        let mask = (1 << Label::NUMBER_BITS) - 1;
        Label((part as u16) << Label::NUMBER_BITS | number & mask)
    }

    /// The name a reader sees: the part, and the number unless it is 0.
    pub fn name(self) -> String {
        let number = self.0 & ((1 << Label::NUMBER_BITS) - 1);
        let part = match self.0 >> Label::NUMBER_BITS {
            0 => "entry",
            1 => "small",
            2 => "head",
            3 => "setup",
            4 => "loop",
            5 => "tail",
            _ => "exit",
        };
        match number {
            0 => part.to_string(),
            _ => format!("{part}_{number}"),
        }
    }
}

/// The string instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the instructions'")]
pub enum RepOp {
    Movs,
    Stos,
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields are the operands")]
pub enum Insn {
    Endbr64,
    Ret,
    Sfence,
    Vzeroupper,
    Emms,
    /// `std`; only broken lowerings of the tests have it.
    Std,
    /// `rep movs*` / `rep stos*` with the width's suffix.
    Rep {
        op: RepOp,
        width: Width,
    },
    /// Zero-extending load; `movzx` for 1 and 2 bytes.
    Load {
        width: Width,
        dst: Gp,
        mem: Mem,
    },
    Store {
        width: Width,
        mem: Mem,
        src: Gp,
    },
    /// `movnti`, 4 or 8 bytes.
    StoreNti {
        width: Width,
        mem: Mem,
        src: Gp,
    },
    MmxLoad {
        dst: u8,
        mem: Mem,
    },
    MmxStore {
        mem: Mem,
        src: u8,
    },
    /// `movntq`
    MmxStoreNt {
        mem: Mem,
        src: u8,
    },
    /// `pxor mm, mm`
    MmxZero {
        dst: u8,
    },
    /// `fld` / `fild` m64: onto the stack.
    X87Load {
        kind: X87,
        mem: Mem,
    },
    /// `fstp` / `fistp` m64: off the stack.
    X87Store {
        kind: X87,
        mem: Mem,
    },
    /// `fst` m64: what is on top stays there.
    X87Keep {
        mem: Mem,
    },
    /// `fldz`
    X87Zero,
    /// `fstp st(0)`: takes one off the stack.
    X87Pop,
    /// `ldtilecfg`, from 64 bytes.
    TileConfig {
        mem: Mem,
    },
    /// `tilerelease`
    TileRelease,
    /// `tilezero`
    TileZero {
        tile: u8,
    },
    /// `tileloadd`; the index register holds the bytes from row to row.
    TileLoad {
        tile: u8,
        mem: Mem,
    },
    /// `tilestored`, as above.
    TileStore {
        mem: Mem,
        tile: u8,
    },
    /// `movdir64b`: 64 bytes to the aligned address in a register.
    LineMove {
        to: Gp,
        mem: Mem,
    },
    /// `clzero`: the line that rax points into.
    LineZero,
    VecLoad {
        dst: Vec,
        mem: Mem,
        kind: VecMove,
    },
    VecStore {
        mem: Mem,
        src: Vec,
        kind: VecMove,
    },
    /// `xorps` / `vpxor` / `vpxord` of a register with itself.
    VecZero {
        dst: Vec,
    },
    /// All bits set: `pcmpeqd` / `vpcmpeqd` of a register with itself, `vpternlogd` in EVEX.
    VecOnes {
        dst: Vec,
    },
    /// `kmovq k, r64`
    MaskFrom {
        mask: u8,
        src: Gp,
    },
    /// `vmovdqu8` of the bytes in the mask; the others become 0.
    MaskLoad {
        dst: Vec,
        mem: Mem,
        mask: u8,
    },
    /// `vmovdqu8` of the bytes in the mask; the others stay.
    MaskStore {
        mem: Mem,
        src: Vec,
        mask: u8,
    },
    /// `bzhi r64`: the lowest bits of `src`, as many as `index` says.
    Bzhi {
        dst: Gp,
        src: Gp,
        index: Gp,
    },
    Push {
        src: Gp,
    },
    /// `leave`
    Leave,
    /// `mov r32, imm32`: zero-extends.
    MovImm {
        dst: Gp,
        imm: u32,
    },
    /// 64-bit `or` with the immediate −1 in its shortest form: all bits set.
    Ones {
        dst: Gp,
    },
    /// 64-bit register to register, in the store form.
    Mov {
        dst: Gp,
        src: Gp,
    },
    /// `xor r32, r32`: zeroes the whole register.
    Zero {
        dst: Gp,
    },
    Lea {
        dst: Gp,
        mem: Mem,
    },
    /// 64-bit arithmetic in the store form.
    Add {
        dst: Gp,
        src: Gp,
    },
    Sub {
        dst: Gp,
        src: Gp,
    },
    Cmp {
        a: Gp,
        b: Gp,
    },
    Test {
        a: Gp,
        b: Gp,
    },
    /// `test r8, imm8`: the lowest byte.
    TestImm {
        a: Gp,
        imm: u8,
    },
    Neg {
        dst: Gp,
    },
    /// 64-bit arithmetic with the shortest immediate.
    AddImm {
        dst: Gp,
        imm: i32,
    },
    SubImm {
        dst: Gp,
        imm: i32,
    },
    AndImm {
        dst: Gp,
        imm: i32,
    },
    CmpImm {
        a: Gp,
        imm: i32,
    },
    /// 64-bit shift by 1 to 63.
    ShrImm {
        dst: Gp,
        imm: u8,
    },
    Prefetch {
        hint: Hint,
        mem: Mem,
    },
    /// The recommended multi-byte nop of 1 to 9 bytes.
    Nop {
        len: u8,
    },
    /// A short or near form, whichever reaches.
    Jmp {
        to: Label,
    },
    Jcc {
        cond: Cond,
        to: Label,
    },
    /// `ud2`; only hand-made code of the tests has it.
    Ud2,
}

/// What a stretch of a function is for: becomes labels and comments in listings and exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Entry.
    Entry,
    /// Sizes below the main loop's.
    Small,
    /// Alignment of a pointer.
    Head,
    /// Set-up of the main loop.
    Setup,
    /// The main loop.
    Loop,
    /// Bytes after it.
    Tail,
    /// Way out.
    Exit,
}

/// An element of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// An instruction.
    Insn(Insn),
    /// The place a label names.
    Label(Label),
    /// A part begins here.
    Part(Part),
    /// The top of the main loop is here: nops before it, executed once, so that its address
    /// is `skew` modulo `modulus`.
    LoopTop {
        /// 1, 16, 32 or 64.
        modulus: u8,
        /// Below the modulus.
        skew: u8,
    },
}

/// A lowered function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its items in order.
    pub items: std::vec::Vec<Item>,
    /// Every n at which it takes another path than for n − 1 (of the turns of a loop: the
    /// first few), ascending.
    pub boundaries: std::vec::Vec<u64>,
    /// The one size that it is for, bytes; `None`: any.
    pub fixed: Option<u64>,
}

impl Function {
    /// Its instructions in order, without labels and parts.
    pub fn insns(&self) -> impl Iterator<Item = Insn> {
        self.items.iter().filter_map(|item| match item {
            Item::Insn(insn) => Some(*insn),
            _ => None,
        })
    }
}
