//! `looptune export`: a winner or a named variant as assembly source.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::ValueHint;

use super::arguments::{self, StateOrAll, legal};
use super::conditions::ConditionsArgs;
use super::exit::{unsupported, usage};
use super::progress::Steps;
use super::session::Session;
use crate::encode::{self, Code};
use crate::export::{Export, Header, check, check_symbol, default_symbol};
use crate::host::{Feature, FeatureSet};
use crate::results::{Choice, Figure, Folder, Wanted, WantedCalls};
use crate::subject::{Conditions, Contract, Drive, Op, Variant};
use crate::trial::{Body, Check, Evaluator, FailureKind, Misbehaviour};
use crate::units::{human_ns, parse_size};

/// A winner or a variant as assembly source that reproduces the tuned bytes.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = arguments::about_ids())]
pub struct ExportArgs {
    /// The variant, as in zero/ymm/u4/a64; without it, the recorded winner of --op and --size or --mix
    #[arg(value_parser = arguments::variant(), hide_possible_values = true, conflicts_with_all = ["op", "size", "mix", "state", "drive", "run", "fixed"])]
    variant: Option<Variant>,
    /// What the loop does
    #[arg(long, value_parser = arguments::tuned_op(), required_unless_present = "variant")]
    op: Option<Op>,
    /// Bytes a call: 4096, 4k, 1M
    #[arg(long, value_parser = parse_size, value_hint = ValueHint::Other, required_unless_present_any = ["variant", "mix"], conflicts_with = "mix")]
    size: Option<u64>,
    /// A mix of sizes that was searched, by its name in tables or by its file
    #[arg(long, value_name = "NAME", value_hint = ValueHint::FilePath)]
    mix: Option<PathBuf>,
    /// The state whose winner is meant; robust is the least regret over all [default: robust]
    #[arg(long, value_parser = arguments::state_or_all())]
    state: Option<StateOrAll>,
    /// How calls follow
    #[arg(long, value_parser = arguments::drive(), default_value = "throughput", requires = "state")]
    drive: Drive,
    /// What the function must promise: user, the System V ABI; kernel, general registers, string
    /// instructions and movnti only
    #[arg(long, value_parser = arguments::contract(), default_value = "user")]
    contract: Contract,
    /// The loop for exactly --size bytes, which takes no size
    #[arg(long, requires = "size")]
    fixed: bool,
    /// Export a loop that changes bits (x87 numbers quieten signalling NaNs); its header says so
    #[arg(long)]
    unsafe_bits: bool,
    /// Name of the function; looptune_copy or looptune_zero by default
    #[arg(long, value_parser = parse_symbol, value_hint = ValueHint::Other)]
    symbol: Option<String>,
    /// File to write; - is the standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath)]
    output: PathBuf,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "results", value_hint = ValueHint::DirPath)]
    results: PathBuf,
    /// The run to take the winner from, by its id; the newest finished one by default
    #[arg(long, value_name = "ID", value_hint = ValueHint::Other)]
    run: Option<String>,
    /// Take the results of another host
    #[arg(long, value_name = "KEY", value_hint = ValueHint::Other)]
    host: Option<String>,
    #[command(flatten)]
    conditions: ConditionsArgs,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: &ExportArgs, runner: Option<&str>) -> anyhow::Result<()> {
    if let Some(variant) = &args.variant {
        legal(variant)?;
        if args.conditions.single()? != Conditions::DEFAULT {
            return usage("conditions choose among recorded winners; a variant is what it is");
        }
    }
    let mut session = Session::new(runner)?;
    let host = &session.host;
    let here = Here {
        key: host.key.clone(),
        cpu: host.cpu.brand.clone(),
        usable: host.usable,
        refused: host.refused.iter().map(|r| (r.feature, r.why.to_string())).collect(),
    };
    // Standard error is not locked: progress is drawn there by another thread.
    let (mut out, mut say) = (std::io::stdout().lock(), std::io::stderr());
    args.run_with(&here, &mut session.client, &mut out, &mut say)
}

/// What an export must know of the machine and the command it runs under.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Here {
    /// Key of this host.
    pub key: String,
    /// Its processor, as it names itself.
    pub cpu: String,
    /// Features that may be used.
    pub usable: FeatureSet,
    /// Other features with the reason why not.
    pub refused: Vec<(Feature, String)>,
}

fn parse_symbol(text: &str) -> Result<String, String> {
    check_symbol(text).map(|()| text.to_string()).map_err(|e| e.to_string())
}

impl ExportArgs {
    /// Finds the loop, verifies it fully here, writes it, and has it assembled and compared.
    /// `out` takes the text where no file is named, `say` what is told of it.
    ///
    /// # Errors
    /// A refusal of this host where it cannot run the loop; else what is missing or wrong.
    pub fn run_with(
        &self,
        here: &Here,
        evaluator: &mut dyn Evaluator,
        out: &mut dyn Write,
        say: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let found = self.find(here)?;
        for warning in &found.warnings {
            writeln!(say, "warning: {warning}")?;
        }
        let variant = found.variant;
        if !variant.keeps(self.contract) {
            return usage(format!(
                "{variant} does not keep the {} contract: it takes general registers, string \
                 instructions and movnti, and no block on the stack",
                self.contract
            ));
        }
        let mut code = encode::compile(&variant).with_context(|| variant.to_string())?;
        code.contract = self.contract;
        let inexact = {
            let _shown = Steps::endless(self.quiet, format!("verifying {variant} in full"));
            self.verify(&variant, &code, here, evaluator)?
        };
        let symbol = self.symbol.clone().unwrap_or_else(|| default_symbol(variant.op));
        let header = Header { inexact, ..self.header(&found, here, &symbol) };
        let export = Export { code: &code, variant: &variant, symbol: &symbol, header: &header };
        let text = export.asm()?;
        let file = self.file();
        let written = match &file {
            None => {
                out.write_all(text.as_bytes())
                    .and_then(|()| out.flush())
                    .context("the text cannot be written")?;
                text
            }
            Some(path) => {
                must_be_file(path)?;
                let named = || format!("{} cannot be written", path.display());
                std::fs::write(path, &text).with_context(named)?;
                // What is checked is what others will read.
                std::fs::read_to_string(path).with_context(named)?
            }
        };
        let place = file.map_or("standard output".into(), |p| p.display().to_string());
        let checked = check(&written, &symbol, &code)
            .with_context(|| format!("do not use what was written to {place}"))?;
        let verified = match &header.inexact {
            None => "fully verified here",
            Some(_) => "NOT EXACT, as its header says",
        };
        writeln!(say, "{variant} as `{symbol}`: {place}; {verified}; {checked}")?;
        if found.provisional {
            writeln!(say, "provisional: no finished run holds this cell, this is the best so far")?;
        }
        Ok(())
    }

    fn file(&self) -> Option<PathBuf> {
        (self.output.as_os_str() != "-").then(|| self.output.clone())
    }

    /// The loop: the named one with what is recorded of it, or a recorded winner.
    fn find(&self, here: &Here) -> anyhow::Result<Found> {
        let key = self.host.as_deref().unwrap_or(&here.key);
        if let Some(variant) = self.variant {
            let folder = match Folder::of_host(&self.results, key) {
                Err(e) if self.host.is_some() => return Err(e.into()),
                folder => folder.ok(),
            };
            let recorded = folder.as_ref().map(|f| f.recorded_of(&variant)).transpose()?.flatten();
            return Ok(match (folder, recorded) {
                (Some(folder), Some(choice)) => Found::recorded(&folder, choice)?,
                _ => Found::named(variant),
            });
        }
        let wanted = Wanted {
            op: self.op.ok_or_else(|| anyhow!("which op? write --op copy or --op zero"))?,
            calls: match (&self.mix, self.size) {
                (Some(mix), _) => WantedCalls::Mix { name: mix_name(mix), digest: digest(mix)? },
                (None, Some(size)) => WantedCalls::Size(size),
                (None, None) => return Err(anyhow!("which size? write --size 4096")),
            },
            state: self.state.and_then(|s| s.0),
            drive: self.drive,
            contract: self.contract,
            fixed: self.fixed,
            conditions: self.conditions.single()?,
        };
        let folder = Folder::of_host(&self.results, key).map_err(|e| {
            anyhow::Error::new(e).context(match self.host {
                Some(_) => "nothing to export",
                None => "nothing is recorded of this host (--host KEY takes another one's results)",
            })
        })?;
        let choice = folder.choose(&wanted, self.run.as_deref())?;
        Found::recorded(&folder, choice)
    }

    fn header(&self, found: &Found, here: &Here, symbol: &str) -> Header {
        let mut command = format!("looptune export {} --symbol {symbol}", found.variant);
        if self.contract != Contract::User {
            let _ = write!(command, " --contract {}", self.contract);
        }
        if self.unsafe_bits {
            command.push_str(" --unsafe-bits");
        }
        if let Some(path) = self.file() {
            let _ = write!(command, " -o {}", path.display());
        }
        let host = match found.host.as_deref() {
            Some(other) if other != here.key => {
                format!("{other}; verified on {}, {}", here.key, here.cpu)
            }
            _ => format!("{}, {}", here.key, here.cpu),
        };
        let chosen = found.max_regret.map(|regret| {
            let states = found.states.join(", ");
            format!("chosen for the least worst regret over {states}: {:.1} %", 100.0 * regret)
        });
        Header {
            host,
            command,
            found_by: found.found_by.clone(),
            measured: chosen.into_iter().chain(found.figures.iter().map(figure)).collect(),
            provisional: found.provisional,
            inexact: None,
        }
    }

    /// Full verification on this host. What comes back is what a loop does that changes bits,
    /// where that was asked for.
    fn verify(
        &self,
        variant: &Variant,
        code: &Code,
        here: &Here,
        evaluator: &mut dyn Evaluator,
    ) -> anyhow::Result<Option<String>> {
        runs_here(variant, code, here)?;
        let bodies = [Body::Machine(code.machine())];
        let outcome = evaluator.verify(variant.op, &bodies, Check::Full)?;
        match outcome.into_iter().next() {
            Some(Ok(())) => Ok(None),
            Some(Err(failure)) => match failure.kind {
                FailureKind::Unsupported(why) => {
                    unsupported(format!("this host cannot run {variant}: {why}"))
                }
                FailureKind::Incorrect(what @ Misbehaviour::BitsChanged { .. })
                    if self.unsafe_bits =>
                {
                    Ok(Some(what.to_string()))
                }
                FailureKind::Incorrect(Misbehaviour::BitsChanged { .. }) => Err(anyhow!(
                    "{variant} is not exported, it is not exact: {failure}; --unsafe-bits exports \
                     it all the same, with a warning in its header"
                )),
                _ => Err(anyhow!("{variant} is not exported, it failed verification: {failure}")),
            },
            None => Err(anyhow!("{variant} is not exported: the worker did not answer")),
        }
    }
}

/// What the file of a mix holds, where one is named: another file of the same name is another
/// mix.
fn digest(asked: &Path) -> anyhow::Result<Option<u64>> {
    if !asked.is_file() {
        return Ok(None);
    }
    let mixes = arguments::mixes(std::slice::from_ref(&asked.to_path_buf()))?;
    Ok(mixes.first().map(|mix| mix.mix.digest()))
}

/// The name of a mix, which may be asked for by its file.
fn mix_name(asked: &Path) -> String {
    let is_csv = asked.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
    let name = if is_csv { asked.file_stem() } else { asked.file_name() };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// A loop and what is recorded of it.
struct Found {
    variant: Variant,
    host: Option<String>,
    found_by: Option<String>,
    max_regret: Option<f64>,
    states: Vec<String>,
    figures: Vec<Figure>,
    provisional: bool,
    warnings: Vec<String>,
}

impl Found {
    fn named(variant: Variant) -> Found {
        Found {
            variant,
            host: None,
            found_by: None,
            max_regret: None,
            states: Vec::new(),
            figures: Vec::new(),
            provisional: false,
            warnings: Vec::new(),
        }
    }

    fn recorded(folder: &Folder, choice: Choice) -> anyhow::Result<Found> {
        let runs = folder.runs()?.rows;
        let command = runs.into_iter().find(|r| r.id == choice.run).map(|r| r.command);
        Ok(Found {
            variant: choice.variant,
            host: Some(folder.key().to_string()),
            found_by: Some(match command {
                Some(command) => format!("{command} (run {})", choice.run),
                None => format!("run {}", choice.run),
            }),
            max_regret: choice.max_regret,
            states: choice.states,
            figures: choice.figures,
            provisional: choice.provisional,
            warnings: choice.warnings,
        })
    }
}

/// A recorded figure as a line of the header.
fn figure(figure: &Figure) -> String {
    let mut line = format!(
        "{}: {} [{}, {}], {:.1} bytes/cycle",
        figure.cell,
        human_ns(figure.ns),
        human_ns(figure.ci.0),
        human_ns(figure.ci.1),
        figure.bytes_per_cycle
    );
    if let Some(regret) = figure.regret {
        let _ = write!(line, ", regret {:.1} %", 100.0 * regret.max(0.0));
    }
    for (name, ratio, (low, high)) in &figure.baselines {
        let _ = write!(line, ", {name} takes {ratio:.3} [{low:.3}, {high:.3}] times as long");
    }
    line
}

/// Refuses a path at which something else than a file is: what is written is read again,
/// and a pipe or a terminal would be waited on forever.
fn must_be_file(path: &Path) -> anyhow::Result<()> {
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return usage(format!(
            "{} is no regular file, and what is written there is read again to be checked; name \
             one, or `-` for the standard output",
            path.display()
        ));
    }
    Ok(())
}

/// Refuses a loop that this host cannot run, with the reason.
fn runs_here(variant: &Variant, code: &Code, here: &Here) -> anyhow::Result<()> {
    let missing = code.features.minus(here.usable);
    if missing.is_empty() {
        return Ok(());
    }
    let why: Vec<String> = missing
        .iter()
        .map(|feature| {
            let reason = here.refused.iter().find(|(f, _)| *f == feature);
            reason.map_or(feature.to_string(), |(_, why)| format!("{feature} ({why})"))
        })
        .collect();
    unsupported(format!(
        "this host cannot run {variant}, so it cannot be verified before export: it needs {}",
        why.join(", ")
    ))
}
