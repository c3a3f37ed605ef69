//! Progress on stderr, and observers of several.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::trial::{Observer, Progress, Trial};

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

/// Several observers as one.
pub(super) struct Both<'a>(pub(super) &'a mut dyn Observer, pub(super) &'a mut dyn Observer);

impl Observer for Both<'_> {
    fn trial(&mut self, trial: &Trial<'_>) {
        self.0.trial(trial);
        self.1.trial(trial);
    }

    fn progress(&mut self, progress: &Progress) {
        self.0.progress(progress);
        self.1.progress(progress);
    }
}
