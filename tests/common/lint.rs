//! What every way through a function's bytes must have put right at its return, whatever the
//! size. Reads machine code, so that no processor needs to have the instructions.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, Register};

/// What some way leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Stores past the caches without a later `sfence`.
    Unfenced,
    /// Tiles configured.
    Tiles,
    /// MMX registers in use.
    Mmx,
    /// Numbers on the x87 stack, so many.
    X87(i8),
    /// Ways that meet with differently many numbers on the stack.
    Uneven,
    /// The upper half of a vector register in use.
    UpperHalf(u32),
    /// A frame that was not given back.
    Frame,
    /// The direction flag.
    Direction,
}

/// What may be in use where an instruction begins.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct State {
    unfenced: bool,
    tiles: bool,
    mmx: bool,
    depth: i8,
    /// A bit for each of the old sixteen vector registers.
    upper: u16,
    frame: bool,
    direction: bool,
}

impl State {
    /// Whatever either has. The depth of the stack is the same on all ways.
    fn join(self, other: State) -> Result<State, Left> {
        if self.depth != other.depth {
            return Err(Left::Uneven);
        }
        Ok(State {
            unfenced: self.unfenced | other.unfenced,
            tiles: self.tiles | other.tiles,
            mmx: self.mmx | other.mmx,
            depth: self.depth,
            upper: self.upper | other.upper,
            frame: self.frame | other.frame,
            direction: self.direction | other.direction,
        })
    }

    fn after(mut self, i: &Instruction) -> State {
        match i.mnemonic() {
            Mnemonic::Movnti
            | Mnemonic::Movntps
            | Mnemonic::Vmovntdq
            | Mnemonic::Movdir64b
            | Mnemonic::Clzero => self.unfenced = true,
            Mnemonic::Sfence => self.unfenced = false,
            Mnemonic::Ldtilecfg => self.tiles = true,
            Mnemonic::Tilerelease => self.tiles = false,
            Mnemonic::Fld | Mnemonic::Fild | Mnemonic::Fldz => self.depth += 1,
            Mnemonic::Fstp | Mnemonic::Fistp => self.depth -= 1,
            Mnemonic::Emms => (self.mmx, self.depth) = (false, 0),
            Mnemonic::Vzeroupper => self.upper = 0,
            Mnemonic::Push => self.frame = true,
            Mnemonic::Leave => self.frame = false,
            Mnemonic::Std => self.direction = true,
            Mnemonic::Movntq => (self.unfenced, self.mmx) = (true, true),
            _ => {}
        }
        let operands = (0..i.op_count()).map(|n| i.op_register(n));
        self.mmx |= operands.into_iter().any(Register::is_mm);
        self.upper = self.upper & !bit(i, 16) | bit(i, 32) | bit(i, 64);
        self
    }

    fn left(self) -> Option<Left> {
        let upper = (self.upper != 0).then(|| self.upper.trailing_zeros());
        match self {
            State { unfenced: true, .. } => Some(Left::Unfenced),
            State { tiles: true, .. } => Some(Left::Tiles),
            State { mmx: true, .. } => Some(Left::Mmx),
            State { frame: true, .. } => Some(Left::Frame),
            State { direction: true, .. } => Some(Left::Direction),
            State { depth, .. } if depth != 0 => Some(Left::X87(depth)),
            _ => upper.map(Left::UpperHalf),
        }
    }
}

/// The old vector register of so many bytes that an instruction writes, as a bit. What has no
/// VEX or EVEX prefix leaves upper halves alone.
fn bit(i: &Instruction, bytes: usize) -> u16 {
    let legacy = format!("{:?}", i.encoding()) == "Legacy";
    let written = i.op0_register();
    let vector = written.is_xmm() || written.is_ymm() || written.is_zmm();
    let number = written.number();
    if legacy || !vector || written.size() != bytes || number > 15 { 0 } else { 1 << number }
}

/// Follows every way through a function's bytes to its returns.
///
/// # Errors
/// The first thing that a way leaves behind.
pub(crate) fn ways_out(bytes: &[u8]) -> Result<(), Left> {
    let code: Vec<Instruction> =
        Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).into_iter().collect();
    let number = |ip: u64| code.binary_search_by_key(&ip, Instruction::ip).expect("an instruction");
    let mut known: Vec<Option<State>> = vec![None; code.len()];
    let mut open = vec![(0, State::default())];
    while let Some((at, state)) = open.pop() {
        let joined = match known[at] {
            Some(before) => before.join(state)?,
            None => state,
        };
        if known[at].replace(joined) == Some(joined) {
            continue;
        }
        let i = &code[at];
        let after = joined.after(i);
        match i.flow_control() {
            FlowControl::Return => after.left().map_or(Ok(()), Err)?,
            FlowControl::UnconditionalBranch => open.push((number(i.near_branch64()), after)),
            FlowControl::ConditionalBranch => {
                open.extend([(number(i.near_branch64()), after), (at + 1, after)]);
            }
            _ => open.push((at + 1, after)),
        }
    }
    Ok(())
}
