//! What no call on some processors can show: stores that nobody fenced, and what this host
//! cannot run. Every way through the bytes is followed instead, and a naive processor runs them.

#[path = "../common/lint.rs"]
mod lint;
#[path = "../common/machine/mod.rs"]
mod machine;

use lint::{Left, ways_out};
use looptune::encode::Encoder;
use looptune::ir::{Insn, leaves_cache};
use machine::{Blame, Call, run};

use super::subject::Subject;

/// A loop of every class that goes past the caches, on several ways.
const FENCED: [&str; 9] = [
    "copy/r64/u4/nt",
    "copy/mmx/u2/nt/bounce1024",
    "copy/ymm/u4/nt/src-block",
    "zero/xmm/u4/nt/tail-bytes",
    "zero/zmm/u4/nt/tail-mask",
    "copy/m64b/u2/dec",
    "zero/m64b/s2",
    "zero/clzero/u2/tail-bytes",
    "zero/clzero/n4096",
];

const TILED: [&str; 4] =
    ["copy/tmm/u2/batch", "copy/tmm/bounce4096", "zero/tmm/u4/head-dst", "zero/tmm/u2/n5000"];

/// What a call of a few turns leaves, by the naive processor.
fn blamed(s: &Subject) -> Result<(), Blame> {
    let n = s.function.fixed.unwrap_or(20_011) as usize;
    let src: Vec<u8> = (0..n).map(|i| (i * 131 + i / 251) as u8).collect();
    let call = Call { op: s.op, dst: 0x10_0005, src: 0x50_0003, n, occupied: false };
    run(&s.function, &call, &src).map(drop)
}

fn left(s: &Subject) -> Result<(), Left> {
    let code = Encoder::new().encode(&s.function).unwrap_or_else(|e| panic!("{}: {e}", s.name));
    ways_out(&code.bytes)
}

/// Asserts that whole functions pass, and that each is caught with any one of the instructions
/// of a kind taken out.
fn caught_without(ids: &[&str], gone: Insn, ways: Left, call: Blame) {
    for id in ids {
        let whole = Subject::new(id);
        assert_eq!((left(&whole), blamed(&whole)), (Ok(()), Ok(())), "{id}");
        let broken = whole.each("taken out", |_, i| (i == gone).then(Vec::new));
        assert!(!broken.is_empty(), "{id} has no {gone:?}");
        for mutant in &broken {
            assert_eq!(left(mutant), Err(ways), "{}", mutant.name);
            assert_eq!(blamed(mutant).as_ref(), Err(&call), "{}", mutant.name);
        }
    }
}

#[test]
fn a_missing_fence() {
    caught_without(&FENCED, Insn::Sfence, Left::Unfenced, Blame::StoresNotFenced);
}

#[test]
fn a_fence_before_the_last_store() {
    for id in FENCED {
        let whole = Subject::new(id);
        let early = whole.each("store after the fence", |_, i| {
            let store = whole.function.insns().find(leaves_cache)?;
            (i == Insn::Sfence).then(|| vec![i, store])
        });
        assert!(early.iter().all(|s| left(s) == Err(Left::Unfenced)), "{id}");
        assert!(!early.is_empty());
    }
}

#[test]
fn tiles_left_configured() {
    caught_without(&TILED, Insn::TileRelease, Left::Tiles, Blame::TilesInUse);
}

#[test]
fn a_state_left_on_one_way_out_of_many() {
    // The lint needs no case that goes there.
    let taken = |id: &str, gone: Insn| {
        let broken = Subject::new(id).each("taken out", |_, i| (i == gone).then(Vec::new));
        broken.iter().map(left).collect::<Vec<_>>()
    };
    let uppers = taken("copy/ymm/u4/tail-bytes", Insn::Vzeroupper);
    assert!(uppers.len() > 2, "each way out has one");
    assert!(uppers.iter().all(|l| matches!(l, Err(Left::UpperHalf(_)))), "{uppers:?}");
    assert_eq!(taken("zero/mmx/u4/tail-bytes", Insn::Emms), [Err(Left::Mmx)]);
    assert_eq!(taken("zero/x87/u4", Insn::X87Pop), [Err(Left::X87(1))]);
    assert_eq!(taken("copy/ymm/u4/bounce1024", Insn::Leave), [Err(Left::Frame)]);
    let set = Subject::new("zero/r64/u4").before_each_return("std", Insn::Std);
    assert!(set.iter().all(|s| left(s) == Err(Left::Direction)));
}
