//! `looptune report`: recorded results as tables, as a page, as rows.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueHint;

use super::arguments;
use super::exit::usage;
use super::progress::Steps;
use crate::report::{Form, folders};
use crate::results::{Folder, hosts};

/// Recorded results as tables.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    looptune report\n  \
    looptune report -o report.html\n  \
    looptune report results/amd-25-1-1-047f39 results/intel-6-143-8-5fc2a1 --format md")]
pub struct ReportArgs {
    /// Folders of a host, or of several; all of --results when none is given
    #[arg(value_hint = ValueHint::DirPath)]
    folders: Vec<PathBuf>,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "results", value_hint = ValueHint::DirPath)]
    results: PathBuf,
    /// File to write instead of stdout; its ending says the form: html, md, csv, txt
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Form [default: as FILE ends, else plain]
    #[arg(long, value_parser = arguments::one::<Form>("form"))]
    format: Option<Form>,
}

/// The form that a file's ending says; `None` for an ending that says none.
fn ending(path: &Path) -> Option<Form> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "html" | "htm" => Some(Form::Html),
        "md" | "markdown" => Some(Form::Markdown),
        "csv" => Some(Form::Csv),
        "txt" => Some(Form::Plain),
        _ => None,
    }
}

impl ReportArgs {
    /// Writes the report of every folder.
    ///
    /// # Errors
    /// Where a folder holds no results or cannot be read, and where the file's ending and
    /// the form contradict each other.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let form = self.form()?;
        let asked = if self.folders.is_empty() {
            std::slice::from_ref(&self.results)
        } else {
            &self.folders
        };
        let mut found = Vec::new();
        for path in asked {
            found.extend(folders_at(path)?);
        }
        let text = {
            let _shown = Steps::endless(false, "reading what was recorded");
            folders(&found, form)?
        };
        match &self.output {
            None => {
                out.write_all(text.as_bytes())
                    .and_then(|()| out.flush())
                    .context("the report cannot be written")?;
            }
            Some(path) => {
                std::fs::write(path, text)
                    .with_context(|| format!("{} cannot be written", path.display()))?;
                eprintln!("{}", path.display());
            }
        }
        Ok(())
    }

    fn form(&self) -> anyhow::Result<Form> {
        let Some(path) = &self.output else { return Ok(self.format.unwrap_or(Form::Plain)) };
        match (ending(path), self.format) {
            (Some(said), Some(asked)) if said != asked => usage(format!(
                "{} ends as {said}, but --format says {asked}; leave --format out, or name the \
                 file otherwise",
                path.display()
            )),
            (_, Some(asked)) => Ok(asked),
            (Some(said), None) => Ok(said),
            (None, None) => usage(format!(
                "the ending of {} says no form; end it in .html, .md, .csv or .txt, or add \
                 --format",
                path.display()
            )),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn args(output: Option<&str>, format: Option<Form>) -> ReportArgs {
        let output = output.map(PathBuf::from);
        ReportArgs { folders: Vec::new(), results: "results".into(), output, format }
    }

    #[test]
    fn the_form_is_said_once() {
        assert_eq!(args(None, None).form().unwrap(), Form::Plain);
        assert_eq!(args(None, Some(Form::Csv)).form().unwrap(), Form::Csv);
        assert_eq!(args(Some("a/x.HTML"), None).form().unwrap(), Form::Html);
        assert_eq!(args(Some("x.md"), Some(Form::Markdown)).form().unwrap(), Form::Markdown);
        assert_eq!(args(Some("x"), Some(Form::Html)).form().unwrap(), Form::Html);
        let both = args(Some("x.html"), Some(Form::Csv)).form().unwrap_err();
        assert!(both.to_string().contains("x.html ends as html, but --format says csv"));
        let none = args(Some("x.pdf"), None).form().unwrap_err();
        assert!(none.to_string().contains("says no form"));
    }
}
