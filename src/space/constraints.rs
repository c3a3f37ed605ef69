//! Rules of the loop: what excludes a combination of axis values on every host, and why.

use crate::subject::{
    Align, BOUNCES, Class, Count, Direction, Encoding, Head, Hint, LARGEST_FIXED, Op, Order,
    Prefetch, STREAM_PAGE, Side, Store, Tail, Touch, UNROLLS, Variant,
};

/// A named rule of the loop.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Its name, unique among [`RULES`].
    pub name: &'static str,
    /// Why what it excludes cannot be, or is another variant already.
    pub reason: &'static str,
    /// Whether a point breaks it.
    pub breaks: fn(&Variant) -> bool,
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rule").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.name == other.name
    }
}

impl Eq for Rule {}

/// A point breaks a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rule {rule}: {reason}")]
pub struct Broken {
    /// The rule's name.
    pub rule: &'static str,
    /// Its reason.
    pub reason: &'static str,
}

/// Every rule of the loop. A point that breaks several counts for the first.
pub static RULES: &[Rule] = &[
    Rule {
        name: "known-unroll",
        reason: "unroll factors are 1 2 3 4 6 8 12 16 32",
        breaks: |v| !UNROLLS.contains(&v.unroll),
    },
    Rule {
        name: "skew-below-modulus",
        reason: "a loop top lies at a skew below its modulus, and the moduli are 1 16 32 64",
        breaks: |v| !Align::MODULI.contains(&v.align.modulus) || v.align.skew >= v.align.modulus,
    },
    Rule {
        name: "prefetch-distance",
        reason: "prefetches fetch whole lines: the distance is a multiple of 64 from 64 to 4096",
        breaks: |v| {
            v.prefetch.is_some_and(|p| {
                p.distance == 0 || p.distance % 64 != 0 || p.distance > Prefetch::MAX_DISTANCE
            })
        },
    },
    Rule {
        name: "encoding-fits-class",
        reason: "ymm is encoded vex or evex, zmm evex only, xmm in all three ways, and the other \
                 classes have no such prefix",
        breaks: |v| !encoding_fits(v.class, v.encoding),
    },
    Rule {
        name: "rep-unroll",
        reason: "a string instruction is the whole loop: there is nothing to unroll",
        breaks: |v| v.class.is_rep() && v.unroll != 1,
    },
    Rule {
        name: "rep-order",
        reason: "a string instruction orders its loads and stores itself",
        breaks: |v| v.class.is_rep() && v.order != Order::Pair,
    },
    Rule {
        name: "rep-align",
        reason: "a string instruction has no loop top to place",
        breaks: |v| v.class.is_rep() && v.align != Align::NATURAL,
    },
    Rule {
        name: "rep-store",
        reason: "a string instruction chooses its stores itself",
        breaks: |v| v.class.is_rep() && v.store != Store::Plain,
    },
    Rule {
        name: "rep-prefetch",
        reason: "a string instruction has no loop body to hold a prefetch",
        breaks: |v| v.class.is_rep() && v.prefetch.is_some(),
    },
    Rule {
        name: "rep-count",
        reason: "a string instruction counts in rcx, which is no choice",
        breaks: |v| v.class.is_rep() && v.count != Count::Cmp,
    },
    Rule {
        name: "rep8-tail",
        reason: "rep8 moves single bytes, so nothing is left for another tail",
        breaks: |v| v.class == Class::Rep8 && v.tail != Tail::Rep,
    },
    Rule {
        name: "batch-needs-loads",
        reason: "without a source the loop loads nothing that could be batched",
        breaks: |v| !v.op.copies() && v.order != Order::Pair,
    },
    Rule {
        name: "batch-of-one",
        reason: "a batch of one register is the same code as a pair",
        breaks: |v| !v.class.is_rep() && v.order != Order::Pair && v.unroll == 1,
    },
    Rule {
        name: "batch-registers",
        reason: "a batch needs a register for each load: 5 general ones are free (3 where a loop \
                 runs in another), 8 x87, MMX or tiles, 16 vector, 32 with evex",
        breaks: |v| v.order != Order::Pair && v.unroll > free_registers(v),
    },
    Rule {
        name: "aligned-needs-vector",
        reason: "only vector registers have a store form that wants an aligned address",
        breaks: |v| v.store == Store::Aligned && !v.class.is_vector(),
    },
    Rule {
        name: "aligned-needs-head",
        reason: "the aligned store faults unless a head aligns the destination",
        breaks: |v| v.store == Store::Aligned && v.head != Head::Dst,
    },
    Rule {
        name: "nt-needs-head",
        reason: "non-temporal vector stores fault, and movntq splits lines, unless a head aligns \
                 the destination",
        breaks: |v| {
            v.store == Store::Nt
                && (v.class.is_vector() || v.class == Class::Mmx)
                && v.head != Head::Dst
        },
    },
    Rule {
        name: "source-head-needs-source",
        reason: "only a copy has a source to align",
        breaks: |v| !v.op.copies() && v.head == Head::Src,
    },
    Rule {
        name: "source-prefetch-needs-source",
        reason: "only a copy has a source to prefetch",
        breaks: |v| !v.op.copies() && v.prefetch.is_some_and(|p| p.side != Side::Dst),
    },
    Rule {
        name: "write-hint-on-destination",
        reason: "prefetchw asks for a line to write, and the source is only read",
        breaks: |v| v.prefetch.is_some_and(|p| p.hint == Hint::W && p.side != Side::Dst),
    },
    Rule {
        name: "row-class",
        reason: "reads and writes are bandwidth rows of r32 r64 xmm ymm zmm",
        breaks: |v| {
            !v.op.is_tuned() && !v.class.is_vector() && !matches!(v.class, Class::R32 | Class::R64)
        },
    },
    Rule {
        name: "read-stores-nothing",
        reason: "a read stores nothing, by no kind of store and no string instruction",
        breaks: |v| v.op == Op::Read && (v.store != Store::Plain || v.tail == Tail::Rep),
    },
    Rule {
        name: "x87-order",
        reason: "the x87 registers are a stack, which gives back last what it took first: a batch \
                 is a reverse there",
        breaks: |v| v.class.is_x87() && v.order == Order::Batch,
    },
    Rule {
        name: "tile-unroll",
        reason: "there are eight tiles",
        breaks: |v| v.class == Class::Tmm && v.unroll > 8,
    },
    Rule {
        name: "plain-store-only",
        reason: "x87, tiles, movdir64b and clzero have one way of storing",
        breaks: |v| {
            (v.class.is_x87() || v.class.is_line() || v.class == Class::Tmm)
                && v.store != Store::Plain
        },
    },
    Rule {
        name: "clzero-zeroes",
        reason: "clzero moves nothing: it only zeroes",
        breaks: |v| v.class == Class::Clzero && v.op != Op::Zero,
    },
    Rule {
        name: "line-order",
        reason: "a line goes through no register that could be batched",
        breaks: |v| v.class.is_line() && v.order != Order::Pair,
    },
    Rule {
        name: "line-needs-head",
        reason: "movdir64b faults, and clzero zeroes another line, unless a head aligns the \
                 destination",
        breaks: |v| v.class.is_line() && v.head != Head::Dst,
    },
    Rule {
        name: "no-free-index",
        reason: "movdir64b and clzero take the address in one register, and the index of a tile is \
                 the step from row to row: neither can count",
        breaks: |v| (v.class.is_line() || v.class == Class::Tmm) && v.count == Count::Negidx,
    },
    Rule {
        name: "mask-needs-evex",
        reason: "only evex moves can be masked by the byte",
        breaks: |v| v.tail == Tail::Mask && !(v.class.is_vector() && v.encoding == Encoding::Evex),
    },
    Rule {
        name: "rep-detour",
        reason: "a string instruction has no loop body to read ahead in, to split or to turn round",
        breaks: |v| {
            v.class.is_rep()
                && (v.is_nest() || v.touch != Touch::None || v.direction != Direction::Forward)
        },
    },
    Rule {
        name: "touch-tuned",
        reason: "a bandwidth row reads or writes and nothing else",
        breaks: |v| !v.op.is_tuned() && v.touch != Touch::None,
    },
    Rule {
        name: "source-block-needs-source",
        reason: "only a copy has a source to read ahead, or to send through a block",
        breaks: |v| !v.op.copies() && (v.touch == Touch::SrcBlock || v.bounce.is_some()),
    },
    Rule {
        name: "known-bounce",
        reason: "bounce blocks are 1024 2048 4096 8192 16384",
        breaks: |v| v.bounce.is_some_and(|b| !BOUNCES.contains(&b)),
    },
    Rule {
        name: "one-nest",
        reason: "a loop runs in parts for one reason at a time: a source block, a bounce or pages \
                 side by side",
        breaks: |v| nests(v) > 1 || v.bounce.is_some() && v.touch != Touch::None,
    },
    Rule {
        name: "bounce-in-cache",
        reason: "what goes past the caches cannot fill a block that stays in one",
        breaks: |v| v.bounce.is_some() && v.class.is_line(),
    },
    Rule {
        name: "nest-count",
        reason: "a loop that runs in parts ends each of them by comparing a pointer",
        breaks: |v| v.is_nest() && v.count != Count::Cmp,
    },
    Rule {
        name: "nest-block",
        reason: "each part is a whole number of iterations: of 1792 bytes for src-block, of the \
                 block for a bounce, of 4096 bytes for pages side by side; and the iteration a \
                 power of two",
        breaks: |v| {
            let part = match (v.bounce, v.touch) {
                (Some(bytes), _) => bytes.into(),
                (None, Touch::SrcBlock) => Touch::SOURCE_BLOCK,
                _ => STREAM_PAGE,
            };
            v.is_nest() && (part % v.block() != 0 || !v.block().is_power_of_two())
        },
    },
    Rule {
        name: "backward-class",
        reason: "tiles, movdir64b and clzero only go forward here",
        breaks: |v| {
            v.direction == Direction::Backward && (v.class.is_line() || v.class == Class::Tmm)
        },
    },
    Rule {
        name: "backward-straight",
        reason: "a loop that runs in parts goes forward",
        breaks: |v| v.direction == Direction::Backward && v.is_nest(),
    },
    Rule {
        name: "backward-count",
        reason: "backwards the pointers already count down: there is no negative index",
        breaks: |v| v.direction == Direction::Backward && v.count == Count::Negidx,
    },
    Rule {
        name: "known-fixed",
        reason: "a fixed size is a number of bytes from 1 to 1073741824",
        breaks: |v| v.fixed.is_some_and(|n| n == 0 || n > LARGEST_FIXED),
    },
    Rule {
        name: "fixed-straight",
        reason: "a loop for one size goes straight forward",
        breaks: |v| v.fixed.is_some() && (v.is_nest() || v.direction != Direction::Forward),
    },
    Rule {
        name: "fixed-tail",
        reason: "what a fixed size leaves is known, so that its tail is no choice",
        breaks: |v| v.fixed.is_some() && v.tail != Variant::default_tail(v.class),
    },
    Rule {
        name: "fixed-unroll",
        reason: "a fixed size holds a whole iteration",
        breaks: |v| {
            let longer = |n| n < v.block();
            !v.class.is_rep() && v.unroll > 1 && v.fixed.is_some_and(longer)
        },
    },
    Rule {
        name: "fixed-head",
        reason: "a fixed size with a head is larger than the head and than an iteration",
        breaks: |v| {
            let span = v.head_span();
            let most = if v.class.is_rep() { span } else { span.max(v.block()) };
            span > 0 && v.fixed.is_some_and(|n| n <= most)
        },
    },
];

/// Whether instructions on the class's registers have the encoding.
pub(super) const fn encoding_fits(class: Class, encoding: Encoding) -> bool {
    match encoding {
        Encoding::Legacy => !matches!(class, Class::Ymm | Class::Zmm),
        Encoding::Vex => matches!(class, Class::Xmm | Class::Ymm),
        Encoding::Evex => class.is_vector(),
    }
}

/// Registers that the body of a copy may load into. General: the caller-saved ones without
/// the two pointers, the size and the return value. String instructions load nothing; their
/// own rule excludes a batch.
const fn free_registers(v: &Variant) -> u8 {
    match (v.class, v.encoding) {
        (Class::R32 | Class::R64, _) if v.is_nest() => 3,
        (Class::R32 | Class::R64, _) => 5,
        (Class::Mmx | Class::X87 | Class::X87i | Class::Tmm, _) => 8,
        (_, Encoding::Evex) => 32,
        _ => 16,
    }
}

/// How many ways of running in parts a variant has.
const fn nests(v: &Variant) -> u32 {
    v.bounce.is_some() as u32
        + (v.streams.count() > 1) as u32
        + matches!(v.touch, Touch::SrcBlock) as u32
}

/// Whether the variant can be written as code at all.
///
/// # Errors
/// The first rule that it breaks.
pub fn check(v: &Variant) -> Result<(), Broken> {
    match RULES.iter().find(|r| (r.breaks)(v)) {
        None => Ok(()),
        Some(rule) => Err(Broken { rule: rule.name, reason: rule.reason }),
    }
}

/// Every rule that the variant breaks.
pub fn check_all(v: &Variant) -> Vec<&'static Rule> {
    RULES.iter().filter(|r| (r.breaks)(v)).collect()
}
