//! The generated pass driver and the ruler: the same machine code around every subject.
//!
//! A pass is `mfence; lfence; rdtsc; lfence`, a known number of calls, `mfence; rdtscp;
//! lfence`. `mfence` at the end because non-temporal stores still sit in their buffers when
//! the last call returns, and neither `sfence` nor `rdtscp` waits for them. Each [`Style`] of
//! pass has code of its own, so that what one style needs costs the others nothing.

mod code;
#[cfg(test)]
mod tests;

use dynasm::dynasm;
use dynasmrt::x64::Assembler;
use dynasmrt::{AssemblyOffset, DynasmApi, ExecutableBuffer};

use super::MeasureError;
use super::mixed::{MixedArgs, mixed_pass};
use crate::host::{Feature, FeatureSet};
use crate::jit;
use crate::subject::{Consumer, Drive};
pub(super) use code::{consume, start_clock, stop_clock};
use code::{pass, ruler};

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
    pub(super) const PLAIN: Style =
        Style { drive: Drive::Throughput, apart: false, consumer: Consumer::None, fenced: true };

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

/// Rounds of the rulers: 1 to 2 µs each of the first two on cores of today, half of one of the
/// third.
const IMUL_ROUNDS: u64 = 32;
const ADD_ROUNDS: u64 = 64;
const WIDE_ROUNDS: u64 = 96;

/// Chains that the third ruler's additions are in, one behind the other in each: as many as the
/// widest core of today makes at once.
pub(super) const WIDE_CHAINS: u64 = 6;

/// Cycles of one `imul r64, r64` on every x86-64 core since 2008.
const IMUL_CYCLES: u64 = 3;

/// What the rulers say of a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ruled {
    /// Core cycles a tick, from dependent multiplications.
    pub(super) cycles_per_tick: f64,
    /// The same from dependent additions.
    pub(super) add_cycles_per_tick: f64,
    /// Independent additions that the core made in a cycle. Dependent ones leave most of a core
    /// idle and do not tell whether another thread uses it; these do.
    pub(super) additions: f64,
}

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
    wide: usize,
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
        let imul = ruler(&mut ops, rdtscp, |ops, _| dynasm!(ops; .arch x64; imul rcx, rcx));
        let add = ruler(&mut ops, rdtscp, |ops, _| dynasm!(ops; .arch x64; add rcx, rcx));
        let wide = ruler(&mut ops, rdtscp, |ops, number| match number % WIDE_CHAINS {
            0 => dynasm!(ops; .arch x64; add rcx, rcx),
            1 => dynasm!(ops; .arch x64; add rdx, rdx),
            2 => dynasm!(ops; .arch x64; add rsi, rsi),
            3 => dynasm!(ops; .arch x64; add rdi, rdi),
            4 => dynasm!(ops; .arch x64; add r10, r10),
            _ => dynasm!(ops; .arch x64; add r11, r11),
        });
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
            wide: at(wide),
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

    /// Looks at the core. `pass_ticks`: what a pass without a call takes.
    pub(super) fn rule(&self, pass_ticks: f64) -> Ruled {
        let imul = self.chain(self.imul, IMUL_ROUNDS);
        let add = self.chain(self.add, ADD_ROUNDS);
        let wide = self.chain(self.wide, WIDE_ROUNDS);
        let rate = |cycles: u64, ticks: u64| cycles as f64 / (ticks as f64 - pass_ticks).max(1.0);
        let cycles_per_tick = rate(IMUL_CYCLES * CHAIN * IMUL_ROUNDS, imul);
        Ruled {
            cycles_per_tick,
            add_cycles_per_tick: rate(CHAIN * ADD_ROUNDS, add),
            additions: rate(CHAIN * WIDE_ROUNDS, wide) / cycles_per_tick,
        }
    }

    fn chain(&self, ruler: usize, rounds: u64) -> u64 {
        let args = RulerArgs { rounds };
        // SAFETY: `ruler` is code of ours in live memory that takes a `RulerArgs`, reads
        // nothing else and writes to its own stack frame only.
        unsafe { jit::call_pass(ruler, std::ptr::from_ref(&args).cast_mut().cast()) }
    }
}
