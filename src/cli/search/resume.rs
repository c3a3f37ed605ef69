//! `looptune search --resume`

use std::path::Path;

use anyhow::Context as _;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};

use super::super::exit::{unsupported, usage};
use super::super::session::shown;
use super::super::{Cli, Command};
use super::{Ready, SearchArgs, repeat, tell};
use crate::host::Identity;
use crate::results::{Folder, Journal, Origin, RunLog, Unfinished, hosts, unfinished};
use crate::search::Candidate;
use crate::trial::Body;
use crate::units::{did_you_mean, digest};

/// What may be said anew: it changes nothing of the search.
const FREE: [&str; 5] = ["resume", "results", "json", "quiet", "help"];

/// Runs that are named where there is nothing to resume.
const SHOWN_RUNS: usize = 5;

/// `which`: a run, or the empty word for the newest.
pub(super) fn run(args: &SearchArgs, which: &str) -> anyhow::Result<()> {
    let key = Identity::read().key;
    let folder = args.results.join(&key);
    let found = choose(&args.results, &key, which)?;
    if found.origin.host != key {
        return other_host(&found.origin.run, &found.origin.host, &key);
    }
    let (log, warnings) = RunLog::open(&found.path, tell)?;
    warnings.iter().for_each(|warning| eprintln!("looptune: {warning}"));
    let origin = log.origin().clone();
    let begun = shown(&origin.arguments);
    let words = ["looptune".to_string()].into_iter().chain(origin.arguments.iter().cloned());
    let then = Cli::command().try_get_matches_from(words).and_then(|matches| {
        refuse_other_arguments(&origin.run, &begun, &matches)?;
        Cli::from_arg_matches(&matches)
    });
    let then = match then {
        Ok(cli) => cli,
        Err(e) if e.kind() == clap::error::ErrorKind::ArgumentConflict => {
            return usage(e.to_string().trim_start_matches("error: ").trim_end());
        }
        Err(e) => return usage(format!("run {} was begun with `{begun}`: {e}", origin.run)),
    };
    let Command::Search(mut then_args) = then.command else {
        return usage(format!("run {} is no search: `{begun}`", origin.run));
    };
    then_args.results = args.results.clone();
    (then_args.json, then_args.quiet) = (args.json, args.quiet);

    let mut ready = Ready::new(
        &then_args,
        then.worker_runner.as_deref(),
        origin.arguments.clone(),
        Some((origin.reckoned.clone(), origin.edges.clone())),
    )
    .with_context(|| elsewhere(&origin))?;
    ready.question.seed = origin.seed;
    ready.plans = origin.plans.clone();
    let ours = summed_up(&ready.candidates);
    if ours != origin.candidates {
        anyhow::bail!(
            "run {} cannot be resumed: it was begun with {} candidates, and the same arguments \
             give {} others now (another search file, another version of this program: that was \
             {}, this is {}); search anew",
            origin.run,
            origin.candidates.0,
            ours.0,
            origin.version,
            env!("CARGO_PKG_VERSION")
        );
    }
    let journal = Journal::reopen(&folder, &origin.run, origin.seed, tell)?;
    if journal.trials_kept() > log.trials() {
        anyhow::bail!(
            "run {} cannot be resumed: trials.csv has {} trials of it, and {} only {}; search anew",
            origin.run,
            journal.trials_kept(),
            found.path.display(),
            log.trials()
        );
    }
    if !args.quiet {
        let answers = log.answers().1;
        eprintln!("looptune: resuming run {} after {answers} answers: {begun}", origin.run);
    }
    let ended = ready.go(&then_args, journal, log)?;
    match origin.series {
        Some((earlier, times)) => repeat::resumed(&then_args, &mut ready, times, &earlier, ended),
        None => ready.page(&then_args, ended),
    }
}

/// The unfinished run that is meant.
fn choose(results: &Path, key: &str, which: &str) -> anyhow::Result<Unfinished> {
    let read = unfinished(&results.join(key))?;
    read.warnings.iter().for_each(|warning| eprintln!("looptune: {warning}"));
    let mut here = read.rows;
    let names: Vec<String> = here.iter().map(|u| u.origin.run.clone()).collect();
    let at = match which {
        "" => here.iter().rposition(|u| !u.running),
        run => names.iter().position(|name| name == run),
    };
    if let Some(at) = at {
        return Ok(here.swap_remove(at));
    }
    for host in hosts(results)?.iter().filter(|host| *host != key) {
        let there = unfinished(&results.join(host))?.rows;
        let meant = there.iter().rev().find(|u| which.is_empty() || u.origin.run == which);
        if let Some(meant) = meant.filter(|_| here.is_empty() || !which.is_empty()) {
            return other_host(&meant.origin.run, host, key);
        }
    }
    let nothing = match which {
        "" if !here.is_empty() => "every unfinished search is still going on".to_string(),
        "" => "no search is unfinished".to_string(),
        run => format!("there is no unfinished run `{run}`{}", did_you_mean(run, names.clone())),
    };
    let runs = Folder::at(&results.join(key)).runs()?.rows;
    let listed = match (names.is_empty(), runs.len().saturating_sub(SHOWN_RUNS)) {
        (false, _) => format!("; unfinished: {}", names.join(", ")),
        (true, _) if runs.is_empty() => "; nothing is recorded there".to_string(),
        (true, skipped) => {
            let last: Vec<&str> = runs[skipped..].iter().map(|run| run.id.as_str()).collect();
            format!("; its last runs: {}", last.join(", "))
        }
    };
    anyhow::bail!("nothing to resume in {}: {nothing}{listed}", results.join(key).display())
}

fn other_host<T>(run: &str, theirs: &str, ours: &str) -> anyhow::Result<T> {
    unsupported(format!(
        "run {run} was begun on host {theirs}, and this is {ours}: times of two machines do not \
         go together; resume it there, or search anew"
    ))
}

/// Refuses what would make another search of it.
///
/// # Errors
/// Names the argument and what the run was begun with.
fn refuse_other_arguments(run: &str, begun: &str, then: &ArgMatches) -> Result<(), clap::Error> {
    let command = Cli::command();
    let now = command.clone().try_get_matches_from(std::env::args_os())?;
    let search = command.find_subcommand("search");
    let (Some((_, now)), Some((_, then))) = (now.subcommand(), then.subcommand()) else {
        return Ok(());
    };
    for argument in search.iter().flat_map(|search| search.get_arguments()) {
        let id = argument.get_id().as_str();
        let given = now.value_source(id) == Some(ValueSource::CommandLine);
        if FREE.contains(&id) || !given {
            continue;
        }
        let raw = |matches: &ArgMatches| {
            let values = matches.get_raw(id).into_iter().flatten();
            values.map(|value| value.to_os_string()).collect::<Vec<_>>()
        };
        if then.value_source(id) != Some(ValueSource::CommandLine) || raw(now) != raw(then) {
            let name = argument.get_long().unwrap_or(id);
            let why = format!(
                "--{name} is not as run {run} was begun, `{begun}`: a search is resumed with its \
                 own arguments; leave --{name} out"
            );
            return Err(clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, why));
        }
    }
    Ok(())
}

/// The folder a command is given in.
pub(super) fn directory() -> String {
    std::env::current_dir().map_or_else(|_| String::new(), |d| d.to_string_lossy().into_owned())
}

/// Where the paths of a run's arguments go from, if that is elsewhere.
fn elsewhere(origin: &Origin) -> String {
    let mut text = format!("run {} cannot be resumed", origin.run);
    if directory() != origin.directory {
        text += &format!(" (it was begun in {})", origin.directory);
    }
    text
}

/// How many candidates there are, and a digest of their ids and code.
pub(super) fn summed_up(candidates: &[Candidate]) -> (u64, u64) {
    let bytes = candidates.iter().flat_map(|candidate| {
        let mut bytes = candidate.variant.to_string().into_bytes();
        if let Body::Machine(machine) = &candidate.body {
            bytes.extend(&machine.bytes);
        }
        bytes.push(b'\n');
        bytes
    });
    (candidates.len() as u64, digest(bytes))
}
