//! Pages zeroed past the caches, over unroll and alignment.

use super::Made;
use super::contests::{Contests, Planned, cells, subjects};
use crate::report::history::PagezeroTable;
use crate::subject::{Align, Class, Head, Level, Op, Store, Subject, Variant};

/// A page.
const SIZE: u32 = 4096;

/// Registers an iteration.
const UNROLLS: &[u8] = &[1, 2, 4, 8];

/// Where the loop's first instruction stands: where it falls, at multiples, across a 16-byte
/// boundary, across a line.
const ALIGNS: &[Align] = &[
    Align::NATURAL,
    Align { modulus: 16, skew: 0 },
    Align { modulus: 16, skew: 8 },
    Align { modulus: 32, skew: 0 },
    Align { modulus: 64, skew: 0 },
    Align { modulus: 64, skew: 56 },
];

/// Who may be faster than any of them, and so set the limit.
const WIDEST: &[&str] = &["zero/xmm/u4/nt/n4096", "zero/ymm/u4/nt/n4096", "zero/zmm/u4/nt/n4096"];

/// Seconds of a state: fifty loops in each.
const SECONDS: f64 = 12.0;

/// The grid with a store.
fn grid(store: Store) -> Vec<Subject> {
    let mut all = Vec::new();
    for class in [Class::R32, Class::R64] {
        for unroll in UNROLLS {
            for align in ALIGNS {
                all.push(Subject::Variant(Variant {
                    unroll: *unroll,
                    align: *align,
                    store,
                    head: Head::None,
                    fixed: Some(SIZE),
                    ..Variant::new(Op::Zero, class)
                }));
            }
        }
    }
    all
}

pub(super) fn make(contests: &mut Contests<'_>) -> anyhow::Result<Made> {
    let plans = cells(Op::Zero, vec![u64::from(SIZE)], contests.session);
    let mut planned = Vec::new();
    for cell in plans.iter().flat_map(|plan| &plan.cells) {
        let subjects = match cell.state.level() {
            Some(Level::L1) => grid(Store::Plain),
            Some(Level::Llc | Level::Dram) => [grid(Store::Nt), subjects(WIDEST)?].concat(),
            _ => continue,
        };
        planned.push(Planned { cell: *cell, subjects, seconds: SECONDS });
    }
    let done = contests.run(planned)?;
    let mut table = PagezeroTable::default();
    for mut done in done {
        let mut measured = done.rows();
        if measured.cell.state.level() == Some(Level::L1) {
            table.own = Some(measured);
        } else {
            let pairs = PagezeroTable::pairs(&measured);
            done.add_pairs(&mut measured, &pairs);
            table.past.push(measured);
        }
    }
    Ok(Made { page: table.page(), records: table.records() })
}
