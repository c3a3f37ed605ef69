//! The outside judge of an export: assemblers of this host make an object of the text, and
//! its bytes and addresses are compared with the tuned ones.

use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use super::error::CheckError;
use crate::encode::Code;

/// Address alignment of every generated function, bytes.
const ENTRY_ALIGN: u64 = 64;

/// What the check found; displays as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// These assemblers gave exactly the tuned bytes, at addresses as tuned.
    Same(Vec<String>),
    /// Nobody could be asked.
    NoAssembler,
}

impl std::fmt::Display for Checked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Checked::Same(by) => {
                let (verb, by) = (if by.len() == 1 { "gives" } else { "give" }, by.join(" and "));
                write!(f, "checked: {by} {verb} exactly the tuned bytes, 64-aligned")
            }
            Checked::NoAssembler => {
                write!(f, "not checked: no assembler found (install binutils)")
            }
        }
    }
}

/// An assembler and what to say before the names of output and input.
struct Assembler {
    command: &'static str,
    args: &'static [&'static str],
    called: &'static str,
}

const GNU_AS: Assembler = Assembler { command: "as", args: &["--64"], called: "GNU as" };
const CLANG: Assembler = Assembler { command: "clang", args: &["-c"], called: "clang" };
const CC: Assembler = Assembler { command: "cc", args: &["-c"], called: "cc" };

/// Assembles the text (GNU as and clang where they are, else cc) and compares the function
/// `symbol` with `code`: every byte, the address of the entry modulo 64, and with it the
/// address of the loop top.
///
/// # Errors
/// Names the assembler and the first offset that differs, or why there is no object.
pub fn check(text: &str, symbol: &str, code: &Code) -> Result<Checked, CheckError> {
    let room = tempfile::tempdir()
        .map_err(|source| CheckError::Io { what: "temporary folder".into(), source })?;
    let input = room.path().join("export.S");
    std::fs::write(&input, text)
        .map_err(|source| CheckError::Io { what: input.display().to_string(), source })?;
    let mut by = Vec::new();
    for assembler in [GNU_AS, CLANG] {
        if check_with(&assembler, &input, symbol, code)? {
            by.push(assembler.called.to_string());
        }
    }
    if by.is_empty() && check_with(&CC, &input, symbol, code)? {
        by.push(CC.called.to_string());
    }
    Ok(if by.is_empty() { Checked::NoAssembler } else { Checked::Same(by) })
}

/// Whether the assembler exists; an error where it disagrees.
fn check_with(
    assembler: &Assembler,
    input: &Path,
    symbol: &str,
    code: &Code,
) -> Result<bool, CheckError> {
    let output = input.with_extension(format!("{}.o", assembler.command));
    let ran = Command::new(assembler.command)
        .args(assembler.args)
        .arg("-o")
        .args([output.as_path(), input])
        .env("LC_ALL", "C")
        .output();
    let ran = match ran {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        ran => ran.map_err(|source| CheckError::Io { what: assembler.command.into(), source })?,
    };
    let called = || assembler.called.to_string();
    if !ran.status.success() {
        let message = String::from_utf8_lossy(&ran.stderr);
        let message = message.lines().take(6).collect::<Vec<_>>().join("\n  ");
        return Err(CheckError::Assembler { assembler: called(), message });
    }
    let bytes = std::fs::read(&output)
        .map_err(|source| CheckError::Io { what: output.display().to_string(), source })?;
    let function =
        function(&bytes, symbol).map_err(|why| CheckError::Object { assembler: called(), why })?;
    function.compare(assembler.called, code)?;
    Ok(true)
}

/// A function of an object.
struct ObjectFunction {
    bytes: Vec<u8>,
    offset: u64,
    section_align: u64,
    relocated: bool,
}

fn function(object: &[u8], symbol: &str) -> Result<ObjectFunction, String> {
    let file = object::File::parse(object).map_err(|e| e.to_string())?;
    let entry = file
        .symbols()
        .find(|s| s.name() == Ok(symbol) && s.is_definition())
        .ok_or_else(|| format!("it has no symbol `{symbol}`"))?;
    if !entry.is_global() || entry.kind() != SymbolKind::Text {
        return Err(format!("`{symbol}` is no global function in it"));
    }
    let section = entry
        .section_index()
        .and_then(|index| file.section_by_index(index).ok())
        .ok_or_else(|| format!("`{symbol}` lies in no section"))?;
    // In a relocatable object addresses are offsets from the section's start.
    let range = entry.address()..entry.address() + entry.size();
    let bytes = section
        .data_range(range.start, entry.size())
        .map_err(|e| e.to_string())?
        .ok_or_else(|| format!("`{symbol}` reaches past its section"))?;
    Ok(ObjectFunction {
        bytes: bytes.to_vec(),
        offset: range.start,
        section_align: section.align(),
        relocated: section.relocations().any(|(at, _)| range.contains(&at)),
    })
}

impl ObjectFunction {
    fn compare(&self, assembler: &str, code: &Code) -> Result<(), CheckError> {
        let place = |why: String| CheckError::Place { assembler: assembler.into(), why };
        let wanted = &code.bytes;
        if self.bytes != *wanted {
            let offset = self.bytes.iter().zip(wanted).take_while(|(a, b)| a == b).count();
            return Err(CheckError::Bytes {
                assembler: assembler.into(),
                offset,
                got: window(&self.bytes, offset),
                wanted: window(wanted, offset),
            });
        }
        if self.relocated {
            return Err(place("a linker would still change bytes of the function".into()));
        }
        if !self.section_align.is_multiple_of(ENTRY_ALIGN) {
            return Err(place(format!("its section is aligned to {} only", self.section_align)));
        }
        if !self.offset.is_multiple_of(ENTRY_ALIGN) {
            let loop_top = code.loop_range.as_ref().map_or(String::new(), |r| {
                let at = |entry: u64| (entry + u64::from(r.start)) % ENTRY_ALIGN;
                format!(", its loop top at {} instead of {}", at(self.offset), at(0))
            });
            let entry = self.offset % ENTRY_ALIGN;
            return Err(place(format!("the entry stands at {entry} modulo 64{loop_top}")));
        }
        Ok(())
    }
}

/// A few bytes from an offset, for a message.
fn window(bytes: &[u8], from: usize) -> String {
    let shown: Vec<String> = bytes.iter().skip(from).take(8).map(|b| format!("{b:02x}")).collect();
    if shown.is_empty() { "nothing (the function ends)".into() } else { shown.join(" ") }
}
