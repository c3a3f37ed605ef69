//! A terminal that a test can type into and read from.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Generous: the machine may be busy with everybody else's tests.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server of its own, with one session; gone when dropped.
pub(crate) struct Tmux {
    socket: String,
}

impl Tmux {
    /// A shell in a terminal of so many columns and rows, in a folder; `None` where there is no
    /// tmux and nobody insists.
    pub(crate) fn start(name: &str, (columns, rows): (u16, u16), folder: &Path) -> Option<Tmux> {
        let there = Command::new("tmux").arg("-V").output().is_ok_and(|o| o.status.success());
        if !there {
            assert!(std::env::var_os("CI").is_none(), "this test needs tmux");
            eprintln!("skipped: there is no tmux here");
            return None;
        }
        let tmux = Tmux { socket: format!("looptune-{name}-{}", std::process::id()) };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let folder = folder.to_str().expect("a plain path");
        let shell = "env -u NO_COLOR -u COLORTERM LC_ALL=C.UTF-8 PS1='ready> ' sh";
        let size = ["-x", &columns, "-y", &rows];
        let started =
            tmux.command(&["new-session", "-d", "-c", folder], &[&size[..], &[shell]].concat());
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        // An escape is an escape at once, not half a second later.
        tmux.ask(&["set-option", "-g", "escape-time", "0"]);
        tmux.ask(&["set-option", "-g", "default-terminal", "tmux-256color"]);
        tmux.wait_for("ready>");
        Some(tmux)
    }

    fn command(&self, first: &[&str], more: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.socket, "-f", "/dev/null"]).args(first).args(more);
        command.output().expect("there is a tmux")
    }

    /// What tmux answers to a command of its own.
    pub(crate) fn ask(&self, words: &[&str]) -> String {
        let out = self.command(words, &[]);
        assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).trim_end().to_string()
    }

    /// Types characters.
    pub(crate) fn text(&self, text: &str) {
        self.ask(&["send-keys", "-l", text]);
    }

    /// Presses keys by their names, such as `Enter` or `C-c`.
    pub(crate) fn keys(&self, names: &[&str]) {
        self.ask(&[&["send-keys"], names].concat());
    }

    /// Types a line of the shell.
    pub(crate) fn line(&self, line: &str) {
        self.text(line);
        self.keys(&["Enter"]);
    }

    /// What the terminal shows.
    pub(crate) fn screen(&self) -> String {
        self.ask(&["capture-pane", "-p"])
    }

    /// A fact of the terminal, such as `alternate_on`.
    pub(crate) fn fact(&self, name: &str) -> String {
        self.ask(&["display-message", "-p", &format!("#{{{name}}}")])
    }

    /// Waits for a state of the screen; gives the screen.
    pub(crate) fn wait(&self, what: &str, reached: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if reached(&screen) {
                return screen;
            }
            assert!(Instant::now() < until, "no {what} within {PATIENCE:?}:\n{screen}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Waits for a text on the screen; gives the screen.
    pub(crate) fn wait_for(&self, text: &str) -> String {
        self.wait(text, |screen| screen.contains(text))
    }

    /// The process that the shell runs.
    pub(crate) fn child(&self) -> u32 {
        let shell = self.fact("pane_pid");
        let until = Instant::now() + PATIENCE;
        loop {
            let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
            let first = children.ok().and_then(|c| c.split_whitespace().next()?.parse().ok());
            if let Some(pid) = first {
                return pid;
            }
            assert!(Instant::now() < until, "the shell runs nothing");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.command(&["kill-server"], &[]);
    }
}
