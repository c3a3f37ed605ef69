//! Baselines that a C compiler makes: plain loops, built when they are asked for.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::panel::Entrant;
use crate::subject::{Baseline, Op, Subject};
use crate::trial::{Body, Member, Role};

/// The loops as a person would write them, a byte at a time, for any n and any alignment. They
/// take their arguments as functions of shared objects do. The sum of the read is used, or
/// nothing would be left of the loop.
const SOURCE: &str = r#"
typedef __SIZE_TYPE__ size;
typedef unsigned char byte;

void *looptune_copy(void *restrict dst, const void *restrict src, size n)
{
    byte *d = dst;
    const byte *s = src;
    for (size i = 0; i < n; i++)
        d[i] = s[i];
    return dst;
}

void *looptune_zero(void *dst, int c, size n)
{
    byte *d = dst;
    (void)c;
    for (size i = 0; i < n; i++)
        d[i] = 0;
    return dst;
}

void *looptune_read(void *src, size n)
{
    const byte *s = src;
    unsigned sum = 0;
    for (size i = 0; i < n; i++)
        sum += s[i];
    __asm__ volatile("" : : "r"(sum));
    return src;
}

void *looptune_write(void *dst, size n)
{
    byte *d = dst;
    for (size i = 0; i < n; i++)
        d[i] = 0xff;
    return dst;
}
"#;

/// A loop must stay one: no call of the C library in its place, nothing that a kernel or a
/// distribution adds around functions, nothing linked that would let such a call go through.
const FLAGS: &[&str] = &[
    "-w",
    "-std=gnu99",
    "-shared",
    "-fPIC",
    "-nostdlib",
    "-Wl,-z,defs",
    "-ffreestanding",
    "-fno-builtin",
    "-fno-stack-protector",
];

/// What gcc needs besides; clang does not know it, and does without.
const GCC_FLAG: &str = "-fno-tree-loop-distribute-patterns";

/// Compilers that are tried, in this order.
const COMPILERS: &[&str] = &["cc", "gcc", "clang"];

/// Why there are no loops of a compiler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum NoCompiler {
    #[error("no C compiler: install gcc")]
    Missing,
    #[error("`{compiler}` cannot build a plain loop: {why}")]
    Refused { compiler: String, why: String },
    #[error("no place to build it: {0}")]
    NoPlace(String),
}

/// Plain loops, built by this host's C compiler into a folder that goes away with this value.
#[derive(Debug)]
pub struct Compiled {
    folder: TempDir,
    compiler: String,
}

impl Compiled {
    /// Builds them, with the first of `cc`, `gcc` and `clang` that can.
    ///
    /// # Errors
    /// Why no compiler made them.
    pub fn build() -> Result<Compiled, NoCompiler> {
        Compiled::build_with(COMPILERS)
    }

    fn build_with(compilers: &[&str]) -> Result<Compiled, NoCompiler> {
        let no_place = |e: std::io::Error| NoCompiler::NoPlace(e.to_string());
        let folder = tempfile::Builder::new().prefix("looptune-").tempdir().map_err(no_place)?;
        let source = folder.path().join("loops.c");
        std::fs::write(&source, SOURCE).map_err(no_place)?;
        let mut refused = None;
        for compiler in compilers {
            let Some(version) = version(compiler) else { continue };
            let built = Baseline::ALL.iter().try_for_each(|baseline| {
                let Some(option) = baseline.optimisation() else { return Ok(()) };
                compile(compiler, &version, option, &source, &library(folder.path(), *baseline))
            });
            match built {
                Ok(()) => return Ok(Compiled { folder, compiler: version }),
                Err(why) => {
                    let compiler = (*compiler).to_string();
                    refused.get_or_insert(NoCompiler::Refused { compiler, why });
                }
            }
        }
        Err(refused.unwrap_or(NoCompiler::Missing))
    }

    /// The compiler and its version, as it names itself.
    pub fn compiler(&self) -> &str {
        &self.compiler
    }

    /// The loop of a baseline for an op, valid as long as this value is; `None` where no
    /// compiler makes the baseline.
    pub fn entrant(&self, baseline: Baseline, op: Op) -> Option<Entrant> {
        baseline.optimisation()?;
        let path = library(self.folder.path(), baseline).to_string_lossy().into_owned();
        Some(Entrant {
            subject: Subject::Baseline(baseline),
            member: Member::new(Body::Foreign { path, symbol: format!("looptune_{op}") }),
            role: Role::Baseline,
            code_bytes: None,
            fully_verified: false,
        })
    }
}

fn library(folder: &Path, baseline: Baseline) -> PathBuf {
    folder.join(format!("{baseline}.so"))
}

/// What a compiler calls itself, in one line; `None` where there is none.
fn version(compiler: &str) -> Option<String> {
    let told = Command::new(compiler).arg("--version").stdin(Stdio::null()).output().ok()?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let first = told.lines().map(str::trim).find(|line| !line.is_empty());
    Some(first.unwrap_or(compiler).to_string())
}

/// Builds one library.
///
/// # Errors
/// What the compiler complains of, in one line.
fn compile(
    compiler: &str,
    version: &str,
    option: &str,
    source: &Path,
    library: &Path,
) -> Result<(), String> {
    let mut command = Command::new(compiler);
    command.args(FLAGS).arg(option);
    if !version.contains("clang") {
        command.arg(GCC_FLAG);
    }
    command.arg("-o").arg(library).arg(source).stdin(Stdio::null());
    let done = command.output().map_err(|e| e.to_string())?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let line = said.lines().find(|line| line.contains("error")).or_else(|| said.lines().next());
    Err(line.map_or_else(|| done.status.to_string(), |line| line.trim().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_compiler_is_told_with_what_to_do() {
        let none = Compiled::build_with(&["no-such-compiler"]).unwrap_err();
        assert_eq!(none.to_string(), "no C compiler: install gcc");
        // It is there, takes anything and makes nothing of it.
        let refused = Compiled::build_with(&["false"]).unwrap_err();
        assert!(refused.to_string().contains("`false` cannot build a plain loop"), "{refused}");
    }

    #[test]
    fn loops_stay_loops_and_the_folder_goes_away() {
        for compiler in COMPILERS {
            let Ok(built) = Compiled::build_with(&[compiler]) else {
                eprintln!("skipped: {compiler} is not here");
                continue;
            };
            let folder = built.folder.path().to_path_buf();
            for baseline in [Baseline::CompilerO2, Baseline::CompilerO3] {
                let entrant = built.entrant(baseline, Op::Copy).unwrap();
                let Body::Foreign { path, symbol } = entrant.member.body else { panic!() };
                assert_eq!(symbol, "looptune_copy");
                let bytes = std::fs::read(&path).unwrap();
                let has = |word: &[u8]| bytes.windows(word.len()).any(|w| w == word);
                assert!(has(b"looptune_write"), "{compiler}");
                // No name of the C library, so no call of it either.
                assert!(!has(b"memcpy\0") && !has(b"memset\0"), "{compiler}");
            }
            assert!(built.entrant(Baseline::Libc, Op::Copy).is_none());
            drop(built);
            assert!(!folder.exists());
        }
    }
}
