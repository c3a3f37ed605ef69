//! What was found, for people and for programs: the page after a search, its JSON form, and
//! the tables of recorded folders. Everything fits 100 columns.

mod attribution;
mod bench;
mod bench_overview;
mod charts;
mod crossover;
mod document;
mod facts;
mod folders;
mod gather;
mod grid;
pub mod history;
mod html;
mod json;
mod markdown;
mod page;
mod placement;
mod plain;
mod quality;
mod repeat;
mod rows;
mod selftest;
mod size;
mod sizes;
mod text;

pub use attribution::{attribution_json, attribution_lines, attributions, attributions_json};
pub use bench::{BenchCell, Note, bench, bench_json};
pub use bench_overview::bench_overview;
pub use crossover::{CrossoverPage, CrossoverRow, crossover, crossover_json};
pub use facts::{Facts, Limit};
pub use folders::{Form, ReportError, folders};
pub use json::outcome_json;
pub use page::{outcome, outcome_with};
pub use placement::{placed_json, placements};
pub use plain::plain;
pub use quality::{quality, quality_json, quality_markdown};
pub use repeat::{repeats, repeats_json};
pub use selftest::{SelftestSetting, noise, noise_json, traps, traps_json};

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
