//! What unwinders are told of functions with a frame, against what the machine code does.

use std::process::Command;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, Register};
use looptune::encode::{Code, compile};
use looptune::print::gas_body;
use looptune::subject::Variant;

use super::assembler::missing;

/// How the frame's address is found: a register and an offset, as `readelf` writes them; and
/// whether the caller's rbp lies in the frame.
type Rule = (&'static str, bool);

const ENTRY: Rule = ("rsp+8", false);

/// The rule where each instruction begins, by following every way through the code.
fn rules(code: &Code) -> Vec<(u64, Rule)> {
    let all: Vec<Instruction> =
        Decoder::with_ip(64, &code.bytes, 0, DecoderOptions::NONE).into_iter().collect();
    let number = |ip: u64| all.binary_search_by_key(&ip, Instruction::ip).expect("an instruction");
    let mut known: Vec<Option<Rule>> = vec![None; all.len()];
    let mut open = vec![(0, ENTRY)];
    while let Some((at, rule)) = open.pop() {
        let i = &all[at];
        if let Some(before) = known[at].replace(rule) {
            assert_eq!(before, rule, "two ways meet at {:#x} with unlike frames", i.ip());
            continue;
        }
        let after = match i.mnemonic() {
            Mnemonic::Push => ("rsp+16", true),
            Mnemonic::Mov if i.op0_register() == Register::RBP => ("rbp+16", true),
            Mnemonic::Leave => ENTRY,
            _ => rule,
        };
        match i.flow_control() {
            FlowControl::Return => {}
            FlowControl::UnconditionalBranch => open.push((number(i.near_branch64()), after)),
            FlowControl::ConditionalBranch => {
                open.extend([(number(i.near_branch64()), after), (at + 1, after)]);
            }
            _ => open.push((at + 1, after)),
        }
    }
    all.iter().zip(known).filter_map(|(i, rule)| Some((i.ip(), rule?))).collect()
}

/// The table that `readelf` makes of the object's frame description: from which address on
/// which address of the frame, and where the caller's rbp is.
fn told(code: &Code) -> Option<Vec<(u64, String, String)>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (text, object) = (folder.path().join("f.s"), folder.path().join("f.o"));
    let mut source = String::from(".text\n.p2align 6\nf:\n.cfi_startproc\n");
    for line in gas_body(code, ".L") {
        source.push_str(&format!("{line}\n"));
    }
    source.push_str(".cfi_endproc\n");
    std::fs::write(&text, source).expect("the source is written");
    let mut assemble = Command::new("as");
    assemble.arg("-o").args([&object, &text]);
    let mut read = Command::new("readelf");
    read.args(["--wide", "--debug-dump=frames-interp"]).arg(&object);
    if missing(&mut assemble) || missing(&mut read) {
        return None;
    }
    let dump = String::from_utf8(read.output().expect("it ran before").stdout).expect("text");
    let (_, function) = dump.split_once(" FDE ").expect("the function is described");
    let mut columns: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for line in function.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first() == Some(&"LOC") {
            columns = words;
        } else if !columns.is_empty() && words.len() == columns.len() {
            let at = u64::from_str_radix(words[0], 16).expect("an address");
            let of = |name: &str| {
                let column = columns.iter().position(|c| *c == name);
                column.map_or("u".to_string(), |c| words[c].to_string())
            };
            rows.push((at, of("CFA"), of("rbp")));
        }
    }
    // Without a frame nothing changes and there is no table.
    if rows.is_empty() {
        rows.push((0, ENTRY.0.to_string(), "u".to_string()));
    }
    Some(rows)
}

#[test]
fn unwinders_find_the_caller_from_every_instruction() {
    for id in [
        "copy/ymm/u4",
        "copy/ymm/u4/bounce1024/nt",
        "copy/r64/u2/bounce4096/tail-bytes/head-dst",
        "copy/xmm/u4/bounce16384/a64/batch",
        "copy/mmx/u4/bounce2048/tail-rep",
        "copy/tmm/bounce8192/head-src",
    ] {
        let code = compile(&id.parse::<Variant>().expect("an id")).expect("a function");
        let Some(told) = told(&code) else { return };
        let frames = id.contains("bounce");
        assert_eq!(told.len(), if frames { 4 } else { 1 }, "{id}: {told:?}");
        for (ip, (address, saved)) in rules(&code) {
            let row = told.iter().rfind(|(from, ..)| *from <= ip).expect("a row from the entry on");
            assert_eq!(row.1, address, "{id} at {ip:#x}: {told:?}");
            let is_saved = row.2 == "c-16";
            assert!(is_saved || matches!(row.2.as_str(), "u" | "s"), "{id}: {told:?}");
            assert_eq!(is_saved, saved, "{id} at {ip:#x}: {told:?}");
        }
    }
}
