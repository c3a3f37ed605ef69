//! A variant as instructions.
//!
//! The shape of every loop function, in order of address: entry; small sizes, done with
//! overlapping moves as a good C library does; head, which aligns one pointer; set-up of the
//! count; the loop; the tail. Which registers hold what: rdi is the destination, rsi the
//! source of a copy; the size is rdx in a copy and rsi in a zero, and rax is the return
//! value from the first instruction on. rcx and r8 to r11 are scratch. No other general
//! register is touched.

mod emit;
mod main_loop;
mod rep;
mod small;

use crate::ir::{Function, Part};
use crate::subject::{Class, Count, Encoding, Head, Op, Order, Side, Store, Tail, Variant};
use emit::{Data, Emit};

/// Why a variant has no lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// The class has no instruction in that encoding.
    #[error("class {class} has no `{encoding}` encoding; its default is `{}`", class.default_encoding())]
    Encoding {
        /// The class.
        class: Class,
        /// The encoding asked for.
        encoding: Encoding,
    },
    /// A batch needs a register for each load.
    #[error("a batch of {unroll} needs {unroll} registers; class {class} has {free} free")]
    Registers {
        /// The class.
        class: Class,
        /// Registers asked for.
        unroll: u8,
        /// Registers there are.
        free: u8,
    },
    /// Axis values that no code can have together.
    #[error("{0}")]
    Combination(&'static str),
}

/// Writes the function of a variant into `out`, whose buffers are reused.
///
/// # Errors
/// Where the axis values contradict each other, so that no correct code has them all; `out`
/// is then empty. What else is not worth having is for `space` to say.
pub fn lower(v: &Variant, out: &mut Function) -> Result<(), LowerError> {
    out.items.clear();
    out.boundaries.clear();
    check(v)?;
    let mut emit = Emit::new(v, out);
    emit.part(Part::Entry);
    if v.class.is_rep() {
        emit.rep();
    } else {
        emit.loop_function();
    }
    Ok(())
}

fn check(v: &Variant) -> Result<(), LowerError> {
    let no = |rule| Err(LowerError::Combination(rule));
    let encoded = match v.class {
        Class::Xmm => true,
        Class::Ymm => v.encoding != Encoding::Legacy,
        Class::Zmm => v.encoding == Encoding::Evex,
        _ => v.encoding == Encoding::Legacy,
    };
    if !encoded {
        return Err(LowerError::Encoding { class: v.class, encoding: v.encoding });
    }
    if v.unroll == 0 {
        return no("an iteration moves at least one register");
    }
    if !matches!(v.align.modulus, 1 | 16 | 32 | 64) || v.align.skew >= v.align.modulus {
        return no("a loop top lies at a skew below the modulus 1, 16, 32 or 64");
    }
    if v.op == Op::Zero {
        if v.order == Order::Batch {
            return no("a zero has no loads to batch");
        }
        if v.head == Head::Src || v.prefetch.is_some_and(|p| p.side != Side::Dst) {
            return no("a zero has no source");
        }
    }
    if v.class.is_rep() {
        if v.unroll != 1
            || v.order != Order::Pair
            || v.store != Store::Plain
            || v.prefetch.is_some()
            || v.count != Count::Cmp
            || v.align.modulus != 1
        {
            return no("a string instruction is the whole loop: no unroll, batch, store form, \
                       prefetch, count or loop alignment");
        }
        if v.class == Class::Rep8 && v.tail != Tail::Rep {
            return no("a byte string instruction leaves no tail");
        }
        return Ok(());
    }
    if v.order == Order::Batch {
        let free = Data::of(v).free();
        if usize::from(v.unroll) > free {
            let free = free as u8;
            return Err(LowerError::Registers { class: v.class, unroll: v.unroll, free });
        }
    }
    match v.store {
        Store::Aligned if !v.class.is_vector() => no("only vector classes have an aligned store"),
        Store::Aligned | Store::Nt if v.class.is_vector() && v.head != Head::Dst => {
            no("a vector store that faults on unaligned addresses needs head-dst")
        }
        _ => Ok(()),
    }
}

impl Emit<'_> {
    /// Every class but the string instructions.
    fn loop_function(&mut self) {
        let threshold = self.v.block().max(self.v.head_span());
        self.entry();
        self.small(threshold);
        self.main_path(threshold);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Gp, Insn, Item};

    fn lowered(id: &str) -> Function {
        let mut out = Function::default();
        lower(&id.parse().unwrap(), &mut out).unwrap();
        out
    }

    #[test]
    fn buffers_are_refilled_not_appended_to() {
        let mut out = Function::default();
        lower(&"copy/ymm/u8".parse().unwrap(), &mut out).unwrap();
        let first = out.clone();
        lower(&"zero/rep8".parse().unwrap(), &mut out).unwrap();
        lower(&"copy/ymm/u8".parse().unwrap(), &mut out).unwrap();
        assert_eq!(out, first);
    }

    #[test]
    fn contradictions_are_errors_and_leave_nothing() {
        let mut out = Function::default();
        for (id, word) in [
            ("zero/ymm/batch", "no loads"),
            ("copy/r64/u6/batch", "5 free"),
            ("copy/xmm/u32/batch", "16 free"),
            ("copy/r64/vex", "no `vex`"),
            ("copy/r64/aligned", "only vector"),
            ("copy/ymm/nt/head-none", "head-dst"),
            ("zero/ymm/head-src", "no source"),
            ("copy/rep64/u2", "whole loop"),
            ("copy/rep8/tail-bytes", "no tail"),
        ] {
            let error = lower(&id.parse().unwrap(), &mut out).unwrap_err();
            assert!(error.to_string().contains(word), "{id}: {error}");
            assert!(out.items.is_empty() && out.boundaries.is_empty());
        }
    }

    #[test]
    fn entry_keeps_the_return_value_and_marks_the_branch_target() {
        let f = lowered("copy/r64/u4");
        let mut insns = f.insns();
        assert_eq!(insns.next(), Some(Insn::Endbr64));
        assert_eq!(insns.next(), Some(Insn::Mov { dst: Gp::Rax, src: Gp::Rdi }));
    }

    #[test]
    fn no_callee_saved_register_appears() {
        for id in ["copy/r64/u32", "copy/r32/nt/u4", "zero/rep64/head-dst", "copy/zmm/u32/batch"] {
            for insn in lowered(id).insns() {
                assert!(!format!("{insn:?}").contains("Rbx"), "{id}: {insn:?}");
            }
        }
    }

    #[test]
    fn a_step_of_128_takes_the_short_immediate() {
        let loops = lowered("copy/ymm/u4");
        assert!(loops.insns().any(|i| i == Insn::SubImm { dst: Gp::Rdi, imm: -128 }));
    }

    #[test]
    fn boundaries_ascend_and_hold_the_thresholds() {
        let f = lowered("copy/ymm/u4");
        assert!(f.boundaries.is_sorted_by(|a, b| a < b));
        for n in [1, 2, 4, 8, 16, 32, 65, 129, 257] {
            assert!(f.boundaries.contains(&n), "{n} in {:?}", f.boundaries);
        }
    }

    #[test]
    fn an_early_threshold_has_the_parts_it_needs() {
        let f = lowered("copy/ymm/u4/head-src");
        let parts: Vec<_> = f
            .items
            .iter()
            .filter_map(|i| if let Item::Part(p) = i { Some(*p) } else { None })
            .collect();
        assert_eq!(
            parts,
            [Part::Entry, Part::Small, Part::Head, Part::Setup, Part::Loop, Part::Tail, Part::Exit]
        );
    }
}
