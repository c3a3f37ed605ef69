//! One point of the axes.

use serde::{Deserialize, Serialize};

use super::axes::{Align, Class, Count, Encoding, Head, Op, Order, Prefetch, Store, Tail};

/// One point of the axes: a complete function, once lowered. Equality is equality of every
/// axis value. Whether the point is legal is for `space` to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Variant {
    /// What it does.
    pub op: Op,
    /// Which registers do it.
    pub class: Class,
    /// How vector instructions are encoded.
    pub encoding: Encoding,
    /// Registers an iteration.
    pub unroll: u8,
    /// Order of loads and stores.
    pub order: Order,
    /// Address of the loop top.
    pub align: Align,
    /// Store instruction.
    pub store: Store,
    /// Software prefetch.
    pub prefetch: Option<Prefetch>,
    /// Loop count.
    pub count: Count,
    /// Alignment before the loop.
    pub head: Head,
    /// Bytes after the loop.
    pub tail: Tail,
}

impl Variant {
    /// The variant whose id is `op/class`: every axis at its default.
    pub const fn new(op: Op, class: Class) -> Variant {
        Variant {
            op,
            class,
            encoding: class.default_encoding(),
            unroll: 1,
            order: Order::Pair,
            align: Align::NATURAL,
            store: Store::Plain,
            prefetch: None,
            count: Count::Cmp,
            head: Head::None,
            tail: Variant::default_tail(class),
        }
    }

    /// The head an id means when it names none: the destination where the store must be
    /// aligned, else none.
    pub const fn default_head(store: Store, class: Class) -> Head {
        match store {
            Store::Plain => Head::None,
            Store::Aligned => Head::Dst,
            // General-register non-temporal stores need no alignment, but partial lines cost
            // the write-combining buffer its point; the id means the aligned form for all.
            Store::Nt if class.is_rep() => Head::None,
            Store::Nt => Head::Dst,
        }
    }

    /// The tail an id means when it names none.
    pub const fn default_tail(class: Class) -> Tail {
        if class.is_rep() { Tail::Rep } else { Tail::Overlap }
    }

    /// Bytes one iteration of the main loop moves.
    pub const fn block(&self) -> u32 {
        self.class.width() * self.unroll as u32
    }

    /// Bytes before the main loop that the head may take, which is also what it aligns to:
    /// the register's width; the 64-byte line for non-temporal stores (so that each
    /// write-combining buffer fills whole) and for string instructions.
    pub const fn head_span(&self) -> u32 {
        match (self.head, self.store, self.class.is_rep()) {
            (Head::None, _, _) => 0,
            (_, Store::Nt, _) | (_, _, true) => 64,
            (_, _, false) => self.class.width(),
        }
    }
}
