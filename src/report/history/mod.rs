//! The questions of 1996 to 2016 as tables of this host: today's figures beside those that were
//! posted, and a line below each that answers its question from the run it stands under.

mod breed;
mod bzero;
mod columns;
mod figures;
#[cfg(test)]
mod made;
mod measured;
mod pagezero;
mod records;
mod size;
mod words;

pub use breed::{BreedTable, HostRates};
pub use bzero::{BZERO_RBW, BzeroTable};
pub use figures::history_sizes;
pub use measured::Measured;
pub use pagezero::PagezeroTable;
pub use records::{HistoryRecord, history_csv};
pub use size::SizeTable;

use super::bench::host_line;
use super::facts::Facts;
use super::grid::WIDTH;
use super::text::fold;

/// What stands above the tables: the host.
pub fn history_heading(facts: &Facts) -> String {
    host_line(facts)
}

/// A paragraph of the page.
fn paragraph(text: &str) -> String {
    format!("{}\n", fold(text, usize::from(WIDTH), 2))
}
