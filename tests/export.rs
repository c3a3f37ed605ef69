//! Exported text gives the tuned bytes back, whoever assembles it, and anything else is told.

use std::fs;
use std::path::Path;
use std::process::Command;

use looptune::cli::exit_code;
use looptune::cli::export::{ExportArgs, Here};
use looptune::encode::{Code, compile};
use looptune::export::{CheckError, Checked, Export, Header, check};
use looptune::host::{Feature, FeatureSet};
use looptune::subject::{Op, Variant};
use looptune::trial::{
    BlockRequest, BlockResult, Body, Check, EvaluateError, Evaluator, Failure, FailureKind,
    Misbehaviour,
};

const IDS: &[&str] = &[
    "zero/r32/u4",
    "zero/r64/u8/dec",
    "copy/r64/u4/batch/nt",
    "zero/mmx/u4/a32",
    "copy/mmx/u8/nt",
    "zero/xmm/u8/a64+32",
    "copy/xmm/u4/negidx/a64/pf-t0@256",
    "copy/xmm/vex/u4/tail-bytes",
    "zero/ymm/u4/a64",
    "copy/ymm/u8/batch/a64+32/nt/pf-nta@512-both",
    "copy/ymm/evex/u4/aligned/head-dst",
    "zero/zmm/u2/a64+16/nt",
    "copy/zmm/u32/batch",
    "zero/rep8",
    "copy/rep64/head-dst",
];

fn assembled(variant: &str) -> (String, Code) {
    let variant: Variant = variant.parse().unwrap();
    let code = compile(&variant).unwrap();
    let header = Header { command: "it's #1 \"quoted\" \\".into(), ..Header::default() };
    let text = Export { code: &code, variant: &variant, symbol: "the_loop", header: &header }
        .asm()
        .unwrap();
    (text, code)
}

/// Whether an assembler is here. CI must have them, elsewhere the tests do what they can.
fn have(tool: &str) -> bool {
    let here = Command::new(tool).arg("--version").output().is_ok();
    assert!(here || std::env::var_os("CI").is_none(), "{tool} is missing, install it");
    here
}

#[test]
fn gnu_as_and_clang_give_the_tuned_bytes() {
    let wanted: Vec<String> = [("as", "GNU as"), ("clang", "clang")]
        .iter()
        .filter(|(tool, _)| have(tool))
        .map(|(_, called)| called.to_string())
        .collect();
    for id in IDS {
        let (text, code) = assembled(id);
        match check(&text, "the_loop", &code) {
            Ok(Checked::Same(by)) if !wanted.is_empty() => assert_eq!(by, wanted, "{id}"),
            Ok(_) => {}
            Err(e) => panic!("{id}: {e}\n{text}"),
        }
    }
}

/// What `tool args FILE -o x.o` makes of a text, read back by readelf.
fn readelf(tool: &str, args: &[&str], name: &str, text: &str, what: &str) -> String {
    let room = tempfile::tempdir().unwrap();
    let input = room.path().join(name);
    fs::write(&input, text).unwrap();
    let object = room.path().join("x.o");
    let ran = Command::new(tool).args(args).arg(&input).arg("-o").arg(&object).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
    let read = Command::new("readelf").args([what, "-W"]).arg(&object).output().unwrap();
    String::from_utf8(read.stdout).unwrap()
}

#[test]
fn the_object_is_marked_as_safe_as_it_is() {
    if !have("as") || !have("gcc") || !have("clang") || !have("readelf") {
        return;
    }
    let (text, code) = assembled("copy/ymm/u8/nt");
    for (tool, args, name) in [
        ("as", &[][..], "x.s"),
        ("gcc", &["-c"], "x.S"),
        ("gcc", &["-c"], "x.s"),
        ("clang", &["-c"], "x.S"),
        ("clang", &["-c"], "x.s"),
    ] {
        let notes = readelf(tool, args, name, &text, "-n");
        assert!(notes.contains("IBT") && notes.contains("SHSTK"), "{tool}: {notes}");
        let sections = readelf(tool, args, name, &text, "-S");
        let stack = sections.lines().find(|l| l.contains(".note.GNU-stack")).unwrap();
        assert!(!stack.contains('X'), "{stack}");
        let symbols = readelf(tool, args, name, &text, "-s");
        let symbol = symbols.lines().find(|l| l.ends_with("the_loop")).unwrap();
        assert!(symbol.contains("FUNC") && symbol.contains("GLOBAL"), "{symbol}");
        assert!(symbol.contains(&format!(" {} ", code.bytes.len())), "{symbol}");
        let frames = readelf(tool, args, name, &text, "--debug-dump=frames");
        assert!(frames.contains("FDE"), "{tool}: {frames}");
    }
}

#[test]
fn what_is_not_as_tuned_is_told_with_its_place() {
    if !have("as") {
        return;
    }
    let (text, mut code) = assembled("zero/ymm/u4/a64");
    let at = code.bytes.len() - 1;
    code.bytes[at] ^= 1;
    let message = check(&text, "the_loop", &code).unwrap_err().to_string();
    assert!(message.contains(&format!("offset {at:#x}")), "{message}");
    code.bytes[at] ^= 1;
    let misplaced = text.replace("\t.p2align 6\n", "\t.p2align 6\n\tnop\n");
    let error = check(&misplaced, "the_loop", &code).unwrap_err();
    assert!(matches!(error, CheckError::Place { .. }), "{error}");
    assert!(error.to_string().contains("loop top at 1 instead of 0"), "{error}");
    let unaligned = text.replace("\t.p2align 6\n", "\t.p2align 4\n");
    let error = check(&unaligned, "the_loop", &code).unwrap_err();
    assert!(error.to_string().contains("aligned to 16 only"), "{error}");
    let longer = text.replace("\t.cfi_endproc", "\tint3\n\t.cfi_endproc");
    let error = check(&longer, "the_loop", &code).unwrap_err();
    assert!(matches!(error, CheckError::Bytes { .. }), "{error}");
    let error = check("\tmovq %nonsense\n", "the_loop", &code).unwrap_err();
    assert!(error.to_string().contains("nonsense"), "{error}");
    let error = check(&text, "another", &code).unwrap_err();
    assert!(error.to_string().contains("no symbol `another`"), "{error}");
}

/// Says of every body what it was told to.
struct Script(Option<FailureKind>);

impl Evaluator for Script {
    fn evaluate(&mut self, _: &BlockRequest) -> Result<BlockResult, EvaluateError> {
        Err(EvaluateError::NotRecorded("an export times nothing".into()))
    }

    fn verify(
        &mut self,
        _: Op,
        bodies: &[Body],
        check: Check,
    ) -> Result<Vec<Result<(), Failure>>, EvaluateError> {
        assert_eq!(check, Check::Full);
        let failure = || self.0.clone().map(|kind| Failure { kind, case: "n=65".into() });
        Ok(bodies.iter().map(|_| failure().map_or(Ok(()), Err)).collect())
    }
}

#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    args: ExportArgs,
}

fn here() -> Here {
    let usable = [Feature::Sse, Feature::Sse2, Feature::Avx].into_iter().collect::<FeatureSet>();
    let refused = vec![(Feature::Avx512f, "the processor lacks it".into())];
    Here { key: "this-host".into(), cpu: "This CPU".into(), usable, refused }
}

/// What `looptune export LINE` prints and says.
fn export(line: &[&str], script: Option<FailureKind>) -> anyhow::Result<(String, String)> {
    let line = clap::Parser::try_parse_from(std::iter::once(&"export").chain(line));
    let line: Line = line.map_err(|e| anyhow::anyhow!(e.to_string()))?;
    let (mut out, mut say) = (Vec::new(), Vec::new());
    line.args.run_with(&here(), &mut Script(script), &mut out, &mut say)?;
    Ok((String::from_utf8(out)?, String::from_utf8(say)?))
}

fn refused(line: &[&str], script: Option<FailureKind>) -> anyhow::Error {
    export(line, script).expect_err("this line is wrong")
}

#[test]
fn a_named_variant_goes_out_verified_and_checked() {
    let room = tempfile::tempdir().unwrap();
    let results = room.path().join("none");
    let results = results.to_str().unwrap();
    let (out, say) = export(&["zero/ymm/u4", "--results", results], None).unwrap();
    assert!(out.contains("looptune_zero:") && out.contains("not measured"), "{out}");
    assert!(say.contains("fully verified here"), "{say}");
    let file = room.path().join("z.S");
    let file_name = file.to_str().unwrap();
    let line = ["zero/ymm/u4", "--symbol", "my_zero", "-o", file_name, "--results", results];
    let (out, say) = export(&line, None).unwrap();
    assert_eq!(out, "");
    assert!(say.contains(file_name) && say.contains("checked"), "{say}");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("my_zero:") && text.contains("made by    looptune export zero/ymm/u4"));
    assert!(text.contains("this-host, This CPU"));
}

#[test]
fn what_this_host_cannot_run_or_fails_is_not_exported() {
    let no_avx512 = refused(&["zero/zmm/u2"], None);
    assert_eq!(exit_code(&no_avx512), 3);
    assert!(no_avx512.to_string().contains("avx512f (the processor lacks it)"), "{no_avx512}");
    let unsupported = FailureKind::Unsupported("no such instruction here".into());
    let refused_by_worker = refused(&["zero/ymm"], Some(unsupported));
    assert_eq!(exit_code(&refused_by_worker), 3);
    let wrong = FailureKind::Incorrect(Misbehaviour::WrongReturn);
    let wrong = refused(&["zero/ymm"], Some(wrong));
    assert_eq!(exit_code(&wrong), 1);
    assert!(wrong.to_string().contains("did not return the destination"), "{wrong}");
}

#[test]
fn wrong_lines_are_told_what_would_be_right() {
    for (line, part) in [
        (&["zero/xmn"][..], "did you mean xmm"),
        (&["libc"], "is not generated"),
        (&["rep"], "zero/rep8"),
        (&["--op", "zero"], "--size"),
        (&["--op", "fill", "--size", "4k"], "copy zero"),
        (&["--op", "zero", "--size", "0"], "nothing to measure"),
        (&["--op", "zero", "--size", "4k", "--state", "l9"], "robust"),
        (&["zero/ymm", "--symbol", "1x"], "C identifier"),
        (&["zero/ymm", "--size", "4k"], "cannot be used"),
        (&["--op", "zero", "--size", "4k", "--results", "/nowhere"], "nothing is recorded"),
        (&["zero/ymm", "-o", "/nowhere/x.S"], "/nowhere/x.S cannot be written"),
        (&["zero/ymm", "--host", "intel-6"], "no results of host `intel-6`"),
    ] {
        let message = format!("{:#}", refused(line, None));
        assert!(message.contains(part), "{line:?}: {message}");
    }
    assert!(!Path::new("x.S").exists());
}
