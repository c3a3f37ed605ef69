//! `looptune completions SHELL`

use std::io::Write as _;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Cli;

/// Arguments of `looptune completions`.
#[derive(Debug, Args)]
#[command(after_help = "Where they are looked for:\n  \
    bash        looptune completions bash > ~/.local/share/bash-completion/completions/looptune\n  \
    zsh         looptune completions zsh > ~/.zfunc/_looptune    (a folder of $fpath)\n  \
    fish        looptune completions fish > ~/.config/fish/completions/looptune.fish\n  \
    elvish      looptune completions elvish >> ~/.config/elvish/rc.elv\n  \
    powershell  looptune completions powershell >> $PROFILE\n\n\
    They take effect in the next shell.")]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&script(Cli::command(), args.shell))?;
    Ok(stdout.flush()?)
}

/// A command without what is hidden: not every shell's completions leave that out.
fn shown(command: &clap::Command) -> clap::Command {
    let mut shown = clap::Command::new(command.get_name().to_string());
    if let Some(about) = command.get_about() {
        shown = shown.about(about.clone());
    }
    if let Some(version) = command.get_version() {
        shown = shown.version(version.to_string());
    }
    let aliases: Vec<String> = command.get_visible_aliases().map(String::from).collect();
    shown
        .visible_aliases(aliases)
        .args(command.get_arguments().filter(|a| !a.is_hide_set()).cloned())
        .subcommands(command.get_subcommands().filter(|c| !c.is_hide_set()).map(self::shown))
}

/// The completions of a command.
fn script(command: clap::Command, shell: Shell) -> Vec<u8> {
    let mut command = shown(&command);
    let mut text = Vec::new();
    let name = command.get_name().to_string();
    clap_complete::generate(shell, &mut command, name, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::super::arguments;
    use super::*;
    use crate::subject::{Baseline, Class, Drive, Level, Op};

    /// Shells whose completions know values, not names of options alone.
    const WITH_VALUES: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

    fn completions(command: clap::Command, shell: Shell) -> String {
        String::from_utf8(script(command, shell)).unwrap()
    }

    fn help(name: &str) -> String {
        let mut cli = Cli::command();
        let command = cli.find_subcommand_mut(name).expect("there is such a command");
        command.render_long_help().to_string()
    }

    /// Whether a word stands in a text by itself.
    fn has(text: &str, word: &str) -> bool {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '/';
        // fish writes a tab between a word and what is said of it.
        let text = text.replace("\\t", " ");
        text.split(|c| !part(c)).any(|found| found == word)
    }

    #[test]
    fn every_shell_knows_every_command_and_option() {
        for shell in Shell::value_variants() {
            let script = completions(Cli::command(), *shell);
            for command in Cli::command().get_subcommands().filter(|c| !c.is_hide_set()) {
                assert!(has(&script, command.get_name()), "{shell}: {}", command.get_name());
                for option in command.get_arguments().filter(|a| !a.is_hide_set()) {
                    let Some(long) = option.get_long() else { continue };
                    assert!(script.contains(long), "{shell}: --{long}");
                }
            }
        }
    }

    #[test]
    fn nothing_hidden_is_offered_and_forms_and_files_are() {
        for shell in Shell::value_variants() {
            let script = completions(Cli::command(), *shell);
            let cli = Cli::command();
            for command in cli.get_subcommands() {
                assert!(!command.is_hide_set() || !has(&script, command.get_name()), "{shell}");
            }
            let all = cli.get_subcommands().flat_map(|c| c.get_arguments());
            for option in all.chain(cli.get_arguments()).filter(|a| a.is_hide_set()) {
                let Some(long) = option.get_long() else { continue };
                // What one command hides another may show.
                let shown = |a: &&clap::Arg| !a.is_hide_set() && a.get_long() == Some(long);
                let all = cli.get_subcommands().flat_map(|c| c.get_arguments());
                if all.chain(cli.get_arguments()).any(|a| shown(&a)) {
                    continue;
                }
                assert!(!script.contains(&format!("--{long}")), "{shell}: --{long}");
            }
        }
        for shell in WITH_VALUES {
            let script = completions(Cli::command(), shell);
            for word in ["plain", "md", "csv", "html"] {
                assert!(has(&script, word), "{shell}: {word}");
            }
            for name in crate::search::SearchFile::names() {
                assert!(has(&script, name), "{shell}: {name}");
            }
        }
    }

    #[test]
    fn every_word_of_the_definitions_is_completed_and_in_the_help() {
        let mut options: Vec<&str> = Op::TUNED.iter().map(|v| v.word()).collect();
        options.extend(Level::ALL.iter().map(|v| v.word()));
        options.extend(Drive::ALL.iter().map(|v| v.word()));
        for word in &options {
            for shell in WITH_VALUES {
                assert!(has(&completions(Cli::command(), shell), word), "{shell}: {word}");
            }
            for command in ["search", "bench", "export"] {
                assert!(has(&help(command), word), "{command} --help: {word}");
            }
        }
        let bash = completions(Cli::command(), Shell::Bash);
        for op in Op::ALL {
            for class in Class::ALL {
                assert!(has(&bash, &format!("{op}/{class}")), "{op}/{class}");
            }
        }
        for baseline in Baseline::ALL {
            assert!(has(&bash, baseline.word()), "{baseline}");
        }
        for command in ["bench", "verify", "show", "export"] {
            let help = help(command);
            for class in Class::ALL {
                assert!(has(&help, class.word()), "{command} --help: {class}");
            }
            for baseline in Baseline::ALL {
                assert!(has(&help, baseline.word()), "{command} --help: {baseline}");
            }
        }
    }

    #[allow(dead_code, unreachable_pub, reason = "what the macro gives every list of words")]
    mod later {
        use crate::units::words;

        words! {
            /// Words that no command of ours has.
            Later {
                /// The first.
                Apogee = "apogee",
                /// The second.
                Perigee = "perigee",
            }
        }
    }
    use later::Later;

    #[derive(Debug, clap::Parser)]
    #[command(name = "later")]
    struct LaterArgs {
        #[arg(long, value_parser = arguments::one::<Later>("later"))]
        one: Option<Later>,
        #[arg(long, value_parser = arguments::several("later", LaterList))]
        several: Option<LaterList>,
    }

    #[derive(Clone, Debug, PartialEq)]
    struct LaterList(Vec<Later>);

    #[test]
    fn a_word_that_is_added_is_completed_told_and_offered() {
        use clap::Parser as _;
        for word in Later::ALL.iter().map(|v| v.word()) {
            for shell in WITH_VALUES {
                assert!(has(&completions(LaterArgs::command(), shell), word), "{shell}: {word}");
            }
            assert!(has(&LaterArgs::command().render_help().to_string(), word), "{word}");
            assert!(LaterArgs::try_parse_from(["later", "--one", word]).is_ok());
        }
        let list = ["later", "--several", "perigee,apogee"];
        let list = LaterArgs::try_parse_from(list).unwrap().several;
        assert_eq!(list, Some(LaterList(vec![Later::Perigee, Later::Apogee])));
        let wrong = LaterArgs::try_parse_from(["later", "--several", "apogee,perige"]);
        let wrong = wrong.unwrap_err().to_string();
        assert!(wrong.contains("laters are apogee perigee (did you mean perigee?)"), "{wrong}");
    }
}
