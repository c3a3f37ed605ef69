//! Lowered functions do what they should for every size and alignment, checked by a naive
//! processor that knows every class, whatever the host has.

mod broken;
#[path = "../common/machine/mod.rs"]
mod machine;
#[path = "../common/sample.rs"]
mod sample;

use looptune::ir::{self, Function, Insn};
use looptune::subject::Variant;
use machine::{Call, run};
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
    Call { op: v.op, dst: 0x10_0000 + dst, src: 0x50_0000 + src, n, occupied: false }
}

fn check(v: &Variant, function: &Function, call: &Call, src: &[u8]) {
    if let Err(blame) = run(function, call, src) {
        panic!("{v}, n {}, dst {:#x}, src {:#x}: {blame:?}", call.n, call.dst, call.src);
    }
}

#[test]
fn sampled_variants_at_their_boundaries_and_at_random_sizes() {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let src = source(40_000);
    for v in sample::variants(SEED, VARIANTS) {
        let function = lowered(&v);
        let sizes = match v.fixed {
            Some(n) => vec![n as usize; 6],
            None => sizes_of(&v, &function, &mut rng),
        };
        for n in sizes {
            let (dst, src_at) = (rng.random_range(0..64), rng.random_range(0..64));
            check(&v, &function, &call(&v, n, dst, src_at), &src);
        }
    }
}

/// Boundaries from both sides, and sizes of a few turns.
fn sizes_of(v: &Variant, function: &Function, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let reach = 4 * v.block() as usize + 200;
    let mut sizes: Vec<usize> = (0..SIZES_EACH).map(|_| rng.random_range(0..reach)).collect();
    sizes.extend(function.boundaries.iter().flat_map(|n| [*n as usize - 1, *n as usize]));
    sizes
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
        "copy/x87i/u8/reverse",
        "copy/x87/u3/negidx",
        "zero/x87/u4/dec/tail-bytes",
        "zero/x87i/u2/bwd",
        "copy/m64b/u2",
        "copy/m64b/dec/tail-bytes",
        "zero/m64b/u4/tail-rep",
        "zero/m64b/s2",
        "zero/clzero/u3",
        "zero/clzero/u2/dec/tail-bytes",
        "copy/zmm/u2/tail-mask",
        "copy/ymm/evex/u4/nt/negidx/tail-mask",
        "copy/xmm/evex/u3/dec/tail-mask/bwd",
        "zero/zmm/tail-mask/head-dst",
        "zero/ymm/evex/u3/tail-mask",
        "read/zmm/u2/tail-mask",
        "read/ymm/u4",
        "write/ymm/u3/negidx/tail-bytes",
        "write/zmm/u2/nt/tail-mask",
        "copy/r64/u4/rbw",
        "copy/ymm/u4/bwd/head-src",
        "copy/zmm/u4/bwd/nt",
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

/// Tiles move a kilobyte at a time: every size around a few turns, and every alignment at one.
#[test]
fn tiles_at_many_sizes_and_alignments() {
    let src = source(20_000);
    for id in [
        "copy/tmm",
        "copy/tmm/u2",
        "copy/tmm/u2/batch/head-dst",
        "copy/tmm/u4/reverse/dec/tail-bytes",
        "copy/tmm/u2/head-src/tail-rep",
        "copy/tmm/bounce4096",
        "copy/tmm/s2",
        "zero/tmm",
        "zero/tmm/u3/dec/head-dst/tail-bytes",
        "zero/tmm/u8",
        "zero/tmm/u2/s4/tail-rep",
        "zero/tmm/u2/head-dst/n5000",
        "copy/tmm/u2/n4097",
    ] {
        let v: Variant = id.parse().unwrap();
        let function = lowered(&v);
        let block = v.block() as usize;
        let mut sizes: Vec<usize> = (0..block + 140).step_by(7).collect();
        for turn in 1..=3 {
            sizes.extend(turn * block - 2..=turn * block + 2);
            sizes.extend([turn * block + 63, turn * block + 64, turn * block + 65]);
            sizes.extend([turn * block + block / 2, turn * block + 1023]);
        }
        for (turn, n) in sizes.into_iter().enumerate() {
            let n = v.fixed.map_or(n, |n| n as usize);
            let (dst, src_at) = (turn as u64 * 13 % 64, turn as u64 * 27 % 64);
            if n <= 20_000 {
                check(&v, &function, &call(&v, n, dst, src_at), &src);
            }
        }
        let n = v.fixed.map_or(2 * block + 77, |n| n as usize);
        for dst in 0..64 {
            check(&v, &function, &call(&v, n, dst, 63 - dst), &src);
        }
    }
}

/// Loops that run in parts, around the ends of their parts.
#[test]
fn parts_from_both_sides() {
    let src = source(70_000);
    for (id, part) in [
        ("copy/ymm/u4/src-block", 1792),
        ("copy/r64/u2/src-block/head-dst/tail-bytes", 1792),
        ("copy/xmm/u4/nt/src-block", 1792),
        ("copy/zmm/u2/bounce1024", 1024),
        ("copy/x87i/u4/bounce2048/tail-rep", 2048),
        ("copy/mmx/u8/nt/bounce4096", 4096),
        ("copy/ymm/u8/nt/bounce8192/reverse", 8192),
        ("copy/zmm/u4/bounce16384/tail-mask", 16384),
        ("copy/ymm/u4/s2", 8192),
        ("copy/m64b/u2/s4", 16384),
        ("zero/clzero/u4/s2", 8192),
        ("zero/ymm/u4/nt/s4/tail-bytes", 16384),
        ("zero/x87/u8/s2", 8192),
    ] {
        let v: Variant = id.parse().unwrap();
        let function = lowered(&v);
        let block = v.block() as usize;
        for parts in 1..=3 {
            for more in [0, 1, 63, 64, block - 1, block, block + 1, part / 2, part - 1] {
                for less in [0, 1, 2] {
                    let n = parts * part + more - less;
                    for (dst, src_at) in [(0, 0), (1, 62), (40, 8)] {
                        check(&v, &function, &call(&v, n, dst, src_at), &src);
                    }
                }
            }
        }
    }
}

/// A caller that left all x87 registers in use gets its bytes all the same, and the registers
/// empty.
#[test]
fn a_full_x87_stack_on_entry() {
    let src = source(2_000);
    for id in [
        "copy/x87/u4",
        "copy/x87i/u8/reverse",
        "zero/x87/u2",
        "zero/x87i/u3",
        "copy/mmx/u4",
        "zero/mmx/u2",
    ] {
        let v: Variant = id.parse().unwrap();
        let function = lowered(&v);
        for n in 0..400 {
            let full = Call { occupied: true, ..call(&v, n, 3, 5) };
            check(&v, &function, &full, &src);
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
        "copy/x87i/u8",
        "copy/tmm",
        "zero/m64b/u4",
        "zero/clzero/u2",
        "copy/zmm/u2/tail-mask",
        "read/ymm/u4",
        "copy/ymm/u4/bwd",
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
