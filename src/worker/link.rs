//! A living child and the line to it.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::protocol::{self, FrameError};
use crate::host;
use crate::mem::{Activity, SharedPage};

/// How long a read waits before it looks at the heartbeat and at the user's interrupt.
const LOOK: Duration = Duration::from_millis(20);

/// How long a child whose end of the line is closed may take to be gone.
const LAST_BREATH: Duration = Duration::from_secs(2);

/// What became of a request.
#[derive(Debug)]
pub(super) enum Outcome<T> {
    /// An answer.
    Answer(T),
    /// The child is gone, by itself or by somebody else's hand.
    Died(ExitStatus),
    /// The child closed the line and lived on; it has been killed.
    Cut,
    /// No sign of life for the deadline; the child has been killed.
    Hung,
    /// The user interrupted; the child has been killed.
    Interrupted,
    /// The line carries something else than messages, or the message cannot be sent.
    Noise(FrameError),
}

/// A child process. Dropping it ends the child.
pub(super) struct Link {
    child: Child,
    line: UnixStream,
    shared: SharedPage,
    received: Vec<u8>,
}

impl Link {
    /// Starts a child; its first message will be its hello.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn start(
        command: &[String],
        environment: &[(String, String)],
    ) -> Result<Link, String> {
        let (program, arguments) = command.split_first().ok_or("the command is empty")?;
        let text = |e: std::io::Error| e.to_string();
        let (shared, path) = SharedPage::create().map_err(|e| e.to_string())?;
        // One socket instead of two pipes: its reads can time out, and the child's standard
        // output stays free, so that whatever a foreign library prints there is no message.
        let (line, theirs) = UnixStream::pair().map_err(text)?;
        line.set_read_timeout(Some(LOOK)).map_err(text)?;
        line.set_write_timeout(Some(LOOK)).map_err(text)?;
        let child = Command::new(program)
            .args(arguments)
            .args(["worker", "--shared", &path])
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(text)?;
        Ok(Link { child, line, shared, received: Vec::new() })
    }

    /// Process id of the child.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The page in which the child says what it does.
    pub(super) fn shared(&self) -> &SharedPage {
        &self.shared
    }

    /// Sends a message and waits for the answer.
    pub(super) fn ask<T: DeserializeOwned>(
        &mut self,
        message: &impl Serialize,
        deadline: Duration,
        interrupted: Option<&AtomicBool>,
    ) -> Outcome<T> {
        let bytes = match protocol::frame(message) {
            Ok(bytes) => bytes,
            Err(e) => return Outcome::Noise(e),
        };
        let mut watch = Watch::new(deadline, interrupted);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match self.line.write(rest) {
                Ok(n) => {
                    rest = &rest[n..];
                    watch.alive();
                }
                Err(e) if is_timeout(&e) => {
                    if let Some(end) = watch.look(&self.shared) {
                        return self.end(end);
                    }
                }
                // The child is gone; reading will say how.
                Err(_) => break,
            }
        }
        self.wait(deadline, interrupted)
    }

    /// Waits for a message.
    pub(super) fn wait<T: DeserializeOwned>(
        &mut self,
        deadline: Duration,
        interrupted: Option<&AtomicBool>,
    ) -> Outcome<T> {
        let mut watch = Watch::new(deadline, interrupted);
        let mut chunk = vec![0; 64 << 10];
        loop {
            match protocol::take(&mut self.received) {
                Ok(Some(message)) => return Outcome::Answer(message),
                Ok(None) => {}
                Err(e) => return self.end(Outcome::Noise(e)),
            }
            match self.line.read(&mut chunk) {
                Ok(0) => return self.bury(),
                Ok(n) => {
                    self.received.extend_from_slice(&chunk[..n]);
                    watch.alive();
                }
                Err(e) if is_timeout(&e) => {
                    // Another process may hold the line open for one that is gone.
                    if matches!(self.child.try_wait(), Ok(Some(_))) {
                        return self.bury();
                    }
                    if let Some(end) = watch.look(&self.shared) {
                        return self.end(end);
                    }
                }
                Err(_) => return self.bury(),
            }
        }
    }

    fn end<T>(&mut self, outcome: Outcome<T>) -> Outcome<T> {
        self.kill();
        outcome
    }

    /// What became of a child that has closed its end: it is dying or has hidden itself.
    fn bury<T>(&mut self) -> Outcome<T> {
        let until = Instant::now() + LAST_BREATH;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Outcome::Died(status),
                Ok(None) if Instant::now() < until => std::thread::sleep(LOOK / 20),
                _ => {
                    self.kill();
                    return Outcome::Cut;
                }
            }
        }
    }

    /// Ends the child, and what it has started.
    fn kill(&mut self) {
        host::kill_group(self.child.id());
        // Fails only for a child that is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.kill();
    }
}

fn is_timeout(e: &std::io::Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// All that a child shows of its progress: beats, who is in flight, which case.
type Signs = (u64, (u32, Activity), (u64, u32, u32));

/// Waits no longer than the deadline after the last sign of life.
struct Watch<'a> {
    deadline: Duration,
    interrupted: Option<&'a AtomicBool>,
    seen: Option<Signs>,
    last: Instant,
}

impl<'a> Watch<'a> {
    fn new(deadline: Duration, interrupted: Option<&'a AtomicBool>) -> Watch<'a> {
        Watch { deadline, interrupted, seen: None, last: Instant::now() }
    }

    fn alive(&mut self) {
        self.last = Instant::now();
    }

    fn look<T>(&mut self, shared: &SharedPage) -> Option<Outcome<T>> {
        if self.interrupted.is_some_and(|i| i.load(Ordering::Relaxed)) {
            return Some(Outcome::Interrupted);
        }
        let seen = Some((shared.beats(), shared.in_flight(), shared.case()));
        if seen != self.seen {
            self.seen = seen;
            self.alive();
        }
        (self.last.elapsed() > self.deadline).then_some(Outcome::Hung)
    }
}
