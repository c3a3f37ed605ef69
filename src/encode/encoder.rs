//! A function as bytes.

use super::branch::{Jump, LONGEST_NOP, nop_bytes};
use super::code::{Code, Placed};
use super::error::{CompileError, EncodeError};

use super::insn::encode_one;
use super::known::Known;
use crate::host::FeatureSet;
use crate::ir::{self, Cond, Function, Insn, Item, Label};
use crate::subject::Variant;
use crate::trial::{Contract, Machine};

/// Nops that the padding of one loop top takes at most: 63 bytes.
const PADDING_NOPS: usize = 7;

/// Something whose size or meaning depends on where it stands. Between two of them lie
/// instructions whose bytes are known.
#[derive(Clone, Copy, Debug)]
struct Event {
    kind: Kind,
    /// Which item it is.
    item: usize,
    /// Bytes of plain instructions before it.
    plain: u32,
    /// Where it begins, once placed.
    offset: u32,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Label,
    /// `to` is the index of the event it jumps to.
    Jump {
        jump: Jump,
        target: Label,
        to: usize,
    },
    /// Nops, so many bytes now.
    Pad {
        modulus: u8,
        skew: u8,
        len: u8,
    },
}

/// Encodes functions. Keeps its buffers, and the vector instructions it met, from one to
/// the next.
pub struct Encoder {
    known: Known,
    /// The bytes that do not depend on their place, one instruction after another.
    plain: Vec<u8>,
    events: Vec<Event>,
    /// Labels and their events.
    labels: Vec<(Label, usize)>,
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder::new()
    }
}

impl Encoder {
    /// An encoder that has met nothing yet.
    pub fn new() -> Encoder {
        Encoder { known: Known::new(), plain: vec![], events: vec![], labels: vec![] }
    }

    /// Bytes of a function whose entry will stand at a multiple of 64.
    ///
    /// # Errors
    /// Names the instruction, label or alignment that has no encoding.
    pub fn encode(&mut self, function: &Function) -> Result<Code, EncodeError> {
        let mut code = blank(function);
        code.placed.reserve_exact(function.items.len() + PADDING_NOPS);
        self.fill(function, &mut code, true)?;
        Ok(code)
    }

    /// What a worker needs of a function, without the places of its items: for those who
    /// have thousands and look at none.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn machine(&mut self, function: &Function) -> Result<Machine, EncodeError> {
        let mut code = blank(function);
        self.fill(function, &mut code, false)?;
        Ok(Machine {
            loop_top: code.loop_range.map(|r| r.start),
            bytes: code.bytes,
            boundaries: code.boundaries,
            contract: code.contract,
            leaves_cache: code.leaves_cache,
        })
    }

    fn fill(
        &mut self,
        function: &Function,
        code: &mut Code,
        places: bool,
    ) -> Result<(), EncodeError> {
        self.write_plain(function, code, places)?;
        self.resolve()?;
        let total = self.relax();
        self.place(total as usize, code, places);
        Ok(())
    }

    /// Writes everything whose bytes do not depend on its place, and notes the rest as
    /// events. Items are placed as if there were nothing else.
    fn write_plain(
        &mut self,
        function: &Function,
        code: &mut Code,
        places: bool,
    ) -> Result<(), EncodeError> {
        self.plain.clear();
        self.events.clear();
        self.labels.clear();
        for (index, item) in function.items.iter().enumerate() {
            let offset = self.plain.len() as u32;
            let mut len = 0;
            let kind = match *item {
                Item::Insn(Insn::Jmp { to }) => Some(Kind::jump(None, to)),
                Item::Insn(Insn::Jcc { cond, to }) => Some(Kind::jump(Some(cond), to)),
                Item::Insn(ref insn) => {
                    code.features = code.features.union(ir::features(insn));
                    code.leaves_cache |= ir::leaves_cache(insn);
                    let one = encode_one(&mut self.known, insn)
                        .map_err(|why| EncodeError::Operand { insn: *insn, why })?;
                    one.append_to(&mut self.plain);
                    len = one.len();
                    None
                }
                Item::Label(label) => {
                    if self.labels.iter().any(|(known, _)| *known == label) {
                        return Err(EncodeError::DuplicateLabel(label));
                    }
                    self.labels.push((label, self.events.len()));
                    Some(Kind::Label)
                }
                Item::LoopTop { modulus, skew } => {
                    if !matches!(modulus, 1 | 16 | 32 | 64) || skew >= modulus {
                        return Err(EncodeError::LoopTop { modulus, skew });
                    }
                    Some(Kind::Pad { modulus, skew, len: 0 })
                }
                Item::Part(_) => None,
            };
            if places {
                code.placed.push(Placed { item: *item, offset, len });
            }
            if let Some(kind) = kind {
                self.events.push(Event { kind, item: index, plain: offset, offset: 0 });
            }
        }
        Ok(())
    }

    /// Finds the event that each jump goes to.
    fn resolve(&mut self) -> Result<(), EncodeError> {
        for event in &mut self.events {
            if let Kind::Jump { target, to, .. } = &mut event.kind {
                let found = self.labels.iter().find(|(label, _)| label == target);
                *to = found.ok_or(EncodeError::UnknownLabel(*target))?.1;
            }
        }
        Ok(())
    }

    /// Gives every jump its form, and everything its place. All start short; those that do
    /// not reach grow and never shrink again, so this ends. Says how long the function is.
    fn relax(&mut self) -> u32 {
        loop {
            let total = self.offsets();
            let mut grown = false;
            for index in 0..self.events.len() {
                let Event { kind: Kind::Jump { jump, target, to }, offset, .. } =
                    self.events[index]
                else {
                    continue;
                };
                let end = offset + u32::from(jump.len());
                let distance = self.events[to].offset.wrapping_sub(end) as i32;
                if !jump.near && i8::try_from(distance).is_err() {
                    let jump = Jump { near: true, ..jump };
                    self.events[index].kind = Kind::Jump { jump, target, to };
                    grown = true;
                }
            }
            if !grown {
                return total;
            }
        }
    }

    /// Places the events as their forms are now.
    fn offsets(&mut self) -> u32 {
        // Bytes that are not plain, so far.
        let mut more = 0;
        for event in &mut self.events {
            event.offset = event.plain + more;
            more += match &mut event.kind {
                Kind::Label => 0,
                Kind::Jump { jump, .. } => jump.len().into(),
                Kind::Pad { modulus, skew, len } => {
                    // The modulus is a power of two.
                    *len = skew.wrapping_sub(event.offset as u8) & (*modulus - 1);
                    u32::from(*len)
                }
            };
        }
        self.plain.len() as u32 + more
    }

    /// Writes the bytes and moves each item to where it landed.
    fn place(&self, total: usize, code: &mut Code, places: bool) {
        let bytes = &mut code.bytes;
        bytes.reserve_exact(total);
        let mut loop_top = None;
        let (mut copied, mut moved, mut nops) = (0, 0, 0);
        for event in &self.events {
            let plain = event.plain as usize;
            bytes.extend_from_slice(&self.plain[copied..plain]);
            copied = plain;
            // Items since the event before lie as far behind their plain places as this one.
            let shift = event.offset - event.plain;
            let item = event.item + nops;
            if places {
                code.placed[moved..=item].iter_mut().for_each(|p| p.offset += shift);
                moved = item + 1;
            }
            match event.kind {
                Kind::Label => {}
                Kind::Jump { jump, to, .. } => {
                    if places {
                        code.placed[item].len = jump.len();
                    }
                    let end = event.offset + u32::from(jump.len());
                    let target = self.events[to].offset;
                    jump.write(target.wrapping_sub(end) as i32, bytes);
                    if code.loop_range.is_none() && loop_top == Some(target) {
                        code.loop_range = Some(target..end);
                    }
                }
                Kind::Pad { len: mut pad, .. } => {
                    let mut offset = event.offset;
                    while pad > 0 {
                        let len = pad.min(LONGEST_NOP);
                        bytes.extend_from_slice(nop_bytes(len).unwrap_or_default());
                        if places {
                            let nop = Item::Insn(Insn::Nop { len });
                            code.placed.insert(moved - 1, Placed { item: nop, offset, len });
                            moved += 1;
                            nops += 1;
                        }
                        offset += u32::from(len);
                        pad -= len;
                    }
                    if places {
                        code.placed[moved - 1].offset = offset;
                    }
                    loop_top.get_or_insert(offset);
                }
            }
        }
        bytes.extend_from_slice(&self.plain[copied..]);
        let shift = (total - self.plain.len()) as u32;
        if places {
            code.placed[moved..].iter_mut().for_each(|p| p.offset += shift);
        }
    }
}

/// A code without bytes yet.
fn blank(function: &Function) -> Code {
    Code {
        bytes: vec![],
        placed: vec![],
        loop_range: None,
        boundaries: function.boundaries.clone(),
        features: FeatureSet::EMPTY,
        contract: Contract::User,
        leaves_cache: false,
    }
}

impl Kind {
    /// A jump in its short form, its event not found yet.
    fn jump(cond: Option<Cond>, target: Label) -> Kind {
        Kind::Jump { jump: Jump { cond, near: false }, target, to: 0 }
    }
}

/// Lowers and encodes one variant. Whoever has many keeps a [`Function`] and an
/// [`Encoder`] instead.
///
/// # Errors
/// As [`ir::lower`] and [`Encoder::encode`].
pub fn compile(v: &Variant) -> Result<Code, CompileError> {
    let mut function = Function::default();
    ir::lower(v, &mut function)?;
    Ok(Encoder::new().encode(&function)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Gp, Mem, Vec as Register, VecEncoding, VecMove};

    fn function(items: Vec<Item>) -> Function {
        Function { items, boundaries: vec![] }
    }

    #[test]
    fn with_and_without_places_the_code_is_the_same() {
        let mut encoder = Encoder::new();
        let mut function = Function::default();
        for id in ["copy/zmm/u32/batch/a64+40/nt", "zero/r64/u4/a16", "copy/rep32", "zero/ymm/u8"] {
            ir::lower(&id.parse().unwrap(), &mut function).unwrap();
            let machine = encoder.machine(&function).unwrap();
            assert_eq!(machine, encoder.encode(&function).unwrap().machine(), "{id}");
        }
    }

    #[test]
    fn wrong_functions_are_named() {
        let lost = Label(7);
        let jump = Item::Insn(Insn::Jmp { to: lost });
        let mut encoder = Encoder::new();
        let mut error = |items| encoder.encode(&function(items)).unwrap_err().to_string();
        assert!(error(vec![jump]).contains("entry_7"));
        assert!(error(vec![Item::Label(lost), Item::Label(lost)]).contains("two places"));
        assert!(error(vec![Item::LoopTop { modulus: 16, skew: 16 }]).contains("16 modulo 16"));
        let ymm17 = Register { number: 17, bytes: 32, encoding: VecEncoding::Vex };
        let mem = Mem::at(Gp::Rdi, 0);
        let kind = VecMove::Unaligned;
        let store = Insn::VecStore { mem, src: ymm17, kind };
        assert!(error(vec![Item::Insn(store)]).contains("0 to 15"));
        let store =
            Insn::VecStore { mem: Mem::at(Gp::R8, 0), src: Register { number: 1, ..ymm17 }, kind };
        assert!(error(vec![Item::Insn(store)]).contains("rdi or rsi"));
        assert!(error(vec![Item::Insn(Insn::Nop { len: 10 })]).contains("1 to 9"));
    }

    #[test]
    fn a_jump_is_as_short_as_it_can_be() {
        let far = Label(1);
        for (between, len) in [(127, 2), (128, 6)] {
            let mut items = vec![Item::Insn(Insn::Jcc { cond: Cond::E, to: far })];
            items.extend([Item::Insn(Insn::Ret)].repeat(between));
            items.push(Item::Label(far));
            let code = Encoder::new().encode(&function(items)).unwrap();
            assert_eq!(code.bytes.len(), between + len);
        }
    }

    #[test]
    fn the_loop_is_found_with_its_padding_before_it() {
        let top = Label(1);
        let items = vec![
            Item::Insn(Insn::Ret),
            Item::LoopTop { modulus: 32, skew: 5 },
            Item::Label(top),
            Item::Insn(Insn::Jmp { to: top }),
        ];
        let code = Encoder::new().encode(&function(items)).unwrap();
        assert_eq!(code.loop_range, Some(5..7));
        let nops: u8 = code
            .placed
            .iter()
            .map(|p| if let Item::Insn(Insn::Nop { len }) = p.item { len } else { 0 })
            .sum();
        assert_eq!(nops, 4);
    }
}
