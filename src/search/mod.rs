//! Which loop is best: plan, strategies, race, robust choice.

mod file;
mod outcome;

pub use file::{Budget, MAX_POINTS, Region, SearchFile, Strategy};
pub use outcome::{
    BaselineOutcome, BaselineTimes, CellOutcome, Excluded, RegretRow, Robust, SearchOutcome,
    SizeOutcome, Standing, Stop, Timed,
};
