//! Which loop is best: plan, strategies, race, robust choice.

mod attempt;
mod attribution;
mod budget;
mod candidate;
mod ceiling;
mod compare;
mod compiled;
mod context;
mod crossover;
mod decide;
mod field;
mod file;
mod frequency;
mod incumbent;
mod outcome;
mod panel;
mod placement;
mod plan;
mod race;
mod repeat;
mod run;
mod screen;
pub mod selftest;
mod strategy;

pub use attempt::{Attempt, Attempted, attempt};
pub use attribution::{
    Attribution, AxisRow, Compared, Credit, Edge, ExcludedValue, ObjectRow, Placebo, SkewCurve,
    SkewPoint, Study, Suspect, attribute, edges, main_loop_matters,
};
pub use budget::Budget;
pub use candidate::{Candidate, compile_all};
pub use ceiling::{Ceiling, read_ceiling};
pub use compare::{Contest, Contested, Pair, Row, RowTimes, compare, contested};
pub use compiled::{Compiled, NoCompiler};
pub use context::{baseline_entrant, candidate_entrant};
pub use crossover::{Asked, Crossing, Crossover, Rival, Rivals, crossing, nt_crossings, steps};
pub use file::{MAX_POINTS, Region, SearchFile};
pub use frequency::{Frequency, frequency};
pub use incumbent::Incumbents;
pub use outcome::{
    BaselineOutcome, BaselineTimes, CellOutcome, Excluded, RegretRow, Robust, SearchOutcome,
    SizeOutcome, Standing, Stop, Timed,
};
pub use panel::{Effort, Entrant, Panel, net_ns};
pub use placement::{
    Coordinate, Effect, Placed, PlacedPoint, PlacedRow, PlacedTimes, Sweep, SweepJob, sweep,
};
pub use plan::{Question, SizePlan, band, is_cheap, plan};
pub use repeat::{CellRepeats, Choice, Chosen, Duel, Ground, Repeats, SizeRepeats, repeats};
pub use run::{Job, fresh_seed, search};
pub use strategy::{Strategy, StrategyName};
