//! `looptune replay`

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueHint};

use super::arguments::{self, Strategies};
use super::exit::usage;
use super::progress::Steps;
use crate::report;
use crate::results::{Allowance, Folder, StrategyContest, spaces};
use crate::search::StrategyName;

/// Arguments of `looptune replay`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    looptune search --op zero --size 4096 --state l1 --strategy exhaustive --epochs 12 --rounds 4 --record\n  \
    looptune replay results/amd-25-1-1-047f39 --strategy default,random --seeds 20\n  \
    looptune replay results/amd-25-1-1-047f39 --strategy default,classic --drift")]
pub struct ReplayArgs {
    /// Folder of a host, with samples of whole spaces (see `looptune search --record`)
    #[arg(value_hint = ValueHint::DirPath)]
    folder: PathBuf,
    /// Strategies; the others are compared with the first
    #[arg(long, value_parser = arguments::strategies(), default_value = "default")]
    strategy: Strategies,
    /// Runs of each, with seeds from 1
    #[arg(long, default_value = "20", value_parser = clap::value_parser!(u64).range(1..=10_000), value_hint = ValueHint::Other)]
    seeds: u64,
    /// Samples of a run
    #[arg(long, conflicts_with = "share", value_parser = clap::value_parser!(u64).range(1..), value_hint = ValueHint::Other)]
    samples: Option<u64>,
    /// Samples of a run, as a part of what seven of every candidate take, as in 3%
    #[arg(long, default_value = "3%", value_parser = share, value_hint = ValueHint::Other)]
    share: f64,
    /// Let the machine's speed wander by 8 % meanwhile
    #[arg(long)]
    drift: bool,
    /// File for one line a request, with every answer
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    trace: Option<PathBuf>,
    /// One JSON document on stdout, nothing else there
    #[arg(long)]
    json: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

/// Reads `3%`.
fn share(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|n| n.trim().parse::<f64>().ok());
    percent
        .filter(|p| *p > 0.0 && *p <= 1000.0)
        .map(|p| p / 100.0)
        .ok_or_else(|| format!("`{text}` is no share; write a percentage such as 3% or 0.5%"))
}

pub(super) fn run(args: &ReplayArgs) -> anyhow::Result<()> {
    if !args.folder.is_dir() {
        return usage(format!(
            "{} is no folder of results; name one such as results/amd-25-1-1-047f39",
            args.folder.display()
        ));
    }
    let shown = Steps::endless(args.quiet, "reading samples");
    let (spaces, warnings) = spaces(&Folder::at(&args.folder))?;
    drop(shown);
    for warning in &warnings {
        eprintln!("looptune: {warning}");
    }
    if spaces.is_empty() {
        anyhow::bail!(
            "{}: no whole space is recorded there; `looptune search --op zero --size 4096 --state \
             l1 --strategy exhaustive --epochs 12 --rounds 4 --record` records one",
            args.folder.display()
        );
    }
    let contest = StrategyContest {
        strategies: args.strategy.0.clone(),
        allowance: args.samples.map_or(Allowance::Share(args.share), Allowance::Samples),
        seeds: args.seeds,
        drift: args.drift,
    };
    let mut trace = args.trace.as_ref().map(|path| {
        let file = File::create(path);
        file.map(BufWriter::new).with_context(|| format!("{} cannot be written", path.display()))
    });
    let mut trace = trace.take().transpose()?;
    let runs = spaces.len() * contest.strategies.len();
    let steps = Steps::of(args.quiet, runs, "replaying");
    let told = |cell: &dyn std::fmt::Display, name: StrategyName| {
        steps.tell(format!("{cell}  {name}"));
        steps.done(1);
    };
    let heard = trace.as_mut().map(|t| t as &mut dyn Write);
    let contested = contest.run(&spaces, heard, &mut |space, name| told(&space.cell, name))?;
    drop(steps);
    if let (Some(trace), Some(path)) = (&mut trace, &args.trace) {
        trace.flush().with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        let document = report::quality_json(&spaces, &contested);
        writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
    } else {
        write!(out, "{}", report::quality(&spaces, &contested))?;
    }
    out.flush().context("cannot write to stdout")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_read() {
        assert_eq!(share("3%"), Ok(0.03));
        for bad in ["3", "", "%", "-1%", "0%", "x%"] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }
}
