//! A function as bytes.

use dynasmrt::SimpleAssembler;

use super::branch::{Jump, LONGEST_NOP, nop_bytes};
use super::code::{Code, Placed};
use super::error::{CompileError, EncodeError};
use super::evex::Evex;
use super::insn::write;
use crate::host::FeatureSet;
use crate::ir::{self, Function, Insn, Item, Label};
use crate::subject::Variant;
use crate::trial::Contract;

/// Something whose size or meaning depends on where it stands. Between two of them lie
/// instructions whose bytes are known.
#[derive(Clone, Copy, Debug)]
struct Event {
    kind: Kind,
    /// Bytes of plain instructions between the event before and this one.
    gap: u32,
    /// Where it begins, once placed.
    offset: u32,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Label(Label),
    /// `to` is the index of the event it jumps to.
    Jump {
        jump: Jump,
        to: usize,
    },
    /// Nops, so many bytes now.
    Pad {
        modulus: u8,
        skew: u8,
        len: u8,
    },
}

/// Encodes functions. Keeps its buffers, and the EVEX instructions it met, from one to the
/// next.
pub struct Encoder {
    plain: SimpleAssembler,
    evex: Evex,
    events: Vec<Event>,
    /// Length of each item's plain bytes.
    lens: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder::new()
    }
}

impl Encoder {
    /// An encoder that has met nothing yet.
    pub fn new() -> Encoder {
        Encoder {
            plain: SimpleAssembler::new(),
            evex: Evex::new(),
            events: Vec::new(),
            lens: Vec::new(),
        }
    }

    /// Bytes of a function whose entry will stand at a multiple of 64.
    ///
    /// # Errors
    /// Names the instruction, label or alignment that has no encoding.
    pub fn encode(&mut self, function: &Function) -> Result<Code, EncodeError> {
        let (features, leaves_cache) = self.write_plain(function)?;
        self.resolve(function)?;
        let total = self.relax();
        let mut code = self.place(function, total);
        code.features = features;
        code.leaves_cache = leaves_cache;
        Ok(code)
    }

    /// Writes everything whose bytes do not depend on its place, one after another, and
    /// notes the rest as events.
    fn write_plain(&mut self, function: &Function) -> Result<(FeatureSet, bool), EncodeError> {
        self.plain.ops.clear();
        self.events.clear();
        self.lens.clear();
        let mut features = FeatureSet::EMPTY;
        let mut leaves_cache = false;
        let mut gap_from = 0;
        for item in &function.items {
            let start = self.plain.ops.len();
            let kind = match *item {
                Item::Insn(Insn::Jmp { .. }) => {
                    Some(Kind::Jump { jump: Jump { cond: None, near: false }, to: 0 })
                }
                Item::Insn(Insn::Jcc { cond, .. }) => {
                    Some(Kind::Jump { jump: Jump { cond: Some(cond), near: false }, to: 0 })
                }
                Item::Insn(ref insn) => {
                    features = features.union(ir::features(insn));
                    leaves_cache |= ir::leaves_cache(insn);
                    write(&mut self.plain, &mut self.evex, insn)
                        .map_err(|why| EncodeError::Operand { insn: *insn, why })?;
                    None
                }
                Item::Label(label) => Some(Kind::Label(label)),
                Item::LoopTop { modulus, skew } => {
                    if !matches!(modulus, 1 | 16 | 32 | 64) || skew >= modulus {
                        return Err(EncodeError::LoopTop { modulus, skew });
                    }
                    Some(Kind::Pad { modulus, skew, len: 0 })
                }
                Item::Part(_) => None,
            };
            self.lens.push((self.plain.ops.len() - start) as u8);
            if let Some(kind) = kind {
                self.events.push(Event { kind, gap: (start - gap_from) as u32, offset: 0 });
                gap_from = start;
            }
        }
        Ok((features, leaves_cache))
    }

    /// Finds the event that each jump goes to.
    fn resolve(&mut self, function: &Function) -> Result<(), EncodeError> {
        let mut labels = Vec::with_capacity(32);
        for (index, event) in self.events.iter().enumerate() {
            if let Kind::Label(label) = event.kind {
                if labels.iter().any(|(known, _)| *known == label) {
                    return Err(EncodeError::DuplicateLabel(label));
                }
                labels.push((label, index));
            }
        }
        let targets = function.insns().filter_map(|insn| match insn {
            Insn::Jmp { to } | Insn::Jcc { to, .. } => Some(to),
            _ => None,
        });
        let jumps = self.events.iter_mut().filter_map(|event| match &mut event.kind {
            Kind::Jump { to, .. } => Some(to),
            _ => None,
        });
        for (slot, target) in jumps.zip(targets) {
            *slot = labels
                .iter()
                .find(|(label, _)| *label == target)
                .map(|(_, index)| *index)
                .ok_or(EncodeError::UnknownLabel(target))?;
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
                let Event { kind: Kind::Jump { jump, to }, offset, .. } = self.events[index] else {
                    continue;
                };
                let end = offset + u32::from(jump.len());
                let distance = self.events[to].offset.wrapping_sub(end) as i32;
                if !jump.near && i8::try_from(distance).is_err() {
                    let jump = Jump { near: true, ..jump };
                    self.events[index].kind = Kind::Jump { jump, to };
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
        let mut offset = 0;
        let mut plain = 0;
        for event in &mut self.events {
            plain += event.gap;
            offset += event.gap;
            event.offset = offset;
            offset += match &mut event.kind {
                Kind::Label(_) => 0,
                Kind::Jump { jump, .. } => jump.len().into(),
                Kind::Pad { modulus, skew, len } => {
                    let at = (offset % u32::from(*modulus)) as u8;
                    *len = (*skew + *modulus - at) % *modulus;
                    u32::from(*len)
                }
            };
        }
        offset + self.plain.ops.len() as u32 - plain
    }

    /// Writes the bytes and says where each item landed.
    fn place(&self, function: &Function, total: u32) -> Code {
        let mut bytes = Vec::with_capacity(total as usize);
        let mut placed = Vec::with_capacity(function.items.len() + 8);
        let mut events = self.events.iter();
        let mut plain = 0;
        let mut copied = 0;
        let mut offset = 0;
        let mut loop_top = None;
        let mut loop_range = None;
        for (item, len) in function.items.iter().zip(&self.lens) {
            let is_event = match item {
                Item::Insn(Insn::Jmp { .. } | Insn::Jcc { .. }) => true,
                Item::Insn(_) | Item::Part(_) => false,
                Item::Label(_) | Item::LoopTop { .. } => true,
            };
            let mut len = *len;
            plain += usize::from(len);
            let event = if is_event { events.next() } else { None };
            if let Some(event) = event {
                bytes.extend_from_slice(&self.plain.ops[copied..plain]);
                copied = plain;
                match event.kind {
                    Kind::Label(_) => {}
                    Kind::Jump { jump, to } => {
                        len = jump.len();
                        let end = offset + u32::from(len);
                        let target = self.events[to].offset;
                        jump.write(target.wrapping_sub(end) as i32, &mut bytes);
                        if loop_range.is_none() && loop_top == Some(target) {
                            loop_range = Some(target..end);
                        }
                    }
                    Kind::Pad { len: mut pad, .. } => {
                        while pad > 0 {
                            let len = pad.min(LONGEST_NOP);
                            bytes.extend_from_slice(nop_bytes(len).unwrap_or_default());
                            placed.push(Placed {
                                item: Item::Insn(Insn::Nop { len }),
                                offset,
                                len,
                            });
                            offset += u32::from(len);
                            pad -= len;
                        }
                        loop_top.get_or_insert(offset);
                    }
                }
            }
            placed.push(Placed { item: *item, offset, len });
            offset += u32::from(len);
        }
        bytes.extend_from_slice(&self.plain.ops[copied..]);
        Code {
            bytes,
            placed,
            loop_range,
            boundaries: function.boundaries.clone(),
            features: FeatureSet::EMPTY,
            contract: Contract::User,
            leaves_cache: false,
        }
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
