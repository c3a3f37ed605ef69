//! `looptune list`: what can be searched, and what of it exists here.

use std::collections::HashSet;
use std::io::Write as _;

use super::arguments::{self, search_file, space};
use super::measured::vector_bits;
use super::progress::Steps;
use crate::encode::Encoder;
use crate::host::{FeatureSet, Host};
use crate::ir::{self, Function};
use crate::search::SearchFile;
use crate::space::{Census, supported};
use crate::subject::{Class, Contract, Op, Variant};

mod axes;
mod document;
mod named;
mod page;

/// Arguments of `looptune list`.
#[derive(Clone, Debug, clap::Args)]
pub struct ListArgs {
    /// Show only this search file: a path, or the name of a built-in one
    #[arg(long, value_name = "FILE", value_parser = space(), hide_possible_values = true, value_hint = clap::ValueHint::FilePath)]
    pub space: Option<String>,
    /// Count only loops that keep a contract: user (all) or kernel
    #[arg(long, value_parser = arguments::contract(), default_value = "user")]
    pub contract: Contract,
    /// Count only loops of vector registers of up to so many bits
    #[arg(long, value_name = "BITS", value_parser = vector_bits)]
    pub max_vector: Option<u32>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// The space that a search file has for one op, counted.
struct Counted {
    op: Op,
    /// Legal variants of each class.
    by_class: Vec<(Class, usize)>,
    /// Distinct codes of the legal variants.
    distinct: usize,
    /// On this host.
    here: Census,
    /// Distinct codes of the variants that run here.
    distinct_here: usize,
}

/// A search file with its spaces.
struct Listed {
    file: SearchFile,
    spaces: Vec<Counted>,
}

/// Shows families, axes, baselines and search files; with `--space` that file only.
///
/// # Errors
/// If the search file cannot be used, or standard output not be written; a reader that
/// closed it early is no error.
pub fn run(args: &ListArgs) -> anyhow::Result<()> {
    let host = Host::detect();
    let files = match &args.space {
        None => SearchFile::embedded(),
        Some(name) => vec![search_file(name)?],
    };
    let narrow = |file: SearchFile| {
        let file = file.under(args.contract);
        args.max_vector.map_or(file.clone(), |bits| file.up_to(bits))
    };
    let shown = Steps::endless(false, "counting loops");
    let listed: Vec<Listed> =
        files.into_iter().map(|file| count(narrow(file), host.usable)).collect();
    drop(shown);
    let whole = args.space.is_none();
    let text = if args.json {
        format!("{:#}\n", document::document(&host, &listed, whole))
    } else {
        page::page(host.usable, &listed, whole)
    };
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn count(file: SearchFile, host: FeatureSet) -> Listed {
    let spaces = file
        .ops
        .iter()
        .map(|&op| {
            let space = file.space(op);
            let legal = space.legal();
            let (distinct, distinct_here) = distinct(&legal, &host);
            let of_class = |class: &Class| legal.iter().filter(|v| v.class == *class).count();
            let by_class = Class::ALL.iter().map(|class| (*class, of_class(class))).collect();
            Counted { op, here: space.census(&host), by_class, distinct, distinct_here }
        })
        .collect();
    Listed { file, spaces }
}

/// How many different codes the variants are, and how many of these run here. The entry is
/// at a multiple of 64, so equal bytes have equal loop addresses modulo 64 too.
fn distinct(variants: &[Variant], host: &FeatureSet) -> (usize, usize) {
    let (mut function, mut encoder) = (Function::default(), Encoder::new());
    let (mut all, mut here) = (HashSet::new(), HashSet::new());
    for v in variants {
        // What cannot be lowered has no code to count; a test holds that there is none.
        let Some(code) =
            ir::lower(v, &mut function).ok().and_then(|()| encoder.encode(&function).ok())
        else {
            continue;
        };
        if supported(v, host).is_ok() {
            here.insert(code.bytes.clone());
        }
        all.insert(code.bytes);
    }
    (all.len(), here.len())
}
