//! The call that watches every register.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::JitError;
use super::emit::{Frame, Vectors, watched_call};
use super::entry::Entry;
use super::image::RegisterImage;
use crate::host::{Feature, FeatureSet};
use crate::mem::{Arena, Guarded, Map};

/// A generated function that calls another one with known values in every register that the
/// callee must leave alone or clean, keeps what comes back, and makes the machine sane again.
pub struct Trampoline {
    /// Holds a [`Frame`] at its start.
    frame: Map,
    /// Holds the code; the address of the function is `addr`.
    _code: Arena,
    addr: usize,
}

impl Trampoline {
    /// Generates the call for a host with these features: with `avx` all ymm are watched,
    /// with `avx512f` all zmm, with `amx-tile` whether tiles stay configured.
    ///
    /// # Errors
    /// Where the system gives no memory for it.
    pub fn new(features: FeatureSet) -> Result<Trampoline, JitError> {
        let vectors = if features.contains(Feature::Avx512f) {
            Vectors::Zmm
        } else if features.contains(Feature::Avx) {
            Vectors::Ymm
        } else {
            Vectors::Xmm
        };
        let frame = Map::new(size_of::<Frame>())?;
        let tiles = features.contains(Feature::AmxTile) && tells_states_in_use();
        let bytes = watched_call(frame.as_ptr() as usize, vectors, tiles)?;
        let mut code = Arena::new(bytes.len())?;
        let slots = code.emit(&[&bytes], &mut ChaCha8Rng::seed_from_u64(0))?;
        let addr = slots[0].addr;
        let mut trampoline = Trampoline { frame, _code: code, addr };
        let image = &mut trampoline.frame_mut().image;
        for register in 0..vectors.count() {
            image.before[register] = std::array::from_fn(|byte| pattern(register, byte));
        }
        Ok(trampoline)
    }

    /// Calls a function on `n` bytes that lie wholly inside usable memory: at `dst_at` of
    /// `dst` and, where the op has a source, at `src_at` of `src`.
    ///
    /// The function itself is taken on trust: it may die, hang or write elsewhere, and this
    /// process with it.
    ///
    /// # Errors
    /// Where a range is not inside its buffer.
    pub fn call_checked(
        &mut self,
        entry: Entry,
        dst: &mut Guarded,
        dst_at: usize,
        src: &mut Guarded,
        src_at: usize,
        n: usize,
    ) -> Result<&RegisterImage, JitError> {
        for (buffer, at) in [(&*dst, dst_at), (&*src, src_at)] {
            if at > buffer.len() || n > buffer.len() - at {
                return Err(JitError::OutsideBuffer { at, n, len: buffer.len() });
            }
        }
        let dst = dst.as_mut_ptr().expose_provenance() + dst_at;
        let src = src.as_mut_ptr().expose_provenance() + src_at;
        let frame = self.frame_mut();
        frame.entry = entry.addr as u64;
        frame.arguments = entry.arguments(dst, src, n).map(|argument| argument as u64);
        // SAFETY: `addr` holds the code that `watched_call` wrote for this frame: a function
        // without arguments that keeps the System V contract whatever `entry` does to
        // registers. Its memory lives in `_code`. That `entry` itself touches only the ranges
        // above cannot be known before it has run; see the module's doc.
        let watched: extern "sysv64" fn() = unsafe { std::mem::transmute(self.addr) };
        watched();
        Ok(&self.frame_mut().image)
    }

    fn frame_mut(&mut self) -> &mut Frame {
        // SAFETY: the map starts at a page and is as long as a `Frame`, which is plain
        // integers: every content is valid. Borrowed exclusively through self.
        unsafe { &mut *self.frame.as_ptr().cast::<Frame>() }
    }
}

/// Whether `xgetbv` says which register states are in use; asked only where there are tiles, so
/// that the leaf exists.
fn tells_states_in_use() -> bool {
    // SAFETY: every x86-64 processor has `cpuid`.
    #[allow(unused_unsafe, reason = "newer compilers know that")]
    let leaf = unsafe { std::arch::x86_64::__cpuid_count(0xd, 1) };
    leaf.eax >> 2 & 1 == 1
}

/// What fills a byte of a vector register: never 0, and different for neighbours.
const fn pattern(register: usize, byte: usize) -> u8 {
    ((register * 97 + byte * 41) % 255) as u8 + 1
}

#[cfg(test)]
mod tests {
    use dynasmrt::x64::X64Relocation;
    use dynasmrt::{DynasmApi, VecAssembler, dynasm};

    use super::*;
    use crate::jit::{Abi, libc_entry};
    use crate::subject::Op;

    struct Bench {
        trampoline: Trampoline,
        arena: Arena,
        dst: Guarded,
        src: Guarded,
    }

    impl Bench {
        fn new() -> Bench {
            let avx = std::arch::is_x86_feature_detected!("avx");
            let features = if avx { [Feature::Avx].as_slice() } else { &[] };
            Bench {
                trampoline: Trampoline::new(features.iter().copied().collect()).expect("memory"),
                arena: Arena::new(4096).expect("memory"),
                dst: Guarded::new(4096).expect("memory"),
                src: Guarded::new(4096).expect("memory"),
            }
        }

        fn call(&mut self, entry: Entry) -> &RegisterImage {
            self.trampoline
                .call_checked(entry, &mut self.dst, 1, &mut self.src, 2, 4000)
                .expect("inside the buffers")
        }

        fn run(&mut self, code: VecAssembler<X64Relocation>) -> &RegisterImage {
            let code = code.finalize().expect("no labels");
            let mut rng = ChaCha8Rng::seed_from_u64(0);
            let slot = self.arena.emit(&[&code], &mut rng).expect("fits")[0];
            self.call(Entry { addr: slot.addr, abi: Abi::Copy })
        }
    }

    #[test]
    fn the_c_library_leaves_all_as_it_should() {
        let mut bench = Bench::new();
        bench.src.bytes_mut().fill(9);
        let dst = bench.dst.address() + 1;
        for op in [Op::Copy, Op::Zero, Op::Copy] {
            let image = bench.call(libc_entry(op).expect("a dynamic C library"));
            assert_eq!(image.returned(), dst);
            assert_eq!(image.callee_saved_changed(), None);
            assert!(!image.direction_flag() && !image.x87_control_changed());
            assert!(!image.mxcsr_changed());
            assert_eq!(image.x87_in_use(), 0);
            let wanted = if op == Op::Copy { 9 } else { 0 };
            assert!(bench.dst.bytes()[1..4001].iter().all(|&b| b == wanted));
            assert_eq!(bench.dst.bytes()[4001], 0);
        }
    }

    #[test]
    fn a_callee_that_leaves_a_mess_is_seen_and_cleaned_up_after() {
        let mut bench = Bench::new();
        let mut mess: VecAssembler<X64Relocation> = VecAssembler::new(0);
        dynasm!(mess
            ; .arch x64
            ; std
            ; fld1
            ; mov DWORD [rsp - 8], 0x0000_9fc0
            ; ldmxcsr DWORD [rsp - 8]
            ; mov WORD [rsp - 8], 0x0c7f
            ; fldcw WORD [rsp - 8]
            ; xor r13d, r13d
            ; xor eax, eax
            ; ret
        );
        let image = bench.run(mess);
        assert_eq!(image.returned(), 0);
        assert_eq!(image.callee_saved_changed(), Some(13));
        assert!(image.direction_flag() && image.x87_control_changed() && image.mxcsr_changed());
        assert_eq!(image.x87_in_use().count_ones(), 1);

        let mut short: VecAssembler<X64Relocation> = VecAssembler::new(0);
        dynasm!(short ; .arch x64 ; mov rax, rdi ; ret 8);
        let dst = bench.dst.address() + 1;
        let image = bench.run(short);
        assert_eq!(image.returned(), dst);
        assert_eq!(image.callee_saved_changed(), Some(4), "the stack pointer");
        assert!(!image.direction_flag() && !image.x87_control_changed());
        assert!(!image.mxcsr_changed());
        assert_eq!(image.x87_in_use(), 0);
        // Rounding upwards would show here.
        assert_eq!(std::hint::black_box(1.0f64) / 3.0, 0.333_333_333_333_333_3);
    }

    #[test]
    fn vector_registers_are_filled_before_and_kept_after() {
        if !std::arch::is_x86_feature_detected!("avx") {
            return;
        }
        let mut bench = Bench::new();
        let mut code: VecAssembler<X64Relocation> = VecAssembler::new(0);
        dynasm!(code
            ; .arch x64
            ; vmovaps ymm3, ymm9
            ; vxorps xmm4, xmm4, xmm4
            ; ret
        );
        let image = bench.run(code);
        for register in 0..16 {
            let (before, after) = (image.vector_before(register), image.vector_after(register));
            assert!(before[..32].iter().all(|&b| b != 0));
            match register {
                3 => assert_eq!(after[..32], image.vector_before(9)[..32]),
                4 => assert_eq!(after[..32], [0; 32]),
                _ => assert_eq!(after[..32], before[..32]),
            }
        }
    }

    #[test]
    fn bytes_outside_a_buffer_are_refused() {
        let mut bench = Bench::new();
        let entry = libc_entry(Op::Copy).expect("a dynamic C library");
        let Bench { trampoline, dst, src, .. } = &mut bench;
        for (dst_at, src_at, n) in [(1, 0, 4096), (0, 1, 4096), (4097, 0, 0), (0, 0, usize::MAX)] {
            assert!(trampoline.call_checked(entry, dst, dst_at, src, src_at, n).is_err());
        }
        assert!(trampoline.call_checked(entry, dst, 4096, src, 0, 0).is_ok());
    }
}
