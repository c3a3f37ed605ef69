//! The C library of this process, whose `memcpy` and `memset` are baselines.
#![allow(unsafe_code, reason = "the library tells its version by a call")]

use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

/// The C library, and what steers its choice of loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clib {
    /// Version of glibc; `None` for another library.
    pub glibc: Option<String>,
    /// `GLIBC_TUNABLES` of this process.
    pub tunables: Option<String>,
    /// From this size on its copies and fills use non-temporal stores, bytes; as its loader
    /// tells under the same environment.
    pub nt_threshold: Option<u64>,
    /// The same of fills, where the library has such a setting (glibc 2.40 and later).
    pub memset_nt_threshold: Option<u64>,
    /// From this size on its copies use `rep movsb`, where they use it at all; bytes.
    pub rep_movsb_threshold: Option<u64>,
    /// From this size on its fills use `rep stosb`, where they use it at all; bytes.
    pub rep_stosb_threshold: Option<u64>,
}

/// Where the x86-64 psABI puts the loader. It is glibc's where the library is.
const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

impl Clib {
    pub(crate) fn read() -> Clib {
        let glibc = version();
        let told = if glibc.is_some() { list_tunables() } else { String::new() };
        Clib {
            glibc,
            tunables: std::env::var("GLIBC_TUNABLES").ok().filter(|t| !t.is_empty()),
            nt_threshold: tunable(&told, "glibc.cpu.x86_non_temporal_threshold"),
            memset_nt_threshold: tunable(&told, "glibc.cpu.x86_memset_non_temporal_threshold"),
            rep_movsb_threshold: tunable(&told, "glibc.cpu.x86_rep_movsb_threshold"),
            rep_stosb_threshold: tunable(&told, "glibc.cpu.x86_rep_stosb_threshold"),
        }
    }
}

#[cfg(target_env = "gnu")]
fn version() -> Option<String> {
    // SAFETY: the call returns a pointer to a constant, zero-terminated string.
    let text = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    Some(text.to_string_lossy().into_owned())
}

#[cfg(not(target_env = "gnu"))]
fn version() -> Option<String> {
    None
}

/// What the loader says of its settings (glibc 2.33 and later); empty where it does not.
fn list_tunables() -> String {
    let mut loader = Command::new(LOADER);
    loader.arg("--list-tunables").stdin(Stdio::null()).stderr(Stdio::null());
    match loader.output() {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
        _ => String::new(),
    }
}

/// One setting of `name: 0xvalue (min: …, max: …)` lines.
fn tunable(told: &str, name: &str) -> Option<u64> {
    let line = told.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':'))?;
    let value = line.split_whitespace().next()?;
    match value.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => value.parse().ok(),
    }
    // glibc before 2.36 prints 0 for what it computes later
    .filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_found_by_their_whole_name() {
        let told = "glibc.cpu.x86_non_temporal_threshold_x: 0x1 (min: 0x0, max: 0xff)\n\
                    glibc.cpu.x86_non_temporal_threshold: 0xc0000 (min: 0x4040, max: 0xfff)\n\
                    glibc.cpu.x86_shstk:\n\
                    glibc.malloc.check: 3 (min: 0, max: 3)\n\
                    glibc.cpu.x86_rep_movsb_threshold: 0x0 (min: 0x0, max: 0xff)\n";
        assert_eq!(tunable(told, "glibc.cpu.x86_non_temporal_threshold"), Some(0xc0000));
        assert_eq!(tunable(told, "glibc.malloc.check"), Some(3));
        assert_eq!(tunable(told, "glibc.cpu.x86_shstk"), None);
        assert_eq!(tunable(told, "glibc.cpu.x86_rep_movsb_threshold"), None);
        assert_eq!(tunable("", "glibc.malloc.check"), None);
    }
}
