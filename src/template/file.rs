//! Reading TOML so that every complaint names the file, the line and the key.

use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::complaint::{key_at, translated};
use crate::units::read_regular;

/// Why a file of families or of a search cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error("{file}: cannot be read: {why}")]
    Read {
        /// Path of the file.
        file: String,
        /// What the operating system says.
        why: std::io::Error,
    },
    /// The text is no TOML, or not of the asked shape.
    #[error("{file}:{line}: {why}")]
    Malformed {
        /// Path of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong and what would be right.
        why: String,
    },
    /// The value of a key is not what the key takes.
    #[error("{file}:{line}: {key}: {why}")]
    Value {
        /// Path of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The key, with its table where it stands in one.
        key: String,
        /// What is wrong and what would be right.
        why: String,
    },
}

/// A text with the name it goes by in messages.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Path or built-in name.
    pub file: &'a str,
    /// The whole text.
    pub text: &'a str,
}

impl Source<'_> {
    /// Parses the text into a wire type.
    ///
    /// # Errors
    /// [`FileError::Value`] with line and key where a value has the wrong type, else
    /// [`FileError::Malformed`] with the line; an unknown key offers the near ones.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, FileError> {
        toml::from_str(self.text).map_err(|e| {
            let key = e.span().and_then(|span| key_at(self.text, &span));
            let last = key.as_deref().and_then(|key| key.rsplit('.').next());
            let why = translated(e.message(), last);
            let (file, line) = (self.file.to_string(), e.span().map_or(1, |span| self.line(&span)));
            match key {
                Some(key) => FileError::Value { file, line, key, why },
                None => FileError::Malformed { file, line, why },
            }
        })
    }

    /// The line, from 1, on which a span begins.
    pub fn line(&self, span: &Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        1 + before.iter().filter(|b| **b == b'\n').count()
    }

    /// A complaint about the value at a span.
    pub fn value(&self, span: &Range<usize>, key: &str, why: impl Into<String>) -> FileError {
        FileError::Value {
            file: self.file.to_string(),
            line: self.line(span),
            key: key.to_string(),
            why: why.into(),
        }
    }
}

/// Reads a whole file.
///
/// # Errors
/// [`FileError::Read`].
pub fn read(path: &Path) -> Result<String, FileError> {
    read_regular(path).map_err(|why| FileError::Read { file: path.display().to_string(), why })
}
