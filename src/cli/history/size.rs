//! Copies by size, hot and streaming.

use super::Made;
use super::contests::{Contests, Done, Planned, cells, subjects};
use crate::report::history::{SizeTable, history_sizes};
use crate::subject::{Cell, Level, Op};

/// Who copies: the C library, the copies of 1996, and few that stand for each kind of register.
const COPIES: &[&str] = &[
    "libc",
    "libc_bcopy_1996",
    "hasty_asami_bcopy",
    "evans_fp_bcopy",
    "evans_int_bcopy",
    "i586_fastmove",
    "lmbench_bcopy_hand",
    "copy/rep8",
    "copy/r64/u4",
    "copy/r64/u8",
    "copy/x87i/u4",
    "copy/x87/u4",
    "copy/xmm/u4",
    "copy/ymm/u2",
    "copy/ymm/u4",
    "copy/zmm/u4",
];

/// Who joins where data stream: stores past the caches.
const STREAMING: &[&str] =
    &["copy/r64/u4/nt", "copy/xmm/u4/nt", "copy/ymm/u4/nt", "copy/zmm/u4/nt"];

/// Seconds of a cell. Two for each of 18 sizes, with what the least number of layouts of the
/// large ones takes besides, stay below three minutes.
const HOT_SECONDS: f64 = 2.0;
const STREAM_SECONDS: f64 = 3.0;

pub(super) fn make(contests: &mut Contests<'_>) -> anyhow::Result<Made> {
    let plans = cells(Op::Copy, history_sizes(), contests.session);
    let all: Vec<&Cell> = plans.iter().flat_map(|plan| &plan.cells).collect();
    let is_stream = |cell: &&&Cell| cell.state.level() == Some(Level::Dram);
    let mut planned = Vec::new();
    for plan in &plans {
        if let Some(cell) = plan.cells.first() {
            let subjects = subjects(COPIES)?;
            planned.push(Planned { cell: *cell, subjects, seconds: HOT_SECONDS });
        }
    }
    let hot_cells = planned.len();
    for cell in all.iter().filter(is_stream) {
        let subjects = subjects(&[COPIES, STREAMING].concat())?;
        planned.push(Planned { cell: **cell, subjects, seconds: STREAM_SECONDS });
    }
    let mut hot = contests.run(planned)?;
    let stream = hot.split_off(hot_cells.min(hot.len()));
    let hot = hot.into_iter().map(|done| done.with_pairs(SizeTable::hot_pairs)).collect();
    let mut table = SizeTable { hot, stream: Vec::new() };
    for done in stream {
        let measured = across(&table, done);
        table.stream.push(measured);
    }
    Ok(Made { page: table.page(), records: table.records() })
}

/// A streaming cell with its pairs, some of which ask about the loop that is best hot.
fn across(table: &SizeTable, mut done: Done) -> crate::report::history::Measured {
    let mut measured = done.rows();
    let hot = table.hot.iter().find(|hot| hot.cell.size == measured.cell.size);
    let pairs = SizeTable::stream_pairs(hot, &measured);
    done.add_pairs(&mut measured, &pairs);
    measured
}
