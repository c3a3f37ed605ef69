//! One instruction as bytes. dynasm writes what it has; memory operands come in the few
//! forms that lowering uses, with the base and index fixed at compile time, so that the
//! bytes are those a person's assembler would make: a base known only at run time costs
//! prefixes that nobody would write.

#![allow(
    clippy::useless_conversion,
    reason = "what dynasm expands to converts every register number"
)]

use dynasmrt::{DynasmApi, dynasm};

use super::branch::nop_bytes;
use super::one::One;
use super::rare::{Rare, is_rare};
use crate::ir::{Gp, Insn, Mem, RepOp, Vec as VecRegister, VecEncoding, VecMove, Width};
use crate::subject::Hint;

/// A displacement in its shortest form.
enum Disp {
    None,
    Byte(i8),
    Long(i32),
}

fn shortest(disp: i32) -> Disp {
    match i8::try_from(disp) {
        Ok(0) => Disp::None,
        Ok(byte) => Disp::Byte(byte),
        Err(_) => Disp::Long(disp),
    }
}

const NO_ADDRESS: &str = "memory operands are rdi or rsi, plus rdx or (with rdi) rsi";

/// Assembles an instruction around a memory operand, of whichever form the value has.
macro_rules! around {
    ($ops:ident, $mem:expr, [$($before:tt)*] [$($after:tt)*]) => {{
        let mem: Mem = $mem;
        match (mem.base, mem.index) {
            (Gp::Rdi, None) => around!(@disp $ops, mem, [$($before)*] [rdi] [$($after)*]),
            (Gp::Rsi, None) => around!(@disp $ops, mem, [$($before)*] [rsi] [$($after)*]),
            (Gp::Rdi, Some(Gp::Rdx)) => {
                around!(@disp $ops, mem, [$($before)*] [rdi + rdx] [$($after)*])
            }
            (Gp::Rsi, Some(Gp::Rdx)) => {
                around!(@disp $ops, mem, [$($before)*] [rsi + rdx] [$($after)*])
            }
            (Gp::Rdi, Some(Gp::Rsi)) => {
                around!(@disp $ops, mem, [$($before)*] [rdi + rsi] [$($after)*])
            }
            _ => return Err(NO_ADDRESS),
        }
    }};
    (@disp $ops:ident, $mem:ident, [$($before:tt)*] [$($at:tt)*] [$($after:tt)*]) => {
        match shortest($mem.disp) {
            Disp::None => dynasm!($ops ; .arch x64 ; $($before)* [$($at)*] $($after)*),
            Disp::Byte(d) => {
                dynasm!($ops ; .arch x64 ; $($before)* [BYTE $($at)* + d] $($after)*)
            }
            Disp::Long(d) => dynasm!($ops ; .arch x64 ; $($before)* [$($at)* + d] $($after)*),
        }
    };
}

/// Assembles 64-bit arithmetic with an immediate in its shortest form; the accumulator has a
/// form of its own for the long one.
macro_rules! arithmetic {
    ($ops:ident, $name:ident, $register:expr, $imm:expr) => {{
        let register = $register as u8;
        match (i8::try_from($imm), register) {
            (Ok(imm), _) => dynasm!($ops ; .arch x64 ; $name Rq(register), BYTE imm),
            (Err(_), 0) => dynasm!($ops ; .arch x64 ; $name rax, $imm),
            (Err(_), _) => dynasm!($ops ; .arch x64 ; $name Rq(register), DWORD $imm),
        }
    }};
}

/// The bytes of anything but a jump. The error says what is wrong with the operands.
pub(super) fn encode_one(rare: &mut Rare, insn: &Insn) -> Result<One, &'static str> {
    if is_rare(insn) {
        return rare.encode(insn);
    }
    let mut one = One::default();
    write(&mut one, insn)?;
    Ok(one)
}

fn write(ops: &mut One, insn: &Insn) -> Result<(), &'static str> {
    match *insn {
        Insn::Endbr64 => ops.extend([0xf3, 0x0f, 0x1e, 0xfa]),
        Insn::Ret => dynasm!(ops ; .arch x64 ; ret),
        Insn::Sfence => dynasm!(ops ; .arch x64 ; sfence),
        Insn::Vzeroupper => dynasm!(ops ; .arch x64 ; vzeroupper),
        Insn::Emms => dynasm!(ops ; .arch x64 ; emms),
        Insn::Std => dynasm!(ops ; .arch x64 ; std),
        Insn::Ud2 => dynasm!(ops ; .arch x64 ; ud2),
        Insn::Rep { op, width } => string(ops, op, width),
        Insn::Load { width, dst, mem } => {
            let r = dst as u8;
            match width {
                Width::B1 => around!(ops, mem, [movzx Rd(r), BYTE] []),
                Width::B2 => around!(ops, mem, [movzx Rd(r), WORD] []),
                Width::B4 => around!(ops, mem, [mov Rd(r),] []),
                Width::B8 => around!(ops, mem, [mov Rq(r),] []),
            }
            ops.drop_empty_rex();
        }
        Insn::Store { width, mem, src } => {
            let r = src as u8;
            match width {
                Width::B1 => around!(ops, mem, [mov] [, Rb(r)]),
                Width::B2 => around!(ops, mem, [mov] [, Rw(r)]),
                Width::B4 => around!(ops, mem, [mov] [, Rd(r)]),
                Width::B8 => around!(ops, mem, [mov] [, Rq(r)]),
            }
            if width != Width::B1 || !needs_rex(src) {
                ops.drop_empty_rex();
            }
        }
        Insn::StoreNti { width, mem, src } => {
            let r = src as u8;
            match width {
                Width::B4 => around!(ops, mem, [movnti] [, Rd(r)]),
                Width::B8 => around!(ops, mem, [movnti] [, Rq(r)]),
                _ => return Err("movnti stores 4 or 8 bytes"),
            }
            ops.drop_empty_rex();
        }
        Insn::MmxLoad { dst, mem } => {
            let r = mmx(dst)?;
            around!(ops, mem, [movq Rm(r),] []);
        }
        Insn::MmxStore { mem, src } => {
            let r = mmx(src)?;
            around!(ops, mem, [movq] [, Rm(r)]);
        }
        Insn::MmxStoreNt { mem, src } => {
            let r = mmx(src)?;
            around!(ops, mem, [movntq] [, Rm(r)]);
        }
        Insn::MmxZero { dst } => {
            let r = mmx(dst)?;
            dynasm!(ops ; .arch x64 ; pxor Rm(r), Rm(r));
        }
        Insn::VecLoad { dst, mem, kind } => vec_load(ops, dst, mem, kind)?,
        Insn::VecStore { mem, src, kind } => vec_store(ops, src, mem, kind)?,
        Insn::VecZero { dst } => vec_zero(ops, dst)?,
        Insn::Lea { dst, mem } => {
            let r = dst as u8;
            around!(ops, mem, [lea Rq(r),] []);
        }
        Insn::Prefetch { hint, mem } => match hint {
            Hint::T0 => around!(ops, mem, [prefetcht0] []),
            Hint::T1 => around!(ops, mem, [prefetcht1] []),
            Hint::T2 => around!(ops, mem, [prefetcht2] []),
            Hint::Nta => around!(ops, mem, [prefetchnta] []),
            Hint::W => around!(ops, mem, [prefetchw] []),
            Hint::Nop => return Err("the placebo prefetch is a nop instruction"),
        },
        Insn::Nop { len } => match nop_bytes(len) {
            Some(bytes) => ops.extend(bytes),
            None => return Err("a nop has 1 to 9 bytes"),
        },
        Insn::Jmp { .. } | Insn::Jcc { .. } => return Err("a jump needs its function around it"),
        _ => general(ops, insn)?,
    }
    Ok(())
}

/// Instructions on general registers only.
fn general(ops: &mut One, insn: &Insn) -> Result<(), &'static str> {
    match *insn {
        Insn::Mov { dst, src } => {
            dynasm!(ops ; .arch x64 ; mov Rq(dst as u8), Rq(src as u8))
        }
        Insn::Zero { dst } => {
            dynasm!(ops ; .arch x64 ; xor Rd(dst as u8), Rd(dst as u8));
            ops.drop_empty_rex();
        }
        Insn::Add { dst, src } => {
            dynasm!(ops ; .arch x64 ; add Rq(dst as u8), Rq(src as u8))
        }
        Insn::Sub { dst, src } => {
            dynasm!(ops ; .arch x64 ; sub Rq(dst as u8), Rq(src as u8))
        }
        Insn::Cmp { a, b } => ops.extend(store_form_compare(a, b)),
        Insn::Test { a, b } => dynasm!(ops ; .arch x64 ; test Rq(a as u8), Rq(b as u8)),
        Insn::TestImm { a: Gp::Rax, imm } => {
            dynasm!(ops ; .arch x64 ; test al, BYTE imm as i8)
        }
        Insn::TestImm { a, imm } => {
            dynasm!(ops ; .arch x64 ; test Rb(a as u8), BYTE imm as i8);
            if !needs_rex(a) {
                ops.drop_empty_rex();
            }
        }
        Insn::Neg { dst } => dynasm!(ops ; .arch x64 ; neg Rq(dst as u8)),
        Insn::AddImm { dst, imm } => arithmetic!(ops, add, dst, imm),
        Insn::SubImm { dst, imm } => arithmetic!(ops, sub, dst, imm),
        Insn::AndImm { dst, imm } => arithmetic!(ops, and, dst, imm),
        Insn::CmpImm { a, imm } => match (i8::try_from(imm), a) {
            (Ok(imm), _) => ops.extend(byte_compare(a, imm)),
            (Err(_), Gp::Rax) => dynasm!(ops ; .arch x64 ; cmp rax, imm),
            (Err(_), _) => dynasm!(ops ; .arch x64 ; cmp Rq(a as u8), DWORD imm),
        },
        // dynasm takes the immediate form for 1 too.
        Insn::ShrImm { dst, imm: 1 } => {
            ops.extend([wide(0, dst as u8), 0xd1, registers(5, dst as u8)]);
        }
        Insn::ShrImm { dst, imm: imm @ 2..=63 } => {
            dynasm!(ops ; .arch x64 ; shr Rq(dst as u8), BYTE imm as i8)
        }
        Insn::ShrImm { .. } => return Err("a shift is by 1 to 63"),
        _ => return Err("not an instruction on general registers"),
    }
    Ok(())
}

/// Whether the lowest byte of a register can be named only where there is a REX prefix.
const fn needs_rex(register: Gp) -> bool {
    matches!(register, Gp::Rsp | Gp::Rbp | Gp::Rsi | Gp::Rdi)
}

/// REX.W with the fourth bits of the ModRM byte's fields.
const fn wide(reg: u8, rm: u8) -> u8 {
    0x48 | (reg >> 3) << 2 | rm >> 3
}

const fn registers(reg: u8, rm: u8) -> u8 {
    0xc0 | (reg & 7) << 3 | rm & 7
}

/// `cmp a, b`: dynasm knows only the load form.
const fn store_form_compare(a: Gp, b: Gp) -> [u8; 3] {
    [wide(b as u8, a as u8), 0x39, registers(b as u8, a as u8)]
}

/// `cmp a, imm8`: dynasm takes the 4-byte immediate whatever is asked.
const fn byte_compare(a: Gp, imm: i8) -> [u8; 4] {
    [wide(0, a as u8), 0x83, registers(7, a as u8), imm as u8]
}

fn string(ops: &mut One, op: RepOp, width: Width) {
    match (op, width) {
        (RepOp::Movs, Width::B1) => dynasm!(ops ; .arch x64 ; rep movsb),
        // dynasm puts the two prefixes the other way round than every other assembler.
        (RepOp::Movs, Width::B2) => ops.extend([0x66, 0xf3, 0xa5]),
        (RepOp::Movs, Width::B4) => dynasm!(ops ; .arch x64 ; rep movsd),
        (RepOp::Movs, Width::B8) => dynasm!(ops ; .arch x64 ; rep movsq),
        (RepOp::Stos, Width::B1) => dynasm!(ops ; .arch x64 ; rep stosb),
        (RepOp::Stos, Width::B2) => ops.extend([0x66, 0xf3, 0xab]),
        (RepOp::Stos, Width::B4) => dynasm!(ops ; .arch x64 ; rep stosd),
        (RepOp::Stos, Width::B8) => dynasm!(ops ; .arch x64 ; rep stosq),
    }
}

fn mmx(number: u8) -> Result<u8, &'static str> {
    if number < 8 { Ok(number) } else { Err("there are MMX registers 0 to 7") }
}

/// Refuses what SSE and VEX do not have: dynasm would take the low bits of the number.
fn vector(register: VecRegister) -> Result<u8, &'static str> {
    match (register.encoding, register.bytes, register.number) {
        (VecEncoding::Sse, 16, 0..=15) | (VecEncoding::Vex, 16 | 32, 0..=15) => Ok(register.number),
        (VecEncoding::Sse, ..) => Err("SSE has 16-byte registers 0 to 15"),
        _ => Err("VEX has 16- and 32-byte registers 0 to 15"),
    }
}

fn vec_load(ops: &mut One, dst: VecRegister, mem: Mem, kind: VecMove) -> Result<(), &'static str> {
    let r = vector(dst)?;
    match (dst.encoding, dst.bytes, kind) {
        (_, _, VecMove::NonTemporal) => return Err("non-temporal moves are stores"),
        (VecEncoding::Sse, _, VecMove::Unaligned) => {
            around!(ops, mem, [movups Rx(r),] []);
            ops.drop_empty_rex();
        }
        (VecEncoding::Sse, _, VecMove::Aligned) => {
            around!(ops, mem, [movaps Rx(r),] []);
            ops.drop_empty_rex();
        }
        (_, 16, VecMove::Unaligned) => around!(ops, mem, [vmovdqu Rx(r),] []),
        (_, 16, VecMove::Aligned) => around!(ops, mem, [vmovdqa Rx(r),] []),
        (_, _, VecMove::Unaligned) => around!(ops, mem, [vmovdqu Ry(r),] []),
        (_, _, VecMove::Aligned) => around!(ops, mem, [vmovdqa Ry(r),] []),
    }
    Ok(())
}

fn vec_store(ops: &mut One, src: VecRegister, mem: Mem, kind: VecMove) -> Result<(), &'static str> {
    let r = vector(src)?;
    if src.encoding == VecEncoding::Sse {
        match kind {
            VecMove::Unaligned => around!(ops, mem, [movups] [, Rx(r)]),
            VecMove::Aligned => around!(ops, mem, [movaps] [, Rx(r)]),
            VecMove::NonTemporal => around!(ops, mem, [movntps] [, Rx(r)]),
        }
        ops.drop_empty_rex();
        return Ok(());
    }
    match (src.bytes, kind) {
        (16, VecMove::Unaligned) => around!(ops, mem, [vmovdqu] [, Rx(r)]),
        (16, VecMove::Aligned) => around!(ops, mem, [vmovdqa] [, Rx(r)]),
        (16, VecMove::NonTemporal) => around!(ops, mem, [vmovntdq] [, Rx(r)]),
        (_, VecMove::Unaligned) => around!(ops, mem, [vmovdqu] [, Ry(r)]),
        (_, VecMove::Aligned) => around!(ops, mem, [vmovdqa] [, Ry(r)]),
        (_, VecMove::NonTemporal) => around!(ops, mem, [vmovntdq] [, Ry(r)]),
    }
    Ok(())
}

fn vec_zero(ops: &mut One, dst: VecRegister) -> Result<(), &'static str> {
    let r = vector(dst)?;
    match (dst.encoding, dst.bytes) {
        (VecEncoding::Sse, _) => {
            dynasm!(ops ; .arch x64 ; xorps Rx(r), Rx(r));
            ops.drop_empty_rex();
        }
        (_, 16) => dynasm!(ops ; .arch x64 ; vpxor Rx(r), Rx(r), Rx(r)),
        _ => dynasm!(ops ; .arch x64 ; vpxor Ry(r), Ry(r), Ry(r)),
    }
    ops.shorten_vex();
    Ok(())
}
