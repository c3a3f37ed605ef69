//! The explorer without a terminal: keys from a script, the last screen as a picture.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::event::{Effect, Event, Key, Report};
use super::measure::{Job, Measurer};
use super::model::Model;
use super::view::{self, Look};

/// A script that waits longer than this has waited in vain.
const PATIENCE: Duration = Duration::from_secs(120);

/// A step of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key.
    Key(Key),
    /// Until every loop of the map or the curve has an outcome.
    Complete,
    /// Until nothing is left to refine.
    Settled,
    /// Until the measuring thread has answered an export or a write.
    Answer,
}

/// Words of steps in angle brackets.
const WORDS: &[(&str, Step)] = &[
    ("left", Step::Key(Key::Left)),
    ("right", Step::Key(Key::Right)),
    ("up", Step::Key(Key::Up)),
    ("down", Step::Key(Key::Down)),
    ("home", Step::Key(Key::Home)),
    ("end", Step::Key(Key::End)),
    ("pgup", Step::Key(Key::PageUp)),
    ("pgdn", Step::Key(Key::PageDown)),
    ("tab", Step::Key(Key::Tab)),
    ("backtab", Step::Key(Key::BackTab)),
    ("enter", Step::Key(Key::Enter)),
    ("esc", Step::Key(Key::Esc)),
    ("backspace", Step::Key(Key::Backspace)),
    ("complete", Step::Complete),
    ("settled", Step::Settled),
    ("answer", Step::Answer),
];

/// Reads a script: characters are keys, words in angle brackets are other keys, or what to wait
/// for.
///
/// # Errors
/// Names the word that is none.
pub fn parse(script: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        let word = rest.strip_prefix('<').and_then(|r| r.split_once('>'));
        if let Some((word, after)) = word {
            let step = WORDS.iter().find(|(w, _)| *w == word).ok_or_else(|| {
                let words: Vec<&str> = WORDS.iter().map(|(w, _)| *w).collect();
                format!("`<{word}>` is no step of a script; steps are {}", words.join(" "))
            })?;
            steps.push(step.1);
            rest = after;
        } else {
            steps.push(Step::Key(Key::Char(c)));
            rest = &rest[c.len_utf8()..];
        }
    }
    Ok(steps)
}

/// Runs a script to its end.
///
/// # Errors
/// Where something is waited for in vain.
pub fn run(
    model: &mut Model,
    measurer: &Measurer,
    reports: &Receiver<Report>,
    steps: &[Step],
) -> Result<(), String> {
    let mut answers = 0;
    let mut happen = |model: &mut Model, event: Event| {
        let mut quit = false;
        if matches!(event, Event::Report(Report::Exported(_) | Report::Written(_))) {
            answers += 1;
        }
        for effect in model.update(event) {
            match effect {
                Effect::Measure(order) => drop(measurer.send(Job::Measure(order))),
                Effect::Export(job) => drop(measurer.send(Job::Export(job))),
                Effect::Write(records) => drop(measurer.send(Job::Write(records))),
                Effect::Suspend => {}
                Effect::Quit => quit = true,
            }
        }
        (quit, answers)
    };
    happen(model, Event::Start);
    let mut waited_for = 0;
    for step in steps {
        let until = Instant::now() + PATIENCE;
        if let Step::Key(key) = step {
            if happen(model, Event::Key(*key)).0 {
                return Ok(());
            }
            continue;
        }
        loop {
            let report = match reports.try_recv() {
                Ok(report) => report,
                Err(_) if reached(model, *step) => break,
                Err(_) => match reports.recv_timeout(until - Instant::now().min(until)) {
                    Ok(report) => report,
                    Err(RecvTimeoutError::Timeout) => {
                        return Err(format!("{step:?} was waited for in vain"));
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err("the measuring thread is gone".into());
                    }
                },
            };
            let (_, answers) = happen(model, Event::Report(report));
            if *step == Step::Answer && answers > waited_for {
                waited_for += 1;
                break;
            }
        }
    }
    Ok(())
}

fn reached(model: &Model, step: Step) -> bool {
    match step {
        Step::Complete => model.is_coarse_complete(),
        Step::Settled => model.is_settled(),
        Step::Key(_) => true,
        Step::Answer => false,
    }
}

/// The screen as a terminal of so many columns and rows would show it.
pub fn buffer(model: &Model, (columns, rows): (u16, u16), look: &Look) -> Buffer {
    let screen = model.screen();
    let Ok(mut terminal) = Terminal::new(TestBackend::new(columns, rows));
    let Ok(_) = terminal.draw(|frame| view::draw(&screen, frame, look));
    terminal.backend().buffer().clone()
}

/// Writes a screen: as SVG where the file's name says so, else as text.
///
/// # Errors
/// As the system.
pub fn write(buffer: &Buffer, path: &Path) -> std::io::Result<()> {
    let picture = match path.extension().is_some_and(|e| e == "svg") {
        true => view::svg(buffer, "looptune explore"),
        false => text(buffer),
    };
    std::fs::write(path, picture)
}

/// The characters of a screen, a line a row.
pub fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for row in buffer.area.top()..buffer.area.bottom() {
        let cells = (buffer.area.left()..buffer.area.right()).map(|x| buffer[(x, row)].symbol());
        let line: String = cells.collect();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
