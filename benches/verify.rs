//! How many functions a second can be verified: the quick set, which every candidate of a
//! search passes through before it is timed, and the full set, which winners do.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use looptune::encode::compile;
use looptune::host::{Feature, FeatureSet};
use looptune::subject::{Op, Variant};
use looptune::trial::{Body, Check};
use looptune::verify::Verifier;

/// One of each kind that verification could be slow for: few and many boundaries, small and
/// large blocks, all register widths.
const TOKENS: [&str; 10] = [
    "r32/u4",
    "r64/u2",
    "r64/u8/nt",
    "xmm/u1",
    "xmm/u12",
    "ymm/u4/a64",
    "ymm/u16/nt",
    "ymm/u8/aligned",
    "rep8",
    "rep64",
];

fn features() -> FeatureSet {
    let avx = std::arch::is_x86_feature_detected!("avx");
    [Feature::Mmx, Feature::Sse, Feature::Sse2]
        .into_iter()
        .chain(avx.then_some(Feature::Avx))
        .collect()
}

/// What this host can run of the list.
fn bodies(op: Op) -> Vec<Body> {
    TOKENS
        .iter()
        .map(|tokens| {
            let id = format!("{op}/{tokens}");
            let variant: Variant = id.parse().unwrap_or_else(|e| panic!("{id}: {e}"));
            compile(&variant).unwrap_or_else(|e| panic!("{id}: {e}"))
        })
        .filter(|code| code.features.minus(features()).is_empty())
        .map(|code| Body::Machine(code.machine()))
        .collect()
}

fn verify(criterion: &mut Criterion) {
    let mut verifier = Verifier::new(features()).expect("memory for two buffers");
    let checks = [
        ("quick 64", Check::Quick { size: 64 }),
        ("quick 4096", Check::Quick { size: 4096 }),
        ("quick 4M", Check::Quick { size: 4 << 20 }),
        ("full", Check::Full),
    ];
    for (name, check) in checks {
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10);
        for op in [Op::Copy, Op::Zero] {
            let bodies = bodies(op);
            group.throughput(Throughput::Elements(bodies.len() as u64));
            group.bench_function(op.word(), |bencher| {
                bencher.iter(|| {
                    for body in &bodies {
                        let verified = verifier.verify(op, black_box(body), check, &());
                        verified.unwrap_or_else(|failure| panic!("{failure}"));
                    }
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, verify);
criterion_main!(benches);
