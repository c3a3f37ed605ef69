//! Narrow tables: more columns than other pages have, so one space between them where needed.

/// A table being filled. The first column is of words, the others of numbers.
pub(super) struct Columns {
    /// What a column belongs to, and its name.
    head: Vec<(String, String)>,
    rows: Vec<Vec<String>>,
    gap: usize,
}

impl Columns {
    /// An empty table; `gap`: spaces between columns.
    pub(super) fn new(gap: usize) -> Columns {
        Columns { head: Vec::new(), rows: Vec::new(), gap }
    }

    /// Adds a column: `above` stands over its name.
    pub(super) fn column(&mut self, above: &str, name: &str) {
        self.head.push((above.to_string(), name.to_string()));
    }

    /// Adds a row, which has a cell for each column.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The text, each line indented by two and ended.
    pub(super) fn text(&self) -> String {
        let long = |text: &str| text.chars().count();
        let widths: Vec<usize> = (0..self.head.len())
            .map(|i| {
                let cells = self.rows.iter().filter_map(|row| row.get(i)).map(|cell| long(cell));
                let (above, name) = &self.head[i];
                cells.chain([long(above), long(name)]).max().unwrap_or(0)
            })
            .collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut text = String::from("  ");
            for (i, (cell, width)) in cells.zip(&widths).enumerate() {
                let blank = " ".repeat(width - long(cell).min(*width));
                match i {
                    0 => text.push_str(&format!("{cell}{blank}")),
                    _ => text.push_str(&format!("{}{blank}{cell}", " ".repeat(self.gap))),
                }
            }
            format!("{}\n", text.trim_end())
        };
        let mut text = String::new();
        if self.head.iter().any(|(above, _)| !above.is_empty()) {
            text.push_str(&line(&mut self.head.iter().map(|(above, _)| above.as_str())));
        }
        text.push_str(&line(&mut self.head.iter().map(|(_, name)| name.as_str())));
        let all = widths.iter().sum::<usize>() + self.gap * widths.len().saturating_sub(1);
        text.push_str(&format!("  {}\n", "─".repeat(all)));
        for row in &self.rows {
            text.push_str(&line(&mut row.iter().map(String::as_str)));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_below_their_names() {
        let mut columns = Columns::new(1);
        columns.column("", "size");
        columns.column("1996", "libc");
        columns.row(vec!["32".into(), "123456".into()]);
        columns.row(vec!["4194304".into(), "–".into()]);
        let wanted = "            1996\n  size      libc\n  ──────────────\n  \
                      32      123456\n  4194304      –\n";
        assert_eq!(columns.text(), wanted);
    }
}
