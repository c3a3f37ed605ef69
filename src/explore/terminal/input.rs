//! Terminal events as the explorer's own, and the threads that wait for them.

use std::sync::mpsc::Sender;
use std::time::Instant;

use ratatui::crossterm::event::{
    self, Event as Raw, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent,
    MouseEventKind,
};
use ratatui::layout::{Rect, Size};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;

use super::guard;
use crate::explore::event::{Key, Report, Spot};
use crate::explore::screen::Screen;
use crate::explore::view::{Target, hit};

/// Lines that a notch of the wheel scrolls.
const WHEEL: i32 = 3;

/// What the room waits for.
pub(super) enum Message {
    /// A key, when it came.
    Key(Key, Instant),
    /// The mouse.
    Mouse(MouseEvent),
    /// A text that was pasted: no keys.
    Paste(String),
    /// The terminal has another size.
    Resized,
    /// There will be no more input.
    InputEnded(String),
    /// A signal.
    Signal(i32),
    /// The measuring thread answers.
    Report(Report),
}

/// A key, where the explorer has a use for it.
pub(super) fn key(event: &KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    Some(match event.code {
        KeyCode::Char(c) if control => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Backspace => Key::Backspace,
        _ => return None,
    })
}

/// What a mouse event means on a screen.
pub(super) fn spot(screen: &Screen, size: Size, event: &MouseEvent) -> Option<Spot> {
    match event.kind {
        MouseEventKind::ScrollUp => return Some(Spot::Listing(-WHEEL)),
        MouseEventKind::ScrollDown => return Some(Spot::Listing(WHEEL)),
        MouseEventKind::Down(MouseButton::Left) | MouseEventKind::Drag(MouseButton::Left) => {}
        _ => return None,
    }
    let area = Rect::new(0, 0, size.width, size.height);
    Some(match hit(screen, area, event.column, event.row)? {
        Target::Cell(column, row) => Spot::Cell(column, row),
        Target::Axis(axis) => Spot::Axis(axis),
        Target::Point(point) => Spot::Point(point),
        Target::Item(item) => Spot::Item(item),
    })
}

/// Waits for terminal events, for as long as the process lives.
pub(super) fn listen(to: Sender<Message>) -> std::io::Result<()> {
    let work = move || {
        loop {
            let message = match event::read() {
                Ok(Raw::Key(event)) => match key(&event) {
                    Some(key) => Message::Key(key, Instant::now()),
                    None => continue,
                },
                Ok(Raw::Mouse(event)) => Message::Mouse(event),
                Ok(Raw::Paste(text)) => Message::Paste(text),
                Ok(Raw::Resize(..)) => Message::Resized,
                Ok(_) => continue,
                Err(why) => {
                    // Nobody may be left to hear it.
                    let _ = to.send(Message::InputEnded(why.to_string()));
                    return;
                }
            };
            if to.send(message).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("input".into()).spawn(work).map(|_| ())
}

/// Whether a signal asks to end.
pub(super) fn ends(signal: i32) -> bool {
    [SIGHUP, SIGINT, SIGQUIT, SIGTERM].contains(&signal)
}

/// Waits for signals. The second that asks to end ends the process at once.
pub(super) fn heed(to: Sender<Message>) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT])?;
    let work = move || {
        let mut asked = false;
        for signal in signals.forever() {
            if ends(signal) && std::mem::replace(&mut asked, true) {
                guard::leave();
                std::process::exit(1);
            }
            if to.send(Message::Signal(signal)).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(work).map(|_| ())
}
