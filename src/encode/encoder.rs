//! A function as bytes.

use super::branch::{Jump, LONGEST_NOP, nop_bytes};
use super::code::{Code, Placed};
use super::error::{CompileError, EncodeError};
use super::known::Known;
use super::labels::Labels;
use super::one::One;
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
    /// Bytes it takes in the form it has now.
    len: u8,
    /// Which item it is.
    item: u32,
    /// Bytes of plain instructions before it.
    plain: u32,
    /// Where it begins, once placed.
    offset: u32,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Label,
    /// Its index among the jumps.
    Jump(u32),
    /// Nops.
    Pad {
        modulus: u8,
        skew: u8,
    },
}

/// A jump and the events that it is and that it goes to.
#[derive(Clone, Copy, Debug)]
struct Edge {
    jump: Jump,
    target: Label,
    from: u32,
    to: u32,
}

/// Encodes functions. Keeps its buffers, and the vector instructions it met, from one to
/// the next.
pub struct Encoder {
    known: Known,
    /// The bytes that do not depend on their place, one instruction after another, and room
    /// for more behind.
    plain: Vec<u8>,
    /// How many of them there are.
    plain_len: usize,
    events: Vec<Event>,
    jumps: Vec<Edge>,
    /// The bytes of the function, and room for more behind.
    out: Vec<u8>,
    /// Labels and their events.
    labels: Labels,
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
            known: Known::new(),
            plain: vec![],
            plain_len: 0,
            events: vec![],
            jumps: vec![],
            out: vec![],
            labels: Labels::new(),
        }
    }

    /// Bytes of a function whose entry will stand at a multiple of 64.
    ///
    /// # Errors
    /// Names the instruction, label or alignment that has no encoding.
    pub fn encode(&mut self, function: &Function) -> Result<Code, EncodeError> {
        let mut code = blank(function);
        code.placed.reserve_exact(function.items.len() + PADDING_NOPS);
        self.fill::<true>(function, &mut code)?;
        Ok(code)
    }

    /// What a worker needs of a function, without the places of its items: for those who
    /// have thousands and look at none.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn machine(&mut self, function: &Function) -> Result<Machine, EncodeError> {
        let mut code = blank(function);
        self.fill::<false>(function, &mut code)?;
        Ok(Machine {
            loop_top: code.loop_range.map(|r| r.start),
            bytes: code.bytes,
            boundaries: code.boundaries,
            contract: code.contract,
            fixed: code.fixed,
            leaves_cache: code.leaves_cache,
        })
    }

    /// `PLACES`: whether the code learns where its items are.
    fn fill<const PLACES: bool>(
        &mut self,
        function: &Function,
        code: &mut Code,
    ) -> Result<(), EncodeError> {
        self.write_plain::<PLACES>(function, code)?;
        self.resolve()?;
        let total = self.relax();
        self.place::<PLACES>(total as usize, code);
        Ok(())
    }

    /// Writes everything whose bytes do not depend on its place, and notes the rest as
    /// events. Items are placed as if there were nothing else.
    fn write_plain<const PLACES: bool>(
        &mut self,
        function: &Function,
        code: &mut Code,
    ) -> Result<(), EncodeError> {
        self.events.clear();
        self.jumps.clear();
        self.labels.clear();
        let most = function.items.len() * One::ROOM + STRIDE;
        if self.plain.len() < most {
            self.plain.resize(most, 0);
        }
        // What changes with every instruction is kept out of memory: each would wait for the
        // one before to be stored.
        let (mut end, mut features, mut leaves_cache) = (0, FeatureSet::EMPTY, false);
        for (index, item) in function.items.iter().enumerate() {
            if PLACES {
                code.placed.push(Placed { item: *item, offset: end as u32, len: 0 });
            }
            let Item::Insn(insn) = item else {
                self.note(item, index, end)?;
                continue;
            };
            if matches!(insn, Insn::Jmp { .. } | Insn::Jcc { .. }) {
                self.note(item, index, end)?;
                continue;
            }
            let encoded = match self.known.encode(insn) {
                Ok(encoded) => encoded,
                Err(why) => return Err(EncodeError::Operand { insn: *insn, why }),
            };
            features = features.union(encoded.features);
            leaves_cache |= encoded.leaves_cache;
            let len = encoded.one.put(&mut self.plain, end);
            end += usize::from(len);
            if PLACES && let Some(last) = code.placed.last_mut() {
                last.len = len;
            }
        }
        self.plain_len = end;
        code.features = features;
        code.leaves_cache = leaves_cache;
        Ok(())
    }

    /// Notes an item whose size or meaning depends on its place, after so many plain bytes.
    fn note(&mut self, item: &Item, index: usize, end: usize) -> Result<(), EncodeError> {
        let from = self.events.len() as u32;
        let (kind, len) = match *item {
            Item::Insn(Insn::Jmp { to }) => self.jump(None, to, from),
            Item::Insn(Insn::Jcc { cond, to }) => self.jump(Some(cond), to, from),
            Item::Label(label) => {
                if !self.labels.insert(label, from) {
                    return Err(EncodeError::DuplicateLabel(label));
                }
                (Kind::Label, 0)
            }
            Item::LoopTop { modulus, skew } => {
                if !matches!(modulus, 1 | 16 | 32 | 64) || skew >= modulus {
                    return Err(EncodeError::LoopTop { modulus, skew });
                }
                (Kind::Pad { modulus, skew }, 0)
            }
            Item::Part(_) | Item::Insn(_) => return Ok(()),
        };
        self.events.push(Event { kind, len, item: index as u32, plain: end as u32, offset: 0 });
        Ok(())
    }

    /// Notes a jump in its short form.
    fn jump(&mut self, cond: Option<Cond>, target: Label, from: u32) -> (Kind, u8) {
        let jump = Jump { cond, near: false };
        self.jumps.push(Edge { jump, target, from, to: 0 });
        (Kind::Jump(self.jumps.len() as u32 - 1), jump.len())
    }

    /// Finds the event that each jump goes to.
    fn resolve(&mut self) -> Result<(), EncodeError> {
        for Edge { target, to, .. } in &mut self.jumps {
            *to = self.labels.get(*target).ok_or(EncodeError::UnknownLabel(*target))?;
        }
        Ok(())
    }

    /// Gives every jump its form, and everything its place. All start short; those that do
    /// not reach grow and never shrink again, so this ends. Says how long the function is.
    fn relax(&mut self) -> u32 {
        loop {
            let total = self.offsets();
            let mut grown = false;
            for Edge { jump, from, to, .. } in self.jumps.iter_mut().filter(|e| !e.jump.near) {
                let end = self.events[*from as usize].offset + u32::from(jump.len());
                let distance = self.events[*to as usize].offset.wrapping_sub(end) as i32;
                if i8::try_from(distance).is_err() {
                    jump.near = true;
                    self.events[*from as usize].len = jump.len();
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
            if let Kind::Pad { modulus, skew } = event.kind {
                // The modulus is a power of two.
                event.len = skew.wrapping_sub(event.offset as u8) & (modulus - 1);
            }
            more += u32::from(event.len);
        }
        self.plain_len as u32 + more
    }

    /// Writes the bytes and moves each item to where it landed.
    fn place<const PLACES: bool>(&mut self, total: usize, code: &mut Code) {
        if self.out.len() < total + STRIDE {
            self.out.resize(total + STRIDE, 0);
        }
        let mut loop_top = None;
        let (mut copied, mut moved, mut nops) = (0, 0, 0);
        for event in &self.events {
            let offset = event.offset as usize;
            let plain = event.plain as usize;
            copy(&self.plain[copied..], &mut self.out, offset, plain - copied);
            copied = plain;
            // Items since the event before lie as far behind their plain places as this one.
            let shift = event.offset - event.plain;
            let item = event.item as usize + nops;
            if PLACES {
                code.placed[moved..=item].iter_mut().for_each(|p| p.offset += shift);
                code.placed[item].len = event.len;
                moved = item + 1;
            }
            match event.kind {
                Kind::Label => {}
                Kind::Jump(index) => {
                    let Edge { jump, to, .. } = self.jumps[index as usize];
                    let end = event.offset + u32::from(event.len);
                    let target = self.events[to as usize].offset;
                    jump.write(target.wrapping_sub(end) as i32, &mut self.out[offset..]);
                    if code.loop_range.is_none() && loop_top == Some(target) {
                        code.loop_range = Some(target..end);
                    }
                }
                Kind::Pad { .. } => {
                    let end = offset + usize::from(event.len);
                    let mut at = offset;
                    while at < end {
                        let nop = nop_bytes((end - at).min(LONGEST_NOP.into()) as u8);
                        let nop = nop.unwrap_or_default();
                        self.out[at..at + nop.len()].copy_from_slice(nop);
                        if PLACES {
                            let (offset, len) = (at as u32, nop.len() as u8);
                            let nop = Item::Insn(Insn::Nop { len });
                            code.placed.insert(moved - 1, Placed { item: nop, offset, len });
                            moved += 1;
                            nops += 1;
                        }
                        at += nop.len();
                    }
                    if PLACES {
                        code.placed[moved - 1].offset = end as u32;
                        code.placed[moved - 1].len = 0;
                    }
                    loop_top.get_or_insert(end as u32);
                }
            }
        }
        copy(&self.plain[copied..], &mut self.out, total, self.plain_len - copied);
        code.bytes = self.out[..total].to_vec();
        let shift = (total - self.plain_len) as u32;
        if PLACES {
            code.placed[moved..].iter_mut().for_each(|p| p.offset += shift);
        }
    }
}

/// Bytes that [`copy`] moves at a time.
const STRIDE: usize = 32;

/// Copies the first `len` bytes so that they end at `end`. Goes by strides of a fixed size, a
/// few instructions each: what it writes beyond the end is written again later.
fn copy(from: &[u8], to: &mut [u8], end: usize, len: usize) {
    let to = &mut to[end - len..];
    let mut at = 0;
    while at < len {
        to[at..at + STRIDE].copy_from_slice(&from[at..at + STRIDE]);
        at += STRIDE;
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
        fixed: function.fixed,
        leaves_cache: false,
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
        Function { items, ..Function::default() }
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
        // Around a rarer address the refusal is another encoder's.
        let store = Insn::VecStore { mem: Mem::at(Gp::R8, 0), src: ymm17, kind };
        assert!(error(vec![Item::Insn(store)]).contains("no register of that number"));
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
