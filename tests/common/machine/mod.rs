//! A naive processor: it runs a lowered function on two buffers and a stack and objects to
//! everything that a caller could notice. Needs no host feature, so that every class is
//! checked everywhere.

mod general;
mod memory;
mod numbers;
mod tiles;
mod vectors;

use looptune::ir::{Cond, Function, Gp, Insn, Item, Label, Mem, RepOp, Width};
use looptune::subject::Op;
use memory::{ENTRY_STACK, Memory};
use numbers::Numbers;
use tiles::Tiles;
use vectors::Vectors;

/// What a function may be blamed for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    LoadOutside {
        at: u64,
        bytes: usize,
    },
    StoreOutside {
        at: u64,
        bytes: usize,
    },
    /// A page of the stack was jumped over, which might have been a guard page.
    StackSkipped {
        at: u64,
    },
    Unaligned {
        at: u64,
        insn: Insn,
    },
    WrongByte {
        at: usize,
        is: u8,
        ought: u8,
    },
    /// A byte that a read should have loaded.
    Unread {
        at: usize,
    },
    NotDst {
        rax: u64,
    },
    Clobbered(&'static str),
    DirtyUpper(usize),
    SseWhileDirty(Insn),
    /// MMX registers, or numbers on the x87 stack.
    X87InUse,
    /// A load onto a stack that is full: the bytes are lost.
    X87Overflow,
    X87Underflow,
    /// An integer stored as a real number, or the other way round.
    X87Mixed,
    TilesInUse,
    NoTiles(Insn),
    BadTiles,
    StoresNotFenced,
    Direction,
    NoLabel(Label),
    FellOff,
    Hangs,
    Unexpected(Insn),
}

/// One call: buffers of exactly `n` bytes at chosen addresses. A read gets the destination's.
pub(crate) struct Call {
    pub(crate) op: Op,
    pub(crate) dst: u64,
    pub(crate) src: u64,
    pub(crate) n: usize,
    /// Whether the caller left the x87 stack full.
    pub(crate) occupied: bool,
}

#[derive(Default)]
struct Flags {
    carry: bool,
    zero: bool,
    sign: bool,
    overflow: bool,
}

struct Machine<'a> {
    call: &'a Call,
    memory: Memory<'a>,
    gp: [u64; 16],
    vectors: Vectors,
    numbers: Numbers,
    tiles: Option<Tiles>,
    unfenced: bool,
    direction: bool,
    flags: Flags,
}

/// What uninitialised registers and destination bytes hold.
const JUNK: u8 = 0xa7;
const JUNK_64: u64 = 0xa7a7_a7a7_a7a7_a7a7;
/// Enough for every call of the tests, with a byte loop for the tail.
const MOST_STEPS: usize = 600_000;

/// Runs the function and checks everything. Says which items it passed, in order.
pub(crate) fn run(function: &Function, call: &Call, src: &[u8]) -> Result<Vec<usize>, Blame> {
    let mut machine = Machine {
        call,
        memory: Memory::new(call, &src[..call.n]),
        gp: [JUNK_64; 16],
        vectors: Vectors::new(),
        numbers: Numbers::new(call.occupied),
        tiles: None,
        unfenced: false,
        direction: false,
        flags: Flags::default(),
    };
    machine.gp[Gp::Rsp as usize] = ENTRY_STACK;
    machine.gp[Gp::Rdi as usize] = call.dst;
    if call.op.copies() {
        machine.gp[Gp::Rsi as usize] = call.src;
        machine.gp[Gp::Rdx as usize] = call.n as u64;
    } else {
        machine.gp[Gp::Rsi as usize] = call.n as u64;
    }
    if function.fixed.is_some() {
        // The size is known and not told.
        machine.gp[if call.op.copies() { Gp::Rdx } else { Gp::Rsi } as usize] = JUNK_64;
    }
    let mut at = 0;
    let mut path = vec![];
    for _ in 0..MOST_STEPS {
        let item = function.items.get(at).ok_or(Blame::FellOff)?;
        path.push(at);
        at += 1;
        let Item::Insn(insn) = item else { continue };
        let to = match *insn {
            Insn::Ret => return machine.judge().map(|()| path),
            Insn::Jmp { to } => to,
            Insn::Jcc { cond, to } if machine.holds(cond) => to,
            Insn::Jcc { .. } => continue,
            _ => {
                machine.step(insn)?;
                continue;
            }
        };
        let place = |item: &Item| *item == Item::Label(to);
        at = function.items.iter().position(place).ok_or(Blame::NoLabel(to))?;
    }
    Err(Blame::Hangs)
}

impl Machine<'_> {
    /// The state at the return.
    fn judge(&self) -> Result<(), Blame> {
        self.memory.judge(self.call.op)?;
        if self.gp[Gp::Rsp as usize] != ENTRY_STACK {
            return Err(Blame::Clobbered("rsp"));
        }
        let rax = self.gp[Gp::Rax as usize];
        if rax != self.call.dst {
            return Err(Blame::NotDst { rax });
        }
        for (register, name) in [(Gp::Rbx, "rbx"), (Gp::Rbp, "rbp")] {
            if self.gp[register as usize] != JUNK_64 {
                return Err(Blame::Clobbered(name));
            }
        }
        if let Some(register) = self.vectors.dirty() {
            return Err(Blame::DirtyUpper(register));
        }
        match (self.numbers.in_use(), self.tiles.is_some(), self.unfenced, self.direction) {
            (true, ..) => Err(Blame::X87InUse),
            (_, true, ..) => Err(Blame::TilesInUse),
            (_, _, true, _) => Err(Blame::StoresNotFenced),
            (_, _, _, true) => Err(Blame::Direction),
            _ => Ok(()),
        }
    }

    fn address(&self, mem: Mem) -> u64 {
        let index = mem.index.map_or(0, |i| self.gp[i as usize]);
        self.gp[mem.base as usize].wrapping_add(index).wrapping_add(mem.disp as i64 as u64)
    }

    fn load(&mut self, at: u64, bytes: usize) -> Result<[u8; 64], Blame> {
        self.memory.load(at, bytes, self.gp[Gp::Rsp as usize])
    }

    fn store(&mut self, at: u64, value: &[u8]) -> Result<(), Blame> {
        self.memory.store(at, value, self.gp[Gp::Rsp as usize])
    }

    fn step(&mut self, insn: &Insn) -> Result<(), Blame> {
        match *insn {
            Insn::Endbr64 | Insn::Nop { .. } | Insn::Prefetch { .. } => {}
            Insn::Sfence => self.unfenced = false,
            Insn::Std => self.direction = true,
            Insn::Rep { op, width } => self.string(op, width)?,
            Insn::Load { width, dst, mem } => {
                let value = self.load(self.address(mem), bytes(width))?;
                self.gp[dst as usize] = number(&value);
            }
            Insn::Store { width, mem, src } | Insn::StoreNti { width, mem, src } => {
                self.unfenced |= matches!(insn, Insn::StoreNti { .. });
                let value = self.gp[src as usize].to_le_bytes();
                self.store(self.address(mem), &value[..bytes(width)])?;
            }
            Insn::Emms
            | Insn::MmxLoad { .. }
            | Insn::MmxStore { .. }
            | Insn::MmxStoreNt { .. }
            | Insn::MmxZero { .. }
            | Insn::X87Load { .. }
            | Insn::X87Store { .. }
            | Insn::X87Keep { .. }
            | Insn::X87Zero
            | Insn::X87Pop => self.numbers(insn)?,
            Insn::Vzeroupper
            | Insn::VecLoad { .. }
            | Insn::VecStore { .. }
            | Insn::VecZero { .. }
            | Insn::VecOnes { .. }
            | Insn::MaskFrom { .. }
            | Insn::MaskLoad { .. }
            | Insn::MaskStore { .. } => self.vector(insn)?,
            Insn::TileConfig { .. }
            | Insn::TileRelease
            | Insn::TileZero { .. }
            | Insn::TileLoad { .. }
            | Insn::TileStore { .. } => self.tile(insn)?,
            Insn::LineMove { to, mem } => {
                let value = self.load(self.address(mem), 64)?;
                self.line(self.gp[to as usize], &value, insn)?;
            }
            Insn::LineZero => {
                // Whichever line rax points into.
                let at = self.gp[Gp::Rax as usize] & !63;
                self.line(at, &[0; 64], insn)?;
            }
            _ => self.general(insn)?,
        }
        Ok(())
    }

    /// A whole line past the caches.
    fn line(&mut self, at: u64, value: &[u8; 64], insn: &Insn) -> Result<(), Blame> {
        if !at.is_multiple_of(64) {
            return Err(Blame::Unaligned { at, insn: *insn });
        }
        self.unfenced = true;
        self.store(at, value)
    }

    fn string(&mut self, op: RepOp, width: Width) -> Result<(), Blame> {
        if self.direction {
            return Err(Blame::Direction);
        }
        let [rax, rcx, rsi, rdi] = [Gp::Rax, Gp::Rcx, Gp::Rsi, Gp::Rdi].map(|r| r as usize);
        let bytes = bytes(width);
        while self.gp[rcx] > 0 {
            let value = match op {
                RepOp::Movs => {
                    let value = self.load(self.gp[rsi], bytes)?;
                    self.gp[rsi] += bytes as u64;
                    number(&value).to_le_bytes()
                }
                RepOp::Stos => self.gp[rax].to_le_bytes(),
            };
            self.store(self.gp[rdi], &value[..bytes])?;
            self.gp[rdi] += bytes as u64;
            self.gp[rcx] -= 1;
        }
        Ok(())
    }

    fn holds(&self, cond: Cond) -> bool {
        let f = &self.flags;
        match cond {
            Cond::B => f.carry,
            Cond::Ae => !f.carry,
            Cond::Be => f.carry || f.zero,
            Cond::A => !f.carry && !f.zero,
            Cond::E => f.zero,
            Cond::Ne => !f.zero,
            Cond::S => f.sign,
            Cond::Ns => !f.sign,
            Cond::Le => f.zero || f.sign != f.overflow,
            Cond::G => !f.zero && f.sign == f.overflow,
        }
    }
}

fn bytes(width: Width) -> usize {
    match width {
        Width::B1 => 1,
        Width::B2 => 2,
        Width::B4 => 4,
        Width::B8 => 8,
    }
}

fn number(value: &[u8; 64]) -> u64 {
    let mut low = [0; 8];
    low.copy_from_slice(&value[..8]);
    u64::from_le_bytes(low)
}
