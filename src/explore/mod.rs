//! The space, interactively.
//!
//! A pure state machine turns keys and measurements into a [`Screen`], which is plain data;
//! views draw a screen and know nothing else.

mod event;
mod grid;
mod ledger;
mod measure;
mod model;
pub mod recorded;
mod schedule;
mod screen;
pub mod script;
pub mod terminal;
pub mod view;

pub use event::{Batch, Effect, Event, ExportJob, Exported, Heard, Key, Record, Report, Spot};
pub use ledger::{Book, Entry, Known, Ledger, Trouble};
pub use measure::{Job, Measurer, Surroundings, measure};
pub use model::{Exists, Model, Question, World};
pub use schedule::Order;
pub use screen::{
    AxisLine, AxisRole, Curve, CurvePoint, Figures, Heat, HeatMap, Histogram, Listing, ListingLine,
    Overlay, Prompt, Ratio, Screen, Series, Status, StatusKind, Ticks, Title,
};
