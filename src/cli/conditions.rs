//! The options that say under which conditions cells are measured; the same for every command
//! that measures.

use clap::Args;

use super::arguments;
use super::exit::{unsupported, usage};
use crate::host;
use crate::search::Sweep;
use crate::subject::{Conditions, Consumer, Pages, Placement, Source};

/// Options of commands that measure, or that choose among what was measured.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Conditions")]
pub(super) struct ConditionsArgs {
    /// What backs the buffers: 4k; 2m, huge pages, and the kernel's word that they are; fresh,
    /// pages of the destination that fault in the timed region
    #[arg(long, value_parser = arguments::pages(), default_value = "4k")]
    pages: Pages,
    /// Who reads the destination inside the timed region: none, or read, a loop over every line
    /// after each call; a list measures both
    #[arg(long, visible_alias = "consumers", value_parser = arguments::consumers(), default_value = "none")]
    consumer: arguments::Consumers,
    /// What the source of a copy is: written, or untouched, which shows the page of zeros that a
    /// benchmark measures when it forgets to write
    #[arg(long, value_parser = arguments::source(), default_value = "written")]
    source: Source,
    /// Where buffers lie: quick, dst mod 64, src mod 64 and (dst - src) mod 4096 one at a time;
    /// full, all of them crossed; or a list such as aligned,dst1,dst1/src8/delta64. Swept for the
    /// loops that were asked for or found; one placement alone holds for everything
    #[arg(long, value_name = "SWEEP", value_parser = arguments::placement(), hide_possible_values = true)]
    placement: Option<Sweep>,
    /// Workers, each on a CPU of its own, that make the same calls at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), default_value = "1")]
    threads: u16,
}

impl ConditionsArgs {
    /// The conditions without a consumer, where buffers lie as said.
    pub(super) fn conditions(&self, placement: Placement) -> Conditions {
        Conditions {
            placement,
            pages: self.pages,
            consumer: Consumer::None,
            source: self.source,
            threads: self.threads,
        }
    }

    /// Where buffers lie in all that is measured.
    pub(super) fn placement(&self) -> Placement {
        self.placement.as_ref().and_then(Sweep::single).unwrap_or(Placement::ALIGNED)
    }

    /// What is to be swept.
    pub(super) fn sweep(&self) -> Option<&Sweep> {
        self.placement.as_ref().filter(|sweep| sweep.single().is_none())
    }

    /// The conditions of what was recorded, where one loop is wanted.
    ///
    /// # Errors
    /// Wrong arguments where they are those of several.
    pub(super) fn single(&self) -> anyhow::Result<Conditions> {
        let [consumer] = self.consumer.0[..] else {
            return usage("one loop is exported: name one consumer");
        };
        if self.sweep().is_some() {
            return usage("one loop is exported: name one placement");
        }
        Ok(Conditions { consumer, ..self.conditions(self.placement()) })
    }

    /// Refuses what this host has not, before anything is measured.
    ///
    /// # Errors
    /// Where more threads are asked for than there are CPUs, or huge pages that the kernel
    /// gives nobody.
    pub(super) fn refuse(&self) -> anyhow::Result<()> {
        let cpus = host::allowed_cpus()?.len();
        if usize::from(self.threads) > cpus {
            return unsupported(format!(
                "--threads {} needs a CPU for each, and this process may run on {cpus}",
                self.threads
            ));
        }
        let mode = host::huge_page_mode();
        if self.pages == Pages::Huge && !matches!(mode.as_deref(), Some("always" | "madvise")) {
            return unsupported(format!(
                "--pages 2m: /sys/kernel/mm/transparent_hugepage/enabled is {}; as root, write \
                 `madvise` to it",
                mode.map_or("missing".into(), |mode| format!("`{mode}`"))
            ));
        }
        Ok(())
    }

    /// Who is to read, in the order given.
    pub(super) fn consumers(&self) -> Vec<Consumer> {
        self.consumer.0.clone()
    }
}
