//! `looptune show SUBJECT`

use std::io::Write;

use clap::Args;

use super::arguments::{about_ids, legal, op, subject};
use super::exit::usage;
use crate::encode::compile;
use crate::print::listing;
use crate::subject::{Op, Subject};

/// Arguments of `looptune show`.
#[derive(Debug, Args)]
#[command(after_help = format!("Example:  looptune show zero/ymm/u4/a64\n\n\
    Works for any id on any host, whether it can run the loop or not.\n\n{}", about_ids()))]
pub struct ShowArgs {
    /// A variant such as zero/ymm/u4/a64, or the baseline `rep`
    #[arg(value_parser = subject(), hide_possible_values = true)]
    subject: Subject,
    /// The op, for a baseline
    #[arg(long, value_parser = op())]
    op: Option<Op>,
}

pub(super) fn run(args: &ShowArgs) -> anyhow::Result<()> {
    let variant = match &args.subject {
        Subject::Variant(variant) => *variant,
        Subject::Baseline(baseline) => {
            let Some(op) = args.op else {
                return usage(format!("`{baseline}` serves several ops; say which with --op"));
            };
            match baseline.as_variant(op) {
                Some(variant) => variant,
                None => {
                    return usage(format!(
                        "the code of `{baseline}` is not ours to list; list a variant, as in {op}/ymm/u4"
                    ));
                }
            }
        }
        Subject::Foreign { .. } => {
            return usage(format!(
                "the code of `{}` is not ours to list; list a variant, as in zero/ymm/u4",
                args.subject
            ));
        }
    };
    legal(&variant)?;
    let code = compile(&variant)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{variant}: {} bytes", code.bytes.len())?;
    writeln!(
        out,
        "offsets and bytes in hex; | the main loop; - = at or across a multiple of 16, of 32"
    )?;
    write!(out, "{}", listing(&code))?;
    Ok(())
}
