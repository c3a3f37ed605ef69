//! A function for readers: addresses, bytes, text, and where the 64-byte lines lie.

use std::fmt::Write as _;

use super::att::{att, nop_mnemonic};
use crate::encode::{Code, Placed};
use crate::ir::{Insn, Item, Part};

/// Bytes of a cache line, which is also the unit of instruction fetch from the caches.
const LINE: u32 = 64;

/// Width of the column of bytes: the longest instruction of the vocabulary has 11.
const BYTES_COLUMN: usize = 11 * 3;

/// One line an instruction: `|` where it belongs to the main loop, its offset from the
/// entry, `=` where it begins at or covers a multiple of 32, `-` for 16, its bytes, its
/// text. A ruler stands at every multiple of 64, parts have headings.
pub fn listing(code: &Code) -> String {
    let mut out = String::new();
    let mut line = None;
    for placed in &code.placed {
        match placed.item {
            Item::Part(part) => heading(code, part, &mut out),
            Item::Label(label) => put(&mut out, format_args!("       .L{}:\n", label.name())),
            Item::LoopTop { .. } => {}
            Item::Insn(insn) => {
                ruler(placed, &mut line, &mut out);
                instruction(code, placed, &insn, &mut out);
            }
        }
    }
    out
}

/// Writing to a string cannot fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// Draws the boundaries passed since the instruction before.
fn ruler(placed: &Placed, line: &mut Option<u32>, out: &mut String) {
    let here = placed.offset / LINE;
    if *line == Some(here) {
        return;
    }
    let crossing = match (*line, placed.offset % LINE) {
        (None, _) | (_, 0) => "",
        _ => " (crossed by the instruction above)",
    };
    *line = Some(here);
    let start = here * LINE;
    put(out, format_args!("--64-- {start:04x} {:-<40}{crossing}\n", ""));
}

fn heading(code: &Code, part: Part, out: &mut String) {
    let name = match part {
        Part::Entry => "entry",
        Part::Small => "small sizes",
        Part::Head => "head",
        Part::Setup => "set-up",
        Part::Loop => "loop",
        Part::Tail => "tail",
        Part::Exit => "exit",
    };
    match (&code.loop_range, part) {
        (Some(range), Part::Loop) => put(
            out,
            format_args!(
                "{name}: {} bytes, top at {} modulo 64\n",
                range.end - range.start,
                range.start % LINE
            ),
        ),
        _ => put(out, format_args!("{name}\n")),
    }
}

fn instruction(code: &Code, placed: &Placed, insn: &Insn, out: &mut String) {
    let (start, end) = (placed.offset, placed.offset + u32::from(placed.len));
    let in_loop = code.loop_range.as_ref().is_some_and(|r| r.contains(&start));
    // The first multiple at or after the start lies inside.
    let covers = |unit: u32| start.next_multiple_of(unit) < end;
    let mark = match (covers(32), covers(16)) {
        (true, _) => '=',
        (_, true) => '-',
        _ => ' ',
    };
    let mut bytes = String::with_capacity(BYTES_COLUMN);
    for byte in code.bytes.get(start as usize..end as usize).unwrap_or_default() {
        put(&mut bytes, format_args!("{byte:02x} "));
    }
    let text = match insn {
        Insn::Nop { len } => nop_mnemonic(*len).to_string(),
        insn => att(insn, ".L"),
    };
    let bar = if in_loop { '|' } else { ' ' };
    put(out, format_args!("  {bar}    {start:04x} {mark} {bytes:BYTES_COLUMN$} {text}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::compile;

    #[test]
    fn lines_parts_and_the_loop_are_drawn() {
        let code = compile(&"zero/ymm/u4/a64".parse().unwrap()).unwrap();
        let text = listing(&code);
        assert!(text.contains("top at 0 modulo 64"), "{text}");
        let rulers = text.matches("--64--").count();
        assert_eq!(rulers, code.bytes.len().div_ceil(64), "{text}");
        let range = code.loop_range.clone().unwrap();
        let inside = code
            .placed
            .iter()
            .filter(|p| matches!(p.item, Item::Insn(_)) && range.contains(&p.offset))
            .count();
        assert_eq!(text.lines().filter(|l| l.starts_with("  |")).count(), inside);
    }
}
