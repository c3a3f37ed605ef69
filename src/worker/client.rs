//! The parent's side: one result a request, whatever the child goes through.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::link::{Link, Outcome};
use super::protocol::{FrameError, Hello, LINE_LOST, Reply, Request, VERSION};
use crate::host::Fingerprint;
use crate::measure::{Edges, Levels, Thoroughness};
use crate::mem::Activity;
use crate::subject::Op;
use crate::trial::{
    BlockRequest, BlockResult, Body, Check, Countermeasure, EvaluateError, Evaluator, Failure,
    FailureKind,
};
use crate::verify;

/// How many times longer than on the bare machine things may take under a runner, which
/// may emulate.
const RUNNER_PATIENCE: u32 = 6;

/// How to start a worker, and how long to wait for it.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Program and leading arguments; `worker --shared PATH` is appended. With more than the
    /// program, as in `qemu-x86_64 -cpu Haswell …/looptune`, it counts as a runner, and all
    /// deadlines are longer.
    pub command: Vec<String>,
    /// Environment variables that are set for it, beside those of this process.
    pub environment: Vec<(String, String)>,
    /// Which machine the worker must stand on; `None`: any.
    pub fingerprint: Option<Fingerprint>,
    /// A worker without a sign of life for so long hangs.
    pub deadline: Duration,
    /// Set by the user's interrupt; evaluation then ends at once.
    pub interrupted: Option<Arc<AtomicBool>>,
}

impl ClientOptions {
    /// A worker that gives no sign of life for so long hangs: a pass over the largest
    /// buffers with the slowest loops takes a tenth of it.
    pub const DEADLINE: Duration = Duration::from_secs(10);

    /// A command with the default deadline, any machine, no interrupt.
    pub fn new(command: Vec<String>) -> ClientOptions {
        ClientOptions {
            command,
            environment: Vec::new(),
            fingerprint: None,
            deadline: ClientOptions::DEADLINE,
            interrupted: None,
        }
    }

    fn patience(&self) -> Duration {
        if self.command.len() > 1 { self.deadline * RUNNER_PATIENCE } else { self.deadline }
    }
}

/// What a worker says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerFacts {
    /// Process id.
    pub pid: u32,
    /// The C library's functions by op, such as `glibc 2.36 memcpy`, where it tells.
    pub libc: Vec<(Op, String)>,
    /// The CPU that it stays on, or why it could not be pinned.
    pub cpu: Result<u32, String>,
}

/// Starts workers and asks them. A worker is started when the first question comes, and
/// again whenever one was lost.
///
/// A worker ends with the thread that started it: use a client on the thread that lives on.
/// (One that was lost so is replaced like any other.)
pub struct Client {
    options: ClientOptions,
    link: Option<(Link, WorkerFacts)>,
    levels: Option<Levels>,
    lost: u64,
}

/// What a lost child leaves behind.
enum Lost {
    /// A member of the request was in flight, and this befell it.
    Culprit(usize, Failure),
    /// Nobody was in flight, and the child broke off.
    Aftermath(String),
    /// Somebody else ended it.
    Outside(String),
    /// What came is no message.
    Noise(FrameError),
}

impl Client {
    /// A client without a worker yet.
    pub fn new(options: ClientOptions) -> Client {
        Client { options, link: None, levels: None, lost: 0 }
    }

    /// Starts a worker unless one is there, and tells what it says of itself.
    ///
    /// # Errors
    /// Where none can be had, or it stands on another machine.
    pub fn start(&mut self) -> Result<&WorkerFacts, EvaluateError> {
        Ok(&self.link()?.1)
    }

    /// From now on states are made of caches of these sizes, by this worker and those that may
    /// replace it; `None`: as the worker's processor tells.
    pub fn reckon_with(&mut self, levels: Option<Levels>) {
        self.levels = levels;
    }

    /// Measures where the caches end for the worker's CPU; `Ok(Err(why))` where that cannot be
    /// measured.
    ///
    /// # Errors
    /// Where no worker can be had, or one is lost twice over it.
    pub fn edges(&mut self, how: Thoroughness) -> Result<Result<Edges, String>, EvaluateError> {
        let mut again = false;
        loop {
            let why = match self.once(&Request::Edges { how }, again)? {
                Ok(Reply::Edges(found)) => return Ok(found),
                Ok(_) => return Err(self.mixed_up()),
                Err(lost) => alone(lost).to_string(),
            };
            if again {
                return Err(EvaluateError::Start { command: self.options.command.join(" "), why });
            }
            again = true;
        }
    }

    /// Workers lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn interrupted(&self) -> bool {
        self.options.interrupted.as_ref().is_some_and(|i| i.load(Ordering::Relaxed))
    }

    fn link(&mut self) -> Result<&mut (Link, WorkerFacts), EvaluateError> {
        let link = match self.link.take() {
            Some(link) => link,
            None => self.connect()?,
        };
        Ok(self.link.insert(link))
    }

    fn connect(&self) -> Result<(Link, WorkerFacts), EvaluateError> {
        if self.interrupted() {
            return Err(EvaluateError::Interrupted);
        }
        let failed =
            |why: String| EvaluateError::Start { command: self.options.command.join(" "), why };
        let mut link =
            Link::start(&self.options.command, &self.options.environment).map_err(failed)?;
        let hello: Hello =
            match link.wait(self.options.patience(), self.options.interrupted.as_deref()) {
                Outcome::Answer(hello) => hello,
                Outcome::Died(status) => {
                    return Err(failed(format!("it ended before it said hello, {status}")));
                }
                Outcome::Cut => return Err(failed("it closed the line to here".into())),
                Outcome::Hung => return Err(failed("it never said hello".into())),
                Outcome::Interrupted => return Err(EvaluateError::Interrupted),
                Outcome::Noise(e) => {
                    return Err(EvaluateError::Mismatch(format!("instead of a hello: {e}")));
                }
            };
        if hello.version != VERSION {
            return Err(EvaluateError::Mismatch(format!(
                "it speaks protocol {}, this program {VERSION}; start the same build",
                hello.version
            )));
        }
        if let Some(difference) =
            self.options.fingerprint.as_ref().and_then(|f| f.difference(&hello.fingerprint))
        {
            return Err(EvaluateError::Mismatch(format!(
                "it runs on another processor than this program (here against there): \
                 {difference}; start both through the same runner"
            )));
        }
        let facts = WorkerFacts { pid: link.pid(), libc: hello.libc, cpu: hello.cpu };
        Ok((link, facts))
    }

    /// Asks once: an answer, or what a lost child leaves behind. `again`: a death without
    /// explanation has gone before in the same request.
    fn once<T: DeserializeOwned>(
        &mut self,
        message: &Request,
        again: bool,
    ) -> Result<Result<T, Lost>, EvaluateError> {
        if self.interrupted() {
            self.link = None;
            return Err(EvaluateError::Interrupted);
        }
        let (patience, flag) = (self.options.patience(), self.options.interrupted.clone());
        let (link, _) = self.link()?;
        let lost = match link.ask(message, patience, flag.as_deref()) {
            Outcome::Answer(answer) => return Ok(Ok(answer)),
            Outcome::Interrupted => {
                self.link = None;
                return Err(EvaluateError::Interrupted);
            }
            Outcome::Noise(e) => Lost::Noise(e),
            Outcome::Hung => attribute(link, End::Hung, again),
            Outcome::Cut => attribute(link, End::Cut, again),
            Outcome::Died(status) => attribute(link, End::Died(status), again),
        };
        self.link = None;
        self.lost += 1;
        Ok(Err(lost))
    }

    /// Asks until there is an answer about those who are left. `request` forms a request of
    /// the present members (indices into all); `fail` takes the culprits; `foreign` tells who
    /// can harm a process in ways that show only when others run.
    fn ask<T: DeserializeOwned>(
        &mut self,
        present: &mut Vec<usize>,
        foreign: impl Fn(usize) -> bool,
        request: impl Fn(&[usize]) -> Request,
        mut fail: impl FnMut(usize, Failure),
    ) -> Result<Option<T>, EvaluateError> {
        let mut unexplained = 0;
        while !present.is_empty() {
            let lost = match self.once(&request(present), unexplained > 0)? {
                Ok(answer) => return Ok(Some(answer)),
                Err(lost) => lost,
            };
            let suspects: Vec<usize> =
                (0..present.len()).filter(|at| foreign(present[*at])).collect();
            let (in_flight, why) = match lost {
                Lost::Culprit(at, failure) if at < present.len() => {
                    if suspects.iter().all(|suspect| *suspect == at) {
                        fail(present.remove(at), failure);
                        continue;
                    }
                    (Some((at, failure)), String::new())
                }
                Lost::Culprit(..) => (None, "it names a member that there is not".into()),
                Lost::Outside(_) if unexplained == 0 => {
                    unexplained += 1;
                    continue;
                }
                Lost::Noise(e) if suspects.is_empty() => {
                    return Err(EvaluateError::Mismatch(e.to_string()));
                }
                Lost::Noise(e) => (None, e.to_string()),
                Lost::Outside(why) | Lost::Aftermath(why) => (None, why),
            };
            // Who was in flight may have paid for what another had done before.
            let order = in_flight.iter().map(|(at, _)| *at).chain(suspects);
            let mut culprit = None;
            for at in order {
                if let Err(lost) = self.once::<T>(&request(&present[at..=at]), true)? {
                    culprit = Some((at, alone(lost)));
                    break;
                }
            }
            match culprit.or(in_flight) {
                Some((at, failure)) => fail(present.remove(at), failure),
                None => unexplained += 1,
            }
            if unexplained > 1 {
                let command = self.options.command.join(" ");
                return Err(EvaluateError::Start { command, why });
            }
        }
        Ok(None)
    }
}

/// What befell a member that lost a worker which nobody else had used.
fn alone(lost: Lost) -> Failure {
    let why = match lost {
        Lost::Culprit(_, failure) => return failure,
        Lost::Aftermath(why) | Lost::Outside(why) => why,
        Lost::Noise(e) => e.to_string(),
    };
    unsupported(format!("the worker could not go on after this ran: {why}"))
}

fn unsupported(why: String) -> Failure {
    Failure { kind: FailureKind::Unsupported(why), case: String::new() }
}

/// How a child was lost.
enum End {
    Died(ExitStatus),
    Cut,
    Hung,
}

/// What is said of a function that closes what is not its own.
const CLOSED: &str = "the worker lost its connection while this ran: it closes files that are not \
                      its own";

/// Whose fault a loss is. `again`: a death without explanation has gone before in the same
/// request.
fn attribute(link: &Link, end: End, again: bool) -> Lost {
    let (member, activity) = link.shared().in_flight();
    let outside = match end {
        End::Died(status) => status.signal().filter(|s| is_from_outside(*s)),
        End::Cut | End::Hung => None,
    };
    // No code of ours sends these to itself: somebody else did, or the system was out of
    // memory. Only who is in flight twice is blamed.
    if let (End::Died(status), Some(_)) = (&end, outside)
        && (activity == Activity::Idle || !again)
    {
        return Lost::Outside(format!("somebody ended it, {status}"));
    }
    let case = match activity {
        Activity::Idle => {
            return Lost::Aftermath(match end {
                End::Died(status) if status.code() == Some(LINE_LOST) => {
                    "it had closed the connection".into()
                }
                End::Died(status) => format!("it ended between two members, {status}"),
                End::Cut => "it closed the line between two members".into(),
                End::Hung => "it hung between two members".into(),
            });
        }
        Activity::Timing => "timing".to_string(),
        Activity::Verifying => {
            let (n, dst, src) = link.shared().case();
            verify::case_text(n, dst, src)
        }
    };
    let kind = match end {
        End::Hung => FailureKind::Hung,
        End::Cut => FailureKind::Unsupported(CLOSED.into()),
        End::Died(status) => match (status.signal(), status.code()) {
            (Some(signal), _) => FailureKind::Crashed { signal },
            (None, Some(LINE_LOST)) => FailureKind::Unsupported(CLOSED.into()),
            (None, code) => FailureKind::Unsupported(format!(
                "it ended the worker with exit status {}",
                code.unwrap_or_default()
            )),
        },
    };
    Lost::Culprit(member as usize, Failure { kind, case })
}

/// Signals that reach a process from outside only: HUP, INT, QUIT, KILL, TERM.
fn is_from_outside(signal: i32) -> bool {
    matches!(signal, 1 | 2 | 3 | 9 | 15)
}

fn is_foreign(body: &Body) -> bool {
    matches!(body, Body::Foreign { .. })
}

impl Evaluator for Client {
    fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
        let mut present: Vec<usize> = (0..request.members.len()).collect();
        let mut failures = Vec::new();
        let as_told = request.without.leaves_off(Countermeasure::MeasuredEdges);
        let levels = self.levels.filter(|_| !as_told);
        let form = |present: &[usize]| {
            let members = present.iter().map(|i| request.members[*i].clone()).collect();
            Request::Block { request: BlockRequest { members, ..request.clone() }, levels }
        };
        let foreign = |i: usize| is_foreign(&request.members[i].body);
        let note = |i: usize, failure| failures.push((i as u32, failure));
        let reply = self.ask(&mut present, foreign, form, note)?;
        let mut result = match reply {
            Some(Reply::Block(result)) => result,
            Some(Reply::Verify(_) | Reply::Edges(_)) => return Err(self.mixed_up()),
            None => BlockResult {
                samples: Vec::new(),
                failures: Vec::new(),
                clock: Default::default(),
                disturbed: 0,
            },
        };
        // The child counted those who were left.
        let original = |member: u32| present.get(member as usize).map(|i| *i as u32);
        for sample in &mut result.samples {
            sample.member = original(sample.member).ok_or_else(|| self.mixed_up())?;
        }
        for (member, failure) in result.failures {
            failures.push((original(member).ok_or_else(|| self.mixed_up())?, failure));
        }
        failures.sort_by_key(|(member, _)| *member);
        Ok(BlockResult { failures, ..result })
    }

    fn verify(
        &mut self,
        op: Op,
        bodies: &[Body],
        check: Check,
    ) -> Result<Vec<Result<(), Failure>>, EvaluateError> {
        let mut present: Vec<usize> = (0..bodies.len()).collect();
        let mut outcomes = vec![Ok(()); bodies.len()];
        let form = |present: &[usize]| {
            let bodies = present.iter().map(|i| bodies[*i].clone()).collect();
            Request::Verify { op, bodies, check }
        };
        let foreign = |i: usize| is_foreign(&bodies[i]);
        let note = |i: usize, failure| outcomes[i] = Err(failure);
        let reply = self.ask(&mut present, foreign, form, note)?;
        match reply {
            None => {}
            Some(Reply::Verify(found)) if found.len() == present.len() => {
                for (i, outcome) in present.into_iter().zip(found) {
                    outcomes[i] = outcome;
                }
            }
            Some(_) => return Err(self.mixed_up()),
        }
        Ok(outcomes)
    }
}

impl Client {
    fn mixed_up(&self) -> EvaluateError {
        EvaluateError::Mismatch("the answer is not to the question".into())
    }
}
