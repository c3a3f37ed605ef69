//! Instructions that dynasm has not (EVEX, masks, tiles, whole lines), and the others around
//! memory operands that are not worth a form of their own: encoded by iced-x86.

use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register};

use super::one::One;
use crate::ir::{Gp, Insn, Mem, Vec as VecRegister, VecEncoding, VecMove, Width, X87};
use crate::subject::Hint;

const NO_FORM: &str = "these operands have no form";

pub(super) struct Rare {
    encoder: Encoder,
}

impl Rare {
    pub(super) fn new() -> Rare {
        Rare { encoder: Encoder::new(64) }
    }

    /// The bytes of an instruction that [`is_rare`]. The error says what is wrong with the
    /// operands.
    pub(super) fn encode(&mut self, insn: &Insn) -> Result<One, &'static str> {
        let instruction = instruction(insn)?;
        self.encoder.encode(&instruction, 0).map_err(|_| NO_FORM)?;
        let mut new = One::default();
        new.extend(self.encoder.take_buffer());
        Ok(new)
    }
}

/// Whether an instruction is encoded here.
pub(super) fn is_rare(insn: &Insn) -> bool {
    let evex = |register: VecRegister| register.encoding == VecEncoding::Evex;
    match *insn {
        Insn::VecLoad { dst, mem, .. } => evex(dst) || is_odd(mem),
        Insn::VecStore { src, mem, .. } => evex(src) || is_odd(mem),
        Insn::VecZero { dst } => evex(dst),
        Insn::Load { mem, .. }
        | Insn::Store { mem, .. }
        | Insn::StoreNti { mem, .. }
        | Insn::MmxLoad { mem, .. }
        | Insn::MmxStore { mem, .. }
        | Insn::MmxStoreNt { mem, .. }
        | Insn::Lea { mem, .. }
        | Insn::Prefetch { mem, .. } => is_odd(mem),
        Insn::X87Load { .. }
        | Insn::X87Store { .. }
        | Insn::X87Keep { .. }
        | Insn::X87Zero
        | Insn::X87Pop
        | Insn::TileConfig { .. }
        | Insn::TileRelease
        | Insn::TileZero { .. }
        | Insn::TileLoad { .. }
        | Insn::TileStore { .. }
        | Insn::LineMove { .. }
        | Insn::LineZero
        | Insn::VecOnes { .. }
        | Insn::MaskFrom { .. }
        | Insn::MaskLoad { .. }
        | Insn::MaskStore { .. }
        | Insn::Bzhi { .. }
        | Insn::Push { .. }
        | Insn::Leave
        | Insn::MovImm { .. }
        | Insn::Ones { .. } => true,
        _ => false,
    }
}

/// Whether a memory operand has none of the usual registers.
fn is_odd(mem: Mem) -> bool {
    !matches!(
        (mem.base, mem.index),
        (Gp::Rdi | Gp::Rsi, None | Some(Gp::Rdx)) | (Gp::Rdi, Some(Gp::Rsi))
    )
}

fn instruction(insn: &Insn) -> Result<Instruction, &'static str> {
    let made = match *insn {
        Insn::Load { width, dst, mem } => {
            let (code, register) = match width {
                Width::B1 => (Code::Movzx_r32_rm8, gp(dst, Width::B4)),
                Width::B2 => (Code::Movzx_r32_rm16, gp(dst, Width::B4)),
                Width::B4 => (Code::Mov_r32_rm32, gp(dst, Width::B4)),
                Width::B8 => (Code::Mov_r64_rm64, gp(dst, Width::B8)),
            };
            Instruction::with2(code, register, operand(mem))
        }
        Insn::Store { width, mem, src } => {
            let code = match width {
                Width::B1 => Code::Mov_rm8_r8,
                Width::B2 => Code::Mov_rm16_r16,
                Width::B4 => Code::Mov_rm32_r32,
                Width::B8 => Code::Mov_rm64_r64,
            };
            Instruction::with2(code, operand(mem), gp(src, width))
        }
        Insn::StoreNti { width, mem, src } => {
            let code = match width {
                Width::B4 => Code::Movnti_m32_r32,
                Width::B8 => Code::Movnti_m64_r64,
                _ => return Err("movnti stores 4 or 8 bytes"),
            };
            Instruction::with2(code, operand(mem), gp(src, width))
        }
        Insn::Lea { dst, mem } => {
            Instruction::with2(Code::Lea_r64_m, gp(dst, Width::B8), operand(mem))
        }
        Insn::Prefetch { hint, mem } => {
            let code = match hint {
                Hint::T0 => Code::Prefetcht0_m8,
                Hint::T1 => Code::Prefetcht1_m8,
                Hint::T2 => Code::Prefetcht2_m8,
                Hint::Nta => Code::Prefetchnta_m8,
                Hint::W => Code::Prefetchw_m8,
                Hint::Nop => return Err("the placebo prefetch is a nop instruction"),
            };
            Instruction::with1(code, operand(mem))
        }
        Insn::MovImm { dst, imm } => {
            Instruction::with2(Code::Mov_r32_imm32, gp(dst, Width::B4), imm)
        }
        Insn::Ones { dst } => Instruction::with2(Code::Or_rm64_imm8, gp(dst, Width::B8), -1i32),
        Insn::Bzhi { dst, src, index } => Instruction::with3(
            Code::VEX_Bzhi_r64_rm64_r64,
            gp(dst, Width::B8),
            gp(src, Width::B8),
            gp(index, Width::B8),
        ),
        Insn::Push { src } => Instruction::with1(Code::Push_r64, gp(src, Width::B8)),
        Insn::Leave => Ok(Instruction::with(Code::Leaveq)),
        Insn::LineMove { to, mem } => {
            Instruction::with2(Code::Movdir64b_r64_m512, gp(to, Width::B8), operand(mem))
        }
        Insn::LineZero => Ok(Instruction::with(Code::Clzeroq)),
        Insn::MmxLoad { dst, mem } => {
            Instruction::with2(Code::Movq_mm_mmm64, numbered(Register::MM0, dst, 8)?, operand(mem))
        }
        Insn::MmxStore { mem, src } => {
            Instruction::with2(Code::Movq_mmm64_mm, operand(mem), numbered(Register::MM0, src, 8)?)
        }
        Insn::MmxStoreNt { mem, src } => {
            Instruction::with2(Code::Movntq_m64_mm, operand(mem), numbered(Register::MM0, src, 8)?)
        }
        Insn::X87Load { .. }
        | Insn::X87Store { .. }
        | Insn::X87Keep { .. }
        | Insn::X87Zero
        | Insn::X87Pop => return x87(insn),
        Insn::TileConfig { .. }
        | Insn::TileRelease
        | Insn::TileZero { .. }
        | Insn::TileLoad { .. }
        | Insn::TileStore { .. } => return tile(insn),
        _ => return vector(insn),
    };
    made.map_err(|_| NO_FORM)
}

fn x87(insn: &Insn) -> Result<Instruction, &'static str> {
    let made = match *insn {
        Insn::X87Load { kind: X87::Real, mem } => Instruction::with1(Code::Fld_m64fp, operand(mem)),
        Insn::X87Load { kind: X87::Integer, mem } => {
            Instruction::with1(Code::Fild_m64int, operand(mem))
        }
        Insn::X87Store { kind: X87::Real, mem } => {
            Instruction::with1(Code::Fstp_m64fp, operand(mem))
        }
        Insn::X87Store { kind: X87::Integer, mem } => {
            Instruction::with1(Code::Fistp_m64int, operand(mem))
        }
        Insn::X87Keep { mem } => Instruction::with1(Code::Fst_m64fp, operand(mem)),
        Insn::X87Zero => Ok(Instruction::with(Code::Fldz)),
        _ => Instruction::with1(Code::Fstp_sti, Register::ST0),
    };
    made.map_err(|_| NO_FORM)
}

fn tile(insn: &Insn) -> Result<Instruction, &'static str> {
    let register = |number| numbered(Register::TMM0, number, 8);
    let made = match *insn {
        Insn::TileConfig { mem } => Instruction::with1(Code::VEX_Ldtilecfg_m512, operand(mem)),
        Insn::TileZero { tile } => Instruction::with1(Code::VEX_Tilezero_tmm, register(tile)?),
        Insn::TileLoad { tile, mem } => {
            Instruction::with2(Code::VEX_Tileloadd_tmm_sibmem, register(tile)?, operand(mem))
        }
        Insn::TileStore { mem, tile } => {
            Instruction::with2(Code::VEX_Tilestored_sibmem_tmm, operand(mem), register(tile)?)
        }
        _ => Ok(Instruction::with(Code::VEX_Tilerelease)),
    };
    made.map_err(|_| NO_FORM)
}

fn vector(insn: &Insn) -> Result<Instruction, &'static str> {
    let made = match *insn {
        Insn::VecZero { dst } => {
            let r = register(dst)?;
            // Only EVEX comes here.
            let code = [
                Code::EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32,
                Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
            ];
            Instruction::with3(code[row(dst)], r, r, r)
        }
        Insn::VecOnes { dst } => {
            let r = register(dst)?;
            match dst.encoding {
                VecEncoding::Sse => Instruction::with2(Code::Pcmpeqd_xmm_xmmm128, r, r),
                VecEncoding::Vex => {
                    let code =
                        [Code::VEX_Vpcmpeqd_xmm_xmm_xmmm128, Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256];
                    Instruction::with3(code[row(dst)], r, r, r)
                }
                VecEncoding::Evex => {
                    let code = [
                        Code::EVEX_Vpternlogd_xmm_k1z_xmm_xmmm128b32_imm8,
                        Code::EVEX_Vpternlogd_ymm_k1z_ymm_ymmm256b32_imm8,
                        Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8,
                    ];
                    Instruction::with4(code[row(dst)], r, r, r, 0xffu32)
                }
            }
        }
        Insn::VecLoad { dst, mem, kind } => {
            Instruction::with2(load(dst, kind)?, register(dst)?, operand(mem))
        }
        Insn::VecStore { mem, src, kind } => {
            Instruction::with2(store(src, kind), operand(mem), register(src)?)
        }
        Insn::MaskFrom { mask, src } => Instruction::with2(
            Code::VEX_Kmovq_kr_r64,
            numbered(Register::K0, mask, 8)?,
            gp(src, Width::B8),
        ),
        Insn::MaskLoad { dst, mem, mask } => {
            let code = [
                Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128,
                Code::EVEX_Vmovdqu8_ymm_k1z_ymmm256,
                Code::EVEX_Vmovdqu8_zmm_k1z_zmmm512,
            ];
            let made = Instruction::with2(code[row(dst)], register(dst)?, operand(mem));
            return masked(made, mask, true);
        }
        Insn::MaskStore { mem, src, mask } => {
            let code = [
                Code::EVEX_Vmovdqu8_xmmm128_k1z_xmm,
                Code::EVEX_Vmovdqu8_ymmm256_k1z_ymm,
                Code::EVEX_Vmovdqu8_zmmm512_k1z_zmm,
            ];
            let made = Instruction::with2(code[row(src)], operand(mem), register(src)?);
            return masked(made, mask, false);
        }
        _ => return Err(NO_FORM),
    };
    made.map_err(|_| NO_FORM)
}

fn masked(
    made: Result<Instruction, iced_x86::IcedError>,
    mask: u8,
    zeroing: bool,
) -> Result<Instruction, &'static str> {
    let mut made = made.map_err(|_| NO_FORM)?;
    made.set_op_mask(numbered(Register::K0, mask, 8)?);
    made.set_zeroing_masking(zeroing);
    Ok(made)
}

fn load(register: VecRegister, kind: VecMove) -> Result<Code, &'static str> {
    let row = row(register);
    Ok(match (register.encoding, kind) {
        (_, VecMove::NonTemporal) => return Err("non-temporal moves are stores"),
        (VecEncoding::Sse, VecMove::Unaligned) => Code::Movups_xmm_xmmm128,
        (VecEncoding::Sse, VecMove::Aligned) => Code::Movaps_xmm_xmmm128,
        (VecEncoding::Vex, VecMove::Unaligned) => {
            [Code::VEX_Vmovdqu_xmm_xmmm128, Code::VEX_Vmovdqu_ymm_ymmm256][row]
        }
        (VecEncoding::Vex, VecMove::Aligned) => {
            [Code::VEX_Vmovdqa_xmm_xmmm128, Code::VEX_Vmovdqa_ymm_ymmm256][row]
        }
        (VecEncoding::Evex, VecMove::Unaligned) => [
            Code::EVEX_Vmovdqu64_xmm_k1z_xmmm128,
            Code::EVEX_Vmovdqu64_ymm_k1z_ymmm256,
            Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512,
        ][row],
        (VecEncoding::Evex, VecMove::Aligned) => [
            Code::EVEX_Vmovdqa64_xmm_k1z_xmmm128,
            Code::EVEX_Vmovdqa64_ymm_k1z_ymmm256,
            Code::EVEX_Vmovdqa64_zmm_k1z_zmmm512,
        ][row],
    })
}

fn store(register: VecRegister, kind: VecMove) -> Code {
    let row = row(register);
    match (register.encoding, kind) {
        (VecEncoding::Sse, VecMove::Unaligned) => Code::Movups_xmmm128_xmm,
        (VecEncoding::Sse, VecMove::Aligned) => Code::Movaps_xmmm128_xmm,
        (VecEncoding::Sse, VecMove::NonTemporal) => Code::Movntps_m128_xmm,
        (VecEncoding::Vex, VecMove::Unaligned) => {
            [Code::VEX_Vmovdqu_xmmm128_xmm, Code::VEX_Vmovdqu_ymmm256_ymm][row]
        }
        (VecEncoding::Vex, VecMove::Aligned) => {
            [Code::VEX_Vmovdqa_xmmm128_xmm, Code::VEX_Vmovdqa_ymmm256_ymm][row]
        }
        (VecEncoding::Vex, VecMove::NonTemporal) => {
            [Code::VEX_Vmovntdq_m128_xmm, Code::VEX_Vmovntdq_m256_ymm][row]
        }
        (VecEncoding::Evex, VecMove::Unaligned) => [
            Code::EVEX_Vmovdqu64_xmmm128_k1z_xmm,
            Code::EVEX_Vmovdqu64_ymmm256_k1z_ymm,
            Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm,
        ][row],
        (VecEncoding::Evex, VecMove::Aligned) => [
            Code::EVEX_Vmovdqa64_xmmm128_k1z_xmm,
            Code::EVEX_Vmovdqa64_ymmm256_k1z_ymm,
            Code::EVEX_Vmovdqa64_zmmm512_k1z_zmm,
        ][row],
        (VecEncoding::Evex, VecMove::NonTemporal) => [
            Code::EVEX_Vmovntdq_m128_xmm,
            Code::EVEX_Vmovntdq_m256_ymm,
            Code::EVEX_Vmovntdq_m512_zmm,
        ][row],
    }
}

/// Where the length stands in the lists of forms.
const fn row(register: VecRegister) -> usize {
    match register.bytes {
        16 => 0,
        32 => 1,
        _ => 2,
    }
}

/// The register, refused where its encoding has none of that number or length.
fn register(register: VecRegister) -> Result<Register, &'static str> {
    let (first, most) = match (register.bytes, register.encoding) {
        (16, VecEncoding::Evex) => (Register::XMM0, 32),
        (32, VecEncoding::Evex) => (Register::YMM0, 32),
        (64, VecEncoding::Evex) => (Register::ZMM0, 32),
        (16, _) => (Register::XMM0, 16),
        (32, VecEncoding::Vex) => (Register::YMM0, 16),
        _ => return Err("a vector register has 16, 32 or 64 bytes, as its encoding allows"),
    };
    numbered(first, register.number, most)
}

fn numbered(first: Register, number: u8, most: u8) -> Result<Register, &'static str> {
    if number < most {
        Ok(first + u32::from(number))
    } else {
        Err("there is no register of that number in this encoding")
    }
}

fn operand(mem: Mem) -> MemoryOperand {
    let index = mem.index.map_or(Register::None, |index| gp(index, Width::B8));
    // Size 1 asks for the shortest form that holds the displacement, scaled if it can be.
    let size = u32::from(mem.disp != 0);
    let base = gp(mem.base, Width::B8);
    MemoryOperand::new(base, index, 1, mem.disp.into(), size, false, Register::None)
}

fn gp(register: Gp, width: Width) -> Register {
    let first = match width {
        Width::B1 => return byte(register),
        Width::B2 => Register::AX,
        Width::B4 => Register::EAX,
        Width::B8 => Register::RAX,
    };
    first + register as u32
}

/// The lowest byte: ah to bh stand between bl and the rest.
fn byte(register: Gp) -> Register {
    match register as u32 {
        number @ 0..=3 => Register::AL + number,
        number => Register::SPL + (number - 4),
    }
}
