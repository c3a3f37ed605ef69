//! The space, interactively.
//!
//! A pure state machine turns keys and measurements into a [`Screen`], which is plain data;
//! views draw a screen and know nothing else.

mod screen;
pub mod view;

pub use screen::{
    AxisLine, AxisRole, Curve, CurvePoint, Figures, Heat, HeatMap, Histogram, Listing, ListingLine,
    Overlay, Prompt, Ratio, Screen, Series, Status, StatusKind, Ticks, Title,
};
