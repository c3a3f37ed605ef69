//! `looptune man [DIR]`

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, CommandFactory as _, ValueHint};
use clap_mangen::Man;

use super::Cli;

/// Arguments of `looptune man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    looptune man | man -l -                      read the first page\n  \
    looptune man ~/.local/share/man/man1         all pages, where man finds them")]
pub struct ManArgs {
    /// Folder for the pages of all commands; it is made where there is none
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    folder: Option<PathBuf>,
}

pub(super) fn run(args: &ManArgs) -> anyhow::Result<()> {
    let pages = pages()?;
    match &args.folder {
        Some(folder) => write_all(folder, &pages),
        None => {
            let mut stdout = std::io::stdout().lock();
            if let Some((_, text)) = pages.first() {
                stdout.write_all(text)?;
            }
            Ok(stdout.flush()?)
        }
    }
}

fn write_all(folder: &Path, pages: &[(String, Vec<u8>)]) -> anyhow::Result<()> {
    let named = |path: &Path| format!("{} cannot be written", path.display());
    std::fs::create_dir_all(folder).with_context(|| named(folder))?;
    for (file, text) in pages {
        let path = folder.join(file);
        std::fs::write(&path, text).with_context(|| named(&path))?;
    }
    let count = pages.len();
    let mut stderr = std::io::stderr();
    // Told for people; that it was not read is no failure.
    let _ = writeln!(stderr, "{count} manual pages in {}", folder.display());
    Ok(())
}

/// File name and text of every page; the first is that of the whole command.
fn pages() -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let commands = command.get_subcommands().filter(|c| !c.is_hide_set()).cloned();
    let all = std::iter::once(command.clone()).chain(commands.collect::<Vec<_>>());
    all.map(|command| {
        let title = command.get_display_name().unwrap_or(command.get_name()).to_uppercase();
        let page = Man::new(command)
            .title(title)
            .source(concat!("looptune ", env!("CARGO_PKG_VERSION")))
            .manual("User Commands");
        let mut text = Vec::new();
        page.render(&mut text)?;
        Ok((page.get_filename(), tidy(&String::from_utf8_lossy(&text)).into_bytes()))
    })
    .collect()
}

/// What a strict formatter would warn of: an empty date that is no argument, spaces at the
/// ends of lines, and breaks beside paragraphs.
fn tidy(page: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in page.lines() {
        let mut line = match line.trim_end() {
            "" => ".sp".to_string(),
            line => line.to_string(),
        };
        if line.starts_with(".TH ") {
            line = line.replacen("  ", " \"\" ", 1);
        }
        let last = lines.last().map(String::as_str);
        match (line.as_str(), last) {
            (".br", Some(".sp")) => continue,
            (".sp", Some(".br")) => {
                lines.pop();
            }
            _ => {}
        }
        lines.push(line);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_that_names_its_options() {
        let pages = pages().unwrap();
        let page = |name: &str| {
            let found = pages.iter().find(|(file, _)| file == name);
            String::from_utf8_lossy(&found.unwrap_or_else(|| panic!("no {name}")).1).into_owned()
        };
        assert_eq!(pages[0].0, "looptune.1");
        let whole = page("looptune.1");
        let mut count = 1;
        for command in Cli::command().get_subcommands().filter(|c| !c.is_hide_set()) {
            count += 1;
            assert!(whole.contains(&format!("looptune\\-{}(1)", command.get_name())));
            let text = page(&format!("looptune-{}.1", command.get_name()));
            for option in command.get_arguments().filter(|a| !a.is_hide_set()) {
                let Some(long) = option.get_long() else { continue };
                assert!(text.contains(&long.replace('-', "\\-")), "{}: {long}", command.get_name());
            }
        }
        assert_eq!(pages.len(), count);
    }
}
