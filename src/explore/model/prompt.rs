//! Lines to type in: an id to jump to, a file to export to.

use std::path::Path;

use super::{Mode, Model};
use crate::explore::event::{Effect, ExportJob, Key};
use crate::explore::grid::Place;
use crate::explore::screen::{Overlay, Prompt, StatusKind};
use crate::space::explain;
use crate::subject::{Baseline, IdError, NamedLoop, Subject, Variant};
use crate::units::near;

/// Characters that a prompt takes from pastes: more than any id or path.
const PASTED: usize = 4096;

/// Suggestions shown.
const OFFERED: usize = 6;

/// What the line is for.
#[derive(Clone, Debug, PartialEq)]
enum Purpose {
    Jump,
    Export {
        variant: Variant,
        /// The file that the next Enter may replace.
        replace: Option<String>,
    },
}

/// A line being typed.
#[derive(Clone, Debug)]
pub(super) struct Prompting {
    purpose: Purpose,
    text: String,
    error: Option<String>,
    /// What the person typed where the text is a completion of it.
    typed: Option<String>,
}

impl Prompting {
    pub(super) fn jump() -> Prompting {
        Prompting { purpose: Purpose::Jump, text: String::new(), error: None, typed: None }
    }

    pub(super) fn export(variant: Variant) -> Prompting {
        let text = format!("{}.S", variant.to_string().replace(['/', '+', '@'], "-"));
        let purpose = Purpose::Export { variant, replace: None };
        Prompting { purpose, text, error: None, typed: None }
    }
}

impl Model {
    pub(super) fn prompt_overlay(&self, prompt: &Prompting) -> Overlay {
        let title = match &prompt.purpose {
            Purpose::Jump => "jump to a loop, by its id or name".to_string(),
            Purpose::Export { variant, .. } => format!("export {variant} to"),
        };
        Overlay::Prompt(Prompt {
            title,
            text: prompt.text.clone(),
            error: prompt.error.clone(),
            suggestions: self.suggestions(prompt),
        })
    }

    pub(super) fn prompt_key(&mut self, key: Key) -> Vec<Effect> {
        let Mode::Prompt(prompt) = &mut self.mode else { return Vec::new() };
        match key {
            Key::Esc => self.mode = Mode::Plain,
            Key::Char(c) => {
                prompt.text.push(c);
                prompt.edited();
            }
            Key::Backspace => {
                prompt.text.pop();
                prompt.edited();
            }
            Key::Ctrl('u') => {
                prompt.text.clear();
                prompt.edited();
            }
            Key::Tab | Key::Down => self.complete(true),
            Key::BackTab | Key::Up => self.complete(false),
            Key::Enter => return self.accept(),
            _ => {}
        }
        Vec::new()
    }

    /// Takes a pasted text into the prompt; it is never keys.
    pub(super) fn paste(&mut self, text: &str) -> Vec<Effect> {
        if let Mode::Prompt(prompt) = &mut self.mode {
            let room = PASTED.saturating_sub(prompt.text.chars().count());
            let one_line = text.chars().filter(|c| !c.is_control());
            prompt.text.extend(one_line.take(room));
            prompt.edited();
        } else {
            self.say(StatusKind::Notice, "nothing is pasted here; / takes the id of a loop");
        }
        Vec::new()
    }

    /// Puts the next suggestion in the place of what was typed.
    fn complete(&mut self, forwards: bool) {
        let Mode::Prompt(prompt) = &self.mode else { return };
        let offered = self.suggestions(prompt);
        let n = offered.len();
        if n == 0 {
            return;
        }
        let at = offered.iter().position(|s| *s == prompt.text && prompt.typed.is_some());
        let next = match (at, forwards) {
            (None, true) => 0,
            (None, false) => n - 1,
            (Some(at), true) => (at + 1) % n,
            (Some(at), false) => (at + n - 1) % n,
        };
        let Mode::Prompt(prompt) = &mut self.mode else { return };
        prompt.typed.get_or_insert_with(|| prompt.text.clone());
        prompt.text.clone_from(&offered[next]);
        prompt.error = None;
    }

    fn accept(&mut self) -> Vec<Effect> {
        let Mode::Prompt(prompt) = &self.mode else { return Vec::new() };
        let (text, purpose) = (prompt.text.trim().to_string(), prompt.purpose.clone());
        match purpose {
            Purpose::Jump => {
                if let Err(why) = self.jump(&text) {
                    self.refuse(why);
                } else {
                    self.mode = Mode::Plain;
                }
                Vec::new()
            }
            Purpose::Export { variant, replace } => {
                if text.is_empty() {
                    self.refuse("name a file, such as loop.S".into());
                    return Vec::new();
                }
                if self.gone {
                    self.mode = Mode::Plain;
                    let text = "the thread that verifies exports is gone; looptune export does it";
                    self.say(StatusKind::Error, text);
                    return Vec::new();
                }
                self.mode = Mode::Plain;
                self.say(StatusKind::Done, format!("verifying {variant} fully…"));
                vec![Effect::Export(ExportJob {
                    variant,
                    overwrite: replace.as_deref() == Some(text.as_str()),
                    path: text.into(),
                    measured: self.figure_lines(&variant),
                })]
            }
        }
    }

    fn refuse(&mut self, why: String) {
        if let Mode::Prompt(prompt) = &mut self.mode {
            prompt.error = Some(why);
        }
    }

    /// The file is there: a second Enter replaces it.
    pub(super) fn ask_to_overwrite(&mut self, path: &Path) {
        let Some(variant) = self.place().runnable() else { return };
        let text = path.display().to_string();
        self.said = None;
        self.mode = Mode::Prompt(Prompting {
            purpose: Purpose::Export { variant, replace: Some(text.clone()) },
            text,
            error: Some("the file is there; Enter replaces it, another name keeps it".into()),
            typed: None,
        });
    }

    /// Goes to a subject.
    ///
    /// # Errors
    /// Why there is nothing to go to.
    fn jump(&mut self, text: &str) -> Result<(), String> {
        let op = self.question.op;
        let variant = match Subject::parse(text).map_err(|e| e.to_string())? {
            Subject::Variant(variant) => variant,
            Subject::Named(named) => named.variant(),
            Subject::Baseline(baseline) => baseline.as_variant(op).ok_or_else(|| {
                format!("the code of {baseline} is not ours to show; b compares with it")
            })?,
            foreign => {
                return Err(format!("{foreign} is no loop of ours; looptune bench measures it"));
            }
        };
        if let Some(explanation) = explain(&variant) {
            return Err(explanation.to_string());
        }
        self.set_op(variant.op);
        self.center(variant);
        Ok(())
    }

    /// What a line could become: what begins so, then what one may have meant.
    fn suggestions(&self, prompt: &Prompting) -> Vec<String> {
        if prompt.purpose != Purpose::Jump {
            return Vec::new();
        }
        let text = prompt.typed.as_deref().unwrap_or(&prompt.text);
        let mut known: Vec<String> = self.by_speed().iter().map(ToString::to_string).collect();
        known.extend(self.grid.places.iter().filter_map(Place::legal).map(|v| v.to_string()));
        known.extend(Baseline::PRESENT.iter().map(|b| b.word().to_string()));
        known.extend(NamedLoop::all().map(|named| named.word().to_string()));
        let mut offered: Vec<String> = Vec::new();
        let mut offer = |word: String| {
            if !offered.contains(&word) && word != prompt.text || prompt.typed.is_some() {
                offered.push(word);
            }
        };
        if let Err(error) = Subject::parse(text) {
            meant(text, &error).into_iter().for_each(&mut offer);
        }
        known.iter().filter(|k| k.starts_with(text)).cloned().for_each(&mut offer);
        if !text.is_empty() {
            near(text, known).into_iter().for_each(&mut offer);
        }
        let mut seen = std::collections::HashSet::new();
        offered.retain(|word| seen.insert(word.clone()));
        offered.truncate(OFFERED);
        offered
    }
}

impl Prompting {
    fn edited(&mut self) {
        self.error = None;
        self.typed = None;
        if let Purpose::Export { replace, .. } = &mut self.purpose {
            *replace = None;
        }
    }
}

/// An id with its mistake mended.
fn meant(text: &str, error: &IdError) -> Vec<String> {
    let (wrong, near) = match error {
        IdError::Op { text, near, .. } | IdError::Class { text, near, .. } => (text, near),
        IdError::Token { token, near, .. } => (token, near),
        IdError::Name { text, near } => (text, near),
        _ => return Vec::new(),
    };
    if wrong.is_empty() {
        return Vec::new();
    }
    near.iter().map(|right| text.replacen(wrong.as_str(), right, 1)).collect()
}
