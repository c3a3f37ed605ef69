//! Text, bytes and meaning agree: GNU as and clang make our bytes of our text, and iced
//! decodes our bytes to our instructions.

mod assembler;
mod cases;
mod frames;
#[path = "../common/lint.rs"]
mod lint;
mod meaning;
#[path = "../common/sample.rs"]
mod sample;

use std::collections::HashSet;

use assembler::{Assembler, Outcome};
use looptune::encode::{Code, Encoder};
use looptune::ir::{self, Cond, Function, Insn, Item, Label, Width};
use looptune::print::{att, gas_body};
use looptune::space::features_of;
use looptune::subject::{
    BOUNCES, Class, Count, Direction, Encoding, Head, Op, Order, Store, Streams, Tail, Touch,
    Variant,
};

const SEED: u64 = 0x6c6f_6f70;
const INSN_CASES: usize = 100_000;
const VARIANTS: usize = 8_000;

fn encode_one(encoder: &mut Encoder, insn: Insn) -> Vec<u8> {
    let function = Function { items: vec![Item::Insn(insn)], ..Function::default() };
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
    // The two prefixes of 2-byte steps have no fixed order: clang has the other one. No loop
    // has such steps.
    let ordered = |(insn, _): &(Insn, _)| !matches!(insn, Insn::Rep { width: Width::B2, .. });
    let most: Vec<_> = encoded.into_iter().filter(ordered).collect();
    compare_cases(Assembler::Clang, &most);
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
        source.push_str(&format!(".balign 64, {FILL:#x}\n.cfi_startproc\n"));
        for line in gas_body(code, &format!(".Lf{i}_")) {
            source.push_str(&line.to_string());
            source.push('\n');
        }
        source.push_str(".cfi_endproc\n");
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

/// A sample without some class or some way of moving proves nothing of it.
fn every_value_is_among(variants: &[Variant]) {
    let few = |what: &str, is: &dyn Fn(&Variant) -> bool| {
        let found = variants.iter().filter(|v| is(v)).count();
        assert!(found >= 40, "only {found} of {what}");
    };
    // String instructions have few legal points, but each of them must be there.
    Class::ALL.iter().for_each(|c| few(c.word(), &|v| v.class == *c));
    Op::ALL.iter().for_each(|o| few(o.word(), &|v| v.op == *o));
    Encoding::ALL.iter().for_each(|e| few(e.word(), &|v| v.encoding == *e));
    Order::ALL.iter().for_each(|o| few(o.word(), &|v| v.order == *o));
    Store::ALL.iter().for_each(|s| few(s.word(), &|v| v.store == *s));
    Touch::ALL.iter().for_each(|t| few(t.word(), &|v| v.touch == *t));
    Count::ALL.iter().for_each(|c| few(c.word(), &|v| v.count == *c));
    Head::ALL.iter().for_each(|h| few(h.word(), &|v| v.head == *h));
    Tail::ALL.iter().for_each(|t| few(t.word(), &|v| v.tail == *t));
    Streams::ALL.iter().for_each(|s| few(s.word(), &|v| v.streams == *s));
    Direction::ALL.iter().for_each(|d| few(d.word(), &|v| v.direction == *d));
    BOUNCES.iter().for_each(|b| few("a bounce block", &|v| v.bounce == Some(*b)));
    few("fixed sizes", &|v| v.fixed.is_some());
}

#[test]
fn whole_variants_as_text_and_bytes() {
    let variants = sample::variants(SEED, VARIANTS);
    every_value_is_among(&variants);
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
            None => {
                let once = v.fixed.is_some_and(|n| n < 2 * v.block() && v.head_span() == 0);
                assert!(v.class.is_rep() || once, "{v} has no loop");
            }
        }
        meaning::decodes_whole(&code, &v);
        let told = features_of(&v);
        match v.fixed {
            // What the size spares is told all the same.
            Some(_) => assert!(code.features.minus(told).is_empty(), "{v}: {:?}", code.features),
            None => assert_eq!(told, code.features, "{v}"),
        }
        assert_eq!(lint::ways_out(&code.bytes), Ok(()), "{v}");
        codes.push((v, code));
    }
    compare_variants(Assembler::Gas, &codes);
    let few: Vec<_> = codes.into_iter().step_by(10).collect();
    compare_variants(Assembler::Clang, &few);
}

/// Whatever the axes say, lowering answers with code or with a reason, and all its code can
/// be encoded.
#[test]
fn contradictory_variants_are_refused_and_nothing_panics() {
    let (mut encoder, mut function) = (Encoder::new(), Function::default());
    let (mut made, mut refused) = (0, 0);
    for v in sample::every_corner() {
        match ir::lower(&v, &mut function) {
            Ok(()) => {
                made += 1;
                encoder.encode(&function).unwrap_or_else(|e| panic!("{v}: {e}"));
            }
            Err(_) => refused += 1,
        }
    }
    assert!(made > 1_000 && refused > 1_000, "{made} made, {refused} refused");
}

/// A jump that grew over padding which shrank for it: its near form would be short if an
/// assembler chose, so the text must force it.
#[test]
fn a_near_jump_that_would_reach_is_forced() {
    let (far, top) = (Label(1), Label(2));
    let ret = Item::Insn(Insn::Ret);
    let mut items = vec![Item::Insn(Insn::Jcc { cond: Cond::E, to: far })];
    items.extend([ret].repeat(20));
    items.extend([Item::LoopTop { modulus: 64, skew: 0 }, Item::Label(top)]);
    items.push(Item::Insn(Insn::Jmp { to: top }));
    // 20, 42 of padding, then these: 130 bytes in the short form, 126 in the near one.
    items.extend([ret].repeat(66));
    items.push(Item::Label(far));
    let code = Encoder::new().encode(&Function { items, ..Function::default() }).expect("encodes");
    assert_eq!(code.placed[0].len, 6);
    let lines = gas_body(&code, ".L");
    assert!(lines.iter().any(|line| line.to_string().contains(".long")));
    for assembler in [Assembler::Gas, Assembler::Clang] {
        let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
        if let Outcome::Bytes(theirs) = assembler.run(&format!(".text\n{}\n", lines.join("\n"))) {
            assert_eq!(theirs, code.bytes, "{assembler:?}");
        }
    }
}
