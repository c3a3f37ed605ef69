//! `looptune report`: recorded results as tables.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::report;
use crate::results::{Folder, hosts};

/// Recorded results as tables.
#[derive(Clone, Debug, clap::Args)]
pub struct ReportArgs {
    /// Folders of a host, or of several; all of --results when none is given
    folders: Vec<PathBuf>,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
}

impl ReportArgs {
    /// Writes the tables of every folder.
    ///
    /// # Errors
    /// Where a folder holds no results or cannot be read.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let asked = if self.folders.is_empty() {
            std::slice::from_ref(&self.results)
        } else {
            &self.folders
        };
        for (i, path) in asked.iter().enumerate() {
            for (j, folder) in folders_at(path)?.iter().enumerate() {
                if i + j > 0 {
                    writeln!(out)?;
                }
                write!(out, "{}", report::plain(folder)?)?;
            }
        }
        out.flush().context("the tables cannot be written")
    }
}

/// The folders of hosts at a path: itself, or those within it.
pub(super) fn folders_at(path: &Path) -> anyhow::Result<Vec<Folder>> {
    let within = hosts(path)?;
    if !within.is_empty() {
        return within.iter().map(|key| Ok(Folder::of_host(path, key)?)).collect();
    }
    let folder = Folder::at(path);
    if folder.holds_results() {
        return Ok(vec![folder]);
    }
    if path.exists() {
        bail!(
            "{} holds no results; `looptune search --op zero --size 4096` records some there with \
             --results",
            path.display()
        );
    }
    bail!(
        "there is no {}; name a folder of results, or record some: \
         looptune search --op zero --size 4096",
        path.display()
    )
}
