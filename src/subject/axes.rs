//! The axes of a loop and their values. The defaults of the id grammar are constants here,
//! so that a stored id never changes its meaning.

use serde::{Deserialize, Serialize};

use crate::units::words;

words! {
    /// What the loop does.
    Op {
        /// `void *f(void *dst, const void *src, size_t n)`
        Copy = "copy",
        /// `void *f(void *dst, size_t n)`
        Zero = "zero",
        /// `void *f(const void *src, size_t n)`: loads every byte and keeps none. A bandwidth
        /// row, not a loop to be tuned.
        Read = "read",
        /// `void *f(void *dst, size_t n)`: stores 0xff to every byte. A bandwidth row as well.
        Write = "write",
    }
}

impl Op {
    /// The ops that a C library has functions for, and that are searched and exported.
    pub const TUNED: &'static [Op] = &[Op::Copy, Op::Zero];

    /// Byte that an op without a source stores everywhere.
    pub const WRITTEN: u8 = 0xff;

    /// Whether it is searched and exported.
    pub const fn is_tuned(self) -> bool {
        matches!(self, Op::Copy | Op::Zero)
    }

    /// Whether it has a source and a destination.
    pub const fn copies(self) -> bool {
        matches!(self, Op::Copy)
    }

    /// Whether it stores anything.
    pub const fn stores(self) -> bool {
        !matches!(self, Op::Read)
    }
}

words! {
    /// What a function promises its caller beyond doing its op.
    Contract {
        /// System V ABI: no callee-saved register changed, DF clear, x87/MMX empty, MXCSR and
        /// control words unchanged, upper vector halves not dirtied.
        User = "user",
        /// The same, and general registers, string instructions and `movnti` only, nothing
        /// below the stack pointer and no large frame: what a kernel's code may do at any time.
        /// (Prefetches and fences touch no register, and may be there.)
        Kernel = "kernel",
    }
}

words! {
    /// Which registers (or which string instruction) move the bytes in the main loop.
    Class {
        /// 4-byte general registers.
        R32 = "r32",
        /// 8-byte general registers.
        R64 = "r64",
        /// 8-byte x87 loads and stores as numbers of double precision (`fld`, `fstp`; a zero is
        /// `fldz`, `fst`). Quietens signalling NaNs, so that a copy is not exact.
        X87 = "x87",
        /// 8-byte x87 loads and stores as integers (`fild`, `fistp`): exact for every bit.
        X87i = "x87i",
        /// 8-byte MMX registers; `emms` on the way out.
        Mmx = "mmx",
        /// 16-byte vector registers.
        Xmm = "xmm",
        /// 32-byte vector registers.
        Ymm = "ymm",
        /// 64-byte vector registers.
        Zmm = "zmm",
        /// AMX tiles of 16 rows of 64 bytes.
        Tmm = "tmm",
        /// `rep movsb` / `rep stosb`.
        Rep8 = "rep8",
        /// `rep movsl` / `rep stosl`.
        Rep32 = "rep32",
        /// `rep movsq` / `rep stosq`.
        Rep64 = "rep64",
        /// `movdir64b`: a line from memory to memory, past the caches; `sfence` on the way out.
        M64b = "m64b",
        /// `clzero` (AMD): zeroes a line without reading it; `sfence` on the way out.
        Clzero = "clzero",
    }
}

impl Class {
    /// Bytes one register (or one step of the string instruction) moves.
    pub const fn width(self) -> u32 {
        match self {
            Class::Rep8 => 1,
            Class::R32 | Class::Rep32 => 4,
            Class::R64 | Class::X87 | Class::X87i | Class::Mmx | Class::Rep64 => 8,
            Class::Xmm => 16,
            Class::Ymm => 32,
            Class::Zmm | Class::M64b | Class::Clzero => 64,
            Class::Tmm => 1024,
        }
    }

    /// Bits of the vector (or tile) registers that the main loop uses; 0 where it uses none.
    pub const fn vector_bits(self) -> u32 {
        match self {
            Class::Mmx | Class::Xmm | Class::Ymm | Class::Zmm | Class::Tmm => self.width() * 8,
            _ => 0,
        }
    }

    /// Whether the x87 stack holds the data.
    pub const fn is_x87(self) -> bool {
        matches!(self, Class::X87 | Class::X87i)
    }

    /// Whether each step moves a whole line whose destination must be aligned, past the caches.
    pub const fn is_line(self) -> bool {
        matches!(self, Class::M64b | Class::Clzero)
    }

    /// Whether the loop uses general registers only, as a kernel's code must.
    pub const fn is_general(self) -> bool {
        matches!(self, Class::R32 | Class::R64) || self.is_rep()
    }

    /// Whether the main loop is one string instruction.
    pub const fn is_rep(self) -> bool {
        matches!(self, Class::Rep8 | Class::Rep32 | Class::Rep64)
    }

    /// Whether the class has vector registers, and so a choice of encodings.
    pub const fn is_vector(self) -> bool {
        matches!(self, Class::Xmm | Class::Ymm | Class::Zmm)
    }

    /// The encoding an id means when it names none.
    pub const fn default_encoding(self) -> Encoding {
        match self {
            Class::Ymm => Encoding::Vex,
            Class::Zmm => Encoding::Evex,
            _ => Encoding::Legacy,
        }
    }
}

words! {
    /// How vector instructions are encoded. `Legacy` is SSE for xmm, and the only encoding
    /// of the other classes; it is never written in an id.
    Encoding {
        /// No VEX or EVEX prefix.
        Legacy = "legacy",
        /// VEX prefix, registers 0–15.
        Vex = "vex",
        /// EVEX prefix, registers 16–31 first (which leave the upper halves of 0–15 alone).
        Evex = "evex",
    }
}

words! {
    /// Order of loads and stores within one iteration of a copy.
    Order {
        /// Each load is followed by its store.
        Pair = "pair",
        /// All loads, then all stores: one register for each.
        Batch = "batch",
        /// All loads, then all stores in reverse, as a stack of registers gives them back.
        Reverse = "reverse",
    }
}

words! {
    /// Which store instruction the main loop uses.
    Store {
        /// The unaligned form.
        Plain = "plain",
        /// The form that faults on an unaligned address.
        Aligned = "aligned",
        /// Non-temporal; `sfence` on the way out.
        Nt = "nt",
    }
}

words! {
    /// Prefetch instruction of the main loop.
    Hint {
        /// `prefetcht0`
        T0 = "t0",
        /// `prefetcht1`
        T1 = "t1",
        /// `prefetcht2`
        T2 = "t2",
        /// `prefetchnta`
        Nta = "nta",
        /// `prefetchw`
        W = "w",
        /// A nop of the same length: the placebo that shows what the bytes alone do.
        Nop = "nop",
    }
}

words! {
    /// Which pointer the prefetch runs ahead of.
    Side {
        /// The source (default of a copy).
        Src = "src",
        /// The destination (default of a zero).
        Dst = "dst",
        /// Both.
        Both = "both",
    }
}

words! {
    /// How the main loop counts.
    Count {
        /// Compare the destination pointer with its limit.
        Cmp = "cmp",
        /// Count the bytes left down to zero.
        Dec = "dec",
        /// One negative index, counting up to zero, serves both pointers.
        Negidx = "negidx",
    }
}

words! {
    /// Whether a pointer is aligned before the main loop: to the register's width, for
    /// non-temporal stores and string instructions to the 64-byte line.
    Head {
        /// No.
        None = "head-none",
        /// The destination.
        Dst = "head-dst",
        /// The source.
        Src = "head-src",
    }
}

words! {
    /// How the bytes after the last whole iteration are done.
    Tail {
        /// Moves that overlap what is done already, ending at the last byte.
        Overlap = "tail-overlap",
        /// One byte at a time.
        Bytes = "tail-bytes",
        /// `rep movsb` / `rep stosb`.
        Rep = "tail-rep",
        /// One masked EVEX move, which leaves bytes outside alone; also for sizes below a
        /// register's width.
        Mask = "tail-mask",
    }
}

words! {
    /// What the loop reads besides what it must.
    Touch {
        /// Nothing.
        None = "none",
        /// Each line of the destination, before it is written.
        Rbw = "rbw",
        /// Nothing: nops as long as the reads of `rbw`, which separate what reading does from
        /// what its bytes do.
        Placebo = "placebo",
        /// The source, a block of [`Touch::SOURCE_BLOCK`] bytes before it is copied.
        SrcBlock = "src-block",
    }
}

impl Touch {
    /// Bytes of the source that are read ahead at a time: 28 lines, as the kernels of the
    /// 1990s had it.
    pub const SOURCE_BLOCK: u32 = 1792;
}

words! {
    /// From which end the loop goes.
    Direction {
        /// From the first byte up.
        Forward = "fwd",
        /// From the last byte down.
        Backward = "bwd",
    }
}

words! {
    /// How many pages the loop walks side by side.
    Streams {
        /// One after another.
        One = "s1",
        /// Two.
        Two = "s2",
        /// Four.
        Four = "s4",
    }
}

impl Streams {
    /// How many they are.
    pub const fn count(self) -> u32 {
        match self {
            Streams::One => 1,
            Streams::Two => 2,
            Streams::Four => 4,
        }
    }
}

/// Bytes of the block on the stack, held in the first-level cache, that a copy may go through.
pub const BOUNCES: &[u16] = &[1024, 2048, 4096, 8192, 16384];

/// Bytes of the pages that are walked side by side.
pub const STREAM_PAGE: u32 = 4096;

/// The largest fixed size, bytes: what the immediate of an instruction holds.
pub const LARGEST_FIXED: u32 = 1 << 30;

/// Numbers of registers an iteration of the main loop may move.
pub const UNROLLS: &[u8] = &[1, 2, 3, 4, 6, 8, 12, 16, 32];

/// Where the top of the main loop lies: its address is `skew` modulo `modulus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Align {
    /// 1 (where it falls), 16, 32 or 64.
    pub modulus: u8,
    /// 0 ≤ skew < modulus.
    pub skew: u8,
}

impl Align {
    /// Where the loop top falls without padding.
    pub const NATURAL: Align = Align { modulus: 1, skew: 0 };

    /// Moduli that an id may name.
    pub const MODULI: &'static [u8] = &[1, 16, 32, 64];
}

/// A software prefetch in the main loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Prefetch {
    /// Which instruction.
    pub hint: Hint,
    /// Bytes ahead of the iteration's first byte: a multiple of 64, at most
    /// [`Prefetch::MAX_DISTANCE`].
    pub distance: u16,
    /// Ahead of which pointer.
    pub side: Side,
}

impl Prefetch {
    /// The largest distance, in bytes: one 4 KiB page; hardware prefetchers stop there too.
    pub const MAX_DISTANCE: u16 = 4096;

    /// The side an id means when it names none.
    pub const fn default_side(op: Op) -> Side {
        match op {
            Op::Copy => Side::Src,
            Op::Zero | Op::Read | Op::Write => Side::Dst,
        }
    }
}
