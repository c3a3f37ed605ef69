//! What a subcommand that measures needs: the host, a worker, and Ctrl-C.

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::exit::usage;
use crate::host::Host;
use crate::jit::libc_resolved;
use crate::measure::{Edges, Levels, Reckoned, Thoroughness};
use crate::report::Facts;
use crate::search::{Compiled, NoCompiler, baseline_entrant};
use crate::subject::{Baseline, Op};
use crate::trial::EvaluateError;
use crate::worker::{ClientOptions, Thresholds, Tuning, Workers};

/// The host and a worker on it.
pub(super) struct Session {
    pub(super) host: Host,
    pub(super) client: Workers,
    /// Cache sizes that states are made of: as told, until they are measured.
    pub(super) reckoned: Reckoned,
    /// What they were measured to be.
    pub(super) edges: Option<Edges>,
    /// What the C compiler makes, once somebody asked for it.
    compiled: OnceCell<Result<Compiled, NoCompiler>>,
}

impl Session {
    /// Looks at the host and prepares a worker (which starts when it is first needed).
    pub(super) fn new(runner: Option<&str>) -> anyhow::Result<Session> {
        let interrupted = Arc::new(AtomicBool::new(false));
        // A terminal that goes away is an interruption like any other.
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            // The second signal ends the process at once.
            flag::register_conditional_shutdown(signal, 1, Arc::clone(&interrupted))?;
            flag::register(signal, Arc::clone(&interrupted))?;
        }
        let host = Host::detect();
        let client = Workers::new(client_options(runner, &host, interrupted)?);
        let reckoned = Reckoned::told(Levels::of(&host.caches));
        Ok(Session { host, client, reckoned, edges: None, compiled: OnceCell::new() })
    }

    /// Measures where the caches end; states are made of that from now on, here and in the
    /// worker. Where it cannot be measured they stay as told, with a warning.
    ///
    /// # Errors
    /// Where no worker can be had.
    pub(super) fn measure_caches(&mut self, how: Thoroughness) -> anyhow::Result<()> {
        let told = Levels::of(&self.host.caches);
        match self.client.edges(how) {
            Ok(Ok(edges)) => {
                self.reckoned = Reckoned::of(&told, &edges);
                self.edges = Some(edges);
            }
            Ok(Err(why)) => {
                let warning = format!("cache sizes are taken as told: {why}");
                self.reckoned = Reckoned { warnings: vec![warning], ..Reckoned::told(told) };
            }
            // The first question that is asked will say so, and ends what there is to end.
            Err(EvaluateError::Interrupted) => {}
            Err(e) => return Err(e.into()),
        }
        self.client.reckon_with(Some(self.reckoned.levels));
        self.tune(None);
        Ok(())
    }

    /// Takes cache sizes for measured that were measured before.
    pub(super) fn reckon(&mut self, reckoned: Reckoned, edges: Option<Edges>) {
        self.client.reckon_with(Some(reckoned.levels));
        (self.reckoned, self.edges) = (reckoned, edges);
        self.tune(None);
    }

    /// Says how the C library of `libc-tuned` is set: stores past the caches from the measured
    /// crossover on, else, as glibc has it for the cache that it is told of, from three quarters
    /// of the last cache that was measured.
    pub(super) fn tune(&mut self, crossover: Option<u64>) {
        let levels = &self.reckoned.levels;
        let of_cache = levels.llc.or(levels.l2).map(|bytes| bytes / 4 * 3);
        let nt = crossover.or(of_cache);
        let wanted = Thresholds { nt, ..Thresholds::default() };
        let link = [Op::Copy, Op::Zero].into_iter().filter_map(|op| {
            let body = baseline_entrant(Baseline::Rep, op)?.member.body;
            Some((op, body))
        });
        let tuning = Tuning::of(&self.host.conditions.clib, wanted);
        self.client.tune(tuning, link.collect());
    }

    /// The loops of this host's C compiler, which are built when first asked for and go away
    /// with the session.
    ///
    /// # Errors
    /// Why there are none.
    pub(super) fn compiled(&self) -> Result<&Compiled, &NoCompiler> {
        self.compiled.get_or_init(Compiled::build).as_ref()
    }

    /// The same, where somebody has asked for them and they were built.
    pub(super) fn compiled_already(&self) -> Option<&Compiled> {
        self.compiled.get()?.as_ref().ok()
    }

    /// What a report says of host and command.
    pub(super) fn facts(&self, op: Op) -> Facts {
        self.facts_of(op, command_line())
    }

    /// The same of a command that is not the present one.
    pub(super) fn facts_of(&self, op: Op, command: String) -> Facts {
        let mut facts = Facts::of(&self.host, op, command);
        if let (Some(libc), Some(function)) = (&mut facts.libc, libc_resolved(op)) {
            libc.push_str(&format!(", {function}"));
        }
        facts
    }
}

/// How to start a worker: this program again, through the runner where one is asked for.
/// Setting `interrupted` ends what it does.
pub(super) fn client_options(
    runner: Option<&str>,
    host: &Host,
    interrupted: Arc<AtomicBool>,
) -> anyhow::Result<ClientOptions> {
    let mut command: Vec<String> = Vec::new();
    if let Some(runner) = runner {
        command.extend(runner.split_whitespace().map(String::from));
        if command.is_empty() {
            return usage("--worker-runner is empty; write a command such as 'qemu-x86_64'");
        }
    }
    let own = std::env::current_exe().context("cannot tell where this program is")?;
    command.push(own.to_string_lossy().into_owned());
    Ok(ClientOptions {
        command,
        environment: Vec::new(),
        deadline: ClientOptions::DEADLINE,
        fingerprint: Some(host.fingerprint()),
        interrupted: Some(interrupted),
    })
}

/// The words of the command after the program's name.
pub(super) fn command_words() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The command as typed, the program by its name alone.
pub(super) fn command_line() -> String {
    shown(&command_words())
}

/// A command of such words, the program by its name alone.
pub(super) fn shown(words: &[String]) -> String {
    ["looptune"].into_iter().chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}
