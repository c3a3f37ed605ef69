//! The generated pass driver and the ruler: the same machine code around every subject.
//!
//! A pass is `mfence; lfence; rdtsc; lfence`, a known number of calls, `mfence; rdtscp;
//! lfence`. `mfence` at the end because non-temporal stores still sit in their buffers when
//! the last call returns, and neither `sfence` nor `rdtscp` waits for them. Each [`Style`] of
//! pass has code of its own, so that what one style needs costs the others nothing.

use dynasm::dynasm;
use dynasmrt::x64::Assembler;
use dynasmrt::{AssemblyOffset, DynasmApi, DynasmLabelApi, ExecutableBuffer};

use super::MeasureError;
use super::mixed::{MixedArgs, mixed_pass};
use crate::host::{Feature, FeatureSet};
use crate::jit;
use crate::subject::{Consumer, Drive};

/// How a pass makes its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// How calls follow.
    pub(super) drive: Drive,
    /// Whether the list gives the second argument of each call beside the first: two words a
    /// call. Else it is formed of the first.
    pub(super) apart: bool,
    /// Who reads what a call wrote.
    pub(super) consumer: Consumer,
    /// Whether all stores are done before the clock is read at the end.
    pub(super) fenced: bool,
}

impl Style {
    const COUNT: usize = 16;

    /// Back to back, nobody reads, fenced.
    pub(super) const PLAIN: Style = Style {
        drive: Drive::Throughput,
        apart: false,
        consumer: Consumer::None,
        fenced: true,
    };

    /// All there are, each at its [`Style::index`].
    fn all() -> impl Iterator<Item = Style> {
        (0..Style::COUNT).map(|bits| Style {
            drive: if bits & 1 == 0 { Drive::Throughput } else { Drive::Chained },
            apart: bits & 2 != 0,
            consumer: if bits & 4 == 0 { Consumer::None } else { Consumer::Read },
            fenced: bits & 8 == 0,
        })
    }

    fn index(self) -> usize {
        usize::from(self.drive == Drive::Chained)
            | usize::from(self.apart) << 1
            | usize::from(self.consumer == Consumer::Read) << 2
            | usize::from(!self.fenced) << 3
    }
}

/// What a pass is told. The driver reads it by offset.
///
/// The first argument of call i is `list[i mod len]`; the second is that, masked, plus a
/// constant (the distance to the source, or a plain value); the third is a constant. So a
/// list costs the first cache 8 bytes a call, whatever the function's arguments are. With
/// [`Style::apart`] the list has two words a call, the first and the second argument.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct PassArgs {
    /// The first word of the list.
    pub(super) list: *const usize,
    /// One past its last; the walk begins again at `list` when it gets here.
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
    /// By [`Style::index`].
    passes: Vec<usize>,
    /// The same; what the list says of both arguments is the same whether apart or not.
    mixed: Vec<usize>,
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
        let passes: Vec<AssemblyOffset> =
            Style::all().map(|style| pass(&mut ops, style, rdtscp)).collect();
        let mixed: Vec<AssemblyOffset> =
            Style::all().map(|style| mixed_pass(&mut ops, style, rdtscp)).collect();
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
            passes: passes.into_iter().map(at).collect(),
            mixed: mixed.into_iter().map(at).collect(),
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
    /// readable, of an even number of words where the style is apart, and not empty unless
    /// `calls` is 0; with the chained drive the byte `last` past each first argument must be
    /// readable too, and with a consumer all bytes up to it.
    pub(super) unsafe fn pass(&self, style: Style, args: &PassArgs) -> u64 {
        let driver = self.passes[style.index()];
        // SAFETY: `driver` is code of ours in live memory that follows the System V ABI and
        // takes a `PassArgs`; the rest is the caller's promise.
        unsafe { jit::call_pass(driver, std::ptr::from_ref(args).cast_mut().cast()) }
    }

    /// Makes a pass over a list of calls of many sizes; ticks from its first to its last fence.
    ///
    /// # Safety
    /// With the arguments that the driver forms of each call of the list, `args.entry` must be a
    /// function of the System V ABI that may be called; `args.list` must be readable for
    /// `args.calls` calls, with the chained drive the last byte of each call's destination
    /// (of a call for 0 bytes the first) too, and with a consumer all of its bytes.
    pub(super) unsafe fn mixed_pass(&self, style: Style, args: &MixedArgs) -> u64 {
        let driver = self.mixed[style.index()];
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

/// Puts the time stamp into rax, once everything before is done; `fenced`: stores too.
pub(super) fn stop_clock(ops: &mut Assembler, rdtscp: bool, fenced: bool) {
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
pub(super) fn consume(ops: &mut Assembler) {
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
fn pass(ops: &mut Assembler, style: Style, rdtscp: bool) -> AssemblyOffset {
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
    stop_clock(ops, rdtscp, true);
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

    /// The second argument where the list gives it.
    const SECOND: usize = 99;

    /// Runs `code` over a list of slots of three words each, all bits set before but for the
    /// first word; the slots after it.
    fn run(style: Style, code: &[u8], slots: usize, calls: u64, mask: usize) -> Vec<[usize; 3]> {
        let driver = Driver::new(FeatureSet::EMPTY).expect("memory is there");
        let mut arena = Arena::new(4096).expect("a page is there");
        let slot = arena.emit(&[code], &mut ChaCha8Rng::seed_from_u64(1)).expect("fits")[0];
        let mut memory = vec![[0, usize::MAX, usize::MAX]; slots];
        let slots = memory.iter_mut().map(|s| s.as_mut_ptr() as usize);
        let list: Vec<usize> = match style.apart {
            true => slots.flat_map(|slot| [slot, SECOND]).collect(),
            false => slots.collect(),
        };
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
        let ticks = unsafe { driver.pass(style, &args) };
        assert!(ticks > 0);
        std::hint::black_box(&mut memory).clone()
    }

    #[test]
    fn every_call_is_made_and_the_list_is_walked_round() {
        // add qword [rdi], 1; ret
        let count = [0x48, 0x83, 0x07, 0x01, 0xc3];
        for style in Style::all() {
            let counts = |slots, calls| -> Vec<usize> {
                run(style, &count, slots, calls, 0).iter().map(|s| s[0]).collect()
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
        for style in Style::all() {
            let second = if style.apart { SECOND } else { 5 };
            for slot in run(style, &keep, 2, 6, 0) {
                assert_eq!(slot, [second, 77, usize::MAX]);
            }
            let moving = run(style, &keep, 2, 6, usize::MAX);
            let step = if style.apart { 0 } else { size_of::<[usize; 3]>() };
            assert_eq!(moving[1][0] - moving[0][0], step);
            assert!(moving.iter().all(|s| s[1..] == [77, usize::MAX]));
        }
    }

    #[test]
    fn styles_are_told_apart_by_their_index() {
        assert!(Style::all().enumerate().all(|(i, style)| style.index() == i));
        assert_eq!(Style::PLAIN.index(), 0);
    }

    /// Where the list ends at the last page that can be read, a consumer that goes a byte beyond
    /// the destination dies; one that reads all of it takes longer than nobody.
    #[test]
    fn the_consumer_reads_the_destination_and_nothing_else() {
        const N: usize = 1 << 16;
        let driver = Driver::new(FeatureSet::EMPTY).expect("memory is there");
        let buffer = crate::mem::Guarded::new(N).expect("memory is there");
        let least = |consumer, start: usize| {
            let list = [start];
            let args = PassArgs {
                list: list.as_ptr(),
                list_end: list.as_ptr_range().end,
                calls: 4,
                entry: driver.bare_ret(),
                second_mask: 0,
                second_plus: 0,
                third: 0,
                last: buffer.address() + N - 1 - start,
            };
            let style = Style { consumer, ..Style::PLAIN };
            // SAFETY: the function only returns; all bytes from the address to the last of the
            // buffer are readable.
            (0..20).map(|_| unsafe { driver.pass(style, &args) }).min().unwrap_or(0)
        };
        for offset in [0, 1, 63, 64, 4095, N - 65, N - 64, N - 1] {
            assert!(least(Consumer::Read, buffer.address() + offset) > 0);
        }
        let (nobody, reader) =
            (least(Consumer::None, buffer.address()), least(Consumer::Read, buffer.address()));
        assert!(reader > nobody * 2, "{reader} and {nobody}");
    }

    #[test]
    fn the_ruler_gives_a_rate() {
        let driver = Driver::new(FeatureSet::EMPTY).expect("memory is there");
        let (imul, add) = driver.rule(0.0);
        assert!(imul > 0.0 && add > 0.0, "{imul} {add}");
    }
}
