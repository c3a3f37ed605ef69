//! The report as markdown that reads well as it is: columns stand under each other, nothing
//! is hidden in markup. Charts are left out; what is to be seen on them is said.

use super::document::{Block, Document, Entry, Section, Table};
use super::text::fold;

/// Letters of a line of text.
const WIDTH: usize = 90;

/// Letters of a line of a column that may be broken.
const FOLDED: usize = 60;

/// The document.
pub(super) fn markdown(document: &Document) -> String {
    let mut out = format!("# {}\n", document.title);
    for part in &document.sections {
        section(part, &mut out);
    }
    out.push_str("\n---\n\n");
    let notes = format!(
        "Times are of a whole call. Brackets hold 95 % intervals. Ratios are paired within \
         blocks of the same run; verdicts are of the baseline against the winner. Regret is time \
         over the state's best, minus one. Written by looptune {}.",
        document.version
    );
    paragraph(&notes, &mut out);
    out
}

/// What is folded away on the page is left out: a mail is read from one end to the other.
fn section(part: &Section, out: &mut String) {
    if part.folds == Some(false) {
        return;
    }
    let marks = "#".repeat(usize::from(part.level));
    out.push_str(&format!("\n{marks} {}\n", part.title));
    for block in &part.blocks {
        write(block, out);
    }
    for inner in &part.sections {
        section(inner, out);
    }
}

fn paragraph(text: &str, out: &mut String) {
    out.push_str(&fold(&escaped(text), WIDTH, 0));
    out.push('\n');
}

fn write(block: &Block, out: &mut String) {
    out.push('\n');
    match block {
        Block::Text { text } => paragraph(text, out),
        Block::Warning { text } => {
            out.push_str(&format!(
                "> {}\n",
                fold(&escaped(text), WIDTH - 2, 0).replace('\n', "\n> ")
            ));
        }
        Block::Facts { rows } => {
            for (name, text) in rows {
                let line = format!("- {name}: {}", escaped(text));
                out.push_str(&format!("{}\n", fold(&line, WIDTH, 2)));
            }
        }
        Block::Table(table) => {
            paragraph(&format!("{}:", table.caption.trim_end_matches('.')), out);
            out.push('\n');
            rows(table, out);
        }
        Block::Figures { figures } => {
            for figure in figures {
                let line = format!("- {}: {}", figure.title, escaped(&figure.caption));
                out.push_str(&format!("{}\n", fold(&line, WIDTH, 2)));
            }
        }
        Block::Listing { title, open: false, .. } => {
            let id = title.split(':').next().unwrap_or_default();
            out.push_str(&format!("`{title}`; its listing: `looptune show {id}`\n"));
        }
        Block::Listing { title, text, .. } => {
            out.push_str(&format!("`{title}`\n\n```\n{}\n```\n", text.trim_end()));
        }
    }
}

/// What would be markup is written so that it is none.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '|' | '<' | '*' | '_' | '`' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn place(entry: &Entry) -> String {
    let text = entry.text.replace(['\n', '\r'], " ");
    match entry.code {
        // Within code nothing is markup but its own end; a table's bars count all the same.
        true => format!("`{}`", text.replace('`', "'").replace('|', "\\|")),
        false => escaped(&text),
    }
}

/// A row as lines: long texts of columns that may be broken go on in further rows.
fn lines(table: &Table, row: &[Entry]) -> Vec<Vec<String>> {
    let broken: Vec<Vec<Entry>> = row
        .iter()
        .zip(&table.columns)
        .map(|(entry, column)| match column.folds {
            false => vec![entry.clone()],
            true => fold(&entry.text, FOLDED, 0)
                .lines()
                .map(|line| Entry { text: line.into(), ..entry.clone() })
                .collect(),
        })
        .collect();
    let height = broken.iter().map(Vec::len).max().unwrap_or(1);
    let at = |line: usize| broken.iter().map(move |c| c.get(line).map_or(String::new(), place));
    (0..height).map(|line| at(line).collect()).collect()
}

fn rows(table: &Table, out: &mut String) {
    let head: Vec<String> = table.columns.iter().map(|c| escaped(&c.name)).collect();
    let body: Vec<Vec<String>> = table.rows.iter().flat_map(|row| lines(table, row)).collect();
    let width = |column: usize| {
        let of = |row: &Vec<String>| row.get(column).map_or(0, |t| t.chars().count());
        body.iter().map(of).chain([of(&head), 3]).max().unwrap_or(3)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut line = |row: &[String]| {
        let mut text = String::from("|");
        for (column, width) in widths.iter().enumerate() {
            let empty = String::new();
            let entry = row.get(column).unwrap_or(&empty);
            let number = table.columns[column].number;
            text.push_str(&match number {
                true => format!(" {entry:>width$} |"),
                false => format!(" {entry:<width$} |"),
            });
        }
        out.push_str(&text);
        out.push('\n');
    };
    line(&head);
    let rule: Vec<String> = widths
        .iter()
        .zip(&table.columns)
        .map(|(width, c)| match c.number {
            true => format!("{}:", "-".repeat(width - 1)),
            false => "-".repeat(*width),
        })
        .collect();
    line(&rule);
    for row in &body {
        line(row);
    }
}
