//! The generated pass driver and the ruler: the same machine code around every subject.
//!
//! A pass is `mfence; lfence; rdtsc; lfence`, a known number of calls, `mfence; rdtscp;
//! lfence`. `mfence` at the end because non-temporal stores still sit in their buffers when
//! the last call returns, and neither `sfence` nor `rdtscp` waits for them.

use dynasm::dynasm;
use dynasmrt::x64::Assembler;
use dynasmrt::{AssemblyOffset, DynasmApi, DynasmLabelApi, ExecutableBuffer};

use super::MeasureError;
use super::mixed::{MixedArgs, mixed_pass};
use crate::host::{Feature, FeatureSet};
use crate::jit;
use crate::subject::Drive;

/// What a pass is told. The driver reads it by offset.
///
/// The first argument of call i is `list[i mod len]`; the second is that, masked, plus a
/// constant (the distance to the source, or a plain value); the third is a constant. So a
/// list costs the first cache 8 bytes a call, whatever the function's arguments are.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct PassArgs {
    /// First destination address of the list.
    pub(super) list: *const usize,
    /// One past the last; the walk begins again at `list` when it gets here.
    pub(super) list_end: *const usize,
    /// Calls to make; 0 is a pass without a call.
    pub(super) calls: u64,
    /// Entry of the function.
    pub(super) entry: usize,
    /// All ones where the second argument moves with the first, else 0.
    pub(super) second_mask: usize,
    /// Added to the masked first argument.
    pub(super) second_plus: usize,
    /// Third argument.
    pub(super) third: usize,
    /// From a destination to its last byte.
    pub(super) last: usize,
}

/// What a ruler is told.
#[repr(C)]
struct RulerArgs {
    rounds: u64,
}

/// Dependent instructions in one round of the ruler's loop. Enough that the loop's own
/// instructions hide behind them, few enough to leave the instruction cache alone.
const CHAIN: u64 = 64;

/// Rounds of the two rulers: 1 to 2 µs each on cores of today.
const IMUL_ROUNDS: u64 = 32;
const ADD_ROUNDS: u64 = 64;

/// Cycles of one `imul r64, r64` on every x86-64 core since 2008.
const IMUL_CYCLES: u64 = 3;

/// Machine code of drivers and rulers, one for a worker's life.
pub(super) struct Driver {
    // Holds the pages that the addresses below lie in.
    _code: ExecutableBuffer,
    throughput: usize,
    chained: usize,
    mixed_throughput: usize,
    mixed_chained: usize,
    imul: usize,
    add: usize,
    bare_ret: usize,
}

impl Driver {
    /// Generates the code for a host with these features.
    ///
    /// # Errors
    /// Where executable memory is refused.
    pub(super) fn new(features: FeatureSet) -> Result<Driver, MeasureError> {
        let refused = |why: String| MeasureError::Driver { why };
        let rdtscp = features.contains(Feature::Rdtscp);
        let mut ops = Assembler::new().map_err(|e| refused(e.to_string()))?;
        let throughput = pass(&mut ops, Drive::Throughput, rdtscp);
        let chained = pass(&mut ops, Drive::Chained, rdtscp);
        let mixed_throughput = mixed_pass(&mut ops, Drive::Throughput, rdtscp);
        let mixed_chained = mixed_pass(&mut ops, Drive::Chained, rdtscp);
        let imul = ruler(&mut ops, rdtscp, |ops| dynasm!(ops; .arch x64; imul rcx, rcx));
        let add = ruler(&mut ops, rdtscp, |ops| dynasm!(ops; .arch x64; add rcx, rcx));
        dynasm!(ops; .arch x64; .align 64);
        let bare_ret = ops.offset();
        dynasm!(ops; .arch x64; ret);
        ops.commit().map_err(|e| refused(e.to_string()))?;
        let code = ops
            .finalize()
            .map_err(|_| refused("the code is still being written elsewhere".into()))?;
        let at = |offset: AssemblyOffset| code.ptr(offset) as usize;
        Ok(Driver {
            throughput: at(throughput),
            chained: at(chained),
            mixed_throughput: at(mixed_throughput),
            mixed_chained: at(mixed_chained),
            imul: at(imul),
            add: at(add),
            bare_ret: at(bare_ret),
            _code: code,
        })
    }

    /// A function that does nothing, for measuring the driver itself.
    pub(super) fn bare_ret(&self) -> usize {
        self.bare_ret
    }

    /// Makes a pass; ticks from its first to its last fence.
    ///
    /// # Safety
    /// With the arguments that the driver forms of `args`, `args.entry` must be a function
    /// of the System V ABI that may be called `args.calls` times; `list..list_end` must be
    /// readable and not empty unless `calls` is 0, and with the chained drive the byte
    /// `last` past each of its addresses too.
    pub(super) unsafe fn pass(&self, drive: Drive, args: &PassArgs) -> u64 {
        let driver = match drive {
            Drive::Throughput => self.throughput,
            Drive::Chained => self.chained,
        };
        // SAFETY: `driver` is code of ours in live memory that follows the System V ABI and
        // takes a `PassArgs`; the rest is the caller's promise.
        unsafe { jit::call_pass(driver, std::ptr::from_ref(args).cast_mut().cast()) }
    }

    /// Makes a pass over a list of calls of many sizes; ticks from its first to its last fence.
    ///
    /// # Safety
    /// With the arguments that the driver forms of each call of the list, `args.entry` must be a
    /// function of the System V ABI that may be called; `args.list` must be readable for
    /// `args.calls` calls, and with the chained drive the last byte of each call's destination
    /// (of a call for 0 bytes the first) too.
    pub(super) unsafe fn mixed_pass(&self, drive: Drive, args: &MixedArgs) -> u64 {
        let driver = match drive {
            Drive::Throughput => self.mixed_throughput,
            Drive::Chained => self.mixed_chained,
        };
        // SAFETY: `driver` is code of ours in live memory that follows the System V ABI and
        // takes a `MixedArgs`; the rest is the caller's promise.
        unsafe { jit::call_pass(driver, std::ptr::from_ref(args).cast_mut().cast()) }
    }

    /// Core cycles a tick, from dependent multiplications and from dependent additions.
    /// `pass_ticks`: what a pass without a call takes.
    pub(super) fn rule(&self, pass_ticks: f64) -> (f64, f64) {
        let imul = self.chain(self.imul, IMUL_ROUNDS);
        let add = self.chain(self.add, ADD_ROUNDS);
        let rate = |cycles: u64, ticks: u64| cycles as f64 / (ticks as f64 - pass_ticks).max(1.0);
        (rate(IMUL_CYCLES * CHAIN * IMUL_ROUNDS, imul), rate(CHAIN * ADD_ROUNDS, add))
    }

    fn chain(&self, ruler: usize, rounds: u64) -> u64 {
        let args = RulerArgs { rounds };
        // SAFETY: `ruler` is code of ours in live memory that takes a `RulerArgs`, reads
        // nothing else and writes to its own stack frame only.
        unsafe { jit::call_pass(ruler, std::ptr::from_ref(&args).cast_mut().cast()) }
    }
}

/// Puts the time stamp into rax, once all before is done and before anything later begins.
pub(super) fn start_clock(ops: &mut Assembler) {
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

/// Puts the time stamp into rax, once everything before is done, stores too.
pub(super) fn stop_clock(ops: &mut Assembler, rdtscp: bool) {
    dynasm!(ops; .arch x64; mfence);
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

/// A pass driver. Callee-saved registers hold its state: functions that reach it have been
/// verified to keep them.
fn pass(ops: &mut Assembler, drive: Drive, rdtscp: bool) -> AssemblyOffset {
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
        ; mov rsi, rdi
        ; and rsi, [rsp + 8]
        ; add rsi, [rsp + 16]
        ; mov rdx, [rsp + 24]
    );
    if drive == Drive::Chained {
        dynasm!(ops
            ; .arch x64
            ; add rdi, r15
            ; add rsi, r15
            ; add rdx, r15
        );
    }
    dynasm!(ops; .arch x64; call r14);
    if drive == Drive::Chained {
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
        ; add rbx, 8
        ; cmp rbx, r12
        ; cmove rbx, rbp
        ; sub r13, 1
        ; jnz <next
        ; done:
    );
    stop_clock(ops, rdtscp);
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

/// A loop of [`CHAIN`] dependent instructions on rcx between the same fences.
fn ruler(ops: &mut Assembler, rdtscp: bool, link: impl Fn(&mut Assembler)) -> AssemblyOffset {
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
    for _ in 0..CHAIN {
        link(ops);
    }
    dynasm!(ops
        ; .arch x64
        ; sub r8, 1
        ; jnz <next
    );
    stop_clock(ops, rdtscp);
    dynasm!(ops
        ; .arch x64
        ; sub rax, r9
        ; ret
    );
    entry
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::mem::Arena;

    /// Runs `code` over a list of slots of three words each, all bits set before but for the
    /// first word; the slots after it.
    fn run(drive: Drive, code: &[u8], slots: usize, calls: u64, mask: usize) -> Vec<[usize; 3]> {
        let driver = Driver::new(FeatureSet::EMPTY).expect("memory is there");
        let mut arena = Arena::new(4096).expect("a page is there");
        let slot = arena.emit(&[code], &mut ChaCha8Rng::seed_from_u64(1)).expect("fits")[0];
        let mut memory = vec![[0, usize::MAX, usize::MAX]; slots];
        let list: Vec<usize> = memory.iter_mut().map(|s| s.as_mut_ptr() as usize).collect();
        let range = list.as_ptr_range();
        let args = PassArgs {
            list: range.start,
            list_end: range.end,
            calls,
            entry: slot.addr,
            second_mask: mask,
            second_plus: 5,
            third: 77,
            last: 23,
        };
        // SAFETY: `code` is a function that writes to the three words of the slot it is
        // given, and the list holds such slots only.
        let ticks = unsafe { driver.pass(drive, &args) };
        assert!(ticks > 0);
        std::hint::black_box(&mut memory).clone()
    }

    #[test]
    fn every_call_is_made_and_the_list_is_walked_round() {
        // add qword [rdi], 1; ret
        let count = [0x48, 0x83, 0x07, 0x01, 0xc3];
        for drive in Drive::ALL {
            let counts = |slots, calls| -> Vec<usize> {
                run(*drive, &count, slots, calls, 0).iter().map(|s| s[0]).collect()
            };
            assert_eq!(counts(3, 0), [0, 0, 0]);
            assert_eq!(counts(3, 2), [1, 1, 0]);
            assert_eq!(counts(3, 8), [3, 3, 2]);
            assert_eq!(counts(1, 1000), [1000]);
        }
    }

    #[test]
    fn arguments_are_as_told_whatever_the_last_byte_was() {
        // mov [rdi], rsi; mov [rdi + 8], rdx; mov rax, rdi; ret
        let keep = [0x48, 0x89, 0x37, 0x48, 0x89, 0x57, 0x08, 0x48, 0x89, 0xf8, 0xc3];
        for drive in Drive::ALL {
            for slot in run(*drive, &keep, 2, 6, 0) {
                assert_eq!(slot, [5, 77, usize::MAX]);
            }
            let moving = run(*drive, &keep, 2, 6, usize::MAX);
            assert_eq!(moving[1][0] - moving[0][0], size_of::<[usize; 3]>());
            assert!(moving.iter().all(|s| s[1..] == [77, usize::MAX]));
        }
    }

    #[test]
    fn the_ruler_gives_a_rate() {
        let driver = Driver::new(FeatureSet::EMPTY).expect("memory is there");
        let (imul, add) = driver.rule(0.0);
        assert!(imul > 0.0 && add > 0.0, "{imul} {add}");
    }
}
