//! Assembly source in AT&T syntax, for GNU as and clang.

use super::error::ExportError;
use super::symbol::check_symbol;
use crate::encode::Code;
use crate::host::Feature;
use crate::ir::{Gp, Insn, Item};
use crate::print;
use crate::subject::{Op, Variant};
use crate::trial::Contract;

const TEMPLATE: &str = include_str!("../../templates/export/asm.S.j2");

/// Columns of the header comment's text.
const WIDTH: usize = 88;

/// What a program with tiles has to do.
const TILES_DUTY: &str = "before its first call, and best before it starts threads, the program \
     asks the kernel for tiles: arch_prctl(ARCH_REQ_XCOMP_PERM, 18), that is \
     syscall(SYS_arch_prctl, 0x1023, 18), which must give 0; the function loads the tile \
     configuration itself and releases it before it returns, so that nothing of the caller's \
     may be in tiles";

/// What the header comment says besides what follows from the code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// The host it was tuned on, key and processor, for people.
    pub host: String,
    /// The command that writes this file again.
    pub command: String,
    /// The run that found it, its command; `None` for a variant that a person named.
    pub found_by: Option<String>,
    /// Measured figures with intervals, a line each; empty where none are recorded.
    pub measured: Vec<String>,
    /// Whether they are those of a run that was cut off.
    pub provisional: bool,
    /// Which bits the loop changes, where it is exported all the same.
    pub inexact: Option<String>,
}

/// A loop to write.
#[derive(Clone, Copy, Debug)]
pub struct Export<'a> {
    /// Its code.
    pub code: &'a Code,
    /// Its id.
    pub variant: &'a Variant,
    /// Name of the function.
    pub symbol: &'a str,
    /// What is said about it.
    pub header: &'a Header,
}

impl Export<'_> {
    /// The source text of a `.S` file, which is also a right `.s` file.
    ///
    /// # Errors
    /// Where the symbol is no name.
    pub fn asm(&self) -> Result<String, ExportError> {
        check_symbol(self.symbol)?;
        let mut environment = minijinja::Environment::new();
        environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
        environment.add_template("asm.S", TEMPLATE)?;
        let purpose = self.purpose();
        let body = print::gas_body(self.code, &format!(".L{}_", self.symbol));
        let body: Vec<String> = body.iter().map(ToString::to_string).collect();
        let about: Vec<String> =
            self.about().iter().map(|line| comment(&format!(" * {line}"))).collect();
        let mut text = environment.get_template("asm.S")?.render(minijinja::context! {
            symbol => self.symbol,
            purpose,
            about,
            body,
        })?;
        // The template engine drops the last newline of a template.
        text.push('\n');
        Ok(text)
    }

    /// Signature and deed, for people.
    fn purpose(&self) -> String {
        let (pointers, does) = match self.variant.op {
            Op::Copy => ("void *dst, const void *src", "copies"),
            Op::Zero => ("void *dst", "zeroes"),
            Op::Read => ("const void *src", "loads"),
            Op::Write => ("void *dst", "stores 0xff to"),
        };
        let back = if self.variant.op.stores() { "dst" } else { "src" };
        match self.variant.fixed {
            None => format!("void *({pointers}, size_t n), {does} n bytes, returns {back}"),
            Some(bytes) => format!("void *({pointers}), {does} {bytes} bytes, returns {back}"),
        }
    }

    fn about(&self) -> Vec<String> {
        let header = self.header;
        let mut lines = Vec::new();
        let mut item = |name: &str, text: &str| {
            for (i, line) in wrap(text, WIDTH - 11).into_iter().enumerate() {
                lines.push(format!("{:<10} {line}", if i == 0 { name } else { "" }));
            }
        };
        item("variant", &self.variant.to_string());
        item("host", &header.host);
        item("made by", &header.command);
        if let Some(found_by) = &header.found_by {
            item("found by", found_by);
        }
        match header.measured.split_first() {
            None => item("measured", "not measured"),
            Some((first, rest)) => {
                item("measured", first);
                rest.iter().for_each(|line| item("", line));
            }
        }
        if header.provisional {
            item("", "provisional: the run was cut off, this was the best so far");
        }
        item("contract", &self.contract());
        if let Some(bits) = &header.inexact {
            item("NOT EXACT", bits);
        }
        item("needs", &self.needs());
        item("size", &format!("{} bytes", self.code.bytes.len()));
        item("alignment", &self.alignment());
        if let Some(stack) = self.stack() {
            item("stack", &stack);
        }
        if self.code.features.contains(Feature::AmxTile) {
            item("caller", TILES_DUTY);
        }
        lines
    }

    /// What it uses of the stack; `None` for nothing.
    fn stack(&self) -> Option<String> {
        let insns = self.code.placed.iter().filter_map(|placed| match placed.item {
            Item::Insn(insn) => Some(insn),
            _ => None,
        });
        let (mut frame, mut below) = (0, 0);
        for insn in insns {
            match insn {
                Insn::SubImm { dst: Gp::Rsp, imm } => frame += imm,
                Insn::Store { mem, .. } | Insn::VecStore { mem, .. } if mem.base == Gp::Rsp => {
                    below = below.max(-mem.disp);
                }
                _ => {}
            }
        }
        let frame = (frame > 0).then(|| {
            format!("a block of {frame} bytes, aligned to 64, in a frame that rbp holds meanwhile")
        });
        let below = (below > 0)
            .then(|| format!("{below} bytes below the stack pointer, as a leaf function may"));
        match (frame, below) {
            (Some(frame), Some(below)) => Some(format!("{frame}; {below}")),
            (frame, below) => frame.or(below),
        }
    }

    fn contract(&self) -> String {
        let mut text = String::from(match self.code.contract {
            Contract::User => {
                "System V ABI; no callee-saved register changed; DF clear and x87/MMX empty on \
                 entry and return; MXCSR and control words unchanged; upper vector halves left clean"
            }
            Contract::Kernel => {
                "kernel: System V ABI, and general registers, string instructions, movnti, \
                 prefetches and fences only, nothing below the stack pointer; DF clear on entry \
                 and return"
            }
        });
        text.push_str(match self.variant.fixed {
            Some(_) => "; any alignment",
            None => "; any n, any alignment",
        });
        if self.variant.op.copies() {
            text.push_str("; the buffers must not overlap");
        }
        text
    }

    fn needs(&self) -> String {
        let features: Vec<&str> = self.code.features.iter().map(|f| f.word()).collect();
        if features.is_empty() { "any x86-64 processor".into() } else { features.join(" ") }
    }

    fn alignment(&self) -> String {
        let timed = !self.header.measured.is_empty();
        let entry = match timed {
            true => "the entry stands at a multiple of 64 (.p2align 6), as it did when timed",
            false => "the entry stands at a multiple of 64 (.p2align 6)",
        };
        let why = if timed { ": the figures hold for these addresses" } else { "" };
        match &self.code.loop_range {
            None => format!("{entry}; keep it."),
            Some(range) => format!(
                "{entry}; this puts the top of the main loop at {} modulo 64. Keep both{why}.",
                range.start % 64
            ),
        }
    }
}

/// Text that cannot end its comment.
fn comment(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.replace("*/", "* /").replace("/*", "/ *").trim_end().to_string()
}

/// Breaks a text at spaces into lines of at most `width` characters; a longer word stands
/// alone.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line from the start");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_string());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::compile;

    fn text(variant: &str, header: &Header) -> String {
        let variant: Variant = variant.parse().unwrap();
        let code = compile(&variant).unwrap();
        Export { code: &code, variant: &variant, symbol: "f", header }.asm().unwrap()
    }

    #[test]
    fn the_head_says_what_is_known_and_cannot_end_its_comment() {
        let header = Header {
            host: "amd-25-1-1-3fa2c1, AMD EPYC".into(),
            command: "looptune export x -o */nop/*.S\n\tud2".into(),
            found_by: Some("looptune search (run 1)".into()),
            measured: vec!["zero 4096 l1: 42.1 ns".into(), "zero 4096 dram: 611 ns".into()],
            provisional: true,
            inexact: Some("changes bits".into()),
        };
        let text = text("zero/ymm/u4/a64", &header);
        for part in [
            "variant    zero/ymm/u4/a64",
            "host       amd-25-1-1-3fa2c1",
            "* /nop/ *.S  ud2",
            "found by   looptune search",
            "zero 4096 dram",
            "provisional",
            "NOT EXACT  changes bits",
            "System V ABI",
            "needs      avx",
            "top of the main loop at 0 modulo 64",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert_eq!(text.matches("*/").count(), text.matches("/*").count());
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.ends_with("@progbits\n"));
    }

    #[test]
    fn duties_and_the_stack_are_told_where_there_are_any() {
        let head = |id| text(id, &Header::default()).replace("\n *            ", " ");
        let tiles = head("zero/tmm/u2");
        assert!(tiles.contains("arch_prctl(ARCH_REQ_XCOMP_PERM, 18)"), "{tiles}");
        assert!(tiles.contains("stack      64 bytes below the stack pointer"), "{tiles}");
        let block = head("copy/xmm/u4/bounce8192");
        assert!(block.contains("stack      a block of 8192 bytes"), "{block}");
        assert!(!block.contains("arch_prctl") && !head("zero/rep8").contains("stack  "));
    }

    #[test]
    fn without_figures_it_says_so() {
        assert!(text("zero/rep8", &Header::default()).contains("measured   not measured"));
    }

    #[test]
    fn what_surrounds_the_code_is_stable() {
        let text = text("zero/rep8", &Header::default());
        let (before, rest) = text.split_once("\t.cfi_startproc\n").unwrap();
        let (_, after) = rest.split_once("\t.cfi_endproc\n").unwrap();
        let before = before.lines().filter(|line| !line.contains("size  "));
        let before = before.collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(format!("{before}\n(code)\n{after}"));
    }
}
