//! Functions that others wrote: the C library's and those of shared objects.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

use super::JitError;
use super::entry::{Abi, Entry};
use crate::subject::Op;

/// A loaded shared object. Addresses in it are valid as long as it lives.
#[derive(Debug)]
pub struct Library {
    _loaded: libloading::Library,
}

/// Loads a shared object and finds a function in it. A path without `/` means a file of the
/// current directory if there is one, else whatever the system's loader finds by that name.
///
/// # Errors
/// Names path and symbol, and what would be right.
pub fn open(path: &str, symbol: &str) -> Result<(Library, usize), JitError> {
    let here = format!("./{path}");
    let bare = !path.contains('/');
    let file = if bare && Path::new(&here).exists() { here.as_str() } else { path };
    if !bare && !Path::new(file).exists() {
        return Err(JitError::NoFile { path: path.into() });
    }
    if !bare || file != path {
        // The loader would wait for the other end of a pipe.
        if std::fs::metadata(file).is_ok_and(|there| !there.is_file()) {
            return Err(JitError::NotShared { path: path.into(), why: "no regular file".into() });
        }
    }
    // SAFETY: loading runs the object's constructors. Whoever names a file to be measured
    // wants its code to be run.
    let loaded = match unsafe { libloading::Library::new(file) } {
        Ok(loaded) => loaded,
        Err(_) if bare && file == path => return Err(JitError::NoFile { path: path.into() }),
        Err(error) => {
            return Err(JitError::NotShared { path: path.into(), why: reason(&error) });
        }
    };
    let missing = || JitError::NoSymbol { path: path.into(), symbol: symbol.into() };
    // SAFETY: only the address is taken; its type matters to the one who calls it.
    let found = unsafe { loaded.get::<*const c_void>(symbol) }.map_err(|_| missing())?;
    // SAFETY: as above; the address is used only while the returned library lives.
    let addr = unsafe { found.try_as_raw_ptr() }.map_or(0, |p| p as usize);
    if addr == 0 {
        return Err(missing());
    }
    Ok((Library { _loaded: loaded }, addr))
}

/// The loader's own words, which the error keeps as its source.
fn reason(error: &libloading::Error) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// `memcpy` or `memset` of the running C library: the implementation that its resolver chose
/// for this processor, not a stub that jumps there.
///
/// # Errors
/// Where the program has no dynamic C library.
pub fn libc_entry(op: Op) -> Result<Entry, JitError> {
    let (name, abi) = match op {
        Op::Copy => (c"memcpy", Abi::Copy),
        Op::Zero => (c"memset", Abi::Memset),
        Op::Read | Op::Write => return Err(JitError::NoLibc { op }),
    };
    match lookup(name) {
        Some(address) => Ok(Entry { addr: address as usize, abi }),
        None => Err(JitError::Libc { symbol: if op == Op::Copy { "memcpy" } else { "memset" } }),
    }
}

/// The C library's function and version as people write it, such as `glibc 2.36 memcpy`;
/// `None` where the library does not tell its version.
pub fn libc_name(op: Op) -> Option<String> {
    let version = lookup(c"gnu_get_libc_version")?;
    // SAFETY: glibc declares this name as a function without arguments that returns a
    // constant text.
    let version: extern "C" fn() -> *const c_char = unsafe { std::mem::transmute(version) };
    // SAFETY: the text is constant and ends with a zero byte.
    let version = unsafe { CStr::from_ptr(version()) }.to_str().ok()?;
    let function = match op {
        Op::Copy => "memcpy",
        Op::Zero => "memset",
        Op::Read | Op::Write => return None,
    };
    Some(format!("glibc {version} {function}"))
}

/// The address of a name among everything that is loaded.
fn lookup(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name is a text that ends with a zero byte.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_found() {
        let copy = libc_entry(Op::Copy).expect("a dynamic C library");
        let zero = libc_entry(Op::Zero).expect("a dynamic C library");
        assert_eq!((copy.abi, zero.abi), (Abi::Copy, Abi::Memset));
        assert_ne!(copy.addr, zero.addr);
        let name = libc_name(Op::Copy);
        assert!(name.is_none_or(|n| n.starts_with("glibc ") && n.ends_with(" memcpy")));
    }

    #[test]
    fn a_shared_object_is_opened_by_name() {
        let (_library, addr) = open("libc.so.6", "memset").expect("the C library by name");
        assert_eq!(addr, libc_entry(Op::Zero).expect("a dynamic C library").addr);
    }

    #[test]
    fn errors_name_what_is_wrong() {
        let said = |path: &str, symbol: &str| match open(path, symbol) {
            Ok(_) => panic!("{path}:{symbol} opened"),
            Err(error) => error.to_string(),
        };
        assert!(said("/nonexistent/x.so", "f").contains("no file `/nonexistent/x.so`"));
        assert!(said("nonexistent-x.so", "f").contains("no file `nonexistent-x.so`"));
        assert!(said("libc.so.6", "no_such_function").contains("exports no `no_such_function`"));
        let text = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(text.path(), "no object").expect("writable");
        let path = text.path().to_string_lossy().into_owned();
        assert!(matches!(open(&path, "f"), Err(JitError::NotShared { .. })));
        assert!(said(&path, "f").contains(&path));
    }
}
