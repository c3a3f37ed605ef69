//! What a subcommand that measures needs: the host, a worker, and Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context as _;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::exit::usage;
use crate::host::Host;
use crate::worker::{Client, ClientOptions};

/// Without a heartbeat for so long a subject hangs: the longest call (1 GiB, in memory)
/// takes a fraction of it.
const DEADLINE: Duration = Duration::from_secs(10);

/// An emulated worker is slower by this factor at most.
const EMULATED: u32 = 6;

/// The host and a worker on it.
pub(super) struct Session {
    pub(super) host: Host,
    pub(super) client: Client,
}

impl Session {
    /// Looks at the host and prepares a worker (which starts when it is first needed).
    pub(super) fn new(runner: Option<&str>) -> anyhow::Result<Session> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The second signal ends the process at once.
            flag::register_conditional_shutdown(signal, 1, Arc::clone(&interrupted))?;
            flag::register(signal, Arc::clone(&interrupted))?;
        }
        let mut command: Vec<String> = Vec::new();
        if let Some(runner) = runner {
            command.extend(runner.split_whitespace().map(String::from));
            if command.is_empty() {
                return usage("--worker-runner is empty; write a command such as 'qemu-x86_64'");
            }
        }
        let own = std::env::current_exe().context("cannot tell where this program is")?;
        command.push(own.to_string_lossy().into_owned());
        let host = Host::detect();
        let deadline = if runner.is_some() { DEADLINE * EMULATED } else { DEADLINE };
        let client = Client::new(ClientOptions {
            command,
            deadline,
            fingerprint: host.fingerprint(),
            interrupted: Some(interrupted),
        });
        Ok(Session { host, client })
    }
}
