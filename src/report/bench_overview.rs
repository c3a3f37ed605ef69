//! The page of a bench of many loops: one table an op and size, a column a state.

use super::bench::{BenchCell, Note, host_line};
use super::facts::Facts;
use super::grid::{Grid, Side, WIDTH};
use super::text::{NONE, fold, mix_notes, ratio, state};
use crate::search::Row;
use crate::stats::Verdict;
use crate::units::human_ns;

/// States side by side: more would not fit the page.
const ABREAST: usize = 4;

/// Keeps a mark's place while the table is laid out, which would trim a space there.
const UNMARKED: char = '\u{a0}';

/// What a bench of many loops found, for people. Notes about an op stand below its tables, the
/// others at the end.
pub fn bench_overview(cells: &[BenchCell], facts: &Facts, notes: &[Note]) -> String {
    let mut text = host_line(facts);
    for of_op in cells.chunk_by(|a, b| a.cell.op == b.cell.op) {
        for of_size in of_op.chunk_by(|a, b| a.cell.extent() == b.cell.extent()) {
            for abreast in of_size.chunks(ABREAST) {
                let cell = &abreast[0].cell;
                text.push_str(&format!("\n{} {}\n\n", cell.op, cell.extent()));
                text.push_str(&table(abreast));
            }
            text.push_str(&reasons(of_size));
        }
        let op = of_op[0].cell.op;
        notes.iter().filter(|n| n.op == Some(op)).for_each(|n| text.push_str(&indented(&n.text)));
    }
    let legend = "Times of a whole call; × is the time of the first row that runs over the row's: \
                  above 1 the row is faster. + faster, - slower, = the same within the band, ? undecided.";
    text.push_str(&format!("\n{}\n", fold(legend, usize::from(WIDTH), 0)));
    for note in notes.iter().filter(|n| n.op.is_none()) {
        text.push_str(&format!("{}\n", fold(&note.text, usize::from(WIDTH), 2)));
    }
    for note in mix_notes(cells.iter().map(|c| c.cell.extent())) {
        text.push_str(&format!("{}\n", fold(&note, usize::from(WIDTH), 2)));
    }
    text.push_str("looptune list: the ids of these loops; looptune show NAME: code and history.\n");
    text
}

/// A paragraph below a table.
fn indented(text: &str) -> String {
    format!("  {}\n", fold(text, usize::from(WIDTH) - 2, 4))
}

/// The cells of one size side by side.
fn table(cells: &[BenchCell]) -> String {
    let heads: Vec<String> = cells.iter().map(|c| state(&c.cell)).collect();
    let mut columns = vec![("loop", Side::Left)];
    for head in &heads {
        columns.extend([(head.as_str(), Side::Right), ("×", Side::Right)]);
    }
    let mut grid = Grid::new(&columns);
    for (index, row) in cells[0].rows.iter().enumerate() {
        let mut line = vec![row.subject.to_string()];
        for cell in cells {
            line.extend(cell.rows.get(index).map_or_else(nothing, figures));
        }
        grid.row(line);
    }
    let text = grid.text().replace(UNMARKED, " ");
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn nothing() -> [String; 2] {
    [NONE.into(), format!("{UNMARKED}")]
}

fn figures(row: &Row) -> [String; 2] {
    let Ok(times) = &row.result else { return nothing() };
    let mark = match times.verdict {
        Verdict::Reference => UNMARKED,
        Verdict::Faster => '+',
        Verdict::Slower => '-',
        Verdict::Tied => '=',
        Verdict::Undecided => '?',
    };
    [human_ns(times.ns), format!("{} {mark}", ratio(times.ratio))]
}

/// Why rows have no times: a line for each reason, with the subjects that share it.
fn reasons(cells: &[BenchCell]) -> String {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for cell in cells {
        for row in &cell.rows {
            let Err(failure) = &row.result else { continue };
            let (why, name) = (failure.to_string(), row.subject.to_string());
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => reasons.push((why, vec![name])),
            }
        }
    }
    let line =
        |(why, names): (String, Vec<String>)| indented(&format!("{}: {why}", names.join(", ")));
    reasons.into_iter().map(line).collect()
}
