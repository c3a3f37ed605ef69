//! Rules of the loop: what excludes a combination of axis values on every host, and why.

use crate::subject::{
    Align, Class, Count, Encoding, Head, Hint, Op, Order, Prefetch, Side, Store, Tail, UNROLLS,
    Variant,
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
        reason: "a zero loads nothing that could be batched",
        breaks: |v| v.op == Op::Zero && v.order == Order::Batch,
    },
    Rule {
        name: "batch-of-one",
        reason: "a batch of one register is the same code as a pair",
        breaks: |v| !v.class.is_rep() && v.order == Order::Batch && v.unroll == 1,
    },
    Rule {
        name: "batch-registers",
        reason: "a batch needs a register for each load: 5 general ones are free, 8 MMX, 16 \
                 vector, 32 with evex",
        breaks: |v| v.order == Order::Batch && v.unroll > free_registers(v.class, v.encoding),
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
        reason: "a zero has no source to align",
        breaks: |v| v.op == Op::Zero && v.head == Head::Src,
    },
    Rule {
        name: "source-prefetch-needs-source",
        reason: "a zero has no source to prefetch",
        breaks: |v| v.op == Op::Zero && v.prefetch.is_some_and(|p| p.side != Side::Dst),
    },
    Rule {
        name: "write-hint-on-destination",
        reason: "prefetchw asks for a line to write, and the source is only read",
        breaks: |v| v.prefetch.is_some_and(|p| p.hint == Hint::W && p.side == Side::Src),
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
const fn free_registers(class: Class, encoding: Encoding) -> u8 {
    match (class, encoding) {
        (Class::R32 | Class::R64, _) => 5,
        (Class::Mmx, _) => 8,
        (_, Encoding::Evex) => 32,
        _ => 16,
    }
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
