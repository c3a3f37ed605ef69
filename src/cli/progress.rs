//! Progress on stderr, and observers of several.

use std::io::IsTerminal as _;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::trial::{Observer, Phase, Progress, Trial};

/// A line on stderr that says cell, phase, leader and its ratio; vanishes when done, and is
/// silent where stderr is no terminal or when told to be.
pub(super) struct ProgressLine {
    bar: ProgressBar,
}

impl ProgressLine {
    pub(super) fn new(quiet: bool) -> ProgressLine {
        let target = match quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(10),
        };
        let bar = ProgressBar::with_draw_target(Some(1000), target);
        let style = ProgressStyle::with_template("{bar:16} {percent:>3}%  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        ProgressLine { bar }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for ProgressLine {
    fn trial(&mut self, _: &Trial<'_>) {}

    fn progress(&mut self, progress: &Progress) {
        self.bar.set_position((progress.fraction.clamp(0.0, 1.0) * 1000.0) as u64);
        let (done, all) = progress.done;
        let mut message = format!("{}  {} {done}/{all}", progress.cell, progress.phase);
        if let Some((leader, ratio)) = &progress.leader {
            message += &format!("  {leader} {ratio:.2}×");
        }
        self.bar.set_message(message);
    }
}

/// What takes less is over before a person looks for a reason to wait.
const PATIENCE: Duration = Duration::from_millis(500);

/// Time between two pictures of a step that tells nothing of itself.
const TICK: Duration = Duration::from_millis(100);

/// A line on stderr for a long step: a bar where its length is known, else a spinner. Appears
/// only when the step takes a while, moves although the step's own thread is busy, and
/// vanishes when dropped. Silent where stderr is no terminal or when told to be. Whoever
/// locks stderr meanwhile waits for it forever: do not.
pub(super) struct Steps {
    bar: ProgressBar,
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Steps {
    /// A step of known length; `what` is done, as in `verifying`.
    pub(super) fn of(quiet: bool, length: usize, what: impl Into<String>) -> Steps {
        Steps::new(quiet, Some(length as u64), what.into())
    }

    /// A step of unknown length.
    pub(super) fn endless(quiet: bool, what: impl Into<String>) -> Steps {
        Steps::new(quiet, None, what.into())
    }

    fn new(quiet: bool, length: Option<u64>, what: String) -> Steps {
        let target = ProgressDrawTarget::hidden();
        let bar = ProgressBar::with_draw_target(length, target).with_message(what);
        let style = match length {
            Some(_) => ProgressStyle::with_template("{bar:16} {pos}/{len}  {msg}"),
            None => ProgressStyle::with_template("{spinner} {msg}"),
        };
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        if quiet || !std::io::stderr().is_terminal() {
            return Steps { bar, shown: None };
        }
        let (over, is_over) = mpsc::channel();
        let drawn = bar.clone();
        let still = move |wait| is_over.recv_timeout(wait) == Err(RecvTimeoutError::Timeout);
        let thread = std::thread::Builder::new().name("progress".into()).spawn(move || {
            if still(PATIENCE) {
                drawn.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                drawn.tick();
                while still(TICK) {
                    drawn.tick();
                }
            }
        });
        // A system that has no thread left has other worries than a missing picture.
        Steps { bar, shown: thread.ok().map(|thread| (over, thread)) }
    }

    /// So much more of it is done.
    pub(super) fn done(&self, more: usize) {
        self.bar.inc(more as u64);
    }

    /// Prints something where the line may stand: it makes room meanwhile.
    pub(super) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// What is done now.
    pub(super) fn tell(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some((over, thread)) = self.shown.take() {
            drop(over);
            // It cannot have panicked in a way that matters to the command.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

/// Several observers as one.
pub(super) struct Both<'a>(pub(super) &'a mut dyn Observer, pub(super) &'a mut dyn Observer);

impl Observer for Both<'_> {
    fn trial(&mut self, trial: &Trial<'_>) {
        self.0.trial(trial);
        self.1.trial(trial);
    }

    fn request(&mut self, request: u64, epoch: Option<u32>) {
        self.0.request(request, epoch);
        self.1.request(request, epoch);
    }

    fn wants_samples(&self, phase: Phase) -> bool {
        self.0.wants_samples(phase) || self.1.wants_samples(phase)
    }

    fn progress(&mut self, progress: &Progress) {
        self.0.progress(progress);
        self.1.progress(progress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_counts_and_ends_at_once() {
        let began = std::time::Instant::now();
        let steps = Steps::of(true, 3, "counting");
        steps.done(2);
        steps.tell("more");
        assert_eq!((steps.bar.position(), steps.bar.length()), (2, Some(3)));
        assert_eq!(steps.bar.message(), "more");
        assert!(steps.shown.is_none(), "quiet");
        drop(steps);
        drop(Steps::endless(true, "waiting"));
        assert!(began.elapsed() < PATIENCE);
    }
}
