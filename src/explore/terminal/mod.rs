//! The room with the terminal in it: keys, mouse, signals and reports in, frames out.

mod guard;
mod input;
mod trace;

use std::io::{self, BufWriter, IsTerminal, Stdout, stdin, stdout};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Position, Rect};
use signal_hook::consts::{SIGCONT, SIGTSTP};
use signal_hook::low_level::emulate_default_handler;

use super::event::{Effect, Event, Exported, Key, Report};
use super::measure::{Job, Measurer};
use super::model::Model;
use super::screen::Screen;
use super::view::{self, Look};
use guard::Guard;
use input::Message;
pub use trace::Trace;

/// Bytes of a frame that are written at once; a full redraw of a large terminal fits.
const FRAME_BYTES: usize = 256 << 10;

/// Messages of other threads to the room.
pub struct Inbox {
    to: Sender<Message>,
    from: Receiver<Message>,
}

impl Default for Inbox {
    fn default() -> Inbox {
        let (to, from) = channel();
        Inbox { to, from }
    }
}

impl Inbox {
    /// What hands the measuring thread's answers to the room.
    pub fn teller(&self) -> impl Fn(Report) + Send + 'static {
        let to = self.to.clone();
        move |report| {
            // The room may be closed already.
            let _ = to.send(Message::Report(report));
        }
    }
}

/// Why there can be no screen here, if there cannot.
pub fn unusable() -> Option<String> {
    let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb" || term.is_empty());
    match (stdin().is_terminal(), stdout().is_terminal()) {
        (true, true) if dumb => Some("this terminal (TERM=dumb) cannot show a screen".into()),
        (true, true) => None,
        (false, _) => Some("the input is no terminal".into()),
        (_, false) => Some("the output is no terminal".into()),
    }
}

/// How to show it.
#[derive(Debug, Default)]
pub struct Options {
    /// Colours and characters.
    pub look: Look,
    /// Where to write how quick it was.
    pub trace: Option<Trace>,
    /// A key that makes it panic, for those who test that the terminal survives that.
    pub panic_on: Option<char>,
}

/// What is left to say once the terminal is given back.
pub type LastWords = Vec<Result<String, String>>;

/// Shows the model until somebody ends it. The terminal is as it was afterwards.
///
/// # Errors
/// Where the terminal does not do what it should, or the trace cannot be written.
pub fn run(
    model: &mut Model,
    measurer: &mut Measurer,
    inbox: Inbox,
    options: Options,
) -> io::Result<LastWords> {
    let Options { look, mut trace, panic_on } = options;
    input::heed(inbox.to.clone())?;
    let guard = Guard::new()?;
    input::listen(inbox.to.clone())?;
    let mut room = Room {
        terminal: Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(
            FRAME_BYTES,
            stdout(),
        )))?,
        model,
        measurer,
        look,
        trace: trace.as_mut(),
        screen: Screen::default(),
        panic_on,
        pending: 0,
        ended: None,
    };
    let shown = room.show(&inbox.from);
    let (pending, ended) = (room.pending, room.ended);
    drop(guard);
    // Who asked for a file gets it, unless told to end at once.
    measurer.finish(pending == 0 || ended == Some(End::AtOnce));
    let words = inbox.from.try_iter().filter_map(last_word).collect();
    if let Some(trace) = &trace {
        trace.write()?;
    }
    match shown {
        // A terminal that went away needs no error on it.
        Err(_) if ended == Some(End::AtOnce) => Ok(words),
        shown => shown.map(|()| words),
    }
}

fn last_word(message: Message) -> Option<Result<String, String>> {
    match message {
        Message::Report(Report::Exported(Exported::Written(text))) => Some(Ok(text)),
        Message::Report(Report::Exported(Exported::Refused(why))) => Some(Err(why)),
        Message::Report(Report::Exported(Exported::Exists(path))) => {
            Some(Err(format!("{} is there already; nothing was exported", path.display())))
        }
        Message::Report(Report::Written(outcome)) => Some(outcome),
        _ => None,
    }
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// By a key.
    Quit,
    /// By a signal, or with the terminal.
    AtOnce,
}

struct Room<'r> {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    model: &'r mut Model,
    measurer: &'r Measurer,
    look: Look,
    trace: Option<&'r mut Trace>,
    /// What is shown.
    screen: Screen,
    panic_on: Option<char>,
    /// Exports and writes that were not answered yet.
    pending: usize,
    ended: Option<End>,
}

impl Room<'_> {
    fn show(&mut self, inbox: &Receiver<Message>) -> io::Result<()> {
        self.happen(Event::Start)?;
        let mut keys: Vec<Instant> = Vec::new();
        let mut all_anew = true;
        while self.ended.is_none() {
            let screen = self.model.screen();
            if all_anew || screen != self.screen {
                self.screen = screen;
                let (screen, look) = (&self.screen, &self.look);
                self.terminal.draw(|frame| view::draw(screen, frame, look))?;
            }
            if let Some(trace) = &mut self.trace {
                trace.frame(self.screen.title.done, &keys, !self.model.is_settled());
            }
            keys.clear();
            all_anew = false;
            // All that came meanwhile is one frame, up to a report: what follows from one takes
            // about as long as the next takes to come, and keys are not to wait for both.
            let Ok(first) = inbox.recv() else { return Ok(()) };
            for message in std::iter::once(first).chain(inbox.try_iter()) {
                let is_report = matches!(message, Message::Report(_));
                match message {
                    Message::Key(key, at) => {
                        keys.push(at);
                        if let (Key::Char(c), Some(bad)) = (key, self.panic_on) {
                            assert!(c != bad, "the key {c} was to do this");
                        }
                        self.happen(Event::Key(key))?;
                        all_anew |= key == Key::Ctrl('l');
                        if key == Key::Ctrl('l') {
                            self.wipe()?;
                        }
                    }
                    Message::Mouse(event) => {
                        let size = self.terminal.size()?;
                        if let Some(spot) = input::spot(&self.screen, size, &event) {
                            self.happen(Event::Mouse(spot))?;
                        }
                    }
                    Message::Paste(text) => self.happen(Event::Paste(text))?,
                    Message::Resized => all_anew = true,
                    Message::InputEnded(why) => {
                        self.ended = Some(End::AtOnce);
                        return Err(io::Error::other(format!("no more input: {why}")));
                    }
                    Message::Signal(SIGTSTP) => self.suspend()?,
                    Message::Signal(SIGCONT) => self.resume()?,
                    Message::Signal(signal) if input::ends(signal) => {
                        self.ended = Some(End::AtOnce);
                    }
                    Message::Signal(_) => {}
                    Message::Report(report) => {
                        if matches!(report, Report::Exported(_) | Report::Written(_)) {
                            self.pending = self.pending.saturating_sub(1);
                        }
                        self.happen(Event::Report(report))?;
                    }
                }
                all_anew |= self.screen == Screen::default();
                if is_report {
                    break;
                }
            }
        }
        Ok(())
    }

    fn happen(&mut self, event: Event) -> io::Result<()> {
        for effect in self.model.update(event) {
            let job = match effect {
                Effect::Measure(order) => Job::Measure(order),
                Effect::Export(job) => {
                    self.pending += 1;
                    Job::Export(job)
                }
                Effect::Write(records) => {
                    self.pending += 1;
                    Job::Write(records)
                }
                Effect::Suspend => {
                    self.suspend()?;
                    continue;
                }
                Effect::Quit => {
                    self.ended = Some(End::Quit);
                    continue;
                }
            };
            // Where the thread is gone, its last report says so.
            self.measurer.send(job);
        }
        Ok(())
    }

    /// Leaves the terminal to the shell until somebody continues us.
    fn suspend(&mut self) -> io::Result<()> {
        guard::leave();
        emulate_default_handler(SIGTSTP)?;
        self.resume()
    }

    /// Takes the terminal again, whatever state it is in.
    fn resume(&mut self) -> io::Result<()> {
        guard::leave();
        guard::enter()?;
        self.wipe()?;
        // Draws all of it.
        self.screen = Screen::default();
        Ok(())
    }

    /// Empties the screen, and forgets what was on it. Unlike `Terminal::clear` this asks the
    /// terminal nothing: the answer would go to the thread that reads keys.
    fn wipe(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }
}
