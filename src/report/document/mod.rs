//! What a report says, before anybody decides how it looks: sections of tables, figures and
//! listings. The page and the markdown are two forms of it.

mod breed;
mod build;
mod captions;
mod explained;
mod figures;
mod host;
mod tables;

use serde::Serialize;

pub(super) use breed::{Place, STAR, breed, choices, places};
pub(super) use build::document;
pub(super) use host::limit;

/// A whole report.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Document {
    /// What it is about.
    pub(super) title: String,
    /// Its parts.
    pub(super) sections: Vec<Section>,
    /// Who wrote it.
    pub(super) version: String,
}

/// A part of a report.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Section {
    /// Names it within the page; unique.
    pub(super) id: String,
    /// Heading.
    pub(super) title: String,
    /// What the contents call it.
    pub(super) short: String,
    /// 2 for the parts of the document, 3 for parts of these, and so on.
    pub(super) level: u8,
    /// Whether it may be folded away, and then whether it begins open.
    pub(super) folds: Option<bool>,
    /// What stands in it before its parts.
    pub(super) blocks: Vec<Block>,
    /// Its parts.
    pub(super) sections: Vec<Section>,
}

/// Something in a section.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Block {
    /// A paragraph.
    Text { text: String },
    /// Something a reader must be told.
    Warning { text: String },
    /// Names and what they stand for.
    Facts { rows: Vec<(String, String)> },
    /// A table.
    Table(Table),
    /// Charts that belong together.
    Figures { figures: Vec<Figure> },
    /// Lines to be shown as they are.
    Listing { id: String, title: String, text: String, open: bool },
}

/// A table.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Table {
    /// What it shows.
    pub(super) caption: String,
    /// Heads of its columns.
    pub(super) columns: Vec<Column>,
    /// Whether it has many columns: all that can be broken is.
    pub(super) narrow: bool,
    /// Its rows, as long as the columns are many.
    pub(super) rows: Vec<Vec<Entry>>,
}

/// A column.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Column {
    /// Its head.
    pub(super) name: String,
    /// Whether numbers stand in it.
    pub(super) number: bool,
    /// Whether its texts may be broken into lines.
    pub(super) folds: bool,
}

/// A place of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Entry {
    /// What stands there.
    pub(super) text: String,
    /// Whether it is the one to look at.
    pub(super) strong: bool,
    /// Whether it is the id of a loop.
    pub(super) code: bool,
    /// A step of the ramp, where the place is coloured.
    pub(super) step: Option<usize>,
}

/// A chart.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figure {
    /// What it shows.
    pub(super) title: String,
    /// The drawing.
    pub(super) svg: String,
    /// What is to be seen on it.
    pub(super) caption: String,
    /// Whether it needs the whole width of a page.
    pub(super) broad: bool,
}

impl Entry {
    pub(super) fn text(text: impl Into<String>) -> Entry {
        Entry { text: text.into(), ..Entry::default() }
    }

    pub(super) fn code(text: impl ToString) -> Entry {
        Entry { text: text.to_string(), code: true, ..Entry::default() }
    }
}

impl Column {
    /// A column; see [`Table::new`].
    pub(super) fn new(name: &str) -> Column {
        let plain = name.strip_prefix(['#', '~']).unwrap_or(name);
        Column { name: plain.into(), number: name.starts_with('#'), folds: name.starts_with('~') }
    }
}

impl Table {
    /// A table without rows. Columns whose head begins with `#` hold numbers, with `~` texts
    /// that may be broken.
    pub(super) fn new(caption: impl Into<String>, columns: &[&str]) -> Table {
        let columns = columns.iter().map(|name| Column::new(name)).collect();
        Table { caption: caption.into(), columns, narrow: false, rows: Vec::new() }
    }

    /// The table as a block, where it has rows.
    pub(super) fn block(self) -> Option<Block> {
        (!self.rows.is_empty()).then_some(Block::Table(self))
    }
}
