//! Register names.

use crate::ir::{Gp, Vec, Width};

/// A general register in a width, without `%`.
pub(super) const fn general(register: Gp, width: Width) -> &'static str {
    let row = match width {
        Width::B1 => 0,
        Width::B2 => 1,
        Width::B4 => 2,
        Width::B8 => 3,
    };
    let names = match register {
        Gp::Rax => ["al", "ax", "eax", "rax"],
        Gp::Rcx => ["cl", "cx", "ecx", "rcx"],
        Gp::Rdx => ["dl", "dx", "edx", "rdx"],
        Gp::Rbx => ["bl", "bx", "ebx", "rbx"],
        Gp::Rsp => ["spl", "sp", "esp", "rsp"],
        Gp::Rbp => ["bpl", "bp", "ebp", "rbp"],
        Gp::Rsi => ["sil", "si", "esi", "rsi"],
        Gp::Rdi => ["dil", "di", "edi", "rdi"],
        Gp::R8 => ["r8b", "r8w", "r8d", "r8"],
        Gp::R9 => ["r9b", "r9w", "r9d", "r9"],
        Gp::R10 => ["r10b", "r10w", "r10d", "r10"],
        Gp::R11 => ["r11b", "r11w", "r11d", "r11"],
    };
    names[row]
}

/// A vector register, without `%`.
pub(super) fn vector(register: Vec) -> String {
    let letter = match register.bytes {
        16 => 'x',
        32 => 'y',
        _ => 'z',
    };
    format!("{letter}mm{}", register.number)
}
