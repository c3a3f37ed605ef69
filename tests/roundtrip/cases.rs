//! Every kind of instruction with every register, memory form and telling displacement.

use looptune::ir::{Gp, Insn, Mem, RepOp, Vec as VecRegister, VecEncoding, VecMove, Width, X87};
use looptune::subject::Hint;

const GPS: [Gp; 12] = [
    Gp::Rax,
    Gp::Rcx,
    Gp::Rdx,
    Gp::Rbx,
    Gp::Rsp,
    Gp::Rbp,
    Gp::Rsi,
    Gp::Rdi,
    Gp::R8,
    Gp::R9,
    Gp::R10,
    Gp::R11,
];
const WIDTHS: [Width; 4] = [Width::B1, Width::B2, Width::B4, Width::B8];

/// Around the limits of 8-bit displacements, plain and scaled by 16, 32 and 64.
const DISPS: [i32; 30] = [
    0,
    1,
    -1,
    8,
    -8,
    16,
    -16,
    32,
    -32,
    64,
    -64,
    127,
    -127,
    128,
    -128,
    129,
    -129,
    960,
    2032,
    -2048,
    2048,
    4064,
    -4096,
    4096,
    8128,
    -8192,
    8192,
    4097,
    1_000_000,
    -2_147_483_648,
];

/// Some of them, for memory operands that few instructions have.
const FEW_DISPS: [i32; 6] = [0, -64, 64, 127, -1024, 4096];

/// Around the limits of 8-bit immediates.
const IMMS: [i32; 16] = [
    0,
    1,
    -1,
    2,
    63,
    64,
    -64,
    127,
    -127,
    128,
    -128,
    129,
    -129,
    4096,
    2_147_483_647,
    -2_147_483_648,
];

fn mems() -> Vec<Mem> {
    let forms = |disp| {
        [
            Mem::at(Gp::Rdi, disp),
            Mem::at(Gp::Rsi, disp),
            Mem::indexed(Gp::Rdi, Gp::Rdx, disp),
            Mem::indexed(Gp::Rsi, Gp::Rdx, disp),
            Mem::indexed(Gp::Rdi, Gp::Rsi, disp),
        ]
    };
    DISPS.iter().flat_map(|d| forms(*d)).collect()
}

/// Every other base: some cost a byte or a prefix more.
fn odd_mems() -> Vec<Mem> {
    let bases = GPS.iter().copied().filter(|b| !matches!(b, Gp::Rdi | Gp::Rsi));
    let mut all = vec![];
    for disp in FEW_DISPS {
        all.extend(bases.clone().map(|base| Mem::at(base, disp)));
        for (base, index) in
            [(Gp::Rdi, Gp::R11), (Gp::Rsi, Gp::R11), (Gp::R9, Gp::R11), (Gp::Rsp, Gp::Rcx)]
        {
            all.push(Mem::indexed(base, index, disp));
        }
    }
    all
}

/// Places of tiles: the index is the step from row to row.
fn row_mems() -> Vec<Mem> {
    let bases = [Gp::Rdi, Gp::Rsi, Gp::Rsp, Gp::R9, Gp::R11];
    let forms = |disp| bases.map(|base| Mem::indexed(base, Gp::R8, disp));
    DISPS.iter().flat_map(|d| forms(*d)).collect()
}

fn vectors() -> Vec<VecRegister> {
    let mut all = vec![];
    for (encoding, lengths, count) in [
        (VecEncoding::Sse, &[16u8][..], 16),
        (VecEncoding::Vex, &[16, 32], 16),
        (VecEncoding::Evex, &[16, 32, 64], 32),
    ] {
        for bytes in lengths {
            all.extend((0..count).map(|number| VecRegister { number, bytes: *bytes, encoding }));
        }
    }
    all
}

pub(crate) fn all() -> Vec<Insn> {
    let mut all = vec![
        Insn::Endbr64,
        Insn::Ret,
        Insn::Sfence,
        Insn::Vzeroupper,
        Insn::Emms,
        Insn::Std,
        Insn::Ud2,
        Insn::X87Zero,
        Insn::X87Pop,
        Insn::TileRelease,
        Insn::LineZero,
        Insn::Leave,
    ];
    for op in [RepOp::Movs, RepOp::Stos] {
        all.extend(WIDTHS.map(|width| Insn::Rep { op, width }));
    }
    all.extend((1..=9).map(|len| Insn::Nop { len }));
    all.extend((0..8).map(|dst| Insn::MmxZero { dst }));
    all.extend(vectors().into_iter().map(|dst| Insn::VecZero { dst }));
    all.extend(vectors().into_iter().map(|dst| Insn::VecOnes { dst }));
    all.extend((0..8).map(|tile| Insn::TileZero { tile }));
    for mem in mems().into_iter().chain(odd_mems()) {
        with_memory(mem, &mut all);
    }
    for mem in row_mems() {
        all.extend(
            (0..8).flat_map(|tile| [Insn::TileLoad { tile, mem }, Insn::TileStore { mem, tile }]),
        );
    }
    for a in GPS {
        for b in GPS {
            all.extend([
                Insn::Mov { dst: a, src: b },
                Insn::Add { dst: a, src: b },
                Insn::Sub { dst: a, src: b },
                Insn::Cmp { a, b },
                Insn::Test { a, b },
            ]);
        }
        all.extend([Insn::Zero { dst: a }, Insn::Neg { dst: a }]);
        all.extend([Insn::Ones { dst: a }, Insn::Push { src: a }]);
        all.extend([0, 1, 64, 0x7fff_ffff, 0xffff_ffff].map(|imm| Insn::MovImm { dst: a, imm }));
        all.extend((0..8).map(|mask| Insn::MaskFrom { mask, src: a }));
        for src in GPS {
            all.extend([Gp::Rdx, Gp::Rsi, Gp::R11].map(|index| Insn::Bzhi { dst: a, src, index }));
        }
        all.extend([1, 15, 63, 127].map(|imm| Insn::TestImm { a, imm }));
        all.extend([1, 2, 3, 63].map(|imm| Insn::ShrImm { dst: a, imm }));
        for imm in IMMS {
            all.extend([
                Insn::AddImm { dst: a, imm },
                Insn::SubImm { dst: a, imm },
                Insn::AndImm { dst: a, imm },
                Insn::CmpImm { a, imm },
            ]);
        }
    }
    all
}

fn with_memory(mem: Mem, all: &mut Vec<Insn>) {
    for r in GPS {
        for width in WIDTHS {
            all.push(Insn::Load { width, dst: r, mem });
            all.push(Insn::Store { width, mem, src: r });
        }
        all.push(Insn::StoreNti { width: Width::B4, mem, src: r });
        all.push(Insn::StoreNti { width: Width::B8, mem, src: r });
        all.push(Insn::Lea { dst: r, mem });
    }
    for r in 0..8 {
        all.push(Insn::MmxLoad { dst: r, mem });
        all.push(Insn::MmxStore { mem, src: r });
        all.push(Insn::MmxStoreNt { mem, src: r });
    }
    for kind in [X87::Real, X87::Integer] {
        all.push(Insn::X87Load { kind, mem });
        all.push(Insn::X87Store { kind, mem });
    }
    all.push(Insn::X87Keep { mem });
    all.push(Insn::TileConfig { mem });
    all.extend([Gp::Rdi, Gp::R9, Gp::Rax].map(|to| Insn::LineMove { to, mem }));
    for hint in [Hint::T0, Hint::T1, Hint::T2, Hint::Nta, Hint::W] {
        all.push(Insn::Prefetch { hint, mem });
    }
    for r in vectors() {
        for kind in [VecMove::Unaligned, VecMove::Aligned] {
            all.push(Insn::VecLoad { dst: r, mem, kind });
            all.push(Insn::VecStore { mem, src: r, kind });
        }
        all.push(Insn::VecStore { mem, src: r, kind: VecMove::NonTemporal });
    }
    for r in vectors().into_iter().filter(|r| r.encoding == VecEncoding::Evex && r.number % 5 == 1)
    {
        for mask in [1, 7] {
            all.push(Insn::MaskLoad { dst: r, mem, mask });
            all.push(Insn::MaskStore { mem, src: r, mask });
        }
    }
}
