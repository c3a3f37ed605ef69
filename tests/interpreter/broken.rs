//! The processor sees what it is there to see: each function broken in one way is blamed for
//! that, among them those that this host cannot run.

use looptune::ir::{Function, Gp, Insn, Item, X87};
use looptune::subject::{Touch, Variant};

use super::machine::{Blame, Call, run};
use super::{call, lowered, source};

/// A size that takes every class through its main loop and its tail.
fn size(v: &Variant) -> usize {
    3 * v.block() as usize + 77
}

/// What is said of a function after a change to it.
fn changed(id: &str, change: impl FnOnce(&mut Function)) -> Result<(), Blame> {
    let v: Variant = id.parse().unwrap();
    let mut function = lowered(&v);
    let sound = function.clone();
    change(&mut function);
    assert!(function != sound, "{id}: nothing was changed");
    let n = size(&v);
    let src = source(n);
    let call = Call { dst: 0x10_0005, ..call(&v, n, 0, 6) };
    assert_eq!(run(&sound, &call, &src).map(drop), Ok(()), "{id}");
    run(&function, &call, &src).map(drop)
}

/// Every instruction made into another one, or taken out.
fn each(id: &str, change: impl Fn(Insn) -> Option<Insn>) -> Result<(), Blame> {
    changed(id, |function| {
        function.items = std::mem::take(&mut function.items)
            .into_iter()
            .filter_map(|item| match item {
                Item::Insn(insn) => change(insn).map(Item::Insn),
                other => Some(other),
            })
            .collect();
    })
}

fn without(id: &str, gone: Insn) -> Result<(), Blame> {
    each(id, |insn| (insn != gone).then_some(insn))
}

/// The number of the first instruction of a kind.
fn first(function: &Function, is: impl Fn(Insn) -> bool) -> usize {
    let is = |item: &Item| matches!(item, Item::Insn(insn) if is(*insn));
    function.items.iter().position(is).expect("there is one")
}

#[test]
fn a_state_left_behind() {
    assert_eq!(without("copy/ymm/u2", Insn::Vzeroupper), Err(Blame::DirtyUpper(0)));
    assert_eq!(without("copy/mmx/u2", Insn::Emms), Err(Blame::X87InUse));
    assert_eq!(without("zero/x87/u4", Insn::X87Pop), Err(Blame::X87InUse));
    assert_eq!(without("copy/tmm", Insn::TileRelease), Err(Blame::TilesInUse));
    assert_eq!(without("zero/tmm/u2/head-dst", Insn::TileRelease), Err(Blame::TilesInUse));
    let before_each_return = |new: Insn| {
        changed("zero/ymm/u2", |function| {
            let items = std::mem::take(&mut function.items).into_iter();
            let with = |item| match item {
                Item::Insn(Insn::Ret) => vec![Item::Insn(new), item],
                _ => vec![item],
            };
            function.items = items.flat_map(with).collect();
        })
    };
    assert_eq!(before_each_return(Insn::Std), Err(Blame::Direction));
    let rbx = Insn::Zero { dst: Gp::Rbx };
    assert_eq!(before_each_return(rbx), Err(Blame::Clobbered("rbx")));
}

#[test]
fn stores_that_nobody_fenced() {
    for id in [
        "zero/zmm/u2/nt",
        "copy/r64/u2/nt",
        "copy/mmx/u2/nt",
        "copy/m64b/u2",
        "zero/m64b",
        "zero/clzero/u2",
        "copy/ymm/u4/nt/bounce2048",
        "write/zmm/u2/nt",
    ] {
        assert_eq!(without(id, Insn::Sfence), Err(Blame::StoresNotFenced), "{id}");
    }
}

#[test]
fn lines_without_a_head() {
    // The head moves the destination on to a multiple of 64.
    let headless = |id: &str| {
        changed(id, |function| {
            let at = first(function, |i| matches!(i, Insn::TestImm { .. }));
            function.items[at] = Item::Insn(Insn::Zero { dst: Gp::R11 });
        })
    };
    for id in ["copy/m64b/u2", "zero/m64b"] {
        assert!(matches!(headless(id), Err(Blame::Unaligned { .. })), "{id}");
    }
    // clzero takes the line around the address: bytes before the destination.
    assert!(matches!(headless("zero/clzero"), Err(Blame::StoreOutside { .. })));
}

#[test]
fn a_frame_that_is_not_given_back() {
    let id = "copy/ymm/u4/bounce4096";
    assert_eq!(without(id, Insn::Leave), Err(Blame::Clobbered("rsp")));
    let moved = |insn| match insn {
        Insn::Leave => Insn::Mov { dst: Gp::Rsp, src: Gp::Rbp },
        other => other,
    };
    assert_eq!(each(id, |i| Some(moved(i))), Err(Blame::Clobbered("rsp")));
}

#[test]
fn a_stack_that_is_not_probed() {
    let id = "copy/ymm/u4/bounce16384";
    let probe = |insn: &Insn| matches!(insn, Insn::Load { mem, .. } if mem.base == Gp::Rsp);
    let said = each(id, |insn| (!probe(&insn)).then_some(insn));
    assert!(matches!(said, Err(Blame::StackSkipped { .. })), "{said:?}");
}

#[test]
fn chunks_of_a_wrong_size() {
    let longer = |insn| match insn {
        Insn::MovImm { dst: Gp::R11, imm } => Insn::MovImm { dst: Gp::R11, imm: imm + 1 },
        other => other,
    };
    let sized = |id: &str, n: usize, change: &dyn Fn(Insn) -> Insn| {
        let v: Variant = id.parse().unwrap();
        let mut function = lowered(&v);
        for item in &mut function.items {
            if let Item::Insn(insn) = item {
                *insn = change(*insn);
            }
        }
        run(&function, &call(&v, n, 5, 6), &source(n)).map(drop)
    };
    let block = Touch::SOURCE_BLOCK as usize;
    assert!(sized("copy/ymm/u4/src-block", 3 * block, &longer).is_err());
    assert!(sized("copy/ymm/u4/bounce4096", 3 * 4096, &longer).is_err());
    // A block that the frame has no room for: what the caller keeps there is lost.
    let larger = |insn| match insn {
        Insn::MovImm { dst: Gp::R11, imm } => Insn::MovImm { dst: Gp::R11, imm: imm + 128 },
        Insn::CmpImm { a: Gp::R11, imm } => Insn::CmpImm { a: Gp::R11, imm: imm + 128 },
        other => other,
    };
    let said = sized("copy/ymm/u4/bounce4096", 3 * 4096, &larger);
    assert!(matches!(said, Err(Blame::StoreOutside { .. } | Blame::Clobbered(_))), "{said:?}");
    let skipped = |insn| match insn {
        Insn::SubImm { dst: Gp::Rsi, imm: 8192 } => Insn::SubImm { dst: Gp::Rsi, imm: 8192 + 64 },
        other => other,
    };
    assert!(sized("zero/ymm/u2/s2", 20_000, &skipped).is_err());
}

#[test]
fn tiles_that_are_not_configured() {
    let configured = |insn: &Insn| matches!(insn, Insn::TileConfig { .. });
    let said = each("copy/tmm", |insn| (!configured(&insn)).then_some(insn));
    assert!(matches!(said, Err(Blame::NoTiles(_))), "{said:?}");
    // A word of the configuration, too.
    let palette = |insn| match insn {
        Insn::MovImm { dst, imm: 1 } => Insn::MovImm { dst, imm: 2 },
        other => other,
    };
    assert_eq!(each("copy/tmm", |i| Some(palette(i))), Err(Blame::BadTiles));
    let rows = |insn| match insn {
        Insn::MovImm { dst, imm: 0x1010_1010 } => Insn::MovImm { dst, imm: 0x1010_100f },
        other => other,
    };
    let said = each("zero/tmm", |i| Some(rows(i)));
    assert!(matches!(said, Err(Blame::WrongByte { at: 960, .. })), "{said:?}");
    let step = |insn| match insn {
        Insn::MovImm { dst: Gp::R8, .. } => Insn::MovImm { dst: Gp::R8, imm: 32 },
        other => other,
    };
    let said = each("zero/tmm", |i| Some(step(i)));
    assert!(matches!(said, Err(Blame::WrongByte { .. })), "{said:?}");
}

#[test]
fn a_mask_of_a_wrong_size() {
    let all = |insn| match insn {
        Insn::Bzhi { dst, .. } => Insn::Ones { dst },
        other => other,
    };
    let said = each("copy/zmm/u2/tail-mask", |i| Some(all(i)));
    assert!(matches!(said, Err(Blame::LoadOutside { .. })), "{said:?}");
    let said = each("zero/zmm/u2/tail-mask", |i| Some(all(i)));
    assert!(matches!(said, Err(Blame::StoreOutside { .. })), "{said:?}");
}

#[test]
fn displaced_accesses() {
    let far_store = |insn| match insn {
        Insn::VecStore { mut mem, src, kind } => {
            mem.disp += 1;
            Insn::VecStore { mem, src, kind }
        }
        other => other,
    };
    let store = |id| each(id, |i| Some(far_store(i)));
    assert!(matches!(store("zero/ymm/u2"), Err(Blame::StoreOutside { .. })));
    assert!(matches!(store("zero/ymm/u2/aligned"), Err(Blame::Unaligned { .. })));
    let far_load = |insn| match insn {
        Insn::VecLoad { mut mem, dst, kind } => {
            mem.disp += 1;
            Insn::VecLoad { dst, mem, kind }
        }
        other => other,
    };
    let said = each("copy/xmm/u2", |i| Some(far_load(i)));
    assert!(matches!(said, Err(Blame::LoadOutside { .. })), "{said:?}");
    // A read that leaves out a register's worth.
    let twice = |insn| match insn {
        Insn::VecLoad { mut mem, dst, kind } if mem.disp == 32 => {
            mem.disp = 0;
            Insn::VecLoad { dst, mem, kind }
        }
        other => other,
    };
    let said = each("read/ymm/u2", |i| Some(twice(i)));
    assert!(matches!(said, Err(Blame::Unread { .. })), "{said:?}");
}

/// Signalling NaNs come out quiet from loads of real numbers, and as they were from others.
#[test]
fn numbers_that_change_on_the_way() {
    let mut src = source(400);
    src[64..72].copy_from_slice(&0x7ff4_0000_0000_0001u64.to_le_bytes());
    let said = |id: &str| {
        let v: Variant = id.parse().unwrap();
        run(&lowered(&v), &call(&v, 400, 0, 0), &src).map(drop)
    };
    let at_quiet_bit = Blame::WrongByte { at: 70, is: 0xfc, ought: 0xf4 };
    assert_eq!(said("copy/x87/u4"), Err(at_quiet_bit));
    for exact in ["copy/x87i/u4", "copy/mmx/u4", "copy/r64/u4"] {
        assert_eq!(said(exact), Ok(()), "{exact}");
    }
    let real = |insn| match insn {
        Insn::X87Load { mem, .. } => Insn::X87Load { kind: X87::Real, mem },
        other => other,
    };
    assert_eq!(each("copy/x87i/u2", |i| Some(real(i))), Err(Blame::X87Mixed));
}

#[test]
fn a_full_stack_that_is_not_emptied() {
    for id in ["copy/x87/u4", "copy/x87i/u2", "zero/x87/u2", "zero/x87i"] {
        let v: Variant = id.parse().unwrap();
        let mut function = lowered(&v);
        function.items.retain(|item| *item != Item::Insn(Insn::Emms));
        let n = size(&v);
        let full = Call { occupied: true, ..call(&v, n, 5, 6) };
        assert_eq!(run(&function, &full, &source(n)).map(drop), Err(Blame::X87Overflow), "{id}");
    }
}
