//! Small hand-made functions, right and wrong, in this very process. Functions that fault
//! are for tests with a process to lose.

use std::cell::Cell;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynasmApi, DynasmLabelApi, VecAssembler, dynasm};

use super::*;
use crate::host::Feature;
use crate::trial::{Contract, Machine};

type Ops = VecAssembler<X64Relocation>;

fn features() -> FeatureSet {
    let avx = std::arch::is_x86_feature_detected!("avx");
    if avx { FeatureSet::EMPTY.with(Feature::Avx) } else { FeatureSet::EMPTY }
}

fn verifier() -> Verifier {
    Verifier::new(features()).expect("a few pages of memory")
}

fn machine(write: impl FnOnce(&mut Ops)) -> Body {
    let mut ops = Ops::new(0);
    write(&mut ops);
    Body::Machine(Machine {
        bytes: ops.finalize().expect("labels are all there"),
        loop_top: None,
        boundaries: vec![1, 16, 33, 64, 256],
        contract: Contract::User,
        fixed: None,
        leaves_cache: false,
    })
}

/// A copy that is right up to where `spoil` does something: rax = r8 = dst, r9 = src,
/// rdi = dst + n, rsi = src + n, rdx = n there. A jump to `out` skips to the return.
fn copy(spoil: impl FnOnce(&mut Ops)) -> Body {
    machine(|ops| {
        dynasm!(ops
            ; .arch x64
            ; mov rax, rdi
            ; mov r8, rdi
            ; mov r9, rsi
            ; mov rcx, rdx
            ; rep movsb
        );
        spoil(ops);
        dynasm!(ops ; .arch x64 ; out: ; ret);
    })
}

const QUICK: Check = Check::Quick { size: 100 };

/// What the verifier says of a copy; it must still be able to tell a right one afterwards.
fn said(body: &Body, check: Check) -> Option<(Misbehaviour, String)> {
    let mut verifier = verifier();
    let failure = verifier.verify(Op::Copy, body, check, &()).err();
    verifier.verify(Op::Copy, &copy(|_| {}), check, &()).expect("nothing is left behind");
    failure.map(|failure| match failure.kind {
        FailureKind::Incorrect(what) => (what, failure.case),
        other => panic!("{other:?}"),
    })
}

fn what(spoil: impl FnOnce(&mut Ops)) -> Option<Misbehaviour> {
    said(&copy(spoil), QUICK).map(|(what, _)| what)
}

#[test]
fn a_right_copy_and_a_right_zero_pass() {
    let zero = machine(|ops| {
        dynasm!(ops
            ; .arch x64
            ; mov r8, rdi
            ; mov rcx, rsi
            ; xor eax, eax
            ; rep stosb
            ; mov rax, r8
            ; ret
        );
    });
    let mut verifier = verifier();
    for check in [QUICK, Check::Quick { size: 1 }, Check::Quick { size: 200_001 }, Check::Full] {
        for (op, body) in [(Op::Copy, copy(|_| {})), (Op::Zero, zero.clone())] {
            let verified = verifier.verify(op, &body, check, &()).expect("right");
            assert_eq!((verified.op(), verified.check(), verified.body()), (op, check, &body));
            assert_eq!(verified.abi(), if op == Op::Copy { Abi::Copy } else { Abi::Zero });
            assert!(verified.code().is_some() && verified.fixed_entry().is_none());
        }
    }
}

#[test]
fn a_missing_byte_is_named_with_its_case() {
    let short = machine(|ops| {
        dynasm!(ops
            ; .arch x64
            ; mov rax, rdi
            ; lea rcx, [rdx - 1]
            ; test rdx, rdx
            ; jz >out
            ; rep movsb
            ; out:
            ; ret
        );
    });
    let (what, case) = said(&short, QUICK).expect("wrong");
    let Misbehaviour::WrongByte { at: 0, wanted, got } = what else { panic!("{what:?}") };
    assert_ne!(wanted, got);
    assert!(case.starts_with("n=1 dst+"), "{case}");
}

#[test]
fn a_zero_that_forgets_its_tail_is_caught() {
    let short = machine(|ops| {
        dynasm!(ops
            ; .arch x64
            ; mov r8, rdi
            ; mov rcx, rsi
            ; and rcx, -8
            ; xor eax, eax
            ; rep stosb
            ; mov rax, r8
            ; ret
        );
    });
    let failure = verifier().verify(Op::Zero, &short, QUICK, &()).expect_err("wrong");
    assert!(matches!(
        failure.kind,
        FailureKind::Incorrect(Misbehaviour::WrongByte { wanted: 0, got: 0xA5, .. })
    ));
}

#[test]
fn bytes_outside_the_destination_are_found() {
    let (after, case) = said(
        &copy(|ops| {
            dynasm!(ops ; .arch x64 ; cmp rdx, 16 ; jne >out ; mov BYTE [rdi + 3], 0);
        }),
        QUICK,
    )
    .expect("wrong");
    assert_eq!(after, Misbehaviour::OutsideWrite { at: 19 });
    assert!(case.starts_with("n=16 "), "{case}");
    let before = what(|ops| dynasm!(ops ; .arch x64 ; mov BYTE [r8 - 1], 0));
    assert_eq!(before, Some(Misbehaviour::OutsideWrite { at: -1 }));
    // Too far away for the look after each call: the last look finds it.
    let (far, case) = said(
        &copy(|ops| {
            dynasm!(ops ; .arch x64 ; cmp rdx, 16 ; jne >out ; test r8d, 0xfff ; jnz >out ; mov BYTE [r8 + 5000], 0);
        }),
        QUICK,
    )
    .expect("wrong");
    assert!(matches!(far, Misbehaviour::OutsideWrite { .. }));
    assert!(case.ends_with(" or earlier"), "{case}");
}

#[test]
fn a_changed_source_is_found() {
    let changed = what(|ops| {
        dynasm!(ops ; .arch x64 ; cmp rdx, 33 ; jne >out ; xor BYTE [r9 + 7], 1);
    });
    assert_eq!(changed, Some(Misbehaviour::SourceChanged { at: 7 }));
}

#[test]
fn registers_that_belong_to_the_caller_are_watched() {
    let saved = |register| Some(Misbehaviour::CalleeSaved { register });
    assert_eq!(what(|ops| dynasm!(ops ; .arch x64 ; xor ebx, ebx)), saved(3));
    assert_eq!(what(|ops| dynasm!(ops ; .arch x64 ; mov rbp, r12)), saved(5));
    assert_eq!(what(|ops| dynasm!(ops ; .arch x64 ; inc r12)), saved(12));
    assert_eq!(what(|ops| dynasm!(ops ; .arch x64 ; xchg r13, r14)), saved(13));
    assert_eq!(what(|ops| dynasm!(ops ; .arch x64 ; not r15)), saved(15));
    let kept = what(|ops| dynasm!(ops ; .arch x64 ; push rbx ; xor ebx, ebx ; pop rbx));
    assert_eq!(kept, None);
}

#[test]
fn flags_and_control_words_are_watched() {
    let returned = what(|ops| dynasm!(ops ; .arch x64 ; lea rax, [r8 + 1]));
    assert_eq!(returned, Some(Misbehaviour::WrongReturn));
    assert_eq!(what(|ops| dynasm!(ops ; .arch x64 ; std)), Some(Misbehaviour::DirectionFlag));
    let mmx = what(|ops| dynasm!(ops ; .arch x64 ; movd mm3, eax));
    assert_eq!(mmx, Some(Misbehaviour::TagWord));
    assert_eq!(what(|ops| dynasm!(ops ; .arch x64 ; movd mm3, eax ; emms)), None);
    assert_eq!(what(|ops| dynasm!(ops ; .arch x64 ; fld1)), Some(Misbehaviour::TagWord));
    let control = what(|ops| {
        dynasm!(ops
            ; .arch x64
            ; fnstcw WORD [rsp - 8]
            ; xor WORD [rsp - 8], 0x0c00
            ; fldcw WORD [rsp - 8]
        );
    });
    assert_eq!(control, Some(Misbehaviour::X87Control));
    let mxcsr = |change: i32| {
        what(|ops| {
            dynasm!(ops
                ; .arch x64
                ; stmxcsr DWORD [rsp - 8]
                ; xor DWORD [rsp - 8], change
                ; ldmxcsr DWORD [rsp - 8]
            );
        })
    };
    assert_eq!(mxcsr(0x8000), Some(Misbehaviour::Mxcsr), "flush to zero");
    assert_eq!(mxcsr(0x0080), Some(Misbehaviour::Mxcsr), "a mask");
    assert_eq!(mxcsr(0x0020), None, "an exception flag");
}

#[test]
fn upper_halves_are_left_alone_or_clean() {
    if !features().contains(Feature::Avx) {
        return;
    }
    let dirty = what(|ops| dynasm!(ops ; .arch x64 ; vmovaps ymm5, ymm6));
    assert_eq!(dirty, Some(Misbehaviour::UpperHalf { register: 5 }));
    let loaded = what(|ops| {
        dynasm!(ops ; .arch x64 ; cmp rdx, 64 ; jb >out ; vmovdqu ymm15, [r9]);
    });
    assert_eq!(loaded, Some(Misbehaviour::UpperHalf { register: 15 }));
    assert_eq!(what(|ops| dynasm!(ops ; .arch x64 ; vmovaps ymm5, ymm6 ; vzeroupper)), None);
    assert_eq!(what(|ops| dynasm!(ops ; .arch x64 ; vmovaps xmm5, xmm6)), None);
    assert_eq!(what(|ops| dynasm!(ops ; .arch x64 ; movaps xmm5, xmm6)), None);
}

#[test]
fn functions_of_others_are_verified_too() {
    let mut verifier = verifier();
    let foreign = |symbol: &str| Body::Foreign { path: "libc.so.6".into(), symbol: symbol.into() };
    for check in [Check::Quick { size: 4096 }, Check::Quick { size: 1 << 20 }, Check::Full] {
        for (op, abi) in [(Op::Copy, Abi::Copy), (Op::Zero, Abi::Memset)] {
            let verified = verifier.verify(op, &Body::Libc, check, &()).expect("the C library");
            assert_eq!(verified.abi(), abi);
            assert_eq!(verified.fixed_entry().map(|e| e.abi), Some(abi));
            assert!(verified.code().is_none());
        }
        let verified = verifier.verify(Op::Copy, &foreign("memmove"), check, &());
        assert!(verified.is_ok_and(|v| v.fixed_entry().is_some()));
    }
    let wrong = verifier.verify(Op::Copy, &foreign("mempcpy"), QUICK, &()).expect_err("end");
    assert_eq!(wrong.kind, FailureKind::Incorrect(Misbehaviour::WrongReturn));
    let missing = verifier.verify(Op::Copy, &foreign("no_such"), QUICK, &()).expect_err("none");
    assert!(matches!(missing.kind, FailureKind::Unsupported(ref why) if why.contains("no_such")));
}

#[test]
fn code_that_cannot_be_placed_is_unsupported() {
    let mut verifier = verifier();
    for bytes in [Vec::new(), vec![0xC3; ARENA_BYTES + 1]] {
        let Body::Machine(mut body) = copy(|_| {}) else { panic!("code") };
        body.bytes = bytes;
        let failure = verifier.verify(Op::Copy, &Body::Machine(body), QUICK, &());
        let kind = failure.expect_err("no place").kind;
        assert!(matches!(kind, FailureKind::Unsupported(_)));
    }
}

#[test]
fn every_case_is_announced_before_its_call() {
    struct Log(Cell<u64>, Cell<String>);
    impl Announce for Log {
        fn case(&self, n: u64, dst: u32, src: u32) {
            self.0.set(self.0.get() + 1);
            self.1.set(case_text(n, dst, src));
        }
    }
    let log = Log(Cell::new(0), Cell::new(String::new()));
    let body = copy(|ops| dynasm!(ops ; .arch x64 ; cmp rdx, 64 ; jne >out ; std));
    let failure = verifier().verify(Op::Copy, &body, QUICK, &log).expect_err("wrong");
    assert!(failure.case.starts_with("n=64 "), "{failure}");
    assert_eq!(log.1.take(), failure.case);
    let all = Log(Cell::new(0), Cell::new(String::new()));
    verifier().verify(Op::Copy, &copy(|_| {}), QUICK, &all).expect("right");
    assert!(all.0.get() > log.0.get() && log.0.get() > 0);

    let (page, path) = SharedPage::create().expect("memfd");
    let child = SharedPage::open(&path).expect("opens");
    let failure = verifier().verify(Op::Copy, &body, QUICK, &child).expect_err("wrong");
    let (n, dst, src) = page.case();
    assert_eq!(case_text(n, dst, src), failure.case);
}
