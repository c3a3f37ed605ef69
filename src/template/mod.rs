//! Loop families: files that restrict the axes to what a kind of loop has, and say why the
//! kind exists. A family never sets a default: what an id means when it names no value is
//! fixed in [`crate::subject`].
//!
//! The wire type of a file and the domain type [`Family`] are two types; [`Axes`] is a list
//! of values for each axis, [`Narrowing`] the part of it that a file names.

mod axes;
mod axis;
mod complaint;
mod family;
mod file;
mod value;

pub use axes::{Axes, AxesFile, AxisListing, Narrowing};
pub use axis::{AXES, Axis};
pub use family::{Family, UnknownFamily};
pub use file::{FileError, Source, read};
pub use value::AxisValue;
