//! What the longer ways of moving bytes can get wrong: numbers, whole lines, frames and parts.

use looptune::ir::{Gp, Insn, Item, Part, X87};
use looptune::trial::{FailureKind, Misbehaviour};

use super::subject::{SIGSEGV, Subject, caught, mutants};
use super::{is, is_displaced, is_wrong_byte};

/// The function with every instruction of a kind changed at once; none where there is none.
fn all(s: &Subject, what: &str, change: impl Fn(Insn) -> Insn) -> Vec<Subject> {
    let mut mutant = s.clone();
    mutant.name = format!("{}: {what}", s.name);
    for item in &mut mutant.function.items {
        if let Item::Insn(insn) = item {
            *insn = change(*insn);
        }
    }
    if mutant.function == s.function { Vec::new() } else { vec![mutant] }
}

#[test]
fn numbers_that_come_out_quiet() {
    let real = mutants(|s| {
        let copies = s.name.starts_with("copy/x87i");
        all(s, "real numbers", |insn| match insn {
            Insn::X87Load { mem, .. } if copies => Insn::X87Load { kind: X87::Real, mem },
            Insn::X87Store { mem, .. } if copies => Insn::X87Store { kind: X87::Real, mem },
            other => other,
        })
    });
    assert_eq!(real.len(), 1);
    caught(&real, |kind| {
        matches!(kind, FailureKind::Incorrect(Misbehaviour::BitsChanged { wanted, got, .. })
            if got & !wanted == 1 << 51)
    });
}

#[test]
fn a_zero_left_on_the_x87_stack() {
    let left = mutants(|s| s.each("no pop", |_, i| (i == Insn::X87Pop).then(Vec::new)));
    assert_eq!(left.len(), 1);
    caught(&left, |kind| is(kind, Misbehaviour::TagWord));
    // One too few is on it where it is stored, and one too many is taken off.
    let empty = mutants(|s| s.each("no zero", |_, i| (i == Insn::X87Zero).then(Vec::new)));
    assert!(empty.len() >= 3);
    caught(&empty, is_wrong_byte);
}

#[test]
fn a_head_that_is_missing() {
    // Non-temporal vector stores fault; clzero takes the line around the address.
    let headless = mutants(|s| {
        let vectors = ["xmm", "ymm"].iter().any(|c| s.name.contains(c));
        let faults = vectors && (s.name.contains("/nt") || s.name.contains("/aligned"));
        let needed = faults || s.name.contains("clzero");
        s.each("no head", |part, i| match i {
            Insn::TestImm { .. } if part == Part::Head && needed => {
                Some(vec![Insn::Zero { dst: Gp::R11 }])
            }
            _ => None,
        })
    });
    assert!(headless.len() >= 2);
    caught(&headless, is_displaced);
}

#[test]
fn a_frame_that_is_not_given_back() {
    let leave = |what, items: &[Insn]| {
        let broken = mutants(|s| s.each(what, |_, i| (i == Insn::Leave).then(|| items.to_vec())));
        assert_eq!(broken.len(), 2);
        broken
    };
    // The return goes to where the bytes of the block point: nowhere.
    caught(&leave("no leave", &[]), |kind| *kind == SIGSEGV);
    let back = Insn::Mov { dst: Gp::Rsp, src: Gp::Rbp };
    caught(&leave("no pop of rbp", &[back]), |kind| *kind == SIGSEGV);
    let past = Insn::AddImm { dst: Gp::Rsp, imm: 8 };
    caught(&leave("rbp not restored", &[back, past]), |kind| {
        is(kind, Misbehaviour::CalleeSaved { register: 5 })
    });
}

#[test]
fn parts_of_a_wrong_size() {
    let lost = |kind: &FailureKind| {
        is_displaced(kind)
            || matches!(kind, FailureKind::Incorrect(Misbehaviour::CalleeSaved { .. }))
    };
    // Not a whole number of turns.
    let uneven = mutants(|s| {
        s.each("a byte too many", |_, insn| match insn {
            Insn::MovImm { dst: Gp::R11, imm } => {
                Some(vec![Insn::MovImm { dst: Gp::R11, imm: imm + 1 }])
            }
            _ => None,
        })
    });
    assert_eq!(uneven.len(), 3, "src-block and two blocks");
    caught(&uneven, lost);
    // More than the block on the stack holds: the return address lies there.
    let larger = mutants(|s| {
        let bounces = s.name.contains("bounce");
        all(s, "beyond the block", |insn| match insn {
            Insn::MovImm { dst: Gp::R11, imm } if bounces => {
                Insn::MovImm { dst: Gp::R11, imm: imm + 256 }
            }
            other => other,
        })
    });
    assert_eq!(larger.len(), 2);
    caught(&larger, lost);
    // Pages side by side: the next ones begin elsewhere, or fewer bytes are left than are.
    let astray = mutants(|s| {
        let n = s.size();
        let pages = s.name.ends_with("/s2");
        s.each("pages astray", |part, insn| match insn {
            Insn::AddImm { dst: Gp::Rdi, imm } if pages && imm == 4096 => {
                Some(vec![Insn::AddImm { dst: Gp::Rdi, imm: imm - 16 }])
            }
            Insn::SubImm { dst, imm: 8192 } if pages && part == Part::Loop && dst == n => {
                Some(vec![Insn::SubImm { dst, imm: 8192 + 16 }])
            }
            _ => None,
        })
    });
    assert_eq!(astray.len(), 2);
    caught(&astray, lost);
}
