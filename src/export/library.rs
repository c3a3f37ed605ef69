//! An exported text as a shared object, so that what was written can be measured as a program
//! would call it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A way to a shared object: commands with their arguments, `{in}`, `{object}` and `{out}` for
/// the paths; the first names it.
struct Way {
    called: &'static str,
    steps: &'static [&'static [&'static str]],
}

/// Ways that are tried, in this order: a compiler's driver, else the tools behind it.
const WAYS: &[Way] = &[
    Way { called: "cc", steps: &[&["cc", "-shared", "-nostdlib", "-o", "{out}", "{in}"]] },
    Way {
        called: "as and ld",
        steps: &[
            &["as", "--64", "-o", "{object}", "{in}"],
            &["ld", "-shared", "-o", "{out}", "{object}"],
        ],
    },
];

/// Why there is no shared object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum NoLibrary {
    #[error("nothing here assembles and links: install gcc or binutils")]
    Missing,
    #[error("{called} does not build the export: {why}")]
    Refused { called: &'static str, why: String },
    #[error("no place to build it: {0}")]
    NoPlace(String),
}

/// A shared object of an exported text, in a folder that goes away with this value.
#[derive(Debug)]
pub struct Library {
    _room: TempDir,
    path: PathBuf,
    builder: &'static str,
}

impl Library {
    /// Builds it with the first that can.
    ///
    /// # Errors
    /// Why nothing did.
    pub fn build(text: &str) -> Result<Library, NoLibrary> {
        Library::build_by(text, WAYS)
    }

    fn build_by(text: &str, ways: &[Way]) -> Result<Library, NoLibrary> {
        let no_place = |e: std::io::Error| NoLibrary::NoPlace(e.to_string());
        let room = tempfile::Builder::new().prefix("looptune-").tempdir().map_err(no_place)?;
        let input = room.path().join("export.S");
        std::fs::write(&input, text).map_err(no_place)?;
        let mut refused = None;
        for way in ways {
            let out = room.path().join("export.so");
            match way.go(&input, &out) {
                Ok(true) => return Ok(Library { _room: room, path: out, builder: way.called }),
                Ok(false) => {}
                Err(why) => {
                    refused.get_or_insert(NoLibrary::Refused { called: way.called, why });
                }
            }
        }
        Err(refused.unwrap_or(NoLibrary::Missing))
    }

    /// Where it is, as long as this value lives.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Who built it.
    pub fn builder(&self) -> &str {
        self.builder
    }
}

impl Way {
    /// Whether its programs exist.
    ///
    /// # Errors
    /// What one of them complains of, in one line.
    fn go(&self, input: &Path, out: &Path) -> Result<bool, String> {
        let object = out.with_extension("o");
        for step in self.steps {
            let [program, arguments @ ..] = step else { continue };
            let mut command = Command::new(program);
            for argument in arguments {
                match *argument {
                    "{in}" => command.arg(input),
                    "{object}" => command.arg(&object),
                    "{out}" => command.arg(out),
                    plain => command.arg(plain),
                };
            }
            let done = command.env("LC_ALL", "C").stdin(Stdio::null()).output();
            let done = match done {
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
                done => done.map_err(|e| format!("{program}: {e}"))?,
            };
            if !done.status.success() {
                let said = String::from_utf8_lossy(&done.stderr);
                let line = said.lines().find(|line| !line.trim().is_empty());
                return Err(line.map_or_else(|| done.status.to_string(), |l| l.trim().to_string()));
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_builds_a_library_that_goes_away() {
        let text = ".globl f\n.type f,@function\nf: ret\n.size f,.-f\n\
                    .section .note.GNU-stack,\"\",@progbits\n";
        for way in WAYS {
            let built = Library::build_by(text, std::slice::from_ref(way));
            let built = match built {
                Err(NoLibrary::Missing) if std::env::var_os("CI").is_none() => {
                    eprintln!("skipped: {} is not here", way.called);
                    continue;
                }
                built => built.unwrap(),
            };
            assert_eq!(built.builder(), way.called);
            let path = built.path().to_path_buf();
            let bytes = std::fs::read(&path).unwrap();
            assert!(bytes.starts_with(b"\x7fELF"), "{}", way.called);
            drop(built);
            assert!(!path.exists());
        }
    }

    #[test]
    fn who_is_missing_and_who_refuses_is_said() {
        assert_eq!(Library::build_by("", &[]).unwrap_err(), NoLibrary::Missing);
        let nobody = [Way { called: "nobody", steps: &[&["no-such-program", "{in}"]] }];
        assert_eq!(Library::build_by("", &nobody).unwrap_err(), NoLibrary::Missing);
        match Library::build("  no such instruction\n") {
            Err(NoLibrary::Missing) => eprintln!("skipped: nothing assembles here"),
            other => {
                let text = other.unwrap_err().to_string();
                assert!(text.contains("does not build the export"), "{text}");
            }
        }
    }
}
