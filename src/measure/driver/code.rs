//! The machine code of passes and rulers.

use dynasm::dynasm;
use dynasmrt::x64::Assembler;
use dynasmrt::{AssemblyOffset, DynasmApi, DynasmLabelApi};

use super::{CHAIN, Style};
use crate::subject::{Consumer, Drive};

/// Puts the time stamp into rax, once all before is done and before anything later begins.
pub(in crate::measure) fn start_clock(ops: &mut Assembler) {
    dynasm!(ops
        ; .arch x64
        ; mfence
        ; lfence
        ; rdtsc
        ; lfence
        ; shl rdx, 32
        ; or rax, rdx
    );
}

/// Puts the time stamp into rax, once everything before is done; `fenced`: stores too.
pub(in crate::measure) fn stop_clock(ops: &mut Assembler, rdtscp: bool, fenced: bool) {
    if fenced {
        dynasm!(ops; .arch x64; mfence);
    }
    if rdtscp {
        dynasm!(ops; .arch x64; rdtscp);
    } else {
        dynasm!(ops; .arch x64; lfence; rdtsc);
    }
    dynasm!(ops
        ; .arch x64
        ; lfence
        ; shl rdx, 32
        ; or rax, rdx
    );
}

/// Reads a byte of each line from rax up to the byte at rcx, and that byte: bytes, because a
/// longer load may cross into another line. Loads do not wait for each other, so this is as
/// fast a reader as there is: what it adds is what the data's place costs.
pub(in crate::measure) fn consume(ops: &mut Assembler) {
    dynasm!(ops
        ; .arch x64
        ; read:
        ; movzx edx, BYTE [rax]
        ; add rax, 64
        ; cmp rax, rcx
        ; jbe <read
        ; movzx edx, BYTE [rcx]
    );
}

/// A pass driver. Callee-saved registers hold its state: functions that reach it have been
/// verified to keep them.
pub(super) fn pass(ops: &mut Assembler, style: Style, rdtscp: bool) -> AssemblyOffset {
    dynasm!(ops; .arch x64; .align 64);
    let entry = ops.offset();
    dynasm!(ops
        ; .arch x64
        ; push rbx
        ; push rbp
        ; push r12
        ; push r13
        ; push r14
        ; push r15
        // With six registers pushed, 40 bytes make the stack a multiple of 16 at each call.
        ; sub rsp, 40
        ; mov rbp, [rdi]
        ; mov r12, [rdi + 8]
        ; mov r13, [rdi + 16]
        ; mov r14, [rdi + 24]
        ; mov rax, [rdi + 32]
        ; mov [rsp + 8], rax
        ; mov rax, [rdi + 40]
        ; mov [rsp + 16], rax
        ; mov rax, [rdi + 48]
        ; mov [rsp + 24], rax
        ; mov rax, [rdi + 56]
        ; mov [rsp + 32], rax
        ; mov rbx, rbp
        ; xor r15d, r15d
    );
    start_clock(ops);
    dynasm!(ops
        ; .arch x64
        ; mov [rsp], rax
        ; test r13, r13
        ; jz >done
        ; .align 64
        ; next:
        ; mov rdi, [rbx]
    );
    if style.apart {
        dynasm!(ops; .arch x64; mov rsi, [rbx + 8]);
    } else {
        dynasm!(ops
            ; .arch x64
            ; mov rsi, rdi
            ; and rsi, [rsp + 8]
            ; add rsi, [rsp + 16]
        );
    }
    dynasm!(ops; .arch x64; mov rdx, [rsp + 24]);
    if style.drive == Drive::Chained {
        dynasm!(ops
            ; .arch x64
            ; add rdi, r15
            ; add rsi, r15
            ; add rdx, r15
        );
    }
    dynasm!(ops; .arch x64; call r14);
    if style.consumer == Consumer::Read {
        dynasm!(ops
            ; .arch x64
            ; mov rax, [rbx]
            ; mov rcx, [rsp + 32]
            ; add rcx, rax
        );
        consume(ops);
    }
    if style.drive == Drive::Chained {
        // The last byte of the destination, shifted out: always 0, but no core knows before
        // the byte is there. (`xor r, r` would be known.)
        dynasm!(ops
            ; .arch x64
            ; mov rax, [rbx]
            ; add rax, [rsp + 32]
            ; movzx r15d, BYTE [rax]
            ; shr r15d, 8
        );
    }
    dynasm!(ops
        ; .arch x64
        ; add rbx, if style.apart { 16 } else { 8 }
        ; cmp rbx, r12
        ; cmove rbx, rbp
        ; sub r13, 1
        ; jnz <next
        ; done:
    );
    stop_clock(ops, rdtscp, style.fenced);
    dynasm!(ops
        ; .arch x64
        ; sub rax, [rsp]
        ; add rsp, 40
        ; pop r15
        ; pop r14
        ; pop r13
        ; pop r12
        ; pop rbp
        ; pop rbx
        ; ret
    );
    entry
}

/// A loop of [`CHAIN`] instructions between the same fences: what `link` makes of their numbers.
/// It may use rcx, rdx, rsi, rdi, r10 and r11.
pub(super) fn ruler(
    ops: &mut Assembler,
    rdtscp: bool,
    link: impl Fn(&mut Assembler, u64),
) -> AssemblyOffset {
    dynasm!(ops; .arch x64; .align 64);
    let entry = ops.offset();
    dynasm!(ops
        ; .arch x64
        ; mov r8, [rdi]
        ; mov ecx, 3
    );
    start_clock(ops);
    dynasm!(ops
        ; .arch x64
        ; mov r9, rax
        ; .align 64
        ; next:
    );
    for number in 0..CHAIN {
        link(ops, number);
    }
    dynasm!(ops
        ; .arch x64
        ; sub r8, 1
        ; jnz <next
    );
    stop_clock(ops, rdtscp, true);
    dynasm!(ops
        ; .arch x64
        ; sub rax, r9
        ; ret
    );
    entry
}
