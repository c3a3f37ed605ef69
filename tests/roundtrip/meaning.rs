//! What an instruction means, once as iced reads its bytes and once as its fields say.

use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind};
use looptune::encode::Code;
use looptune::ir::{
    Cond, Gp, Insn, Item, Mem, RepOp, Vec as VecRegister, VecEncoding, VecMove, Width, X87,
};
use looptune::subject::{Hint, Variant};

/// Mnemonic and operands in Intel order, with the encoding of vectors.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Meaning {
    mnemonic: String,
    encoding: &'static str,
    operands: Vec<String>,
}

/// What iced reads; the bytes must be one instruction and nothing more.
pub(crate) fn decoded(bytes: &[u8]) -> Meaning {
    let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
    assert!(!instruction.is_invalid(), "{bytes:02x?} is no instruction");
    assert_eq!(instruction.len(), bytes.len(), "{bytes:02x?} has bytes to spare");
    let rep = if instruction.has_rep_prefix() { "rep " } else { "" };
    let mnemonic = format!("{rep}{:?}", instruction.mnemonic()).to_lowercase();
    let string = instruction.is_string_instruction();
    let operands = match mnemonic.as_str() {
        "nop" => vec![format!("{} bytes", instruction.len())],
        _ if string => vec![],
        _ => (0..instruction.op_count()).map(|i| operand(&instruction, i)).collect(),
    };
    let encoding = match format!("{:?}", instruction.encoding()).as_str() {
        "VEX" => "vex",
        "EVEX" => "evex",
        _ => "legacy",
    };
    Meaning { mnemonic, encoding, operands }
}

fn operand(i: &Instruction, n: u32) -> String {
    match i.op_kind(n) {
        OpKind::Register => format!("{:?}{}", i.op_register(n), mask(i, n)).to_lowercase(),
        OpKind::Memory => {
            let index = match i.memory_index() {
                iced_x86::Register::None => String::new(),
                r => format!("+{r:?}*{}", i.memory_index_scale()),
            };
            let disp = i.memory_displacement64() as i64;
            format!("[{:?}{index}{disp:+}]{}", i.memory_base(), mask(i, n)).to_lowercase()
        }
        OpKind::NearBranch64 => format!("{}", i.near_branch64()),
        OpKind::Immediate8 => format!("{}", i.immediate8()),
        _ => format!("{}", i.immediate(n) as i64),
    }
}

/// The mask of an instruction, at its first operand.
fn mask(i: &Instruction, n: u32) -> String {
    if n > 0 || !i.has_op_mask() {
        return String::new();
    }
    let zeroing = if i.zeroing_masking() { "{z}" } else { "" };
    format!("{{{:?}}}{zeroing}", i.op_mask())
}

fn gp(register: Gp, width: Width) -> String {
    let name = format!("{register:?}").to_lowercase();
    let numbered = name.as_bytes()[1].is_ascii_digit();
    let old = &name[1..];
    match (width, numbered) {
        (Width::B8, _) => name,
        (Width::B4, true) => format!("{name}d"),
        (Width::B2, true) => format!("{name}w"),
        (Width::B1, true) => format!("{name}l"),
        (Width::B4, false) => format!("e{old}"),
        (Width::B2, false) => old.to_string(),
        // al, cl, … but sil and dil
        (Width::B1, false) if old.ends_with('x') => format!("{}l", &old[..1]),
        (Width::B1, false) => format!("{old}l"),
    }
}

fn memory(mem: Mem) -> String {
    let index = mem.index.map_or(String::new(), |i| format!("+{i:?}*1"));
    format!("[{:?}{index}{:+}]", mem.base, mem.disp).to_lowercase()
}

fn vector(r: VecRegister) -> String {
    let letter = ["x", "y", "z"][usize::from(r.bytes).ilog2() as usize - 4];
    format!("{letter}mm{}", r.number)
}

fn encoding(r: VecRegister) -> &'static str {
    match r.encoding {
        VecEncoding::Sse => "legacy",
        VecEncoding::Vex => "vex",
        VecEncoding::Evex => "evex",
    }
}

fn vec_move(r: VecRegister, kind: VecMove) -> &'static str {
    let row = match r.encoding {
        VecEncoding::Sse => ["movups", "movaps", "movntps"],
        VecEncoding::Vex => ["vmovdqu", "vmovdqa", "vmovntdq"],
        VecEncoding::Evex => ["vmovdqu64", "vmovdqa64", "vmovntdq"],
    };
    match kind {
        VecMove::Unaligned => row[0],
        VecMove::Aligned => row[1],
        VecMove::NonTemporal => row[2],
    }
}

/// What the fields say.
pub(crate) fn meant(insn: &Insn) -> Meaning {
    let (mut encoded, two) =
        ("legacy", |name: &str, a: String, b: String| (name.into(), vec![a, b]));
    let wide = |r| gp(r, Width::B8);
    let (mnemonic, operands): (String, Vec<String>) = match *insn {
        Insn::Endbr64 => ("endbr64".into(), vec![]),
        Insn::Ret => ("ret".into(), vec![]),
        Insn::Sfence => ("sfence".into(), vec![]),
        Insn::Vzeroupper => {
            encoded = "vex";
            ("vzeroupper".into(), vec![])
        }
        Insn::Emms => ("emms".into(), vec![]),
        Insn::Std => ("std".into(), vec![]),
        Insn::Ud2 => ("ud2".into(), vec![]),
        Insn::Rep { op, width } => {
            let name = if op == RepOp::Movs { "movs" } else { "stos" };
            let letter = ["b", "w", "d", "q"][width as usize];
            (format!("rep {name}{letter}"), vec![])
        }
        Insn::Load { width: Width::B1, dst, mem } | Insn::Load { width: Width::B2, dst, mem } => {
            two("movzx", gp(dst, Width::B4), memory(mem))
        }
        Insn::Load { width, dst, mem } => two("mov", gp(dst, width), memory(mem)),
        Insn::Store { width, mem, src } => two("mov", memory(mem), gp(src, width)),
        Insn::StoreNti { width, mem, src } => two("movnti", memory(mem), gp(src, width)),
        Insn::MmxLoad { dst, mem } => two("movq", format!("mm{dst}"), memory(mem)),
        Insn::MmxStore { mem, src } => two("movq", memory(mem), format!("mm{src}")),
        Insn::MmxStoreNt { mem, src } => two("movntq", memory(mem), format!("mm{src}")),
        Insn::MmxZero { dst } => two("pxor", format!("mm{dst}"), format!("mm{dst}")),
        Insn::VecLoad { dst, mem, kind } => {
            encoded = encoding(dst);
            two(vec_move(dst, kind), vector(dst), memory(mem))
        }
        Insn::VecStore { mem, src, kind } => {
            encoded = encoding(src);
            two(vec_move(src, kind), memory(mem), vector(src))
        }
        Insn::VecZero { dst } => {
            encoded = encoding(dst);
            let r = vector(dst);
            match dst.encoding {
                VecEncoding::Sse => two("xorps", r.clone(), r),
                VecEncoding::Vex => ("vpxor".into(), vec![r.clone(), r.clone(), r]),
                VecEncoding::Evex => ("vpxord".into(), vec![r.clone(), r.clone(), r]),
            }
        }
        Insn::VecOnes { dst } => {
            encoded = encoding(dst);
            let r = vector(dst);
            match dst.encoding {
                VecEncoding::Sse => two("pcmpeqd", r.clone(), r),
                VecEncoding::Vex => ("vpcmpeqd".into(), vec![r.clone(), r.clone(), r]),
                VecEncoding::Evex => {
                    let three = [r.clone(), r.clone(), r];
                    ("vpternlogd".into(), three.into_iter().chain(["255".into()]).collect())
                }
            }
        }
        Insn::X87Load { kind: X87::Real, mem } => ("fld".into(), vec![memory(mem)]),
        Insn::X87Load { kind: X87::Integer, mem } => ("fild".into(), vec![memory(mem)]),
        Insn::X87Store { kind: X87::Real, mem } => ("fstp".into(), vec![memory(mem)]),
        Insn::X87Store { kind: X87::Integer, mem } => ("fistp".into(), vec![memory(mem)]),
        Insn::X87Keep { mem } => ("fst".into(), vec![memory(mem)]),
        Insn::X87Zero => ("fldz".into(), vec![]),
        Insn::X87Pop => ("fstp".into(), vec!["st0".into()]),
        Insn::TileConfig { .. }
        | Insn::TileRelease
        | Insn::TileZero { .. }
        | Insn::TileLoad { .. }
        | Insn::TileStore { .. } => {
            encoded = "vex";
            tile(insn)
        }
        Insn::LineMove { to, mem } => two("movdir64b", wide(to), memory(mem)),
        Insn::LineZero => ("clzero".into(), vec![]),
        Insn::MaskFrom { mask, src } => {
            encoded = "vex";
            two("kmovq", format!("k{mask}"), wide(src))
        }
        Insn::MaskLoad { dst, mem, mask } => {
            encoded = "evex";
            two("vmovdqu8", format!("{}{{k{mask}}}{{z}}", vector(dst)), memory(mem))
        }
        Insn::MaskStore { mem, src, mask } => {
            encoded = "evex";
            two("vmovdqu8", format!("{}{{k{mask}}}", memory(mem)), vector(src))
        }
        Insn::Bzhi { dst, src, index } => {
            encoded = "vex";
            ("bzhi".into(), vec![wide(dst), wide(src), wide(index)])
        }
        Insn::Push { src } => ("push".into(), vec![wide(src)]),
        Insn::Leave => ("leave".into(), vec![]),
        Insn::MovImm { dst, imm } => two("mov", gp(dst, Width::B4), imm.to_string()),
        Insn::Ones { dst } => two("or", wide(dst), "-1".into()),
        Insn::Mov { dst, src } => two("mov", wide(dst), wide(src)),
        Insn::Zero { dst } => two("xor", gp(dst, Width::B4), gp(dst, Width::B4)),
        Insn::Lea { dst, mem } => two("lea", wide(dst), memory(mem)),
        Insn::Add { dst, src } => two("add", wide(dst), wide(src)),
        Insn::Sub { dst, src } => two("sub", wide(dst), wide(src)),
        Insn::Cmp { a, b } => two("cmp", wide(a), wide(b)),
        Insn::Test { a, b } => two("test", wide(a), wide(b)),
        Insn::TestImm { a, imm } => two("test", gp(a, Width::B1), imm.to_string()),
        Insn::Neg { dst } => ("neg".into(), vec![wide(dst)]),
        Insn::AddImm { dst, imm } => two("add", wide(dst), imm.to_string()),
        Insn::SubImm { dst, imm } => two("sub", wide(dst), imm.to_string()),
        Insn::AndImm { dst, imm } => two("and", wide(dst), imm.to_string()),
        Insn::CmpImm { a, imm } => two("cmp", wide(a), imm.to_string()),
        Insn::ShrImm { dst, imm } => two("shr", wide(dst), imm.to_string()),
        Insn::Prefetch { hint, mem } => {
            let name = match hint {
                Hint::T0 => "prefetcht0",
                Hint::T1 => "prefetcht1",
                Hint::T2 => "prefetcht2",
                Hint::Nta => "prefetchnta",
                Hint::W => "prefetchw",
                Hint::Nop => "nop",
            };
            (name.into(), vec![memory(mem)])
        }
        Insn::Nop { len } => ("nop".into(), vec![format!("{len} bytes")]),
        Insn::Jmp { .. } => ("jmp".into(), vec![]),
        Insn::Jcc { cond, .. } => (jump(cond).into(), vec![]),
    };
    Meaning { mnemonic, encoding: encoded, operands }
}

fn tile(insn: &Insn) -> (String, Vec<String>) {
    match *insn {
        Insn::TileConfig { mem } => ("ldtilecfg".into(), vec![memory(mem)]),
        Insn::TileZero { tile } => ("tilezero".into(), vec![format!("tmm{tile}")]),
        Insn::TileLoad { tile, mem } => {
            ("tileloadd".into(), vec![format!("tmm{tile}"), memory(mem)])
        }
        Insn::TileStore { mem, tile } => {
            ("tilestored".into(), vec![memory(mem), format!("tmm{tile}")])
        }
        _ => ("tilerelease".into(), vec![]),
    }
}

fn jump(cond: Cond) -> &'static str {
    match cond {
        Cond::B => "jb",
        Cond::Be => "jbe",
        Cond::A => "ja",
        Cond::Ae => "jae",
        Cond::E => "je",
        Cond::Ne => "jne",
        Cond::S => "js",
        Cond::Ns => "jns",
        Cond::Le => "jle",
        Cond::G => "jg",
    }
}

/// Every instruction of a function where the code says it is, jumps to their labels.
pub(crate) fn decodes_whole(code: &Code, v: &Variant) {
    let mut end = 0;
    for placed in &code.placed {
        assert_eq!(placed.offset as usize, end, "{v}: {placed:?} leaves a gap");
        let Item::Insn(insn) = placed.item else { continue };
        end += usize::from(placed.len);
        let bytes = &code.bytes[placed.offset as usize..end];
        let mut read = decoded(bytes);
        if let Insn::Jmp { to } | Insn::Jcc { to, .. } = insn {
            let target = code.placed.iter().find(|p| p.item == Item::Label(to));
            let target = target.expect("the label of a jump").offset;
            let mut decoder = Decoder::with_ip(64, bytes, placed.offset.into(), 0);
            assert_eq!(decoder.decode().near_branch64(), u64::from(target), "{v}: {insn:?}");
            read.operands.clear();
        }
        assert_eq!(read, meant(&insn), "{v}: {bytes:02x?} at {}", placed.offset);
    }
    assert_eq!(end, code.bytes.len(), "{v}: bytes after the last instruction");
}
