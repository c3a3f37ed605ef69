//! The machine code of a watched call.

use std::mem::offset_of;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynasmApi, DynasmLabelApi, VecAssembler, dynasm};
use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register};

use super::JitError;
use super::image::{RegisterImage, SAVED, VECTORS};

/// What the code and its caller share, at an address that the code knows.
#[repr(C, align(64))]
pub(super) struct Frame {
    pub(super) image: RegisterImage,
    pub(super) entry: u64,
    pub(super) arguments: [u64; 3],
}

/// The vector registers that a host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vectors {
    /// xmm only: there are no upper parts to look at.
    Xmm,
    /// ymm0–15.
    Ymm,
    /// zmm0–31.
    Zmm,
}

impl Vectors {
    pub(super) const fn count(self) -> usize {
        match self {
            Vectors::Xmm => 0,
            Vectors::Ymm => 16,
            Vectors::Zmm => VECTORS,
        }
    }
}

/// Offset of a field of the image in the frame.
macro_rules! at {
    ($($field:tt)+) => { (offset_of!(Frame, image) + offset_of!(RegisterImage, $($field)+)) as i32 };
}

/// Writes `extern "sysv64" fn()`: fills registers, calls `frame.entry`, keeps what came back
/// in `frame.image` and leaves the machine as Rust expects it, whatever the callee did.
///
/// The frame's address is part of the code: on return no register can be trusted to hold it.
/// `tiles`: whether the host has tiles and tells which states are in use.
pub(super) fn watched_call(
    frame: usize,
    vectors: Vectors,
    tiles: bool,
) -> Result<Vec<u8>, JitError> {
    let mut ops: VecAssembler<X64Relocation> = VecAssembler::new(0);
    let frame = frame as i64;
    let [for_rbx, for_rbp, for_r12, for_r13, for_r14, for_r15] =
        SAVED.map(|(_, value)| value as i64);
    let saved = at!(saved);
    let arguments = offset_of!(Frame, arguments) as i32;
    dynasm!(ops
        ; .arch x64
        ; push rbx
        ; push rbp
        ; push r12
        ; push r13
        ; push r14
        ; push r15
        // The return address and six registers: eight bytes more make a multiple of 16.
        ; sub rsp, 8
        ; mov r8, QWORD frame
        ; mov [r8 + at!(stack_before)], rsp
        ; fnstcw WORD [r8 + at!(control_before)]
        ; stmxcsr DWORD [r8 + at!(mxcsr_before)]
    );
    move_vectors(&mut ops, vectors, Direction::Fill)?;
    dynasm!(ops
        ; .arch x64
        ; mov rdi, [r8 + arguments]
        ; mov rsi, [r8 + arguments + 8]
        ; mov rdx, [r8 + arguments + 16]
        ; mov rax, [r8 + offset_of!(Frame, entry) as i32]
        ; mov rbx, QWORD for_rbx
        ; mov rbp, QWORD for_rbp
        ; mov r12, QWORD for_r12
        ; mov r13, QWORD for_r13
        ; mov r14, QWORD for_r14
        ; mov r15, QWORD for_r15
        ; call rax
        ; mov r8, QWORD frame
        ; mov [r8 + at!(rax)], rax
        ; mov [r8 + at!(stack_after)], rsp
        ; mov rsp, [r8 + at!(stack_before)]
        ; pushfq
        ; pop rax
        ; cld
        ; mov [r8 + at!(flags)], rax
        ; mov [r8 + saved], rbx
        ; mov [r8 + saved + 8], rbp
        ; mov [r8 + saved + 16], r12
        ; mov [r8 + saved + 24], r13
        ; mov [r8 + saved + 32], r14
        ; mov [r8 + saved + 40], r15
        ; fxsave64 [r8 + at!(legacy)]
    );
    move_vectors(&mut ops, vectors, Direction::Keep)?;
    if tiles {
        // With 1 in ecx the answer is which of the enabled states are in use.
        dynasm!(ops
            ; .arch x64
            ; mov ecx, 1
            ; xgetbv
            ; mov DWORD [r8 + at!(states)], eax
        );
        extend(&mut ops, Ok(Instruction::with(Code::VEX_Tilerelease)))?;
    }
    let (control, status, tags, mxcsr) =
        (at!(legacy), at!(legacy) + 2, at!(legacy) + 4, at!(legacy) + 24);
    dynasm!(ops
        ; .arch x64
        // x87: registers in use, another control word or a pending exception.
        ; mov ax, WORD [r8 + control]
        ; cmp ax, WORD [r8 + at!(control_before)]
        ; jne >x87
        ; cmp BYTE [r8 + tags], 0
        ; jne >x87
        ; test BYTE [r8 + status], BYTE 0x7F
        ; jz >x87_clean
        ; x87:
        ; fninit
        ; fldcw WORD [r8 + at!(control_before)]
        ; x87_clean:
        ; mov eax, DWORD [r8 + mxcsr]
        ; cmp eax, DWORD [r8 + at!(mxcsr_before)]
        ; je >mxcsr_clean
        ; ldmxcsr DWORD [r8 + at!(mxcsr_before)]
        ; mxcsr_clean:
    );
    if vectors != Vectors::Xmm {
        dynasm!(ops ; .arch x64 ; vzeroupper);
    }
    if vectors == Vectors::Zmm {
        // vzeroupper leaves these alone, and nobody after this call wants them.
        for register in (16..VECTORS).map(zmm) {
            let zero = Instruction::with3(
                Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
                register,
                register,
                register,
            );
            extend(&mut ops, zero)?;
        }
    }
    dynasm!(ops
        ; .arch x64
        ; add rsp, 8
        ; pop r15
        ; pop r14
        ; pop r13
        ; pop r12
        ; pop rbp
        ; pop rbx
        ; ret
    );
    ops.finalize().map_err(|error| JitError::Encode(error.to_string()))
}

#[derive(Clone, Copy)]
enum Direction {
    /// `image.before` into the registers.
    Fill,
    /// The registers into `image.after`.
    Keep,
}

/// Moves all vector registers from or to the frame (r8).
#[allow(clippy::useless_conversion, reason = "dynasm converts register numbers itself")]
fn move_vectors(
    ops: &mut VecAssembler<X64Relocation>,
    vectors: Vectors,
    direction: Direction,
) -> Result<(), JitError> {
    for register in 0..vectors.count() {
        let step = (register * 64) as i32;
        let (from, to) = (at!(before) + step, at!(after) + step);
        match (vectors, direction) {
            (Vectors::Xmm, _) => {}
            (Vectors::Ymm, Direction::Fill) => {
                dynasm!(ops ; .arch x64 ; vmovdqu Ry(register as u8), [r8 + from]);
            }
            (Vectors::Ymm, Direction::Keep) => {
                dynasm!(ops ; .arch x64 ; vmovdqu [r8 + to], Ry(register as u8));
            }
            (Vectors::Zmm, _) => {
                let memory =
                    |at: i32| MemoryOperand::with_base_displ_size(Register::R8, i64::from(at), 8);
                let moved = match direction {
                    Direction::Fill => Instruction::with2(
                        Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512,
                        zmm(register),
                        memory(from),
                    ),
                    Direction::Keep => Instruction::with2(
                        Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm,
                        memory(to),
                        zmm(register),
                    ),
                };
                extend(ops, moved)?;
            }
        }
    }
    Ok(())
}

fn zmm(register: usize) -> Register {
    Register::ZMM0 + register as u32
}

/// Appends one instruction that dynasm does not have.
fn extend(
    ops: &mut VecAssembler<X64Relocation>,
    instruction: Result<Instruction, iced_x86::IcedError>,
) -> Result<(), JitError> {
    let failed = |error: iced_x86::IcedError| JitError::Encode(error.to_string());
    let mut encoder = Encoder::new(64);
    encoder.encode(&instruction.map_err(failed)?, 0).map_err(failed)?;
    ops.extend(encoder.take_buffer());
    Ok(())
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions, Mnemonic};

    use super::*;

    /// Offsets in the frame that instructions of this kind move whole vectors from or to.
    fn moved(code: &[u8], mnemonic: Mnemonic) -> Vec<u64> {
        let mut offsets = Vec::new();
        for instruction in Decoder::new(64, code, DecoderOptions::NONE) {
            assert!(!instruction.is_invalid());
            if instruction.mnemonic() == mnemonic {
                assert_eq!(instruction.memory_base(), Register::R8);
                assert_eq!(instruction.memory_index(), Register::None);
                offsets.push(instruction.memory_displacement64());
            }
        }
        offsets
    }

    /// Hosts without AVX or AVX-512 cannot run every form; a decoder can read them all.
    #[test]
    fn every_host_gets_the_registers_it_has() {
        let code = |vectors| watched_call(0x7000_0000_0000, vectors, false).expect("encodes");
        let wanted = |registers: u64| -> Vec<u64> {
            let from = |start: i32| (0..registers).map(move |i| start as u64 + i * 64);
            from(at!(before)).chain(from(at!(after))).collect()
        };
        assert_eq!(moved(&code(Vectors::Xmm), Mnemonic::Vmovdqu), wanted(0));
        assert_eq!(moved(&code(Vectors::Ymm), Mnemonic::Vmovdqu), wanted(16));
        assert_eq!(moved(&code(Vectors::Zmm), Mnemonic::Vmovdqu64), wanted(32));
        let cleaned = code(Vectors::Zmm);
        let cleaned = Decoder::new(64, &cleaned, DecoderOptions::NONE)
            .into_iter()
            .filter(|i| i.mnemonic() == Mnemonic::Vpxord)
            .map(|i| i.op0_register());
        assert!(cleaned.eq((16..VECTORS).map(zmm)));
    }

    /// Few hosts have tiles; a decoder can read what those get.
    #[test]
    fn tiles_are_looked_at_after_the_call_and_released() {
        let order = |tiles| {
            let code = watched_call(0x7000_0000_0000, Vectors::Zmm, tiles).expect("encodes");
            let all = Decoder::new(64, &code, DecoderOptions::NONE).into_iter();
            let told = [Mnemonic::Call, Mnemonic::Xgetbv, Mnemonic::Tilerelease];
            all.map(|i| i.mnemonic()).filter(|m| told.contains(m)).collect::<Vec<_>>()
        };
        assert_eq!(order(true), [Mnemonic::Call, Mnemonic::Xgetbv, Mnemonic::Tilerelease]);
        assert_eq!(order(false), [Mnemonic::Call]);
    }
}
