//! The pass driver for calls of many sizes: each call takes its size and its place from a
//! list.

use dynasm::dynasm;
use dynasmrt::x64::Assembler;
use dynasmrt::{AssemblyOffset, DynasmApi, DynasmLabelApi};

use super::driver::{Style, consume, start_clock, stop_clock};
use crate::jit::Entry;
use crate::subject::{Consumer, Drive};
use crate::units::MAX_MIX_SIZE;

/// Bits of a packed call that hold its size.
const SIZE_BITS: u32 = 25;
const SIZE_MASK: u32 = (1 << SIZE_BITS) - 1;

const _: () = assert!(MAX_MIX_SIZE <= SIZE_MASK as u64);

/// Added to what the source's offset is beyond the destination's, so that it is not negative.
const SHIFT_BIAS: i32 = 64;

/// A call of a pass in 8 bytes: an unpacked one would take the first cache from the data. From
/// the lowest bit: the destination's distance from the base (32), the size (25), the source's
/// offset beyond the destination's plus [`SHIFT_BIAS`] (7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct PackedCall(u64);

impl PackedCall {
    /// A call for `n` bytes at `at` from the base; the source is `shift` (−63 to 63) bytes
    /// farther from its own base than the destination. `None` where a part does not fit.
    pub(super) fn new(at: usize, n: u32, shift: i32) -> Option<PackedCall> {
        let at = u32::try_from(at).ok()?;
        let shift = u32::try_from(shift + SHIFT_BIAS).ok().filter(|s| *s < 128)?;
        (n <= SIZE_MASK).then_some(PackedCall(
            u64::from(at) | u64::from(n) << 32 | u64::from(shift) << (32 + SIZE_BITS),
        ))
    }
}

/// What a pass of a list is told. The driver reads it by offset.
///
/// Call i is for `n` bytes at `base` plus its distance, which are the first and the third
/// argument. The second is a sum: of the destination moved by the shift where `second_moves` is
/// all ones, of `n` where `second_counts` is, and of `second_plus`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct MixedArgs {
    pub(super) list: *const PackedCall,
    /// Calls to make: the length of the list; 0 is a pass without a call.
    pub(super) calls: u64,
    /// Entry of the function.
    pub(super) entry: usize,
    pub(super) base: usize,
    pub(super) second_moves: usize,
    pub(super) second_counts: usize,
    pub(super) second_plus: usize,
}

impl MixedArgs {
    /// A pass over a list; `src` is the source of a destination at `base`, before any shift.
    pub(super) fn new(entry: &Entry, list: &[PackedCall], base: usize, src: usize) -> MixedArgs {
        // What an argument hangs on is the ABI's; asking again shows it.
        let here = entry.arguments(base, src, 0);
        let moved = entry.arguments(base, src.wrapping_add(64), 0);
        let counted = entry.arguments(base, src, 64);
        let mask = |yes: bool| if yes { usize::MAX } else { 0 };
        let moves = moved[1] != here[1];
        // The driver adds destination and biased shift.
        let plus = here[1].wrapping_sub(base).wrapping_sub(SHIFT_BIAS as usize);
        MixedArgs {
            list: list.as_ptr(),
            calls: list.len() as u64,
            entry: entry.addr,
            base,
            second_moves: mask(moves),
            second_counts: mask(counted[1] != here[1]),
            second_plus: if moves { plus } else { here[1] },
        }
    }
}

/// A driver of such passes. Callee-saved registers hold its state: functions that reach it have
/// been verified to keep them.
pub(super) fn mixed_pass(ops: &mut Assembler, style: Style, rdtscp: bool) -> AssemblyOffset {
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
        ; mov rbx, [rdi]
        ; mov r13, [rdi + 8]
        ; mov r14, [rdi + 16]
        ; mov r12, [rdi + 24]
        ; mov rax, [rdi + 32]
        ; mov [rsp + 8], rax
        ; mov rax, [rdi + 40]
        ; mov [rsp + 16], rax
        ; mov rax, [rdi + 48]
        ; mov [rsp + 24], rax
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
        ; mov rax, [rbx]
        ; mov edi, eax
        ; add rdi, r12
        ; shr rax, 32
        ; mov edx, eax
        ; and edx, SIZE_MASK as i32
        ; shr eax, SIZE_BITS as i8
        ; lea rsi, [rdi + rax]
        ; and rsi, [rsp + 8]
        ; add rsi, [rsp + 24]
        ; mov rax, rdx
        ; and rax, [rsp + 16]
        ; add rsi, rax
    );
    if style.drive == Drive::Chained {
        dynasm!(ops
            ; .arch x64
            ; add rdi, r15
            ; add rsi, r15
            ; add rdx, r15
            // The last byte, of a call for nothing the first: −1 wraps and is added back.
            ; mov rbp, rdx
            ; sub rbp, 1
            ; adc rbp, 0
            ; add rbp, rdi
        );
    }
    dynasm!(ops; .arch x64; call r14);
    if style.consumer == Consumer::Read {
        dynasm!(ops
            ; .arch x64
            ; mov rcx, [rbx]
            ; mov eax, ecx
            ; add rax, r12
            ; shr rcx, 32
            ; and ecx, SIZE_MASK as i32
            ; jz >nothing
            ; lea rcx, [rax + rcx - 1]
        );
        consume(ops);
        dynasm!(ops; .arch x64; nothing:);
    }
    if style.drive == Drive::Chained {
        // Shifted out: always 0, but no core knows before the byte is there.
        dynasm!(ops
            ; .arch x64
            ; movzx r15d, BYTE [rbp]
            ; shr r15d, 8
        );
    }
    dynasm!(ops
        ; .arch x64
        ; add rbx, 8
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

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::driver::{Driver, Style};
    use super::*;
    use crate::host::FeatureSet;
    use crate::jit::Abi;
    use crate::mem::Arena;

    /// mov [rdi], rsi; mov [rdi + 8], rdx; mov rax, rdi; ret
    const KEEP: [u8; 13] =
        [0x48, 0x89, 0x37, 0x48, 0x89, 0x57, 0x08, 0x48, 0x89, 0xf8, 0xc3, 0x90, 0x90];

    /// What a function that writes its second and third argument to its first finds, for each
    /// call of `n` bytes with its shift; the last is where the first source would be.
    fn told(style: Style, abi: Abi, calls: &[(u32, i32)]) -> (Vec<[usize; 2]>, Vec<usize>, usize) {
        let driver = Driver::new(FeatureSet::EMPTY).expect("memory is there");
        let mut arena = Arena::new(4096).expect("a page is there");
        let slot = arena.emit(&[&KEEP], &mut ChaCha8Rng::seed_from_u64(1)).expect("fits")[0];
        let mut memory = vec![[usize::MAX; 2]; calls.len()];
        let base = memory.as_mut_ptr() as usize;
        let step = size_of::<[usize; 2]>();
        let list: Vec<PackedCall> = calls
            .iter()
            .enumerate()
            .map(|(i, (n, shift))| PackedCall::new(i * step, *n, *shift).expect("fits"))
            .collect();
        let src = base.wrapping_sub(0x1_0000);
        let args = MixedArgs::new(&Entry { addr: slot.addr, abi }, &list, base, src);
        // SAFETY: the code writes to the 16 bytes of the slot it is given, the list holds each
        // slot once, and the last bytes of calls lie in the slots: they are of 16 bytes at most.
        let ticks = unsafe { driver.mixed_pass(style, &args) };
        assert!(ticks > 0);
        let bases = (0..calls.len()).map(|i| base + i * step).collect();
        (std::hint::black_box(&mut memory).clone(), bases, src)
    }

    #[test]
    fn every_call_has_its_own_size_and_place() {
        let calls = [(5, 0), (0, 63), (16, -63), (1, 1)];
        let styles = Drive::ALL.iter().flat_map(|drive| {
            Consumer::ALL.iter().map(|consumer| Style {
                drive: *drive,
                consumer: *consumer,
                ..Style::PLAIN
            })
        });
        for style in styles {
            let (copy, bases, src) = told(style, Abi::Copy, &calls);
            for (i, (found, (n, shift))) in copy.iter().zip(calls).enumerate() {
                let from = (src + bases[i] - bases[0]).wrapping_add_signed(shift as isize);
                assert_eq!(*found, [from, n as usize], "{style:?} {i}");
            }
            let (zero, ..) = told(style, Abi::Zero, &calls);
            assert!(zero.iter().zip(calls).all(|(f, (n, _))| *f == [n as usize; 2]), "{zero:?}");
            let (set, ..) = told(style, Abi::Memset, &calls);
            assert!(set.iter().zip(calls).all(|(f, (n, _))| *f == [0, n as usize]), "{set:?}");
            assert!(told(style, Abi::Zero, &[]).0.is_empty());
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(PackedCall::new(u32::MAX as usize, MAX_MIX_SIZE as u32, 63).is_some());
        assert!(PackedCall::new(1 << 32, 1, 0).is_none());
        assert!(PackedCall::new(0, SIZE_MASK + 1, 0).is_none());
        assert!(PackedCall::new(0, 1, 64).is_none() && PackedCall::new(0, 1, -65).is_none());
    }
}
