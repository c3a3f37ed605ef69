//! The child's loop: hello, then an answer a request, until there are no more.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;

use super::memory::Memory;
use super::protocol::{self, FrameError, Hello, LINE_LOST, Reply, Request, VERSION};
use crate::host::{self, Host, HostError, Household, Surroundings};
use crate::jit;
use crate::measure::{
    Contender, Instruments, Levels, MeasureError, Rig, Sequence, measure_edges, rigs, run_blocks,
};
use crate::mem::{Activity, MemError, SharedPage};
use crate::subject::{Cell, Conditions, Op, Source};
use crate::trial::{BlockRequest, BlockResult, Body, Check, Countermeasure, Failure, FailureKind};
use crate::verify::{Verifier, VerifyError};

/// Bytes of buffers that are kept for cells that may come again.
const MOST_RIG_BYTES: usize = 64 << 20;

/// Why a child had to give up.
#[derive(Debug, thiserror::Error)]
#[error("the worker cannot go on: {why}")]
pub struct ChildError {
    why: String,
}

macro_rules! from {
    ($($kind:ty),+) => { $(
        impl From<$kind> for ChildError {
            fn from(e: $kind) -> ChildError {
                ChildError { why: e.to_string() }
            }
        }
    )+ };
}
from!(HostError, MemError, VerifyError, MeasureError, FrameError, io::Error);

/// Answers the parent's requests on the socket that is this process's standard input, until
/// the parent has no more or is gone.
///
/// `shared_path` is the path of the page in which this process says what is in flight.
///
/// # Errors
/// Where the line breaks, or the system refuses what a worker needs.
pub fn run_child(shared_path: &str) -> Result<(), ChildError> {
    // A parent that is gone before the promise holds has closed the line, and the first
    // read says so.
    host::die_with_parent()?;
    host::no_core_files()?;
    let shared = SharedPage::open(shared_path)?;
    let mut line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let allowed = host::allowed_cpus().unwrap_or_default();
    let cpu = host::pin_to_one().map_err(|e| e.to_string());
    // The farthest from the first, which interrupts gather on, are the first to be taken.
    let others = allowed.into_iter().rev().filter(|other| cpu != Ok(*other)).collect();
    let host = Host::detect();
    let libc = [Op::Copy, Op::Zero].into_iter().filter_map(|op| Some((op, jit::libc_name(op)?)));
    let hello = Hello {
        version: VERSION,
        fingerprint: host.fingerprint(),
        pid: std::process::id(),
        libc: libc.collect(),
        cpu,
    };
    protocol::send(&mut line, &hello)?;
    let mut child = Child {
        shared,
        line_id: identity(&line)?,
        line: line.try_clone()?,
        surroundings: Surroundings::read(),
        household: Household::read(),
        told: Levels::of(&host.caches),
        levels: Levels::of(&host.caches),
        instruments: Instruments::new(
            host.usable,
            host.tsc.calibrated_hz / 1e9,
            host.cpu.microarch,
        )?,
        memory: Memory::new(Verifier::new(host.usable)?),
        rigs: Vec::new(),
        others,
    };
    loop {
        let reply = match protocol::receive(&mut line) {
            Ok(Request::Block { request, levels }) => {
                child.reckon_with(levels);
                Reply::Block(child.block(&request))
            }
            Ok(Request::Edges { how }) => {
                // Its maps must not stand beside buffers that a cell may never ask for again.
                child.rigs.clear();
                let rate = child.instruments.ticks_per_ns();
                let edges = measure_edges(&child.told, how, rate, Some(&child.shared));
                Reply::Edges(edges.map_err(|e| e.to_string()))
            }
            Ok(Request::Verify { op, bodies, check }) => {
                child.memory.expect(bodies.len());
                let mut outcomes = Vec::with_capacity(bodies.len());
                for (i, body) in bodies.iter().enumerate() {
                    child.learn(i, op, body, check);
                    let outcome = child.memory.outcome(op, body);
                    outcomes.push(match outcome {
                        None => Ok(()),
                        Some(Err(failure)) => Err(failure.clone()),
                        Some(Ok(verified)) => verified.inexact().cloned().map_or(Ok(()), Err),
                    });
                }
                Reply::Verify(outcomes)
            }
            Err(FrameError::Closed) => return Ok(()),
            Err(e) => return Err(e.into()),
        };
        child.announce(0, Activity::Idle);
        child.household.leave_if_copy();
        protocol::send(&mut line, &reply)?;
    }
}

/// By which an open file is told from one that took its number.
fn identity(line: &UnixStream) -> io::Result<(u64, u64)> {
    let there = File::from(line.as_fd().try_clone_to_owned()?).metadata()?;
    Ok((there.dev(), there.ino()))
}

struct Child {
    shared: SharedPage,
    /// The line to the parent, and its identity when it was sound.
    line: UnixStream,
    line_id: (u64, u64),
    surroundings: Surroundings,
    household: Household,
    /// Cache sizes as the processor tells them.
    told: Levels,
    /// Cache sizes that the rigs are made for.
    levels: Levels,
    instruments: Instruments,
    memory: Memory,
    /// The buffers of a cell, of each thread; the last used is the last.
    rigs: Vec<Vec<Rig>>,
    /// CPUs for threads beside this one.
    others: Vec<u32>,
}

impl Child {
    fn announce(&self, member: usize, activity: Activity) {
        self.shared.beat();
        self.shared.set_in_flight(member as u32, activity);
    }

    fn learn(&mut self, member: usize, op: Op, body: &Body, check: Check) {
        self.announce(member, Activity::Verifying);
        self.memory.learn(op, body, check, &self.shared);
        if matches!(body, Body::Foreign { .. }) {
            self.tidy();
        }
    }

    /// Puts back what a function of others may have changed. A line that it has closed cannot
    /// be had again: the process ends here, while whoever is in flight still is.
    fn tidy(&self) {
        self.household.leave_if_copy();
        self.surroundings.restore();
        if !identity(&self.line).is_ok_and(|id| id == self.line_id) {
            host::leave(LINE_LOST);
        }
    }

    /// Takes the parent's word for how large caches are: it planned with that. Buffers that
    /// were made for other sizes go.
    fn reckon_with(&mut self, levels: Option<Levels>) {
        let levels = levels.unwrap_or(self.told);
        if levels != self.levels {
            self.rigs.clear();
            self.levels = levels;
        }
    }

    fn block(&mut self, request: &BlockRequest) -> BlockResult {
        self.try_block(request).unwrap_or_else(|e| {
            // Nobody's fault, and everybody's: the cell cannot be measured here.
            let failure =
                Failure { kind: FailureKind::Unsupported(e.to_string()), case: "timing".into() };
            BlockResult {
                samples: Vec::new(),
                failures: (0..request.members.len() as u32).map(|i| (i, failure.clone())).collect(),
                clock: Default::default(),
                disturbed: 0,
            }
        })
    }

    fn try_block(&mut self, request: &BlockRequest) -> Result<BlockResult, MeasureError> {
        let op = request.cell.op;
        self.rig(&backed(request))?;
        self.memory.expect(request.members.len());
        for (i, member) in request.members.iter().enumerate() {
            self.learn(i, op, &member.body, request.check);
        }
        if request.cell.mix.is_some() {
            let sizes = Sequence::draw(request.seed, &request.weights).sizes();
            for (i, member) in request.members.iter().enumerate() {
                self.announce(i, Activity::Verifying);
                self.memory.learn_sizes(op, &member.body, &sizes, &self.shared);
                if matches!(member.body, Body::Foreign { .. }) {
                    self.tidy();
                }
            }
        }
        self.announce(0, Activity::Idle);
        let mut contenders = Vec::new();
        let mut failures = Vec::new();
        for (i, member) in request.members.iter().enumerate() {
            if let Some(failure) = for_another_size(&member.body, &request.cell) {
                failures.push((i as u32, failure));
                continue;
            }
            match self.memory.outcome(op, &member.body) {
                Some(Ok(verified)) if !member.inexact && verified.inexact().is_some() => {
                    failures.extend(verified.inexact().map(|why| (i as u32, why.clone())));
                }
                Some(Ok(verified)) => contenders.push(Contender {
                    member: i as u32,
                    verified,
                    leaves_cache: member.body.leaves_cache(),
                    plant: member.plant,
                }),
                Some(Err(failure)) => failures.push((i as u32, failure.clone())),
                None => {}
            }
        }
        let Some(rig) = self.rigs.last_mut() else {
            return Err(MeasureError::NoState("no buffers".into()));
        };
        let threads = (rig.as_mut_slice(), self.others.as_slice());
        let result =
            run_blocks(&mut self.instruments, threads, &contenders, request, &self.shared)?;
        if request.members.iter().any(|m| matches!(m.body, Body::Foreign { .. })) {
            self.tidy();
        }
        Ok(BlockResult { failures, ..result })
    }

    /// Puts the rig of a cell at the end of the list; the oldest go where memory is short.
    fn rig(&mut self, cell: &Cell) -> Result<(), MeasureError> {
        let serves = |rigs: &Vec<Rig>| rigs.first().is_some_and(|rig| rig.serves(cell));
        let rig = match self.rigs.iter().position(serves) {
            Some(i) => self.rigs.remove(i),
            None => {
                let held = |rigs: &[Vec<Rig>]| rigs.iter().flatten().map(Rig::bytes).sum::<usize>();
                while held(&self.rigs) > MOST_RIG_BYTES {
                    self.rigs.remove(0);
                }
                rigs(cell, &self.levels, &self.others, Some(&self.shared))?
            }
        };
        self.rigs.push(rig);
        Ok(())
    }
}

/// The cell of a request as its buffers are made.
fn backed(request: &BlockRequest) -> Cell {
    let source = match request.without.leaves_off(Countermeasure::WrittenSource) {
        true if request.cell.op.copies() => Source::Untouched,
        _ => request.cell.conditions.source,
    };
    Cell { conditions: Conditions { source, ..request.cell.conditions }, ..request.cell }
}

/// Why a function for one size cannot be timed at another, or at a mix of sizes.
fn for_another_size(body: &Body, cell: &Cell) -> Option<Failure> {
    let Body::Machine(machine) = body else { return None };
    let fits = |only: &u64| cell.mix.is_none() && *only == cell.size;
    let only = machine.fixed.filter(|only| !fits(only))?;
    let why = format!("it is for {only} bytes and no other size");
    Some(Failure { kind: FailureKind::Unsupported(why), case: format!("n={}", cell.extent()) })
}
