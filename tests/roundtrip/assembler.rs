//! The assemblers of the host.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Assembler {
    Gas,
    Clang,
}

pub(crate) enum Outcome {
    /// The text section.
    Bytes(Vec<u8>),
    /// A tool is not there; said on stdout.
    Missing,
}

impl Assembler {
    /// Assembles a source and takes out its text section.
    pub(crate) fn run(self, source: &str) -> Outcome {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = folder.path().join("source.s");
        let object = folder.path().join("object.o");
        let raw = folder.path().join("raw.bin");
        std::fs::write(&text, source).expect("the source is written");
        let mut assemble = match self {
            Assembler::Gas => Command::new("as"),
            Assembler::Clang => {
                let mut clang = Command::new("clang");
                clang.args(["-c", "-x", "assembler"]);
                clang
            }
        };
        assemble.arg("-o").args([&object, &text]);
        let mut extract = Command::new("objcopy");
        extract.args(["-O", "binary", "-j", ".text"]).args([&object, &raw]);
        if !(ran(assemble) && ran(extract)) {
            return Outcome::Missing;
        }
        Outcome::Bytes(read(&raw))
    }
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("objcopy wrote its output")
}

/// Whether the tool is there. In CI it must be.
fn ran(mut command: Command) -> bool {
    !missing(&mut command)
}

/// Runs a tool, which must succeed; whether it is not there.
pub(crate) fn missing(command: &mut Command) -> bool {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Ok(output) => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let first: String = complaint.lines().take(5).collect::<Vec<_>>().join("\n");
            assert!(output.status.success(), "{name} refused our text:\n{first}");
            false
        }
        Err(e) if e.kind() == ErrorKind::NotFound && std::env::var_os("CI").is_none() => {
            println!("skipped: {name} is not installed");
            true
        }
        Err(e) => panic!("{name}: {e}"),
    }
}
