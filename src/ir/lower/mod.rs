//! A variant as instructions.
//!
//! The shape of every loop function, in order of address: entry; small sizes, done with
//! overlapping moves as a good C library does; head, which aligns one pointer; set-up of the
//! count; the loop; the tail. Which registers hold what: rdi is the destination, rsi the
//! source of a copy; the size is rdx in a copy and rsi in a zero, and rax is the return
//! value from the first instruction on. rcx and r8 to r11 are scratch. No other general
//! register is touched.

mod backward;
mod data;
mod emit;
mod fixed;
mod main_loop;
mod nest;
mod prepare;
mod rep;
mod small;

use crate::ir::{Function, Part};
use crate::space::{Broken, check};
use crate::subject::Variant;
use emit::Emit;

/// Writes the function of a variant into `out`, whose buffers are reused.
///
/// # Errors
/// The first rule that the variant breaks; `out` is then empty.
pub fn lower(v: &Variant, out: &mut Function) -> Result<(), Broken> {
    out.items.clear();
    out.boundaries.clear();
    out.fixed = v.fixed.map(u64::from);
    check(v)?;
    let mut emit = Emit::new(v, out);
    emit.part(Part::Entry);
    match (v.class.is_rep(), v.fixed) {
        (true, _) => emit.rep(),
        (false, Some(size)) => emit.fixed(size),
        (false, None) => emit.loop_function(),
    }
    Ok(())
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
            ("zero/ymm/batch", "loads nothing"),
            ("copy/r64/u6/batch", "registers"),
            ("copy/xmm/u32/batch", "registers"),
            ("copy/r64/vex", "no such prefix"),
            ("copy/r64/aligned", "only vector"),
            ("copy/ymm/nt/head-none", "fault"),
            ("zero/ymm/head-src", "only a copy"),
            ("copy/rep64/u2", "whole loop"),
            ("copy/rep8/tail-bytes", "nothing is left"),
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
