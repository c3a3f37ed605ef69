//! Entries, how they are called, and the unwatched call.

/// How a function takes its arguments (System V) and which op it performs. All return the
/// destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Abi {
    /// `f(dst, src, n)`: copies.
    Copy,
    /// `f(dst, n)`: zeroes.
    Zero,
    /// `f(dst, 0, n)`: zeroes, as `memset` does.
    Memset,
}

/// A function that can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its address.
    pub addr: usize,
    /// How it is called.
    pub abi: Abi,
}

impl Entry {
    /// The values of rdi, rsi and rdx for `n` bytes at `dst` (from `src`, where the op has
    /// a source).
    pub const fn arguments(&self, dst: usize, src: usize, n: usize) -> [usize; 3] {
        match self.abi {
            Abi::Copy => [dst, src, n],
            // rdx is no argument here; it holds n so that the call needs no case of its own.
            Abi::Zero => [dst, n, n],
            Abi::Memset => [dst, 0, n],
        }
    }
}

/// Runs a generated pass driver: `extern "sysv64" fn(*mut Args) -> u64`. Returns what it
/// returns.
///
/// # Safety
/// `driver` must be the address of a complete function of that type, executable for the whole
/// call, that keeps the System V contract, and `args` must be what that function expects.
/// What it calls in turn must have been verified.
pub unsafe fn call_pass(driver: usize, args: *mut u8) -> u64 {
    // SAFETY: the caller vouches for a function of this type at the address.
    let driver: extern "sysv64" fn(*mut u8) -> u64 = unsafe { std::mem::transmute(driver) };
    driver(args)
}

#[cfg(test)]
mod tests {
    use dynasmrt::{DynasmApi, VecAssembler, dynasm};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::mem::Arena;

    #[test]
    fn arguments_follow_the_convention() {
        let entry = |abi| Entry { addr: 0, abi };
        assert_eq!(entry(Abi::Copy).arguments(1, 2, 3), [1, 2, 3]);
        assert_eq!(entry(Abi::Zero).arguments(1, 2, 3)[..2], [1, 3]);
        assert_eq!(entry(Abi::Memset).arguments(1, 2, 3), [1, 0, 3]);
    }

    #[test]
    fn a_driver_gets_its_arguments_and_gives_its_answer() {
        let mut ops: VecAssembler<dynasmrt::x64::X64Relocation> = VecAssembler::new(0);
        dynasm!(ops
            ; .arch x64
            ; mov rax, [rdi]
            ; add QWORD [rdi], 1
            ; ret
        );
        let code = ops.finalize().expect("no labels");
        let mut arena = Arena::new(4096).expect("a page is there");
        let slot = arena.emit(&[&code], &mut ChaCha8Rng::seed_from_u64(0)).expect("fits")[0];
        let mut value = 41u64;
        // SAFETY: the code above is a complete function that touches one u64.
        let answer = unsafe { call_pass(slot.addr, (&raw mut value).cast()) };
        assert_eq!((answer, value), (41, 42));
    }
}
