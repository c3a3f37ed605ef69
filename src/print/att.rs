//! AT&T text for GNU as and clang. Every choice of encoding that the assembler would make is
//! either the one it makes by itself or forced by a prefix or by bytes.

use std::fmt::Write as _;

use super::register::{general, vector};
use crate::encode::nop_bytes;
use crate::ir::{Cond, Gp, Insn, Mem, RepOp, Vec, VecEncoding, VecMove, Width, X87};
use crate::subject::Hint;

/// An instruction as one line for the assembler. Labels are named `prefix` and then their
/// name. Nops are written as bytes, because assemblers differ on the mnemonics of long ones
/// ([`nop_mnemonic`] has them for readers).
pub fn att(insn: &Insn, prefix: &str) -> String {
    match *insn {
        Insn::Endbr64 => "endbr64".into(),
        Insn::Ret => "ret".into(),
        Insn::Sfence => "sfence".into(),
        Insn::Vzeroupper => "vzeroupper".into(),
        Insn::Emms => "emms".into(),
        Insn::Std => "std".into(),
        Insn::Ud2 => "ud2".into(),
        Insn::Rep { op, width } => {
            let name = match op {
                RepOp::Movs => "movs",
                RepOp::Stos => "stos",
            };
            format!("rep {name}{}", suffix(width))
        }
        Insn::Load { width, dst, mem } => match width {
            Width::B1 => two("movzbl", memory(mem), gp(dst, Width::B4)),
            Width::B2 => two("movzwl", memory(mem), gp(dst, Width::B4)),
            Width::B4 => two("movl", memory(mem), gp(dst, width)),
            Width::B8 => two("movq", memory(mem), gp(dst, width)),
        },
        Insn::Store { width, mem, src } => {
            two(&format!("mov{}", suffix(width)), gp(src, width), memory(mem))
        }
        Insn::StoreNti { width, mem, src } => two("movnti", gp(src, width), memory(mem)),
        Insn::MmxLoad { dst, mem } => two("movq", memory(mem), format!("%mm{dst}")),
        Insn::MmxStore { mem, src } => two("movq", format!("%mm{src}"), memory(mem)),
        Insn::MmxStoreNt { mem, src } => two("movntq", format!("%mm{src}"), memory(mem)),
        Insn::MmxZero { dst } => two("pxor", format!("%mm{dst}"), format!("%mm{dst}")),
        Insn::X87Load { kind: X87::Real, mem } => format!("fldl {}", memory(mem)),
        Insn::X87Load { kind: X87::Integer, mem } => format!("fildq {}", memory(mem)),
        Insn::X87Store { kind: X87::Real, mem } => format!("fstpl {}", memory(mem)),
        Insn::X87Store { kind: X87::Integer, mem } => format!("fistpq {}", memory(mem)),
        Insn::X87Keep { mem } => format!("fstl {}", memory(mem)),
        Insn::X87Zero => "fldz".into(),
        Insn::X87Pop => "fstp %st(0)".into(),
        Insn::TileConfig { mem } => format!("ldtilecfg {}", memory(mem)),
        Insn::TileRelease => "tilerelease".into(),
        Insn::TileZero { tile } => format!("tilezero %tmm{tile}"),
        Insn::TileLoad { tile, mem } => two("tileloadd", memory(mem), format!("%tmm{tile}")),
        Insn::TileStore { mem, tile } => two("tilestored", format!("%tmm{tile}"), memory(mem)),
        Insn::LineMove { to, mem } => two("movdir64b", memory(mem), gp(to, Width::B8)),
        Insn::LineZero => "clzero".into(),
        Insn::VecOnes { dst } => {
            let r = vec(dst);
            match dst.encoding {
                VecEncoding::Sse => two("pcmpeqd", r.clone(), r),
                VecEncoding::Vex => format!("vpcmpeqd {r}, {r}, {r}"),
                VecEncoding::Evex => format!("vpternlogd $255, {r}, {r}, {r}"),
            }
        }
        Insn::MaskFrom { mask, src } => two("kmovq", gp(src, Width::B8), format!("%k{mask}")),
        Insn::MaskLoad { dst, mem, mask } => {
            two("vmovdqu8", memory(mem), format!("{}{{%k{mask}}}{{z}}", vec(dst)))
        }
        Insn::MaskStore { mem, src, mask } => {
            two("vmovdqu8", vec(src), format!("{}{{%k{mask}}}", memory(mem)))
        }
        Insn::Bzhi { dst, src, index } => {
            let [index, src, dst] = [index, src, dst].map(|r| gp(r, Width::B8));
            format!("bzhi {index}, {src}, {dst}")
        }
        Insn::Push { src } => format!("pushq {}", gp(src, Width::B8)),
        Insn::Leave => "leave".into(),
        Insn::MovImm { dst, imm } => two("movl", format!("${imm}"), gp(dst, Width::B4)),
        Insn::Ones { dst } => immediate("orq", -1, dst),
        Insn::VecLoad { dst, mem, kind } => two(vec_move(dst, kind), memory(mem), vec(dst)),
        Insn::VecStore { mem, src, kind } => two(vec_move(src, kind), vec(src), memory(mem)),
        Insn::VecZero { dst } => {
            let r = vec(dst);
            match dst.encoding {
                VecEncoding::Sse => two("xorps", r.clone(), r),
                VecEncoding::Vex => format!("vpxor {r}, {r}, {r}"),
                VecEncoding::Evex => format!("vpxord {r}, {r}, {r}"),
            }
        }
        Insn::Mov { dst, src } => registers("movq", src, dst),
        Insn::Zero { dst } => two("xorl", gp(dst, Width::B4), gp(dst, Width::B4)),
        Insn::Lea { dst, mem } => two("leaq", memory(mem), gp(dst, Width::B8)),
        Insn::Add { dst, src } => registers("addq", src, dst),
        Insn::Sub { dst, src } => registers("subq", src, dst),
        Insn::Cmp { a, b } => registers("cmpq", b, a),
        Insn::Test { a, b } => registers("testq", b, a),
        Insn::TestImm { a, imm } => two("testb", format!("${imm}"), gp(a, Width::B1)),
        Insn::Neg { dst } => format!("negq {}", gp(dst, Width::B8)),
        Insn::AddImm { dst, imm } => immediate("addq", imm, dst),
        Insn::SubImm { dst, imm } => immediate("subq", imm, dst),
        Insn::AndImm { dst, imm } => immediate("andq", imm, dst),
        Insn::CmpImm { a, imm } => immediate("cmpq", imm, a),
        Insn::ShrImm { dst, imm } => immediate("shrq", imm.into(), dst),
        Insn::Prefetch { hint, mem } => {
            let name = match hint {
                Hint::T0 => "prefetcht0",
                Hint::T1 => "prefetcht1",
                Hint::T2 => "prefetcht2",
                Hint::Nta => "prefetchnta",
                Hint::W => "prefetchw",
                Hint::Nop => "nop",
            };
            format!("{name} {}", memory(mem))
        }
        Insn::Nop { len } => bytes(nop_bytes(len).unwrap_or_default()),
        Insn::Jmp { to } => format!("jmp {prefix}{}", to.name()),
        Insn::Jcc { cond, to } => format!("j{} {prefix}{}", condition(cond), to.name()),
    }
}

/// What a nop of a length is called; empty unless 1 ≤ `len` ≤ 9. Where two lengths share a
/// name, the longer has a 4-byte displacement.
pub const fn nop_mnemonic(len: u8) -> &'static str {
    match len {
        1 => "nop",
        2 => "xchg %ax, %ax",
        3 => "nopl (%rax)",
        4 | 7 => "nopl 0(%rax)",
        5 | 8 => "nopl 0(%rax,%rax)",
        6 | 9 => "nopw 0(%rax,%rax)",
        _ => "",
    }
}

/// A `.byte` line.
pub(super) fn bytes(bytes: &[u8]) -> String {
    let mut text = String::from(".byte ");
    for (i, byte) in bytes.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(text, "{comma}{byte:#04x}");
    }
    text
}

fn two(name: &str, from: String, to: String) -> String {
    format!("{name} {from}, {to}")
}

fn registers(name: &str, from: Gp, to: Gp) -> String {
    two(name, gp(from, Width::B8), gp(to, Width::B8))
}

fn immediate(name: &str, imm: i32, to: Gp) -> String {
    two(name, format!("${imm}"), gp(to, Width::B8))
}

fn gp(register: Gp, width: Width) -> String {
    format!("%{}", general(register, width))
}

fn vec(register: Vec) -> String {
    format!("%{}", vector(register))
}

fn memory(mem: Mem) -> String {
    let disp = if mem.disp == 0 { String::new() } else { mem.disp.to_string() };
    let base = gp(mem.base, Width::B8);
    match mem.index {
        None => format!("{disp}({base})"),
        Some(index) => format!("{disp}({base},{})", gp(index, Width::B8)),
    }
}

const fn suffix(width: Width) -> &'static str {
    match width {
        Width::B1 => "b",
        Width::B2 => "w",
        Width::B4 => "l",
        Width::B8 => "q",
    }
}

const fn condition(cond: Cond) -> &'static str {
    match cond {
        Cond::B => "b",
        Cond::Be => "be",
        Cond::A => "a",
        Cond::Ae => "ae",
        Cond::E => "e",
        Cond::Ne => "ne",
        Cond::S => "s",
        Cond::Ns => "ns",
        Cond::Le => "le",
        Cond::G => "g",
    }
}

const fn vec_move(register: Vec, kind: VecMove) -> &'static str {
    match (register.encoding, kind) {
        (VecEncoding::Sse, VecMove::Unaligned) => "movups",
        (VecEncoding::Sse, VecMove::Aligned) => "movaps",
        (VecEncoding::Sse, VecMove::NonTemporal) => "movntps",
        (VecEncoding::Vex, VecMove::Unaligned) => "vmovdqu",
        (VecEncoding::Vex, VecMove::Aligned) => "vmovdqa",
        (VecEncoding::Vex, VecMove::NonTemporal) => "vmovntdq",
        (VecEncoding::Evex, VecMove::Unaligned) => "vmovdqu64",
        (VecEncoding::Evex, VecMove::Aligned) => "vmovdqa64",
        // The one name that both encodings share: low registers would get VEX.
        (VecEncoding::Evex, VecMove::NonTemporal) => {
            if register.number < 16 && register.bytes < 64 { "{evex} vmovntdq" } else { "vmovntdq" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_stand_in_att_order() {
        let mem = Mem::indexed(Gp::Rdi, Gp::Rdx, -32);
        let src = Vec { number: 3, bytes: 32, encoding: VecEncoding::Vex };
        let store = Insn::VecStore { mem, src, kind: VecMove::Unaligned };
        assert_eq!(att(&store, ""), "vmovdqu %ymm3, -32(%rdi,%rdx)");
        assert_eq!(att(&Insn::Cmp { a: Gp::Rdi, b: Gp::Rdx }, ""), "cmpq %rdx, %rdi");
    }
}
