//! Charts as SVG fragments. They take plain data and give back text; colours are names that
//! the page's style sheet fills in, so that a chart follows light and dark.

mod bars;
mod curve;
mod frame;
mod heat;
mod samples;
mod sizes;
mod skew;
mod theme;

pub(super) use bars::{Bar, bars};
pub(super) use curve::curve;
pub(super) use heat::{broad, heat, step};
pub(super) use samples::distributions;
pub(super) use sizes::{Series, SizeCurves, SizePoint, size_curves};
pub(super) use skew::skew;
