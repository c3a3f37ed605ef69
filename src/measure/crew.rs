//! The threads that make a pass at once, each on a CPU of its own with buffers of its own. The
//! calling thread is the first of them; alone, it is the whole crew.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Scope};

use rand_chacha::ChaCha8Rng;

use super::MeasureError;
use super::buffers::Rig;
use super::driver::Driver;
use super::gate::Gate;
use super::pass::{Task, timed};
use super::ring::Levels;
use crate::host::{self, FeatureSet};
use crate::mem::SharedPage;
use crate::subject::Cell;

/// What a helper is told.
enum Errand {
    /// Place the buffers anew.
    Place { seed: u64, delta: u16, rng: ChaCha8Rng },
    /// Make a pass.
    Pass(Task),
}

/// A thread that helps.
struct Helper {
    errands: Sender<Errand>,
    answers: Receiver<Result<u64, MeasureError>>,
}

/// Threads with their buffers.
pub(super) struct Crew<'a> {
    rig: &'a mut Rig,
    driver: Arc<Driver>,
    features: FeatureSet,
    gate: Option<Arc<Gate>>,
    helpers: Vec<Helper>,
}

/// Calls `work` with a crew of one thread a rig, the calling one and one on each of `cpus`.
///
/// # Errors
/// As `work`, or where a thread cannot be had.
pub(super) fn with_crew<R>(
    rigs: &mut [Rig],
    cpus: &[u32],
    (driver, features): (Arc<Driver>, FeatureSet),
    work: impl FnOnce(&mut Crew<'_>) -> Result<R, MeasureError>,
) -> Result<R, MeasureError> {
    let threads = rigs.len() as u32;
    let Some((rig, others)) = rigs.split_first_mut() else {
        return Err(MeasureError::NoState("no buffers".into()));
    };
    if cpus.len() < others.len() {
        return Err(too_few(threads, cpus.len() + 1));
    }
    let gate = (threads > 1).then(|| Arc::new(Gate::new(threads)));
    thread::scope(|scope| {
        let mut helpers = Vec::new();
        for (rig, cpu) in others.iter_mut().zip(cpus) {
            let gate = gate.clone();
            helpers.push(help(scope, rig, *cpu, (driver.clone(), features, gate))?);
        }
        work(&mut Crew { rig, driver, features, gate, helpers })
        // The helpers' errands end with the crew, and they with them.
    })
}

/// Starts a helper.
fn help<'scope>(
    scope: &'scope Scope<'scope, '_>,
    rig: &'scope mut Rig,
    cpu: u32,
    (driver, features, gate): (Arc<Driver>, FeatureSet, Option<Arc<Gate>>),
) -> Result<Helper, MeasureError> {
    let (errands, inbox) = channel();
    let (outbox, answers) = channel();
    let work = move || {
        if let Err(e) = host::move_to(cpu) {
            let _ = outbox.send(Err(MeasureError::Thread { why: e.to_string() }));
            return;
        }
        let _ = outbox.send(Ok(0));
        while let Ok(errand) = inbox.recv() {
            let answer = match errand {
                Errand::Place { seed, delta, mut rng } => {
                    rig.place(seed, delta, &mut rng);
                    Ok(0)
                }
                // SAFETY: `Crew::pass` is promised a verified entry, and waits for the answer
                // before it returns.
                Errand::Pass(task) => unsafe {
                    timed(&task, rig, &driver, features, gate.as_deref())
                },
            };
            if outbox.send(answer).is_err() {
                return;
            }
        }
    };
    let failed = |why: String| MeasureError::Thread { why };
    thread::Builder::new().spawn_scoped(scope, work).map_err(|e| failed(e.to_string()))?;
    let helper = Helper { errands, answers };
    helper.answer().map(|_| helper)
}

impl Helper {
    fn send(&self, errand: Errand) -> Result<(), MeasureError> {
        self.errands.send(errand).map_err(|_| gone())
    }

    fn answer(&self) -> Result<u64, MeasureError> {
        self.answers.recv().map_err(|_| gone())?
    }
}

fn gone() -> MeasureError {
    MeasureError::Thread { why: "it is gone".into() }
}

impl Crew<'_> {
    /// The buffers of the calling thread.
    pub(super) fn rig(&self) -> &Rig {
        self.rig
    }

    /// How many threads.
    pub(super) fn threads(&self) -> u16 {
        1 + self.helpers.len() as u16
    }

    /// Places the buffers of all threads anew, each at the same offsets of its own maps.
    ///
    /// # Errors
    /// Where a thread is gone.
    pub(super) fn place(
        &mut self,
        seed: u64,
        delta: u16,
        rng: &mut ChaCha8Rng,
    ) -> Result<(), MeasureError> {
        for helper in &self.helpers {
            helper.send(Errand::Place { seed, delta, rng: rng.clone() })?;
        }
        self.rig.place(seed, delta, rng);
        self.helpers.iter().try_for_each(|helper| helper.answer().map(|_| ()))
    }

    /// Makes a pass on all threads at once; ticks of each.
    ///
    /// # Errors
    /// As [`timed`], of any thread.
    ///
    /// # Safety
    /// As [`timed`].
    pub(super) unsafe fn pass(&self, task: &Task) -> Result<Vec<u64>, MeasureError> {
        for helper in &self.helpers {
            helper.send(Errand::Pass(*task))?;
        }
        // SAFETY: the caller's promise.
        let own =
            unsafe { timed(task, self.rig, &self.driver, self.features, self.gate.as_deref()) };
        let others: Vec<_> = self.helpers.iter().map(Helper::answer).collect();
        [own].into_iter().chain(others).collect()
    }
}

/// The buffers of each thread of a cell, made by a thread on its CPU, so that they lie in the
/// memory near it: the calling one, and one on each of `cpus` as far as the cell asks for them.
///
/// # Errors
/// As [`Rig::new`], or where there are too few CPUs.
pub fn rigs(
    cell: &Cell,
    levels: &Levels,
    cpus: &[u32],
    shared: Option<&SharedPage>,
) -> Result<Vec<Rig>, MeasureError> {
    let threads = cell.conditions.threads.max(1);
    let Some(others) = cpus.get(..usize::from(threads) - 1) else {
        return Err(too_few(threads.into(), cpus.len() + 1));
    };
    let made = thread::scope(|scope| {
        let started: Vec<_> = others
            .iter()
            .map(|cpu| {
                scope.spawn(|| {
                    let why = |e: host::HostError| MeasureError::Thread { why: e.to_string() };
                    host::move_to(*cpu).map_err(why)?;
                    Rig::new(cell, levels, shared)
                })
            })
            .collect();
        let own = Rig::new(cell, levels, shared);
        let joined = started.into_iter().map(|thread| thread.join().map_err(|_| gone())?);
        [own].into_iter().chain(joined.collect::<Vec<_>>()).collect()
    });
    made
}

fn too_few(threads: u32, cpus: usize) -> MeasureError {
    MeasureError::NoState(format!(
        "{threads} threads need a CPU each, and this process may run on {cpus}"
    ))
}
