//! What can be measured: the axes, a [`Variant`] (one legal or illegal point of them) and
//! its id, [`NamedLoop`]s, [`Subject`]s in general, and the [`Cell`] a subject is measured in.
//!
//! Nothing here knows a host: parsing and display of ids mean the same everywhere.

mod axes;
mod cell;
mod conditions;
mod extent;
mod id;
mod mix;
mod name;
mod named;
mod variant;

pub use axes::{
    Align, BOUNCES, Class, Contract, Count, Direction, Encoding, Head, Hint, LARGEST_FIXED, Op,
    Order, Prefetch, STREAM_PAGE, Side, Store, Streams, Tail, Touch, UNROLLS,
};
pub use cell::{Cell, Drive, Level, State};
pub use conditions::{Conditions, Consumer, Pages, Placement, Source};
pub use extent::{Extent, Mix};
pub use id::IdError;
pub use mix::{MixError, SizeMix};
pub use name::{Baseline, Subject};
pub use named::NamedLoop;
pub use variant::Variant;
