//! Lowered functions do what they should for every size and alignment, checked by a naive
//! processor that knows every class, whatever the host has.

mod machine;
#[path = "../common/sample.rs"]
mod sample;

use looptune::ir::{self, Function, Insn, Item};
use looptune::subject::{Op, Variant};
use machine::{Blame, Call, run};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SEED: u64 = 0x7a65_726f;
const VARIANTS: usize = 3_000;
const SIZES_EACH: usize = 24;

/// Bytes that differ from each other, from zero and from junk nearby.
fn source(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 131 + i / 251 + 1) as u8).collect()
}

fn lowered(v: &Variant) -> Function {
    let mut function = Function::default();
    ir::lower(v, &mut function).unwrap_or_else(|e| panic!("{v}: {e}"));
    function
}

fn call(v: &Variant, n: usize, dst: u64, src: u64) -> Call {
    Call { dst: 0x10_0000 + dst, src: 0x50_0000 + src, n, copies: v.op == Op::Copy }
}

fn check(v: &Variant, function: &Function, call: &Call, src: &[u8]) {
    if let Err(blame) = run(function, call, src) {
        panic!("{v}, n {}, dst {:#x}, src {:#x}: {blame:?}", call.n, call.dst, call.src);
    }
}

#[test]
fn sampled_variants_at_their_boundaries_and_at_random_sizes() {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let src = source(20_000);
    for v in sample::variants(SEED, VARIANTS) {
        let function = lowered(&v);
        let reach = 4 * v.block() as usize + 200;
        let mut sizes: Vec<usize> = (0..SIZES_EACH).map(|_| rng.random_range(0..reach)).collect();
        for n in &function.boundaries {
            let n = *n as usize;
            sizes.extend([n - 1, n]);
        }
        for n in sizes {
            let (dst, src_at) = (rng.random_range(0..64), rng.random_range(0..64));
            check(&v, &function, &call(&v, n, dst, src_at), &src);
        }
    }
}

#[test]
fn every_size_of_a_few_of_each_kind() {
    let src = source(2_000);
    for id in [
        "copy/r32/u2",
        "copy/r64/u4/dec/tail-bytes/head-src",
        "copy/mmx/u4/nt/negidx",
        "copy/xmm/u4/aligned/batch",
        "copy/xmm/vex/u3/dec",
        "copy/ymm/u4/nt/tail-rep",
        "copy/ymm/u3/negidx/head-src",
        "copy/zmm/u2/aligned/negidx",
        "copy/rep8/head-dst",
        "copy/rep32/tail-overlap/head-src",
        "copy/rep64/tail-bytes",
        "zero/r32/u1/nt",
        "zero/r64/u6/negidx/head-dst",
        "zero/mmx/u2/dec/tail-rep",
        "zero/xmm/u12",
        "zero/ymm/u4/nt",
        "zero/ymm/evex/u2/dec/tail-bytes",
        "zero/zmm/u4/nt/dec",
        "zero/rep8",
        "zero/rep32/tail-bytes/head-dst",
        "zero/rep64/tail-overlap",
    ] {
        let v: Variant = id.parse().unwrap();
        let function = lowered(&v);
        for n in 0..=2 * v.block() as usize + 140 {
            for (dst, src_at) in [(0, 0), (1, 0), (63, 17), (32, 48), (8, 4)] {
                check(&v, &function, &call(&v, n, dst, src_at), &src);
            }
        }
    }
}

/// Between two listed boundaries the same instructions run, so that a check of the
/// boundaries has seen every path. Up to the threshold; beyond, turns of loops differ.
#[test]
fn no_boundary_is_missing() {
    let src = source(4_200);
    for id in [
        "copy/r32/u6",
        "copy/r64/u32",
        "copy/mmx/u4",
        "zero/xmm/u32",
        "copy/ymm/u12/nt",
        "zero/zmm/u8/head-dst",
        "copy/zmm/evex/u32",
        "copy/xmm",
    ] {
        let v: Variant = id.parse().unwrap();
        let function = lowered(&v);
        let threshold = v.block().max(v.head_span()) as usize;
        let mut before = None;
        for n in 0..=threshold + 1 {
            let path = run(&function, &call(&v, n, 0, 0), &src).unwrap();
            if before.is_some_and(|b| b != path) {
                assert!(function.boundaries.contains(&(n as u64)), "{id}: {n} is another path");
            }
            before = Some(path);
        }
    }
}

#[test]
fn a_batch_of_all_registers_cleans_the_old_sixteen() {
    for id in ["copy/zmm/u32/batch", "copy/ymm/evex/u32/batch/nt"] {
        let v: Variant = id.parse().unwrap();
        let function = lowered(&v);
        assert!(function.insns().any(|i| i == Insn::Vzeroupper), "{id}");
        let n = 3 * v.block() as usize + 5;
        check(&v, &function, &call(&v, n, 3, 9), &source(n));
    }
}

/// The processor sees what it is there to see: each function broken in one way is blamed
/// for that.
#[test]
fn broken_functions_are_blamed() {
    let without = |id: &str, gone: Insn| {
        let v: Variant = id.parse().unwrap();
        let mut function = lowered(&v);
        function.items.retain(|item| *item != Item::Insn(gone));
        let n = 3 * v.block() as usize + 77;
        run(&function, &call(&v, n, 5, 6), &source(n)).map(drop)
    };
    assert_eq!(without("copy/ymm/u2", Insn::Vzeroupper), Err(Blame::DirtyUpper(0)));
    assert_eq!(without("copy/mmx/u2", Insn::Emms), Err(Blame::MmxInUse));
    assert_eq!(without("zero/zmm/u2/nt", Insn::Sfence), Err(Blame::StoresNotFenced));
    let moved = |id: &str, change: fn(&mut Insn)| {
        let v: Variant = id.parse().unwrap();
        let mut function = lowered(&v);
        for item in &mut function.items {
            if let Item::Insn(insn) = item {
                change(insn);
            }
        }
        let n = 3 * v.block() as usize + 77;
        run(&function, &call(&v, n, 5, 6), &source(n)).map(drop)
    };
    let far_store = |insn: &mut Insn| {
        if let Insn::VecStore { mem, .. } = insn {
            mem.disp += 1;
        }
    };
    assert!(matches!(moved("zero/ymm/u2", far_store), Err(Blame::StoreOutside { .. })));
    assert!(matches!(moved("zero/ymm/u2/aligned", far_store), Err(Blame::Unaligned { .. })));
    let far_load = |insn: &mut Insn| {
        if let Insn::VecLoad { mem, .. } = insn {
            mem.disp += 1;
        }
    };
    assert!(matches!(moved("copy/xmm/u2", far_load), Err(Blame::LoadOutside { .. })));
}
