//! Files that are files.

use std::fs::{File, FileType, Metadata};
use std::io::{Error, ErrorKind, Read as _, Result};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// Opens a file for reading, unless it is something else: a pipe or a terminal would be
/// waited on forever, and a device has no end.
///
/// # Errors
/// What the path is instead of a file; else what the system says.
pub fn regular(path: &Path) -> Result<File> {
    // Asked before it is opened: opening a pipe waits for its other end.
    check(&std::fs::metadata(path)?)?;
    let file = File::open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// The text of a file, which must be one.
///
/// # Errors
/// As [`regular`]; text that is not UTF-8.
pub fn read_regular(path: &Path) -> Result<String> {
    let mut text = String::new();
    regular(path)?.read_to_string(&mut text)?;
    Ok(text)
}

fn check(metadata: &Metadata) -> Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let what = kind(metadata.file_type());
    Err(Error::new(ErrorKind::InvalidInput, format!("it is {what}; name a regular file")))
}

fn kind(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_said_and_never_waited_for() {
        let said = |path: &Path| read_regular(path).unwrap_err().to_string();
        assert!(said(Path::new("/dev/zero")).contains("a device; name a regular file"));
        let folder = tempfile::tempdir().unwrap();
        assert!(said(folder.path()).contains("a folder"));
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        assert!(said(&pipe).contains("a pipe"));
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(said(&socket).contains("a socket"));
        let file = folder.path().join("file");
        std::fs::write(&file, "text").unwrap();
        assert_eq!(read_regular(&file).unwrap(), "text");
        assert_eq!(regular(&folder.path().join("x")).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
