//! Broken lowerings: the functions of real variants with one thing wrong. Each must be caught
//! by the verifier, in its own process, for that very reason, and by the quick set as well as
//! by the full one; untouched, the same functions pass.

mod detours;
mod subject;
mod unseen;

use looptune::ir::{Cond, Function, Gp, Insn, Item, Mem, Part, Width};
use looptune::subject::Op;
use looptune::trial::{Check, FailureKind, Misbehaviour};
use subject::{SIGSEGV, caught, mutants, said, subjects, swept_mutants};

fn is_wrong_byte(kind: &FailureKind) -> bool {
    matches!(kind, FailureKind::Incorrect(Misbehaviour::WrongByte { .. }))
}

fn is(kind: &FailureKind, what: Misbehaviour) -> bool {
    *kind == FailureKind::Incorrect(what)
}

/// Beside the destination: seen as a byte, or as a fault where a guard page or an alignment
/// says no.
fn is_displaced(kind: &FailureKind) -> bool {
    *kind == SIGSEGV
        || is_wrong_byte(kind)
        || matches!(kind, FailureKind::Incorrect(Misbehaviour::OutsideWrite { .. }))
}

/// The memory operand of a store to the destination.
fn stored_to(insn: &mut Insn) -> Option<&mut Mem> {
    match insn {
        Insn::Store { mem, .. }
        | Insn::StoreNti { mem, .. }
        | Insn::MmxStore { mem, .. }
        | Insn::MmxStoreNt { mem, .. }
        | Insn::X87Store { mem, .. }
        | Insn::X87Keep { mem }
        | Insn::VecStore { mem, .. } => Some(mem),
        _ => None,
    }
}

/// The memory operand of a load.
fn loaded_from(insn: &mut Insn) -> Option<&mut Mem> {
    match insn {
        Insn::Load { mem, .. }
        | Insn::MmxLoad { mem, .. }
        | Insn::X87Load { mem, .. }
        | Insn::VecLoad { mem, .. } => Some(mem),
        _ => None,
    }
}

fn displaced(mut insn: Insn, mem: fn(&mut Insn) -> Option<&mut Mem>, by: i32) -> Option<Insn> {
    mem(&mut insn)?.disp += by;
    Some(insn)
}

#[test]
fn what_is_not_broken_passes() {
    let subjects = subjects();
    for check in [Check::Quick { size: 512 }, Check::Full] {
        for (subject, failure) in subjects.iter().zip(said(&subjects, check)) {
            assert_eq!(failure, None, "{}", subject.name);
        }
    }
}

#[test]
fn a_tail_off_by_one() {
    // Too early: the last byte is missing. The last store of the tail ends at the end.
    let early = mutants(|s| {
        let last = |tail: &(usize, Part, Insn)| {
            tail.1 == Part::Tail && stored_to(&mut tail.2.clone()).is_some()
        };
        // A byte loop's store has its own test.
        let bytes = |insn| matches!(insn, Insn::Store { width: Width::B1, .. });
        let found = s.insns().into_iter().rfind(last).filter(|(_, _, insn)| !bytes(*insn));
        let moved = found.map(|(at, _, insn)| (at, displaced(insn, stored_to, -1).unwrap()));
        moved.map(|(at, insn)| s.with("tail early", at, &[insn])).into_iter().collect()
    });
    assert!(early.len() >= 8);
    caught(&early, is_wrong_byte);
    // The byte loop stops with one byte to go: `cmp n, 1; ja` for `jne`.
    let short = mutants(|s| {
        let n = s.size();
        let is_byte_loop = |f: &Function, at: usize| {
            f.items[at - 1] == Item::Insn(Insn::SubImm { dst: n, imm: 1 })
        };
        let jumps = s.insns().into_iter().filter_map(|(at, part, insn)| match insn {
            Insn::Jcc { cond: Cond::Ne, to } if part == Part::Tail => Some((at, to)),
            _ => None,
        });
        let jumps = jumps.filter(|(at, _)| is_byte_loop(&s.function, *at));
        jumps
            .map(|(at, to)| {
                let insns = [Insn::CmpImm { a: n, imm: 1 }, Insn::Jcc { cond: Cond::A, to }];
                s.with("byte loop short", at, &insns)
            })
            .collect()
    });
    assert!(short.len() >= 3);
    caught(&short, is_wrong_byte);
    // Of the bytes after a string instruction, the odd one is forgotten.
    let rest = mutants(|s| {
        s.each("rest short", |part, insn| match insn {
            Insn::AndImm { dst, imm: 7 } if part == Part::Tail && s.name.contains("rep") => {
                Some(vec![Insn::AndImm { dst, imm: 6 }])
            }
            _ => None,
        })
    });
    assert!(rest.len() >= 2);
    caught(&rest, is_wrong_byte);
}

#[test]
fn any_store_displaced_by_a_byte() {
    let moved = swept_mutants(|s| {
        let insns = s.insns();
        let is_store = |insn: Insn| stored_to(&mut insn.clone()).is_some();
        // Who is not aligned is so after a byte less than the span of the head, whose last
        // byte the loop writes again: a zero's last store there may as well end before it.
        let spare = insns.iter().rfind(|(_, part, i)| *part == Part::Head && is_store(*i));
        let spare = spare.filter(|_| s.op == Op::Zero).map(|(at, ..)| *at);
        let places = insns.iter().flat_map(|(at, _, insn)| [(*at, *insn, -1), (*at, *insn, 1)]);
        let places = places.filter(|(at, _, by)| (Some(*at), *by) != (spare, -1));
        places
            .filter_map(|(at, insn, by)| {
                Some(s.with(&format!("store by {by}"), at, &[displaced(insn, stored_to, by)?]))
            })
            .collect()
    });
    assert!(moved.len() > 100, "{}", moved.len());
    caught(&moved, is_displaced);
}

#[test]
fn any_load_displaced_by_a_byte() {
    let moved = swept_mutants(|s| {
        let by = |by| {
            s.each(&format!("load by {by}"), |_, i| displaced(i, loaded_from, by).map(|i| vec![i]))
        };
        [by(-1), by(1)].concat()
    });
    assert!(moved.len() > 60, "{}", moved.len());
    caught(&moved, |kind| *kind == SIGSEGV || is_wrong_byte(kind));
}

#[test]
fn a_missing_vzeroupper_on_any_way_out() {
    let missing = mutants(|s| {
        let copies_ymm = s.name.starts_with("copy/ymm");
        s.each("no vzeroupper", |_, i| (copies_ymm && i == Insn::Vzeroupper).then(Vec::new))
    });
    if missing.is_empty() {
        eprintln!("no AVX here: nothing to try");
        return;
    }
    let is_upper =
        |kind: &_| matches!(kind, FailureKind::Incorrect(Misbehaviour::UpperHalf { .. }));
    caught(&missing, is_upper);
}

#[test]
fn a_store_past_the_end() {
    let past = mutants(|s| {
        let mem = Mem::indexed(Gp::Rdi, s.size(), 0);
        let store = Insn::Store { width: Width::B1, mem, src: Gp::Rax };
        s.each("store past the end", |_, i| {
            matches!(i, Insn::Mov { src: Gp::Rdi, dst: Gp::Rax | Gp::R8 }).then(|| vec![i, store])
        })
    });
    caught(&past, |kind| {
        *kind == SIGSEGV
            || matches!(kind, FailureKind::Incorrect(Misbehaviour::OutsideWrite { .. }))
    });
}

#[test]
fn a_load_past_the_end() {
    // A byte more than there is, from whichever buffer there is.
    let past = swept_mutants(|s| {
        let base = if s.op == Op::Copy { Gp::Rsi } else { Gp::Rdi };
        let mem = if s.op == Op::Copy {
            // An index beside rsi is rdx.
            Mem::indexed(base, Gp::Rdx, 0)
        } else {
            Mem::indexed(base, Gp::Rsi, 0)
        };
        let load = Insn::Load { width: Width::B1, dst: Gp::R11, mem };
        let mut entry =
            s.each("load past the end", |_, i| (i == Insn::Endbr64).then(|| vec![i, load]));
        // Narrow loads that take eight bytes, of which only the right ones are stored.
        entry.extend(s.each("load of eight", |_, i| match i {
            Insn::Load { width: Width::B1 | Width::B2 | Width::B4, dst, mem } => {
                Some(vec![Insn::Load { width: Width::B8, dst, mem }])
            }
            _ => None,
        }));
        entry
    });
    assert!(past.len() > 20, "{}", past.len());
    caught(&past, |kind| *kind == SIGSEGV);
}

#[test]
fn a_store_of_another_register() {
    let gp = |g: Gp| if g == Gp::R11 { Gp::R10 } else { Gp::R11 };
    let swapped = mutants(|s| {
        if s.op == Op::Zero {
            return Vec::new();
        }
        s.each("swapped register", |_, i| {
            let swapped = match i {
                Insn::Store { width, mem, src } => Insn::Store { width, mem, src: gp(src) },
                Insn::StoreNti { width, mem, src } => Insn::StoreNti { width, mem, src: gp(src) },
                Insn::MmxStore { mem, src } => Insn::MmxStore { mem, src: src ^ 7 },
                Insn::MmxStoreNt { mem, src } => Insn::MmxStoreNt { mem, src: src ^ 7 },
                Insn::VecStore { mem, mut src, kind } => {
                    src.number ^= 1;
                    Insn::VecStore { mem, src, kind }
                }
                _ => return None,
            };
            Some(vec![swapped])
        })
    });
    assert!(swapped.len() > 60, "{}", swapped.len());
    caught(&swapped, is_wrong_byte);
}

#[test]
fn a_direction_flag_left_set_on_any_way_out() {
    let set = mutants(|s| s.before_each_return("std", Insn::Std));
    caught(&set, |kind| is(kind, Misbehaviour::DirectionFlag));
}

#[test]
fn a_clobbered_rbx_on_any_way_out() {
    let clobbered = mutants(|s| s.before_each_return("rbx", Insn::Zero { dst: Gp::Rbx }));
    caught(&clobbered, |kind| is(kind, Misbehaviour::CalleeSaved { register: 3 }));
}

#[test]
fn a_missing_emms() {
    // An x87 loop has one before it, for callers that leave registers in use.
    let missing = mutants(|s| {
        let mmx = s.name.contains("/mmx/");
        s.each("no emms", |_, i| (mmx && i == Insn::Emms).then(Vec::new))
    });
    assert!(missing.len() >= 4);
    caught(&missing, |kind| is(kind, Misbehaviour::TagWord));
}

#[test]
fn a_destination_not_returned_on_any_way_out() {
    let other = mutants(|s| {
        s.before_each_return("another return value", Insn::AddImm { dst: Gp::Rax, imm: 1 })
    });
    caught(&other, |kind| is(kind, Misbehaviour::WrongReturn));
}
