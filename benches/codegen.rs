//! How many variants a second become code.

use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group};
use looptune::encode::Encoder;
use looptune::ir::{self, Function};
use looptune::subject::{
    Align, Class, Count, Encoding, Head, Op, Order, Store, Tail, UNROLLS, Variant,
};

/// Rounds over a family outside criterion.
const ROUNDS: usize = 30;

/// The part of a class's space that a default search spans: all that can be lowered of
/// these axes.
fn family(class: Class) -> Vec<Variant> {
    let mut all = vec![];
    for &op in Op::ALL {
        for &unroll in UNROLLS {
            for &order in Order::ALL {
                for &store in Store::ALL {
                    for &count in Count::ALL {
                        for &head in Head::ALL {
                            for modulus in [1, 16, 32, 64] {
                                for &encoding in Encoding::ALL {
                                    let v = Variant {
                                        encoding,
                                        unroll,
                                        order,
                                        align: Align { modulus, skew: 0 },
                                        store,
                                        count,
                                        head,
                                        tail: Tail::Overlap,
                                        ..Variant::new(op, class)
                                    };
                                    all.push(v);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    let mut function = Function::default();
    all.retain(|v| ir::lower(v, &mut function).is_ok());
    all
}

/// Lowers and encodes all; the sum of lengths keeps the work from being left out.
fn compile_all(encoder: &mut Encoder, function: &mut Function, variants: &[Variant]) -> usize {
    let mut bytes = 0;
    for v in variants {
        if ir::lower(v, function).is_ok()
            && let Ok(code) = encoder.machine(function)
        {
            bytes += code.bytes.len();
        }
    }
    bytes
}

fn codegen(c: &mut Criterion) {
    let mut group = c.benchmark_group("codegen");
    for class in [Class::R64, Class::Xmm, Class::Ymm, Class::Zmm] {
        let variants = family(class);
        let (mut encoder, mut function) = (Encoder::new(), Function::default());
        group.throughput(Throughput::Elements(variants.len() as u64));
        group.bench_function(class.word(), |b| {
            b.iter(|| compile_all(&mut encoder, &mut function, &variants));
        });
        // The best of many rounds: what the code costs when nobody else wants the core.
        let mut bytes = 0;
        let best = (0..ROUNDS).map(|_| {
            let start = Instant::now();
            bytes = compile_all(&mut encoder, &mut function, &variants);
            start.elapsed()
        });
        let seconds = best.min().unwrap_or_default().as_secs_f64();
        println!(
            "{class}: {:.0} variants/s over {} variants, {} bytes each on average",
            variants.len() as f64 / seconds,
            variants.len(),
            bytes / variants.len()
        );
    }
    group.finish();
}

criterion_group!(benches, codegen);

fn main() {
    benches();
    Criterion::default().configure_from_args().final_summary();
}
