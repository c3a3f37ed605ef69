//! The options that say under which conditions cells are measured; the same for every command
//! that measures.

use clap::Args;

use super::arguments;
use super::exit::unsupported;
use crate::host;
use crate::subject::{Conditions, Consumer, Pages, Placement, Source};

/// Options of `search` and `bench`.
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
