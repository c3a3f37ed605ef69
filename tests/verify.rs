//! Generated functions through verification: right ones pass, and ones that lack a single
//! instruction are caught for that very reason.

use std::sync::LazyLock;

use looptune::encode::{Code, compile};
use looptune::host::{FeatureSet, Host};
use looptune::subject::{Class, Op, Variant};
use looptune::trial::{Body, Check, FailureKind, Machine, Misbehaviour};
use looptune::verify::{Verified, Verifier};

fn features() -> FeatureSet {
    static USABLE: LazyLock<FeatureSet> = LazyLock::new(|| Host::detect().usable);
    *USABLE
}

fn verifier() -> Verifier {
    Verifier::new(features()).expect("memory for two buffers")
}

/// The function of an id; `None` where it is no function or this host lacks a feature.
fn code(id: &str) -> Option<Code> {
    let variant: Variant = id.parse().ok()?;
    compile(&variant).ok().filter(|code| code.features.minus(features()).is_empty())
}

/// Values of the axes, a few of each.
const TOKENS: [&str; 15] = [
    "",
    "/u4/a64",
    "/u8/nt",
    "/u3/aligned/dec",
    "/batch/u2/negidx",
    "/reverse/u4",
    "/u4/rbw/tail-bytes",
    "/u4/placebo/dec",
    "/u2/src-block",
    "/u4/bounce1024",
    "/u2/s2",
    "/u4/bwd",
    "/evex/u2/tail-mask",
    "/u2/n100",
    "/u2/n4096/head-dst",
];

/// Legal ids of every class that this host can run, with several values of the axes.
fn ids() -> Vec<String> {
    let mut ids = Vec::new();
    for op in Op::ALL {
        for class in Class::ALL {
            for tokens in TOKENS {
                let id = format!("{op}/{class}{tokens}");
                if code(&id).is_some() {
                    ids.push(id);
                }
            }
        }
    }
    assert!(ids.len() > 60, "{ids:?}");
    ids
}

#[test]
fn every_class_passes_the_quick_set() {
    let mut verifier = verifier();
    for (id, size) in ids().into_iter().zip([1, 63, 4096, 100_003].into_iter().cycle()) {
        let body = Body::Machine(code(&id).expect("legal").machine());
        let verified = verifier.verify(body_op(&id), &body, Check::Quick { size }, &());
        let verified = verified.unwrap_or_else(|failure| panic!("{id} {size}: {failure}"));
        is_as_exact_as_it_should_be(&id, &verified);
    }
}

#[test]
fn half_of_them_pass_the_full_set() {
    let mut verifier = verifier();
    // Every second one: all take twice as long.
    for id in ids().into_iter().step_by(2) {
        let body = Body::Machine(code(&id).expect("legal").machine());
        let verified = verifier.verify(body_op(&id), &body, Check::Full, &());
        let verified = verified.unwrap_or_else(|failure| panic!("{id}: {failure}"));
        is_as_exact_as_it_should_be(&id, &verified);
    }
}

/// Copies through x87 numbers change bits, and nothing else does.
fn is_as_exact_as_it_should_be(id: &str, verified: &Verified) {
    let variant: Variant = id.parse().expect("an id");
    // Fewer bytes than a turn go through other registers.
    let loops = variant.fixed.is_none_or(|n| n >= variant.block());
    assert_eq!(verified.inexact().is_none(), variant.is_exact() || !loops, "{id}");
}

/// Puts bytes of code before a function that leave all x87 registers in use, for sizes that
/// the main loop does: smaller ones leave the registers to the caller.
fn after_a_full_stack(code: &Code, variant: &Variant) -> Machine {
    let mut machine = code.machine();
    let threshold = variant.block().max(variant.head_span()) as i32;
    // cmp rdx, imm32 or cmp rsi, imm32; jbe over eight fld1
    let size = if variant.op.copies() { 0xfa } else { 0xfe };
    let mut bytes = vec![0x48, 0x81, size];
    bytes.extend(threshold.to_le_bytes());
    bytes.extend([0x76, 16]);
    bytes.extend([0xd9, 0xe8].repeat(8));
    bytes.append(&mut machine.bytes);
    Machine { bytes, ..machine }
}

#[test]
fn a_full_x87_stack_on_entry_spoils_nothing() {
    let mut verifier = verifier();
    for id in [
        "copy/x87/u4",
        "copy/x87i/u8/reverse",
        "copy/x87i/u2/bounce1024",
        "zero/x87/u4/dec",
        "zero/x87i/u2",
        "copy/mmx/u4",
        "zero/mmx/u2",
    ] {
        let variant: Variant = id.parse().expect("an id");
        let machine = after_a_full_stack(&code(id).expect("every x86-64 has x87"), &variant);
        for check in [Check::Quick { size: 4096 }, Check::Quick { size: 999 }] {
            let verified = verifier.verify(variant.op, &Body::Machine(machine.clone()), check, &());
            let verified = verified.unwrap_or_else(|failure| panic!("{id}: {failure}"));
            is_as_exact_as_it_should_be(id, &verified);
        }
        // A loop that does not empty the stack first loses bytes.
        if !id.contains("mmx") {
            let mut broken = machine;
            let at = broken.bytes.windows(2).position(|b| b == [0x0F, 0x77]).expect("an emms");
            broken.bytes[at..at + 2].copy_from_slice(&[0x66, 0x90]);
            let check = Check::Quick { size: 512 };
            let said = verifier.verify(variant.op, &Body::Machine(broken), check, &());
            let kind = said.expect_err("it loses bytes").kind;
            let lost = |what: &Misbehaviour| {
                matches!(what, Misbehaviour::WrongByte { .. } | Misbehaviour::TagWord)
            };
            assert!(matches!(&kind, FailureKind::Incorrect(what) if lost(what)), "{id}: {kind:?}");
        }
    }
}

fn body_op(id: &str) -> Op {
    id.parse::<Variant>().expect("an id").op
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
