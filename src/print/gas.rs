//! The body of an exported function: lines that GNU as and clang turn into the very bytes.

use std::fmt;

use super::att::{att, bytes, nop_mnemonic};
use crate::encode::{Code, Placed};
use crate::ir::{Gp, Insn, Item, Label, Part};

/// A line of an assembly source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A comment on what follows.
    Comment(String),
    /// A label, without its colon.
    Label(String),
    /// An instruction or a directive.
    Code {
        /// Its text.
        text: String,
        /// What a reader may want to know of it.
        comment: Option<String>,
    },
}

impl fmt::Display for Line {
    /// Without the line's end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Comment(text) => write!(f, "\t/* {text} */"),
            Line::Label(name) => write!(f, "{name}:"),
            Line::Code { text, comment } => {
                match text.split_once(' ') {
                    Some((name, operands)) if !name.starts_with(['{', 'r']) => {
                        write!(f, "\t{name}\t{operands}")?;
                    }
                    _ => write!(f, "\t{text}")?,
                }
                match comment {
                    Some(comment) => write!(f, "\t/* {comment} */"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// The instructions of a function, between its entry label and its end, for a section where
/// the entry stands at a multiple of 64. Labels begin with `prefix` (as in `.Lcopy_`), so
/// that several functions fit into one file. Where there is a frame, directives for unwinders
/// are among them: `.cfi_startproc` and `.cfi_endproc` must stand around.
pub fn gas_body(code: &Code, prefix: &str) -> Vec<Line> {
    let mut lines = Vec::with_capacity(code.placed.len());
    for placed in &code.placed {
        match placed.item {
            Item::Part(part) => lines.push(Line::Comment(remark(code, part))),
            Item::Label(label) => lines.push(Line::Label(format!("{prefix}{}", label.name()))),
            Item::LoopTop { .. } => {}
            Item::Insn(insn) => instruction(code, placed, &insn, prefix, &mut lines),
        }
    }
    lines
}

fn instruction(code: &Code, placed: &Placed, insn: &Insn, prefix: &str, lines: &mut Vec<Line>) {
    let comment = match insn {
        Insn::Nop { len } => Some(nop_mnemonic(*len).to_string()),
        Insn::Jmp { to } | Insn::Jcc { to, .. } if longer_than_needed(code, placed, *to) => {
            long_jump(code, placed, insn, *to, prefix, lines);
            return;
        }
        _ => None,
    };
    lines.push(Line::Code { text: att(insn, prefix), comment });
    lines.extend(unwinding(insn).iter().map(|text| directive(text)));
}

/// What an unwinder must know once an instruction has moved the frame: where the return address
/// lies, and the caller's rbp. Functions with a frame have one way through it.
const fn unwinding(insn: &Insn) -> &'static [&'static str] {
    match insn {
        Insn::Push { src: Gp::Rbp } => &[".cfi_def_cfa_offset 16", ".cfi_offset %rbp, -16"],
        Insn::Mov { dst: Gp::Rbp, src: Gp::Rsp } => &[".cfi_def_cfa_register %rbp"],
        Insn::Leave => &[".cfi_def_cfa %rsp, 8", ".cfi_restore %rbp"],
        _ => &[],
    }
}

fn directive(text: &str) -> Line {
    Line::Code { text: text.into(), comment: None }
}

/// Whether an assembler would take the short form where the bytes have the near one. That
/// happens where growing the jump shrank the padding between it and its target.
fn longer_than_needed(code: &Code, placed: &Placed, to: Label) -> bool {
    const SHORT: i64 = 2;
    if i64::from(placed.len) == SHORT {
        return false;
    }
    let Some(target) = code.placed.iter().find(|p| p.item == Item::Label(to)) else {
        return false;
    };
    let (from, target) = (i64::from(placed.offset), i64::from(target.offset));
    // A target ahead comes nearer by as much as the jump gets shorter.
    let shrunk = if target > from { i64::from(placed.len) - SHORT } else { 0 };
    i8::try_from(target - shrunk - (from + SHORT)).is_ok()
}

/// The jump in its near form by force: the opcode as bytes, the distance as an expression.
fn long_jump(
    code: &Code,
    placed: &Placed,
    insn: &Insn,
    to: Label,
    prefix: &str,
    lines: &mut Vec<Line>,
) {
    const DISTANCE: usize = 4;
    let start = placed.offset as usize;
    let opcode_end = start + usize::from(placed.len) - DISTANCE;
    let text = bytes(&code.bytes[start..opcode_end]);
    let comment = Some(format!("{}, near form", att(insn, prefix)));
    lines.push(Line::Code { text, comment });
    let text = format!(".long {prefix}{} - . - {DISTANCE}", to.name());
    lines.push(Line::Code { text, comment: None });
}

fn remark(code: &Code, part: Part) -> String {
    match (part, &code.loop_range) {
        (Part::Entry, _) => "Entry.".into(),
        (Part::Small, _) => "Small sizes: moves from both ends that may overlap.".into(),
        (Part::Head, _) => head_remark(code),
        (Part::Setup, _) => "Set-up of the loop.".into(),
        (Part::Loop, Some(range)) => format!(
            "Loop: {} bytes; the top is at {} modulo 64.",
            range.end - range.start,
            range.start % 64
        ),
        (Part::Loop, None) => "Loop.".into(),
        (Part::Tail, _) => "Tail: what the loop left.".into(),
        (Part::Exit, _) => "Way out.".into(),
    }
}

/// What the head aligns, as its test tells.
fn head_remark(code: &Code) -> String {
    let tested = code.placed.iter().find_map(|placed| match placed.item {
        Item::Insn(Insn::TestImm { a, imm }) => Some((a, u32::from(imm) + 1)),
        _ => None,
    });
    match tested {
        Some((Gp::Rsi, span)) => format!("Head: align the source to {span}."),
        Some((_, span)) => format!("Head: align the destination to {span}."),
        None => "Head.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::compile;

    fn text(id: &str) -> String {
        let code = compile(&id.parse().unwrap()).unwrap();
        let lines: Vec<_> = gas_body(&code, ".Lx_").iter().map(Line::to_string).collect();
        lines.join("\n")
    }

    #[test]
    fn parts_are_remarked_and_labels_prefixed() {
        let text = text("copy/ymm/u4/a64+32/nt");
        for line in [
            "\t/* Head: align the destination to 64. */",
            ".Lx_loop:",
            "\tjbe\t.Lx_loop",
            ".Lx_small_16:",
        ] {
            assert!(text.lines().any(|l| l == line), "{line:?} in\n{text}");
        }
        assert!(text.contains("the top is at 32 modulo 64"), "{text}");
    }

    #[test]
    fn string_instructions_stay_on_one_word_group() {
        assert!(text("zero/rep64").contains("\trep stosq"));
    }
}
