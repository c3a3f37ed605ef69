//! Recorded folders as a report, in the form that is asked for.

use super::document::document;
use super::gather::{Depth, gather};
use super::html::html;
use super::markdown::markdown;
use super::plain::{plain, side_by_side};
use super::rows::rows;
use crate::results::{Folder, ResultsError};
use crate::units::words;

words! {
    /// Forms of a report.
    Form {
        /// Tables of 100 columns.
        Plain = "plain",
        /// A document to be read as it is or rendered.
        Markdown = "md",
        /// A row for each op, size, state, drive and subject.
        Csv = "csv",
        /// One page with charts.
        Html = "html",
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file exists and cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The page's template and its content do not fit each other.
    #[error("the page cannot be filled in: {0}")]
    Page(#[from] minijinja::Error),
    /// A row cannot be written.
    #[error("the rows cannot be written: {0}")]
    Rows(#[from] csv::Error),
}

/// A report on the folders of one host or several, in the order given.
///
/// # Errors
/// Where a file exists and cannot be read at all; damage within a file becomes a warning of
/// the report.
pub fn folders(folders: &[Folder], form: Form) -> Result<String, ReportError> {
    let all = |depth| folders.iter().map(|f| gather(f, depth)).collect::<Result<Vec<_>, _>>();
    Ok(match form {
        Form::Plain => {
            let mut pages = folders.iter().map(plain).collect::<Result<Vec<_>, _>>()?;
            if folders.len() > 1 {
                pages.insert(0, side_by_side(&all(Depth::Decisions)?));
            }
            pages.join("\n")
        }
        Form::Markdown => markdown(&document(&all(Depth::Everything)?)),
        Form::Csv => rows(&all(Depth::Decisions)?)?,
        Form::Html => html(&document(&all(Depth::Everything)?))?,
    })
}
