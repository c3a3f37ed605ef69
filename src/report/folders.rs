//! Recorded folders as a report, in the form that is asked for.

use super::document::document;
use super::gather::{Depth, gather};
use super::html::html;
use super::plain::plain;
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
            let pages = folders.iter().map(plain).collect::<Result<Vec<_>, _>>()?;
            pages.join("\n")
        }
        Form::Markdown | Form::Csv => unimplemented!(),
        Form::Html => html(&document(&all(Depth::Everything)?))?,
    })
}
