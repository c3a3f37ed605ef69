//! Text, bytes and meaning agree: GNU as and clang make our bytes of our text, and iced
//! decodes our bytes to our instructions.

mod assembler;
mod cases;
mod meaning;
#[path = "../common/sample.rs"]
mod sample;

use std::collections::HashSet;

use assembler::{Assembler, Outcome};
use looptune::encode::{Code, Encoder};
use looptune::ir::{self, Function, Insn, Item};
use looptune::print::{att, gas_body};
use looptune::subject::Variant;

const SEED: u64 = 0x6c6f_6f70;
const INSN_CASES: usize = 100_000;
const VARIANTS: usize = 6_000;

fn encode_one(encoder: &mut Encoder, insn: Insn) -> Vec<u8> {
    let function = Function { items: vec![Item::Insn(insn)], boundaries: vec![] };
    encoder.encode(&function).unwrap_or_else(|e| panic!("{insn:?}: {e}")).bytes
}

/// Assembles the text of every case at once and compares the bytes case by case.
fn compare_cases(assembler: Assembler, cases: &[(Insn, Vec<u8>)]) {
    let mut source = String::from(".text\n");
    for (insn, _) in cases {
        source.push_str(&att(insn, ".L"));
        source.push('\n');
    }
    let Outcome::Bytes(theirs) = assembler.run(&source) else { return };
    let mut offset = 0;
    for (insn, ours) in cases {
        let end = theirs.len().min(offset + ours.len());
        assert_eq!(
            &theirs[offset..end],
            ours,
            "{insn:?}: left is what {assembler:?} makes of `{}`",
            att(insn, ".L")
        );
        offset = end;
    }
    assert_eq!(offset, theirs.len(), "{assembler:?} made more bytes than we did");
}

#[test]
fn instructions_as_text_as_bytes_and_decoded() {
    let cases = cases::all();
    let distinct: HashSet<_> = cases.iter().collect();
    assert_eq!(distinct.len(), cases.len(), "each case once");
    assert!(cases.len() >= INSN_CASES, "{} cases", cases.len());
    let mut encoder = Encoder::new();
    let encoded: Vec<_> =
        cases.iter().map(|insn| (*insn, encode_one(&mut encoder, *insn))).collect();
    for (insn, bytes) in &encoded {
        assert_eq!(meaning::decoded(bytes), meaning::meant(insn), "{insn:?} {bytes:02x?}");
    }
    compare_cases(Assembler::Gas, &encoded);
    let few: Vec<_> = encoded.into_iter().step_by(17).collect();
    compare_cases(Assembler::Clang, &few);
}

fn compile(encoder: &mut Encoder, function: &mut Function, v: &Variant) -> Code {
    ir::lower(v, function).unwrap_or_else(|e| panic!("{v}: {e}"));
    encoder.encode(function).unwrap_or_else(|e| panic!("{v}: {e}"))
}

/// What `compare_variants` puts between functions.
const FILL: u8 = 0xcc;

/// Assembles the exported bodies of all variants in one source, each at a multiple of 64.
fn compare_variants(assembler: Assembler, codes: &[(Variant, Code)]) {
    let mut source = String::from(".text\n");
    for (i, (_, code)) in codes.iter().enumerate() {
        source.push_str(&format!(".balign 64, {FILL:#x}\n"));
        for line in gas_body(code, &format!(".Lf{i}_")) {
            source.push_str(&line.to_string());
            source.push('\n');
        }
    }
    let Outcome::Bytes(theirs) = assembler.run(&source) else { return };
    let mut offset = 0;
    for (v, code) in codes {
        let ours = &code.bytes;
        let end = theirs.len().min(offset + ours.len());
        let at = theirs[offset..end].iter().zip(ours).position(|(a, b)| a != b);
        assert!(
            at.is_none() && end == offset + ours.len(),
            "{v}: {assembler:?} differs at offset {at:?}"
        );
        offset = end.next_multiple_of(64);
    }
}

#[test]
fn whole_variants_as_text_and_bytes() {
    let variants = sample::variants(SEED, VARIANTS);
    let (mut encoder, mut function) = (Encoder::new(), Function::default());
    let mut codes = vec![];
    for v in variants {
        let code = compile(&mut encoder, &mut function, &v);
        match &code.loop_range {
            Some(range) => {
                let top = range.start % u32::from(v.align.modulus);
                assert_eq!(top, u32::from(v.align.skew), "{v}: loop top at {range:?}");
                assert!(range.end as usize <= code.bytes.len() && range.start < range.end);
            }
            None => assert!(v.class.is_rep(), "{v} has no loop"),
        }
        meaning::decodes_whole(&code, &v);
        codes.push((v, code));
    }
    compare_variants(Assembler::Gas, &codes);
    let few: Vec<_> = codes.into_iter().step_by(10).collect();
    compare_variants(Assembler::Clang, &few);
}
