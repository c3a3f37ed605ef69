//! What every trap needs at hand.

use super::super::desk::{Desk, Named, SelftestError, member};
use super::super::judge::paired;
use crate::host::FeatureSet;
use crate::measure::{Levels, Ring};
use crate::search::{Candidate, Effort, is_cheap};
use crate::space;
use crate::stats::{Paired, median};
use crate::subject::{Cell, Drive, Level, Op, State, Variant};
use crate::trial::{BlockResult, Countermeasure, Evaluator, Member, MemberOrder, Without};

/// What a trap must know of the machine.
#[derive(Clone, Debug)]
pub struct TrapHost {
    /// Features that may be used.
    pub usable: FeatureSet,
    /// Caches as the processor tells.
    pub told: Levels,
    /// Caches as they were measured, where they were.
    pub measured: Option<Levels>,
}

/// The figure of a check, with what was measured in words.
pub(super) struct Figure {
    pub(super) value: f64,
    pub(super) text: String,
}

/// Why a trap has no figure.
pub(super) enum Cannot {
    /// This host cannot show it.
    Here(String),
    /// The test came to no end.
    Selftest(SelftestError),
}

impl From<SelftestError> for Cannot {
    fn from(e: SelftestError) -> Cannot {
        Cannot::Selftest(e)
    }
}

/// Pairs of figures whose middle is taken.
const TURNS: u32 = 5;

/// Length of a pass, nanoseconds, as contests have it.
const PASS_NS: u32 = 8_000;

/// Measures for traps.
pub(super) struct TrapDesk<'a> {
    pub(super) desk: Desk<'a>,
    pub(super) host: &'a TrapHost,
}

impl<'a> TrapDesk<'a> {
    pub(super) fn new(
        evaluator: &'a mut dyn Evaluator,
        host: &'a TrapHost,
        seed: u64,
    ) -> TrapDesk<'a> {
        TrapDesk { desk: Desk::new(evaluator, seed, Without::NOTHING), host }
    }

    /// Leaves these off from now on.
    pub(super) fn leave_off(&mut self, without: Without) {
        self.desk.without = without;
    }

    /// A cell to be told of where none is in work.
    pub(super) fn cell(&self) -> Cell {
        cell(Op::Zero, 4096, Level::L1)
    }

    /// Caches that states are made of now.
    pub(super) fn levels(&self) -> Levels {
        self.host.measured.unwrap_or(self.host.told)
    }

    /// Whether a state exists for a cell, as a reason why not.
    pub(super) fn exists(&self, cell: &Cell) -> Result<(), Cannot> {
        Ring::plan(cell, &self.levels()).map(|_| ()).map_err(Cannot::Here)
    }

    /// The first of these levels that a cell can be in, and whose word that is. Where what was
    /// measured has no room for any of them, the sizes that are told decide: what is shown then
    /// is no claim about the level.
    pub(super) fn near(
        &mut self,
        levels: &[Level],
        cell: impl Fn(Level) -> Cell,
    ) -> Result<(Cell, &'static str), Cannot> {
        let cells: Vec<Cell> = levels.iter().map(|l| cell(*l)).collect();
        if let Some(found) = cells.iter().find(|c| self.exists(c).is_ok()) {
            return Ok((*found, ""));
        }
        let told = cells.iter().find(|c| Ring::plan(c, &self.host.told).is_ok());
        let told =
            told.ok_or_else(|| Cannot::Here("this machine tells of no such cache".into()))?;
        let all = self.desk.without.iter().chain([Countermeasure::MeasuredEdges]);
        self.desk.without = all.collect();
        Ok((*told, " as told"))
    }

    /// A loop that this host can run, by its id.
    pub(super) fn candidate(&self, id: &str) -> Result<Candidate, Cannot> {
        let here = |why: String| Cannot::Here(format!("{id}: {why}"));
        let variant: Variant = id.parse().map_err(|e| here(format!("{e}")))?;
        space::supported(&variant, &self.host.usable).map_err(|why| here(why.to_string()))?;
        Candidate::new(variant).map_err(|e| here(e.to_string()))
    }

    /// A plain loop of four vector registers, its non-temporal form and others of a kind: the
    /// widest class of these that this host has.
    pub(super) fn vector(&self, op: Op, rest: &str) -> Result<Candidate, Cannot> {
        self.candidate(&format!("{op}/ymm{rest}"))
            .or_else(|_| self.candidate(&format!("{op}/xmm{rest}")))
    }

    /// Measures loops against each other: so many layouts, each of so many blocks.
    pub(super) fn run(
        &mut self,
        cell: Cell,
        members: &[(&str, Member)],
        (layouts, blocks): (u32, u32),
    ) -> Result<BlockResult, Cannot> {
        self.run_long(cell, members, (layouts, blocks), PASS_NS)
    }

    /// The same with passes of another length.
    pub(super) fn run_long(
        &mut self,
        cell: Cell,
        members: &[Named<'_>],
        (layouts, blocks): (u32, u32),
        pass_ns: u32,
    ) -> Result<BlockResult, Cannot> {
        let effort = Effort { layouts, blocks, pass_ns, limit_ns: 0 };
        Ok(self.desk.ask(cell, members, effort, MemberOrder::Shuffled)?)
    }

    /// One figure over another that ought to be the same, measured by turns, so that a moment
    /// that is loud for one is loud for both: the middle of a few.
    pub(super) fn by_turns(
        &mut self,
        mut asked: impl FnMut(&mut Self) -> Result<f64, Cannot>,
        mut reference: impl FnMut(&mut Self) -> Result<f64, Cannot>,
    ) -> Result<f64, Cannot> {
        let mut logs = Vec::new();
        for _ in 0..TURNS {
            logs.push((asked(self)? / reference(self)?).ln());
        }
        Ok(median(&mut logs).exp())
    }

    /// The same with every countermeasure.
    pub(super) fn with_all<T>(&mut self, measure: impl FnOnce(&mut Self) -> T) -> T {
        let left_off = std::mem::take(&mut self.desk.without);
        let measured = measure(self);
        self.desk.without = left_off;
        measured
    }

    /// Ratios of times of the candidates over the first's, from the same blocks.
    pub(super) fn ratios(
        &mut self,
        cell: Cell,
        candidates: &[Candidate],
    ) -> Result<Vec<f64>, Cannot> {
        let ids: Vec<String> = candidates.iter().map(|c| c.variant.to_string()).collect();
        let named = ids.iter().zip(candidates).map(|(id, c)| (id.as_str(), member(&c.body)));
        let members: Vec<Named<'_>> = named.collect();
        let effort = if is_cheap(&cell) { (120, 3) } else { (large_layouts(&cell), 1) };
        let result = self.run(cell, &members, effort)?;
        Ok((0..members.len() as u32)
            .map(|m| paired(&result.samples, m, 0).location().exp())
            .collect())
    }
}

/// Layouts of a dear state: what a moment has room for.
fn large_layouts(cell: &Cell) -> u32 {
    let bytes = cell.footprint().max(1);
    ((256u64 << 20) / bytes).clamp(6, 60) as u32
}

/// A cell under the default conditions.
pub(super) fn cell(op: Op, size: u64, level: Level) -> Cell {
    Cell::new(op, size, State::both(level), Drive::Throughput)
}

/// Net ticks a call of a member: the median over layouts of the median over blocks.
pub(super) fn ticks_a_call(result: &BlockResult, member: u32) -> f64 {
    let mut paired = Paired::new();
    for s in result.samples.iter().filter(|s| s.member == member) {
        let net = (s.ticks as f64 - result.clock.pass_ticks).max(1.0);
        paired.push(u64::from(s.layout), net / f64::from(s.calls));
    }
    paired.location()
}

/// Ticks a call of each sample of a member, in order of time.
pub(super) fn each_call(result: &BlockResult, member: u32) -> Vec<f64> {
    let own = result.samples.iter().filter(|s| s.member == member);
    own.map(|s| s.ticks as f64 / f64::from(s.calls)).collect()
}

/// The usual of values; NaN without.
pub(super) fn usual(values: &[f64]) -> f64 {
    median(&mut values.to_vec())
}
