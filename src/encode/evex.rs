//! EVEX instructions, which dynasm has not: encoded by iced-x86.

use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register};

use super::one::One;
use crate::ir::{Gp, Mem, Vec as VecRegister, VecMove};

/// What is done with the vector register.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Load(Mem, VecMove),
    Store(Mem, VecMove),
    Zero,
}

pub(super) struct Evex {
    encoder: Encoder,
}

impl Evex {
    pub(super) fn new() -> Evex {
        Evex { encoder: Encoder::new(64) }
    }

    /// The bytes. The error says what is wrong with the operands.
    pub(super) fn encode(
        &mut self,
        register: VecRegister,
        shape: Shape,
    ) -> Result<One, &'static str> {
        let instruction = instruction(register, shape)?;
        self.encoder.encode(&instruction, 0).map_err(|_| "these operands have no EVEX form")?;
        let mut new = One::default();
        new.extend(self.encoder.take_buffer());
        Ok(new)
    }
}

fn instruction(register: VecRegister, shape: Shape) -> Result<Instruction, &'static str> {
    if register.number > 31 {
        return Err("EVEX has vector registers 0 to 31");
    }
    let number = u32::from(register.number);
    let (first, row) = match register.bytes {
        16 => (Register::XMM0, 0),
        32 => (Register::YMM0, 1),
        64 => (Register::ZMM0, 2),
        _ => return Err("a vector register has 16, 32 or 64 bytes"),
    };
    let vector = first + number;
    let made = match shape {
        Shape::Zero => {
            const ZERO: [Code; 3] = [
                Code::EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32,
                Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
            ];
            Instruction::with3(ZERO[row], vector, vector, vector)
        }
        Shape::Load(mem, kind) => {
            let code = match kind {
                VecMove::Unaligned => [
                    Code::EVEX_Vmovdqu64_xmm_k1z_xmmm128,
                    Code::EVEX_Vmovdqu64_ymm_k1z_ymmm256,
                    Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512,
                ],
                VecMove::Aligned => [
                    Code::EVEX_Vmovdqa64_xmm_k1z_xmmm128,
                    Code::EVEX_Vmovdqa64_ymm_k1z_ymmm256,
                    Code::EVEX_Vmovdqa64_zmm_k1z_zmmm512,
                ],
                VecMove::NonTemporal => return Err("non-temporal moves are stores"),
            };
            Instruction::with2(code[row], vector, operand(mem))
        }
        Shape::Store(mem, kind) => {
            let code = match kind {
                VecMove::Unaligned => [
                    Code::EVEX_Vmovdqu64_xmmm128_k1z_xmm,
                    Code::EVEX_Vmovdqu64_ymmm256_k1z_ymm,
                    Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm,
                ],
                VecMove::Aligned => [
                    Code::EVEX_Vmovdqa64_xmmm128_k1z_xmm,
                    Code::EVEX_Vmovdqa64_ymmm256_k1z_ymm,
                    Code::EVEX_Vmovdqa64_zmmm512_k1z_zmm,
                ],
                VecMove::NonTemporal => [
                    Code::EVEX_Vmovntdq_m128_xmm,
                    Code::EVEX_Vmovntdq_m256_ymm,
                    Code::EVEX_Vmovntdq_m512_zmm,
                ],
            };
            Instruction::with2(code[row], operand(mem), vector)
        }
    };
    made.map_err(|_| "these operands have no EVEX form")
}

fn operand(mem: Mem) -> MemoryOperand {
    let index = mem.index.map_or(Register::None, general);
    // Size 1 asks for the shortest form that holds the displacement, scaled if it can be.
    let size = u32::from(mem.disp != 0);
    MemoryOperand::new(general(mem.base), index, 1, mem.disp.into(), size, false, Register::None)
}

fn general(register: Gp) -> Register {
    Register::RAX + register as u32
}
