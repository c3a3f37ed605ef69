//! Reading TOML so that every complaint names the file, the line and the key.

use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::subject::near;

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
    /// [`FileError::Malformed`] with the line; an unknown key offers the near ones.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, FileError> {
        toml::from_str(self.text).map_err(|e| FileError::Malformed {
            file: self.file.to_string(),
            line: e.span().map_or(1, |span| self.line(&span)),
            why: with_near_key(e.message()),
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
    std::fs::read_to_string(path)
        .map_err(|why| FileError::Read { file: path.display().to_string(), why })
}

/// Adds the near keys to serde's message on an unknown one, which quotes the key first and
/// then every key that would do.
fn with_near_key(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match quoted.split_first() {
        Some((key, known)) if message.starts_with("unknown field") => {
            let near = near(key, known.iter().map(|k| (*k).to_string()));
            if near.is_empty() {
                message.to_string()
            } else {
                format!("{message}; did you mean `{}`?", near.join("` or `"))
            }
        }
        _ => message.to_string(),
    }
}
