//! Which registers the data passes through.

use crate::ir::{Gp, Vec, VecEncoding, Width, X87};
use crate::subject::{Class, Encoding, Variant};

/// General registers that data of a copy may pass through, in the order they are taken.
const GP_SLOTS: [Gp; 5] = [Gp::Rcx, Gp::R8, Gp::R9, Gp::R10, Gp::R11];

/// The same where r9 and r10 lead a loop within a loop.
const NEST_SLOTS: [Gp; 3] = [Gp::Rcx, Gp::R8, Gp::R11];

fn gp_slots(v: &Variant) -> &'static [Gp] {
    if v.is_nest() { &NEST_SLOTS } else { &GP_SLOTS }
}

/// Which registers data passes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    Gp(Width),
    Mmx,
    X87(X87),
    Tile,
    /// Lines that go from memory to memory, or to zero, through no register.
    Line,
    Vec {
        bytes: u8,
        encoding: VecEncoding,
    },
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
            Class::X87 => Data::X87(X87::Real),
            Class::X87i => Data::X87(X87::Integer),
            Class::Tmm => Data::Tile,
            Class::M64b | Class::Clzero => Data::Line,
            Class::Xmm => Data::Vec { bytes: 16, encoding },
            Class::Ymm => Data::Vec { bytes: 32, encoding },
            Class::Zmm => Data::Vec { bytes: 64, encoding },
        }
    }

    /// Those of small sizes, heads and step loops. MMX and x87 give way to general registers
    /// of their width, which need no `emms` and keep every bit; tiles to the vector registers
    /// that every processor with tiles has, whole lines to the narrowest.
    pub(super) fn aside(v: &Variant) -> Data {
        match Data::of(v) {
            Data::Mmx | Data::X87(_) => Data::Gp(Width::B8),
            Data::Tile => Data::Vec { bytes: 64, encoding: VecEncoding::Evex },
            Data::Line => Data::Vec { bytes: 16, encoding: VecEncoding::Sse },
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
            _ => match Data::aside(v) {
                Data::Vec { encoding, .. } => Data::Vec { bytes: width as u8, encoding },
                data => data,
            },
        }
    }

    /// Bytes a register holds.
    pub(super) fn width(self) -> i32 {
        match self {
            Data::Gp(Width::B1) => 1,
            Data::Gp(Width::B2) => 2,
            Data::Gp(Width::B4) => 4,
            Data::Gp(Width::B8) | Data::Mmx | Data::X87(_) => 8,
            Data::Line => 64,
            Data::Tile => 1024,
            Data::Vec { bytes, .. } => bytes.into(),
        }
    }

    /// Registers free for data.
    pub(super) fn free(self, v: &Variant) -> usize {
        match self {
            Data::Gp(_) => gp_slots(v).len(),
            Data::Mmx | Data::X87(_) | Data::Tile | Data::Line => 8,
            Data::Vec { encoding: VecEncoding::Evex, .. } => 32,
            Data::Vec { .. } => 16,
        }
    }

    /// Registers that moves one after another take turns with: enough that none waits, and
    /// none whose number costs a prefix.
    pub(super) fn rotating(self, v: &Variant) -> usize {
        self.free(v).min(8)
    }

    /// The general register of a slot.
    pub(super) fn gp(self, slot: usize, v: &Variant) -> Gp {
        gp_slots(v)[slot]
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

/// The vector register of a slot.
pub(super) fn vec_slot(bytes: u8, encoding: VecEncoding, slot: usize) -> Vec {
    let number = match encoding {
        VecEncoding::Evex => (slot as u8 + 16) % 32,
        _ => slot as u8,
    };
    Vec { number, bytes, encoding }
}
