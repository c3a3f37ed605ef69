//! A naive processor: it runs a lowered function on two buffers and objects to everything
//! that a caller could notice. Needs no host feature, so that every class is checked
//! everywhere.

use looptune::ir::{
    Cond, Function, Gp, Insn, Item, Label, Mem, RepOp, Vec as VecRegister, VecEncoding, VecMove,
    Width,
};

/// What a function may be blamed for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    LoadOutside { at: u64, bytes: usize },
    StoreOutside { at: u64, bytes: usize },
    Unaligned { at: u64, insn: Insn },
    WrongByte { at: usize, is: u8, ought: u8 },
    NotDst { rax: u64 },
    Clobbered(&'static str),
    DirtyUpper(usize),
    SseWhileDirty(Insn),
    MmxInUse,
    StoresNotFenced,
    Direction,
    NoLabel(Label),
    FellOff,
    Hangs,
    Unexpected(Insn),
}

/// One call: buffers of exactly `n` bytes at chosen addresses.
pub(crate) struct Call {
    pub(crate) dst: u64,
    pub(crate) src: u64,
    pub(crate) n: usize,
    pub(crate) copies: bool,
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
    src: &'a [u8],
    dst: std::vec::Vec<u8>,
    gp: [u64; 16],
    vectors: [[u8; 64]; 32],
    /// Whether a register of the old sixteen has an upper part in use.
    dirty: [bool; 16],
    mmx: [u64; 8],
    mmx_in_use: bool,
    unfenced: bool,
    direction: bool,
    flags: Flags,
}

/// What uninitialised registers and destination bytes hold.
const JUNK: u8 = 0xa7;
const JUNK_64: u64 = 0xa7a7_a7a7_a7a7_a7a7;
/// Enough for every call of the tests, with a byte loop for the tail.
const MOST_STEPS: usize = 200_000;

/// Runs the function and checks everything. Says which items it passed, in order.
pub(crate) fn run(
    function: &Function,
    call: &Call,
    src: &[u8],
) -> Result<std::vec::Vec<usize>, Blame> {
    let src = &src[..call.n];
    let mut machine = Machine {
        call,
        src,
        dst: vec![JUNK; call.n],
        gp: [JUNK_64; 16],
        vectors: [[JUNK; 64]; 32],
        dirty: [false; 16],
        mmx: [JUNK_64; 8],
        mmx_in_use: false,
        unfenced: false,
        direction: false,
        flags: Flags::default(),
    };
    machine.gp[Gp::Rdi as usize] = call.dst;
    if call.copies {
        machine.gp[Gp::Rsi as usize] = call.src;
        machine.gp[Gp::Rdx as usize] = call.n as u64;
    } else {
        machine.gp[Gp::Rsi as usize] = call.n as u64;
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
        for (at, is) in self.dst.iter().enumerate() {
            let ought = if self.call.copies { self.src[at] } else { 0 };
            if *is != ought {
                return Err(Blame::WrongByte { at, is: *is, ought });
            }
        }
        let rax = self.gp[Gp::Rax as usize];
        if rax != self.call.dst {
            return Err(Blame::NotDst { rax });
        }
        if self.gp[Gp::Rbx as usize] != JUNK_64 {
            return Err(Blame::Clobbered("rbx"));
        }
        if let Some(register) = self.dirty.iter().position(|d| *d) {
            return Err(Blame::DirtyUpper(register));
        }
        match (self.mmx_in_use, self.unfenced, self.direction) {
            (true, _, _) => Err(Blame::MmxInUse),
            (_, true, _) => Err(Blame::StoresNotFenced),
            (_, _, true) => Err(Blame::Direction),
            _ => Ok(()),
        }
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

    fn address(&self, mem: Mem) -> u64 {
        let index = mem.index.map_or(0, |i| self.gp[i as usize]);
        self.gp[mem.base as usize].wrapping_add(index).wrapping_add(mem.disp as i64 as u64)
    }

    fn load(&self, at: u64, bytes: usize) -> Result<[u8; 64], Blame> {
        let start = at.wrapping_sub(self.call.src) as usize;
        let end = start.wrapping_add(bytes);
        let found = self.src.get(start..end).filter(|_| self.call.copies);
        let found = found.ok_or(Blame::LoadOutside { at, bytes })?;
        let mut value = [0; 64];
        value[..bytes].copy_from_slice(found);
        Ok(value)
    }

    fn store(&mut self, at: u64, value: &[u8]) -> Result<(), Blame> {
        let start = at.wrapping_sub(self.call.dst) as usize;
        let end = start.wrapping_add(value.len());
        let slot = self.dst.get_mut(start..end);
        let slot = slot.ok_or(Blame::StoreOutside { at, bytes: value.len() })?;
        slot.copy_from_slice(value);
        Ok(())
    }

    fn step(&mut self, insn: &Insn) -> Result<(), Blame> {
        match *insn {
            Insn::Endbr64 | Insn::Nop { .. } | Insn::Prefetch { .. } => {}
            Insn::Sfence => self.unfenced = false,
            Insn::Emms => self.mmx_in_use = false,
            Insn::Vzeroupper => {
                self.dirty = [false; 16];
                self.vectors[..16].iter_mut().for_each(|v| v[16..].fill(0));
            }
            Insn::Std => self.direction = true,
            Insn::Rep { op, width } => self.string(op, width)?,
            Insn::Load { width, dst, mem } => {
                let value = self.load(self.address(mem), bytes(width))?;
                self.gp[dst as usize] = number(&value);
            }
            Insn::Store { width, mem, src } => {
                let value = self.gp[src as usize].to_le_bytes();
                self.store(self.address(mem), &value[..bytes(width)])?;
            }
            Insn::StoreNti { width, mem, src } => {
                self.unfenced = true;
                let value = self.gp[src as usize].to_le_bytes();
                self.store(self.address(mem), &value[..bytes(width)])?;
            }
            Insn::MmxLoad { .. }
            | Insn::MmxStore { .. }
            | Insn::MmxStoreNt { .. }
            | Insn::MmxZero { .. } => self.mmx(insn)?,
            Insn::VecLoad { .. } | Insn::VecStore { .. } | Insn::VecZero { .. } => {
                self.vector(insn)?;
            }
            _ => self.general(insn)?,
        }
        Ok(())
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

    fn mmx(&mut self, insn: &Insn) -> Result<(), Blame> {
        self.mmx_in_use = true;
        match *insn {
            Insn::MmxLoad { dst, mem } => {
                self.mmx[usize::from(dst)] = number(&self.load(self.address(mem), 8)?);
            }
            Insn::MmxZero { dst } => self.mmx[usize::from(dst)] = 0,
            Insn::MmxStore { mem, src } | Insn::MmxStoreNt { mem, src } => {
                self.unfenced |= matches!(insn, Insn::MmxStoreNt { .. });
                let value = self.mmx[usize::from(src)].to_le_bytes();
                self.store(self.address(mem), &value)?;
            }
            _ => return Err(Blame::Unexpected(*insn)),
        }
        Ok(())
    }

    fn vector(&mut self, insn: &Insn) -> Result<(), Blame> {
        let (register, access) = match *insn {
            Insn::VecLoad { dst, mem, kind } => (dst, Some((mem, kind))),
            Insn::VecStore { mem, src, kind } => (src, Some((mem, kind))),
            Insn::VecZero { dst } => (dst, None),
            _ => return Err(Blame::Unexpected(*insn)),
        };
        let bytes = usize::from(register.bytes);
        if register.encoding == VecEncoding::Sse && self.dirty.contains(&true) {
            return Err(Blame::SseWhileDirty(*insn));
        }
        if let Some((mem, VecMove::Aligned | VecMove::NonTemporal)) = access {
            let at = self.address(mem);
            if !at.is_multiple_of(bytes as u64) {
                return Err(Blame::Unaligned { at, insn: *insn });
            }
        }
        match (insn, access) {
            (Insn::VecStore { .. }, Some((mem, kind))) => {
                self.unfenced |= kind == VecMove::NonTemporal;
                let value = self.vectors[usize::from(register.number)];
                self.store(self.address(mem), &value[..bytes])
            }
            (_, Some((mem, _))) => {
                let value = self.load(self.address(mem), bytes)?;
                self.write(register, &value);
                Ok(())
            }
            (_, None) => {
                self.write(register, &[0; 64]);
                Ok(())
            }
        }
    }

    /// SSE leaves the upper part alone; VEX and EVEX clear what they do not write.
    fn write(&mut self, register: VecRegister, value: &[u8; 64]) {
        let (number, bytes) = (usize::from(register.number), usize::from(register.bytes));
        let whole = &mut self.vectors[number];
        whole[..bytes].copy_from_slice(&value[..bytes]);
        if register.encoding != VecEncoding::Sse {
            whole[bytes..].fill(0);
            if let Some(dirty) = self.dirty.get_mut(number) {
                *dirty = bytes > 16;
            }
        }
    }

    fn general(&mut self, insn: &Insn) -> Result<(), Blame> {
        let value = |r: Gp| self.gp[r as usize];
        let wide = |imm: i32| imm as i64 as u64;
        let (to, result) = match *insn {
            Insn::Mov { dst, src } => (dst, value(src)),
            Insn::Lea { dst, mem } => (dst, self.address(mem)),
            Insn::Zero { dst } => (dst, self.logic(0)),
            Insn::Add { dst, src } => (dst, self.add(value(dst), value(src))),
            Insn::AddImm { dst, imm } => (dst, self.add(value(dst), wide(imm))),
            Insn::Sub { dst, src } => (dst, self.subtract(value(dst), value(src))),
            Insn::SubImm { dst, imm } => (dst, self.subtract(value(dst), wide(imm))),
            Insn::Neg { dst } => (dst, self.subtract(0, value(dst))),
            Insn::AndImm { dst, imm } => (dst, self.logic(value(dst) & wide(imm))),
            Insn::ShrImm { dst, imm } => (dst, self.logic(value(dst) >> imm)),
            Insn::Cmp { a, b } => (a, self.compare(value(a), value(b))),
            Insn::CmpImm { a, imm } => (a, self.compare(value(a), wide(imm))),
            Insn::Test { a, b } => {
                let kept = value(a);
                self.logic(kept & value(b));
                (a, kept)
            }
            Insn::TestImm { a, imm } => {
                let kept = value(a);
                self.logic(kept & u64::from(imm));
                (a, kept)
            }
            _ => return Err(Blame::Unexpected(*insn)),
        };
        self.gp[to as usize] = result;
        Ok(())
    }

    fn logic(&mut self, result: u64) -> u64 {
        self.flags = Flags { zero: result == 0, sign: (result as i64) < 0, ..Flags::default() };
        result
    }

    fn add(&mut self, a: u64, b: u64) -> u64 {
        let (result, carry) = a.overflowing_add(b);
        let overflow = (a as i64).overflowing_add(b as i64).1;
        self.flags = Flags { carry, zero: result == 0, sign: (result as i64) < 0, overflow };
        result
    }

    fn subtract(&mut self, a: u64, b: u64) -> u64 {
        let (result, carry) = a.overflowing_sub(b);
        let overflow = (a as i64).overflowing_sub(b as i64).1;
        self.flags = Flags { carry, zero: result == 0, sign: (result as i64) < 0, overflow };
        result
    }

    /// Flags of the difference; the first operand stays.
    fn compare(&mut self, a: u64, b: u64) -> u64 {
        self.subtract(a, b);
        a
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
