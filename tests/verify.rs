//! Generated functions through verification: right ones pass, and ones that lack a single
//! instruction are caught for that very reason.

use looptune::encode::{Code, compile};
use looptune::host::{Feature, FeatureSet};
use looptune::subject::{Class, Op, Variant};
use looptune::trial::{Body, Check, FailureKind, Misbehaviour};
use looptune::verify::Verifier;

fn features() -> FeatureSet {
    let avx = std::arch::is_x86_feature_detected!("avx");
    [Feature::Mmx, Feature::Sse, Feature::Sse2]
        .into_iter()
        .chain(avx.then_some(Feature::Avx))
        .collect()
}

fn verifier() -> Verifier {
    Verifier::new(features()).expect("memory for two buffers")
}

/// The function of an id; `None` where it is no function or this host lacks a feature.
fn code(id: &str) -> Option<Code> {
    let variant: Variant = id.parse().ok()?;
    compile(&variant).ok().filter(|code| code.features.minus(features()).is_empty())
}

/// Legal ids of every class that this host can run, with several values of the axes.
fn ids() -> Vec<String> {
    let mut ids = Vec::new();
    for op in Op::ALL {
        for class in Class::ALL {
            for tokens in ["", "/u4/a64", "/u8/nt", "/u3/aligned/dec", "/batch/u2/negidx"] {
                let id = format!("{op}/{class}{tokens}");
                if code(&id).is_some() {
                    ids.push(id);
                }
            }
        }
    }
    assert!(ids.len() > 30, "{ids:?}");
    ids
}

#[test]
fn every_class_passes_the_quick_set() {
    let mut verifier = verifier();
    for id in ids() {
        let body = Body::Machine(code(&id).expect("legal").machine());
        for size in [1, 63, 4096, 65_536, 100_003] {
            let verified = verifier.verify(body_op(&id), &body, Check::Quick { size }, &());
            verified.unwrap_or_else(|failure| panic!("{id} {size}: {failure}"));
        }
    }
}

#[test]
fn every_class_passes_the_full_set() {
    let mut verifier = verifier();
    for id in ids() {
        let body = Body::Machine(code(&id).expect("legal").machine());
        let verified = verifier.verify(body_op(&id), &body, Check::Full, &());
        verified.unwrap_or_else(|failure| panic!("{id}: {failure}"));
    }
}

fn body_op(id: &str) -> Op {
    if id.starts_with("copy") { Op::Copy } else { Op::Zero }
}

/// What verification says of a function whose every `instruction` has become a nop.
fn without(id: &str, instruction: &[u8], nop: &[u8]) -> Option<FailureKind> {
    let mut machine = code(id)?.machine();
    let mut found = 0;
    for at in 0..=machine.bytes.len() - instruction.len() {
        if machine.bytes[at..].starts_with(instruction) {
            machine.bytes[at..at + nop.len()].copy_from_slice(nop);
            found += 1;
        }
    }
    assert!(found > 0, "{id} has no {instruction:02x?}");
    let check = Check::Quick { size: 512 };
    let outcome = verifier().verify(body_op(id), &Body::Machine(machine), check, &());
    Some(outcome.err().unwrap_or_else(|| panic!("{id} passed")).kind)
}

#[test]
fn a_missing_emms_is_caught() {
    let kind = without("copy/mmx/u4", &[0x0F, 0x77], &[0x66, 0x90]);
    assert_eq!(kind, Some(FailureKind::Incorrect(Misbehaviour::TagWord)));
    let kind = without("zero/mmx/u2", &[0x0F, 0x77], &[0x66, 0x90]);
    assert_eq!(kind, Some(FailureKind::Incorrect(Misbehaviour::TagWord)));
}

#[test]
fn a_missing_vzeroupper_is_caught() {
    // None: this host has no AVX.
    if let Some(kind) = without("copy/ymm/u4", &[0xC5, 0xF8, 0x77], &[0x0F, 0x1F, 0x00]) {
        let FailureKind::Incorrect(Misbehaviour::UpperHalf { register }) = kind else {
            panic!("{kind:?}")
        };
        assert!(register < 16);
    }
}

#[test]
fn a_missing_return_value_is_caught() {
    for id in ["copy/xmm/u4", "zero/r64/u2"] {
        let kind = without(id, &[0x48, 0x89, 0xF8], &[0x0F, 0x1F, 0x00]);
        assert!(matches!(
            kind,
            Some(FailureKind::Incorrect(
                Misbehaviour::WrongReturn | Misbehaviour::WrongByte { .. }
            ))
        ));
    }
}
