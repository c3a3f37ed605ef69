//! Tables without frames: a rule under the head, numbers to the right.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// Columns of a page.
pub(super) const WIDTH: u16 = 100;

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table being filled.
pub(super) struct Grid {
    sides: Vec<Side>,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// An empty table with these columns.
    pub(super) fn new(columns: &[(&str, Side)]) -> Grid {
        Grid {
            sides: columns.iter().map(|(_, side)| *side).collect(),
            head: columns.iter().map(|(name, _)| (*name).to_string()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The text, each line indented by two and ended.
    pub(super) fn text(&self) -> String {
        let mut table = Table::new();
        table
            .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')))
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(WIDTH)
            .force_no_tty()
            .set_header(self.head.clone())
            .add_rows(self.rows.clone());
        let last = self.sides.len().saturating_sub(1);
        for (index, side) in self.sides.iter().enumerate() {
            if let Some(column) = table.column_mut(index) {
                column.set_padding((
                    if index == 0 { 2 } else { 0 },
                    if index == last { 0 } else { 2 },
                ));
                column.set_cell_alignment(match side {
                    Side::Left => CellAlignment::Left,
                    Side::Right => CellAlignment::Right,
                });
            }
        }
        let mut text = String::new();
        for line in table.trim_fmt().lines() {
            // The rule starts where the words do.
            let line = line.strip_prefix("──").map_or(line.to_string(), |rule| format!("  {rule}"));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}
