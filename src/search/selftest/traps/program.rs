//! Traps of what a program does with the bytes, and of what it links to.

use super::desk::{Cannot, Figure, TrapDesk, cell, ticks_a_call};
use crate::host::Feature;
use crate::search::selftest::desk::member;
use crate::search::selftest::judge::paired;
use crate::subject::{Cell, Conditions, Consumer, Contract, Drive, Level, Op};
use crate::trial::{Body, Machine};
use crate::units::human_size;

/// Non-temporal over plain, copied from memory.
fn nt_over_plain(desk: &mut TrapDesk<'_>, size: u64, consumer: Consumer) -> Result<f64, Cannot> {
    let loops = [desk.vector(Op::Copy, "/u4")?, desk.vector(Op::Copy, "/u4/nt")?];
    let conditions = Conditions { consumer, ..Conditions::DEFAULT };
    let cell = Cell { conditions, ..cell(Op::Copy, size, Level::Dram) };
    desk.exists(&cell)?;
    Ok(desk.ratios(cell, &loops)?[1])
}

pub(super) fn unread(desk: &mut TrapDesk<'_>, size: u64, on: bool) -> Result<Figure, Cannot> {
    let consumer = if on { Consumer::Read } else { Consumer::None };
    let mut last = f64::NAN;
    let asked = |desk: &mut TrapDesk<'_>| {
        last = nt_over_plain(desk, size, consumer)?;
        Ok(last)
    };
    let value = desk.by_turns(asked, |desk| nt_over_plain(desk, size, Consumer::Read))?;
    let who = if on { "then read" } else { "unread" };
    let text = format!("{}, {who}: nt takes {last:.2} × plain", human_size(size));
    Ok(Figure { value, text })
}

pub(super) fn libc_threshold(desk: &mut TrapDesk<'_>, on: bool) -> Result<Figure, Cannot> {
    let loops = [desk.vector(Op::Copy, "/u4")?, desk.vector(Op::Copy, "/u4/nt")?];
    let libc = if on { ("libc-tuned", Body::LibcTuned) } else { ("libc", Body::Libc) };
    let mut members: Vec<_> = loops.iter().map(|c| ("a loop", member(&c.body))).collect();
    members.push((libc.0, member(&libc.1)));
    let result = desk.run(cell(Op::Copy, 32 << 20, Level::Dram), &members, (8, 1))?;
    let of = |m| ticks_a_call(&result, m);
    let value = of(2) / of(0).min(of(1));
    Ok(Figure { value, text: format!("32M: {} takes {value:.2} × the better loop", libc.0) })
}

/// `copy` of 16 bytes with a masked load and store, all lanes wanted: what a tail does that
/// takes the bytes left as a mask.
const MASKED: [u8; 21] = [
    0xf3, 0x0f, 0x1e, 0xfa, // endbr64
    0x48, 0x89, 0xf8, // mov rax, rdi
    0xc5, 0xf9, 0x76, 0xc0, // vpcmpeqd xmm0, xmm0, xmm0
    0xc4, 0xe2, 0x79, 0x8c, 0x0e, // vpmaskmovd xmm1, xmm0, [rsi]
    0xc4, 0xe2, 0x79, 0x8e, 0x0f, // vpmaskmovd [rdi], xmm0, xmm1
];

/// The same with a plain load and store.
const WHOLE: [u8; 15] = [
    0xf3, 0x0f, 0x1e, 0xfa, // endbr64
    0x48, 0x89, 0xf8, // mov rax, rdi
    0xc5, 0xfa, 0x6f, 0x0e, // vmovdqu xmm1, [rsi]
    0xc5, 0xfa, 0x7f, 0x0f, // vmovdqu [rdi], xmm1
];

const RET: u8 = 0xc3;

/// Bytes that both copy.
const TAIL: u64 = 16;

fn sixteen(bytes: &[u8]) -> Body {
    Body::Machine(Machine {
        bytes: bytes.iter().copied().chain([RET]).collect(),
        loop_top: None,
        boundaries: Vec::new(),
        contract: Contract::User,
        fixed: Some(TAIL),
        leaves_cache: false,
    })
}

pub(super) fn unchained(desk: &mut TrapDesk<'_>, on: bool) -> Result<Figure, Cannot> {
    if !desk.host.usable.contains(Feature::Avx2) {
        return Err(Cannot::Here("masked stores of vectors need avx2".into()));
    }
    let (whole, masked) = (member(&sixteen(&WHOLE)), member(&sixteen(&MASKED)));
    let members = [("the plain store", whole), ("the masked store", masked)];
    let masked_over_plain = |desk: &mut TrapDesk<'_>, drive| -> Result<f64, Cannot> {
        let cell = Cell { drive, ..cell(Op::Copy, TAIL, Level::L1) };
        let result = desk.run(cell, &members, (30, 3))?;
        Ok(paired(&result.samples, 1, 0).location().exp())
    };
    let drive = if on { Drive::Chained } else { Drive::Throughput };
    let mut last = f64::NAN;
    let asked = |desk: &mut TrapDesk<'_>| {
        last = masked_over_plain(desk, drive)?;
        Ok(last)
    };
    let value = desk.by_turns(asked, |desk| masked_over_plain(desk, Drive::Chained))?;
    Ok(Figure { value, text: format!("{drive}: masked takes {last:.2} × plain") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hand_written_copies_are_what_they_are_said_to_be() {
        use iced_x86::{Decoder, DecoderOptions, Mnemonic};
        let mnemonics = |body: Body| -> Vec<Mnemonic> {
            let Body::Machine(machine) = body else { return Vec::new() };
            Decoder::new(64, &machine.bytes, DecoderOptions::NONE)
                .into_iter()
                .map(|i| i.mnemonic())
                .collect()
        };
        use Mnemonic::{Endbr64, Mov, Ret, Vmovdqu, Vpcmpeqd, Vpmaskmovd};
        let masked = [Endbr64, Mov, Vpcmpeqd, Vpmaskmovd, Vpmaskmovd, Ret];
        assert_eq!(mnemonics(sixteen(&MASKED)), masked);
        assert_eq!(mnemonics(sixteen(&WHOLE)), [Endbr64, Mov, Vmovdqu, Vmovdqu, Ret]);
    }
}
