//! One point of the axes.

use serde::{Deserialize, Serialize};

use super::axes::{
    Align, Class, Contract, Count, Direction, Encoding, Head, Op, Order, Prefetch, Store, Streams,
    Tail, Touch,
};

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
    /// What is read besides.
    pub touch: Touch,
    /// Loop count.
    pub count: Count,
    /// Alignment before the loop.
    pub head: Head,
    /// Bytes after the loop.
    pub tail: Tail,
    /// Bytes of the block that the copy goes through; `None`: straight.
    pub bounce: Option<u16>,
    /// Pages walked side by side.
    pub streams: Streams,
    /// From which end.
    pub direction: Direction,
    /// The one size that the function is for, bytes; `None`: any.
    pub fixed: Option<u32>,
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
            touch: Touch::None,
            count: Count::Cmp,
            head: Variant::default_head(Store::Plain, class),
            tail: Variant::default_tail(class),
            bounce: None,
            streams: Streams::One,
            direction: Direction::Forward,
            fixed: None,
        }
    }

    /// The head an id means when it names none: the destination where the store must be
    /// aligned, else none.
    pub const fn default_head(store: Store, class: Class) -> Head {
        match store {
            Store::Plain if class.is_line() => Head::Dst,
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
    /// the register's width, at most a 64-byte line; the line for non-temporal stores (so that
    /// each write-combining buffer fills whole) and for string instructions.
    pub const fn head_span(&self) -> u32 {
        let width = self.class.width();
        match (self.head, self.store) {
            (Head::None, _) => 0,
            _ if self.leaves_cache() || self.class.is_rep() || width > 64 => 64,
            _ => width,
        }
    }

    /// Whether the main loop's stores go past the caches, and are fenced.
    pub const fn leaves_cache(&self) -> bool {
        matches!(self.store, Store::Nt) || self.class.is_line()
    }

    /// Whether the loop copies every bit: x87 numbers are quietened on the way through.
    pub const fn is_exact(&self) -> bool {
        !(matches!(self.op, Op::Copy) && matches!(self.class, Class::X87))
    }

    /// Whether the loop's function keeps a contract by the values of its axes.
    pub const fn keeps(&self, contract: Contract) -> bool {
        match contract {
            Contract::User => true,
            Contract::Kernel => self.class.is_general() && self.bounce.is_none(),
        }
    }

    /// Whether the loop runs in parts, each with something before it.
    pub const fn is_nest(&self) -> bool {
        self.bounce.is_some() || self.streams.count() > 1 || matches!(self.touch, Touch::SrcBlock)
    }
}
