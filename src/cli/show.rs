//! `looptune show SUBJECT`

use std::io::Write;

use clap::Args;

use super::arguments::{about_ids, legal, op, subject};
use super::exit::usage;
use super::host::wrap;
use crate::encode::compile;
use crate::print::listing;
use crate::subject::{NamedLoop, Op, Subject};

/// Arguments of `looptune show`.
#[derive(Debug, Args)]
#[command(after_help = format!("Examples:\n  \
    looptune show zero/ymm/u4/a64\n  \
    looptune show hasty_asami_bcopy     a named loop, with its history\n\n\
    Works for any id on any host, whether it can run the loop or not.\n\n{}", about_ids()))]
pub struct ShowArgs {
    /// A variant such as zero/ymm/u4/a64, a named loop, or the baseline `rep`
    #[arg(value_parser = subject(), hide_possible_values = true)]
    subject: Subject,
    /// The op, for a baseline
    #[arg(long, value_parser = op())]
    op: Option<Op>,
}

/// Columns of the text above a listing.
const WIDTH: usize = 90;

/// What is known of a named loop, above its listing.
fn told(named: NamedLoop) -> String {
    let lines = |text| wrap(text, WIDTH).join("\n");
    let history = lines(named.history());
    let grade = named.grade().map(|grade| format!("{}\n\n", lines(grade)));
    format!("{named}: {}\n\n{history}\n\n{}", named.gist(), grade.unwrap_or_default())
}

pub(super) fn run(args: &ShowArgs) -> anyhow::Result<()> {
    let variant = match &args.subject {
        Subject::Variant(variant) => *variant,
        Subject::Named(named) => named.variant(),
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
    if let Subject::Named(named) = &args.subject {
        write!(out, "{}", told(*named))?;
    }
    writeln!(out, "{variant}: {} bytes", code.bytes.len())?;
    writeln!(
        out,
        "offsets and bytes in hex; | the main loop; - = at or across a multiple of 16, of 32"
    )?;
    write!(out, "{}", listing(&code))?;
    Ok(())
}
