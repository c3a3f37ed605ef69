//! Instructions that have been encoded before. A search meets the same few thousand again and
//! again, and looking one up takes far less than writing it.

use std::collections::HashMap;

use super::insn::encode_one;
use super::one::One;
use super::rare::Rare;
use crate::host::FeatureSet;
use crate::ir::{self, Insn, Mem, Vec as VecRegister};

/// What there is to know of an instruction that does not depend on its place.
#[derive(Clone, Copy, Default)]
pub(super) struct Encoded {
    pub(super) one: One,
    pub(super) features: FeatureSet,
    pub(super) leaves_cache: bool,
}

/// Log₂ of the places in front of the table. A family of loops keeps a few thousand
/// instructions in use; the places for them fit the second-level cache.
const PLACES_LOG: u32 = 12;

/// A key no instruction has.
const EMPTY: u64 = 0;

/// The instructions met so far, and who encodes the rare ones.
pub(super) struct Known {
    rare: Rare,
    /// Each key has one place here, and shares it with others: finding one is a single look.
    places: Box<[(u64, Encoded); 1 << PLACES_LOG]>,
    /// All of them.
    table: HashMap<u64, Encoded>,
}

impl Known {
    pub(super) fn new() -> Known {
        let places = Box::new([(EMPTY, Encoded::default()); 1 << PLACES_LOG]);
        Known { rare: Rare::new(), places, table: HashMap::new() }
    }

    /// The instruction, which is no jump. The error says what is wrong with its operands.
    #[inline(always)]
    pub(super) fn encode(&mut self, insn: &Insn) -> Result<&Encoded, &'static str> {
        let key = key(insn);
        // Fibonacci hashing: the high bits of the product depend on all of the key.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES_LOG);
        let place = &mut self.places[hash as usize];
        if place.0 != key {
            *place = (key, find(&mut self.table, &mut self.rare, key, insn)?);
        }
        Ok(&place.1)
    }
}

#[inline(never)]
fn find(
    table: &mut HashMap<u64, Encoded>,
    rare: &mut Rare,
    key: u64,
    insn: &Insn,
) -> Result<Encoded, &'static str> {
    if let Some(known) = table.get(&key) {
        return Ok(*known);
    }
    let new = Encoded {
        one: encode_one(rare, insn)?,
        features: ir::features(insn),
        leaves_cache: ir::leaves_cache(insn),
    };
    table.insert(key, new);
    Ok(new)
}

/// Which instruction it is with all of its operands, as a number.
#[inline(always)]
fn key(insn: &Insn) -> u64 {
    match *insn {
        Insn::Endbr64 => plain(1),
        Insn::Ret => plain(2),
        Insn::Sfence => plain(3),
        Insn::Vzeroupper => plain(4),
        Insn::Emms => plain(5),
        Insn::Std => plain(6),
        Insn::Ud2 => plain(7),
        Insn::Rep { op, width } => two(8, op as u8, width as u8),
        Insn::Load { width, dst, mem } => at(9, dst as u8, width as u8, mem),
        Insn::Store { width, mem, src } => at(10, src as u8, width as u8, mem),
        Insn::StoreNti { width, mem, src } => at(11, src as u8, width as u8, mem),
        Insn::MmxLoad { dst, mem } => at(12, dst, 0, mem),
        Insn::MmxStore { mem, src } => at(13, src, 0, mem),
        Insn::MmxStoreNt { mem, src } => at(14, src, 0, mem),
        Insn::MmxZero { dst } => two(15, dst, 0),
        Insn::VecLoad { dst, mem, kind } => at(16 + kind as u64, dst.number, form(dst), mem),
        Insn::VecStore { mem, src, kind } => at(20 + kind as u64, src.number, form(src), mem),
        Insn::VecZero { dst } => two(24, dst.number, form(dst)),
        Insn::Mov { dst, src } => two(25, dst as u8, src as u8),
        Insn::Zero { dst } => two(26, dst as u8, 0),
        Insn::Lea { dst, mem } => at(27, dst as u8, 0, mem),
        Insn::Add { dst, src } => two(28, dst as u8, src as u8),
        Insn::Sub { dst, src } => two(29, dst as u8, src as u8),
        Insn::Cmp { a, b } => two(30, a as u8, b as u8),
        Insn::Test { a, b } => two(31, a as u8, b as u8),
        Insn::TestImm { a, imm } => two(32, a as u8, imm),
        Insn::Neg { dst } => two(33, dst as u8, 0),
        Insn::AddImm { dst, imm } => immediate(34, dst as u8, imm),
        Insn::SubImm { dst, imm } => immediate(35, dst as u8, imm),
        Insn::AndImm { dst, imm } => immediate(36, dst as u8, imm),
        Insn::CmpImm { a, imm } => immediate(37, a as u8, imm),
        Insn::ShrImm { dst, imm } => two(38, dst as u8, imm),
        Insn::Prefetch { hint, mem } => at(39, hint as u8, 0, mem),
        Insn::Nop { len } => two(40, len, 0),
        Insn::X87Load { kind, mem } => at(42, kind as u8, 0, mem),
        Insn::X87Store { kind, mem } => at(43, kind as u8, 0, mem),
        Insn::X87Keep { mem } => at(44, 0, 0, mem),
        Insn::X87Zero => plain(45),
        Insn::X87Pop => plain(46),
        Insn::TileConfig { mem } => at(47, 0, 0, mem),
        Insn::TileRelease => plain(48),
        Insn::TileZero { tile } => two(49, tile, 0),
        Insn::TileLoad { tile, mem } => at(50, tile, 0, mem),
        Insn::TileStore { mem, tile } => at(51, tile, 0, mem),
        Insn::LineMove { to, mem } => at(52, to as u8, 0, mem),
        Insn::LineZero => plain(53),
        Insn::VecOnes { dst } => two(54, dst.number, form(dst)),
        Insn::MaskFrom { mask, src } => two(55, mask, src as u8),
        Insn::MaskLoad { dst, mem, mask } => at(56, dst.number | mask << 5, form(dst), mem),
        Insn::MaskStore { mem, src, mask } => at(57, src.number | mask << 5, form(src), mem),
        Insn::Bzhi { dst, src, index } => two(58, dst as u8, src as u8 | (index as u8) << 4),
        Insn::Push { src } => two(59, src as u8, 0),
        Insn::Leave => plain(60),
        Insn::MovImm { dst, imm } => immediate(61, dst as u8, imm as i32),
        Insn::Ones { dst } => two(62, dst as u8, 0),
        // Never encoded here: where it goes is not known.
        Insn::Jmp { .. } | Insn::Jcc { .. } => plain(41),
    }
}

/// Length and encoding of a vector register in 8 bits.
fn form(register: VecRegister) -> u8 {
    register.bytes | register.encoding as u8
}

/// An instruction of 6 bits; two operands of 8 bits and one of 40 lie above.
const fn plain(tag: u64) -> u64 {
    tag
}

const fn two(tag: u64, a: u8, b: u8) -> u64 {
    tag | (a as u64) << 6 | (b as u64) << 14
}

const fn immediate(tag: u64, a: u8, imm: i32) -> u64 {
    two(tag, a, 0) | (imm as u32 as u64) << 30
}

fn at(tag: u64, a: u8, b: u8, mem: Mem) -> u64 {
    // No register has the number 15 here.
    let index = mem.index.map_or(15, |index| index as u64);
    let operand = (mem.disp as u32 as u64) << 8 | index << 4 | mem.base as u64;
    two(tag, a, b) | operand << 22
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Feature;
    use crate::ir::{Function, Item};
    use crate::space;
    use crate::subject::Op;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn different_instructions_have_different_keys() {
        let mut met: HashMap<u64, Insn> = HashMap::new();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let features = Feature::ALL.iter().copied().collect();
        let mut variants = space::random(Op::Copy, &features, 4000, &mut rng);
        variants.extend(space::random(Op::Zero, &features, 4000, &mut rng));
        let mut function = Function::default();
        for v in &variants {
            ir::lower(v, &mut function).unwrap();
            for item in &function.items {
                let Item::Insn(insn) = *item else { continue };
                if matches!(insn, Insn::Jmp { .. } | Insn::Jcc { .. }) {
                    continue;
                }
                let key = key(&insn);
                assert_ne!(key, EMPTY);
                assert_eq!(*met.entry(key).or_insert(insn), insn);
            }
        }
        assert!(met.len() > 5000, "{} instructions are too few to mean anything", met.len());
    }
}
