//! Which of its many implementations the C library chose for this processor.

use std::ffi::{CStr, c_void};
use std::path::{Path, PathBuf};

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, Register};
use object::{Object, ObjectSegment, ObjectSymbol};
use serde::{Deserialize, Serialize};

use super::library::libc_entry;
use crate::subject::Op;

/// A function of the C library, as resolved here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolved {
    /// Its name, such as `__memmove_avx_unaligned_erms`, where the library or its debug file
    /// has symbols; `None` where it is stripped.
    pub name: Option<String>,
    /// File name of the library.
    pub library: String,
    /// Address within it.
    pub offset: u64,
    /// What the instructions that follow the entry use, as decoded: vectors and `rep`.
    pub uses: String,
}

/// Where distributions put symbols that they stripped from libraries.
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";

/// Bytes from the entry on that are looked at: the paths for small and middle sizes of every
/// implementation that glibc has.
const LOOKED_AT: u64 = 1024;

/// What the C library's function for an op is; `None` where it cannot be told: no dynamic C
/// library, or a file that cannot be read.
pub fn libc_resolved(op: Op) -> Option<Resolved> {
    let entry = libc_entry(op).ok()?.addr;
    let (path, base) = object_of(entry)?;
    let offset = entry.checked_sub(base)? as u64;
    let bytes = std::fs::read(&path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let prefix = match op {
        Op::Copy => "__mem",
        _ => "__memset",
    };
    let name = symbol_at(&file, offset, prefix).or_else(|| {
        let debug = std::fs::read(debug_file(file.build_id().ok()??)?).ok()?;
        symbol_at(&object::File::parse(&*debug).ok()?, offset, prefix)
    });
    let code = file.segments().find_map(|s| s.data_range(offset, LOOKED_AT).ok().flatten());
    Some(Resolved {
        name,
        library: path.file_name()?.to_string_lossy().into_owned(),
        offset,
        uses: code.map_or(String::new(), |code| uses(code, offset)),
    })
}

impl std::fmt::Display for Resolved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "{}+{:#x} ({})", self.library, self.offset, self.uses),
        }
    }
}

/// The file that an address of code was loaded from, and where it was put.
fn object_of(address: usize) -> Option<(PathBuf, usize)> {
    // SAFETY: all-zero is a value of this struct of pointers.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the call fills the struct for any address, or returns 0.
    let found = unsafe { libc::dladdr(address as *const c_void, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the name is a text that ends with a zero byte, and lives as long as the library.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some((Path::new(name.to_str().ok()?).into(), info.dli_fbase as usize))
}

/// The file of stripped symbols for a build.
fn debug_file(build: &[u8]) -> Option<PathBuf> {
    let hex: String = build.iter().map(|byte| format!("{byte:02x}")).collect();
    let (folder, rest) = hex.split_at_checked(2)?;
    Some(Path::new(DEBUG_FILES).join(folder).join(format!("{rest}.debug")))
}

/// The name of the function at an address: of several the shortest, then the first by alphabet.
fn symbol_at(file: &object::File<'_>, address: u64, prefix: &str) -> Option<String> {
    let names = file.symbols().filter(|s| s.address() == address).filter_map(|s| s.name().ok());
    let names = names.filter(|name| name.starts_with(prefix));
    names.min_by_key(|name| (name.len(), *name)).map(String::from)
}

/// The widest vectors and the string instructions of some code, for people.
fn uses(code: &[u8], address: u64) -> String {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let (mut widest, mut rep) = (0, [false; 2]);
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        for operand in 0..instruction.op_count() {
            let register = instruction.op_register(operand);
            if register.is_vector_register() {
                widest = widest.max(Register::size(register));
            }
        }
        let moves = instruction.has_rep_prefix();
        rep[0] |= moves && instruction.mnemonic() == Mnemonic::Movsb;
        rep[1] |= moves && instruction.mnemonic() == Mnemonic::Stosb;
    }
    let mut parts = Vec::new();
    if widest > 0 {
        parts.push(format!("vectors of {widest} bytes"));
    }
    parts.extend(rep[0].then(|| "rep movsb".into()));
    parts.extend(rep[1].then(|| "rep stosb".into()));
    if parts.is_empty() { "no vectors".into() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_function_is_found_in_its_file() {
        for op in [Op::Copy, Op::Zero] {
            let Some(found) = libc_resolved(op) else {
                // A static or foreign C library: nothing is claimed.
                continue;
            };
            assert!(found.offset > 0 && found.library.contains("libc"), "{found:?}");
            if let Some(name) = &found.name {
                let what = if op == Op::Copy { ["memcpy", "memmove"] } else { ["memset"; 2] };
                assert!(what.iter().any(|w| name.contains(w)), "{name}");
            } else {
                assert!(found.to_string().contains("+0x"), "{found}");
            }
            assert!(!found.uses.is_empty());
        }
        assert_eq!(libc_resolved(Op::Read), None);
    }

    #[test]
    fn instructions_say_what_they_use() {
        // vmovdqu ymm0, [rsi]; movups xmm1, [rsi]; rep movsb; ret
        let code = [0xc5, 0xfe, 0x6f, 0x06, 0x0f, 0x10, 0x0e, 0xf3, 0xa4, 0xc3];
        assert_eq!(uses(&code, 0), "vectors of 32 bytes, rep movsb");
        // rep stosb; ret
        assert_eq!(uses(&[0xf3, 0xaa, 0xc3], 0), "rep stosb");
        assert_eq!(uses(&[0xc3], 0), "no vectors");
    }

    #[test]
    fn stripped_symbols_are_looked_for_by_build() {
        let path = debug_file(&[0x93, 0xac, 0x61]).unwrap();
        assert_eq!(path, Path::new("/usr/lib/debug/.build-id/93/ac61.debug"));
        assert_eq!(debug_file(&[]), None);
    }
}
