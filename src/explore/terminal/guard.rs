//! Takes the terminal, and gives it back as it was, whatever happens.

use std::io::{self, Write, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// Whether the terminal is ours now.
static OURS: AtomicBool = AtomicBool::new(false);

/// The terminal, as long as it lives.
pub(super) struct Guard(());

impl Guard {
    /// Takes the terminal, and sees to it that a panic of this thread gives it back before it
    /// says anything. Other threads' panics stay silent: who waits for them tells.
    pub(super) fn new() -> io::Result<Guard> {
        static HOOK: Once = Once::new();
        let own = std::thread::current().id();
        HOOK.call_once(|| hook(own));
        let guard = Guard(());
        enter()?;
        Ok(guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        leave();
    }
}

fn hook(own: ThreadId) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let in_the_way = OURS.load(Ordering::SeqCst);
        if std::thread::current().id() == own {
            leave();
        }
        if std::thread::current().id() == own || !in_the_way {
            before(info);
        }
    }));
}

/// Raw mode, the other screen, the mouse, pastes told from keys.
pub(super) fn enter() -> io::Result<()> {
    OURS.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste, Hide)
}

/// Gives back what [`enter`] took; once is enough, again does nothing.
pub(super) fn leave() {
    if OURS.swap(false, Ordering::SeqCst) {
        // A terminal that is gone cannot be given back; each step is tried all the same.
        let _ = execute!(stdout(), DisableBracketedPaste);
        let _ = execute!(stdout(), DisableMouseCapture);
        let _ = execute!(stdout(), LeaveAlternateScreen);
        let _ = execute!(stdout(), Show);
        let _ = disable_raw_mode();
        let _ = stdout().flush();
    }
}
