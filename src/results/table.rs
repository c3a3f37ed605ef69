//! Tables that survive a crash: CSV files of one line a row, appended in whole lines and
//! read line by line, so that damage stays within its line.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read as _, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::ResultsError;
use crate::units::regular;

/// Ends a line that an earlier crash tore. As a field it makes the line unreadable as a row,
/// also where the tear fell between two digits of its last number.
const TORN: &str = "torn";

/// Every table's first column; a line that begins with its name is a header. Files that two
/// versions wrote to have several.
const FIRST_COLUMN: &str = "run";

/// What was read, and what a reader must be told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Read<T> {
    /// What was understood, in the order of the file.
    pub rows: Vec<T>,
    /// What was not, each with file and line; a few a file, the rest counted.
    pub warnings: Vec<String>,
}

/// Warnings kept a file: a thoroughly broken file should not bury the page.
pub(super) const MAX_WARNINGS: usize = 5;

impl<T> Default for Read<T> {
    fn default() -> Self {
        Read { rows: Vec::new(), warnings: Vec::new() }
    }
}

/// Reads a table; rows that do not fit are dropped with a warning. A missing file is an
/// empty table.
///
/// # Errors
/// Only where the file exists and cannot be read at all.
pub(super) fn read_table<W, T>(
    path: &Path,
    convert: impl FnMut(W) -> Result<T, String>,
) -> Result<Read<T>, ResultsError>
where
    W: DeserializeOwned,
{
    let mut rows = Vec::new();
    let warnings = each_row(path, convert, |row| rows.push(row))?;
    Ok(Read { rows, warnings })
}

/// Reads a table as [`read_table`] does, row by row, for files that are too large to hold.
/// Gives back the warnings.
///
/// # Errors
/// Only where the file exists and cannot be read at all.
pub(super) fn each_row<W, T>(
    path: &Path,
    mut convert: impl FnMut(W) -> Result<T, String>,
    mut each: impl FnMut(T),
) -> Result<Vec<String>, ResultsError>
where
    W: DeserializeOwned,
{
    let mut warnings = Vec::new();
    let mut untold = 0;
    let mut header: Option<csv::StringRecord> = None;
    each_line(path, |number, line, whole| {
        let parsed = if line.is_empty() {
            return;
        } else if whole {
            row(line, &mut header, &mut convert)
        } else {
            Err("the line was cut off and is dropped".into())
        };
        match parsed {
            Ok(Some(value)) => each(value),
            Ok(None) => {}
            Err(_) if warnings.len() == MAX_WARNINGS => untold += 1,
            Err(why) => warnings.push(format!("{}:{number}: {why}", path.display())),
        }
    })?;
    if untold > 0 {
        warnings.push(format!("{}: {untold} more lines like that", path.display()));
    }
    Ok(warnings)
}

/// Whole rows of a run in a table; 0 where there is no such file.
///
/// # Errors
/// Only where the file exists and cannot be read at all.
pub(super) fn rows_of(path: &Path, run: &str) -> Result<u64, ResultsError> {
    /// What every row has.
    #[derive(serde::Deserialize)]
    struct OfRun {
        run: String,
    }
    let mut count = 0;
    // What is damaged is told to whoever reads the rows.
    each_row(path, |row: OfRun| Ok(row.run), |of| count += u64::from(of == run))?;
    Ok(count)
}

/// Understands one whole line: a row, or a header (`None`).
fn row<W: DeserializeOwned, T>(
    line: &[u8],
    header: &mut Option<csv::StringRecord>,
    convert: &mut impl FnMut(W) -> Result<T, String>,
) -> Result<Option<T>, String> {
    let record = split(line)?;
    if record.get(0) == Some(FIRST_COLUMN) {
        *header = Some(record);
        return Ok(None);
    }
    let header = header.as_ref().ok_or("a row without a header above it is skipped")?;
    if record.len() != header.len() || record.iter().next_back() == Some(TORN) {
        return Err(format!("{} fields instead of {}; skipped", record.len(), header.len()));
    }
    let wire: W = record.deserialize(Some(header)).map_err(|e| format!("{e}; skipped"))?;
    convert(wire).map(Some).map_err(|why| format!("{why}; skipped"))
}

/// The fields of one line.
fn split(line: &[u8]) -> Result<csv::StringRecord, String> {
    let text = std::str::from_utf8(line).map_err(|_| "not UTF-8; skipped".to_string())?;
    if !text.contains('"') {
        return Ok(text.split(',').collect::<Vec<_>>().into());
    }
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).buffer_capacity(line.len()).from_reader(line);
    match reader.records().next() {
        Some(Ok(record)) => Ok(record),
        Some(Err(e)) => Err(format!("{e}; skipped")),
        None => Err("empty; skipped".into()),
    }
}

/// Calls `each` with number (from 1), bytes and wholeness (ends with a newline) of every
/// line. A missing file has none.
pub(super) fn each_line(
    path: &Path,
    mut each: impl FnMut(u64, &[u8], bool),
) -> Result<(), ResultsError> {
    let broken =
        |e: std::io::Error| ResultsError::Read { path: path.to_path_buf(), why: e.to_string() };
    let file = match regular(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(broken)?,
    };
    let mut lines = BufReader::with_capacity(1 << 16, file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(broken)? == 0 {
            break;
        }
        let whole = line.last() == Some(&b'\n');
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        each(number, text.strip_suffix(b"\r").unwrap_or(text), whole);
    }
    Ok(())
}

/// A table that rows are appended to.
#[derive(Debug)]
pub(super) struct Appender {
    file: File,
    path: PathBuf,
    pending: Vec<u8>,
}

impl Appender {
    /// Opens or creates a table for rows of type `W`, whose fields are named by `header`.
    /// What an earlier crash tore is closed off; a header is written where the last one of
    /// the file is another.
    pub(super) fn open(path: &Path, header: &[&str]) -> Result<Appender, ResultsError> {
        let folder =
            |e: std::io::Error| ResultsError::Folder { path: path.into(), why: e.to_string() };
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(folder)?;
        let header = header.join(",");
        let mut last_header = None;
        each_line(path, |_, line, whole| {
            if whole && line.split(|b| *b == b',').next() == Some(FIRST_COLUMN.as_bytes()) {
                last_header = Some(line.to_vec());
            }
        })?;
        let mut pending = Vec::new();
        if torn(&mut file).map_err(folder)? {
            pending.extend_from_slice(format!(",{TORN}\n").as_bytes());
        }
        if last_header.as_deref() != Some(header.as_bytes()) {
            pending.extend_from_slice(header.as_bytes());
            pending.push(b'\n');
        }
        let mut appender = Appender { file, path: path.into(), pending };
        appender.flush()?;
        Ok(appender)
    }

    /// Adds a row; it reaches the file with the next [`Appender::flush`].
    pub(super) fn push<W: Serialize>(&mut self, row: &W) -> Result<(), ResultsError> {
        let mut line = csv::WriterBuilder::new()
            .has_headers(false)
            .buffer_capacity(512)
            .from_writer(&mut self.pending);
        let written = line.serialize(row).map_err(|e| e.to_string());
        written
            .and_then(|()| line.flush().map_err(|e| e.to_string()))
            .map_err(|why| ResultsError::Write { path: self.path.clone(), why })
    }

    /// Hands all rows to the file in one write, so that other writers' lines stay whole.
    pub(super) fn flush(&mut self) -> Result<(), ResultsError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let written = self.file.write_all(&self.pending);
        self.pending.clear();
        written.map_err(|e| ResultsError::Write { path: self.path.clone(), why: e.to_string() })
    }
}

/// Whether the file's last line lacks its end.
pub(super) fn torn(file: &mut File) -> std::io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// A text as part of a line: what would end the line becomes a space.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
