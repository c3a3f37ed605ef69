//! Which loop is best: plan, strategies, race, robust choice.

mod outcome;

pub use outcome::{
    BaselineOutcome, BaselineTimes, CellOutcome, Excluded, RegretRow, Robust, SearchOutcome,
    SizeOutcome, Standing, Stop, Timed,
};
