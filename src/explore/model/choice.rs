//! Lists to choose from.

use super::{CurveOf, Mode, Model};
use crate::explore::event::Key;
use crate::explore::screen::{Overlay, StatusKind};
use crate::search::baseline_entrant;
use crate::subject::Baseline;

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choosing {
    /// The axis of the columns, or of the curve.
    X,
    /// The axis of the rows.
    Y,
    /// What loops are compared with.
    Baseline,
}

/// A list with a cursor.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    what: Choosing,
    items: Vec<String>,
    pub(super) at: usize,
}

impl Choice {
    pub(super) fn new(model: &Model, what: Choosing) -> Choice {
        let axes = model.world.axes.iter().map(|a| format!("{:<9} {}", a.key, a.about));
        let mut items: Vec<String> = match what {
            Choosing::Baseline => model.baselines().iter().map(ToString::to_string).collect(),
            Choosing::X | Choosing::Y => axes.collect(),
        };
        let of_curve = model.curve.is_some() && what == Choosing::X;
        if of_curve {
            items.push(format!("{:<9} bytes a call, beside the baselines", "size"));
        }
        let at = match (what, &model.curve) {
            (Choosing::X, Some(CurveOf::Size)) => items.len() - 1,
            (Choosing::X, Some(CurveOf::Axis(axis))) => *axis,
            (Choosing::X, None) => model.x,
            (Choosing::Y, _) => model.y,
            (Choosing::Baseline, _) => {
                model.baselines().iter().position(|b| *b == model.baseline).unwrap_or(0)
            }
        };
        Choice { what, items, at }
    }

    pub(super) fn overlay(&self) -> Overlay {
        let title = match self.what {
            Choosing::X => "axis to the right",
            Choosing::Y => "axis downwards",
            Choosing::Baseline => "compare with",
        };
        Overlay::Choice { title: title.into(), items: self.items.clone(), at: self.at }
    }

    /// The key that opened it, which also moves on.
    fn opener(&self) -> char {
        match self.what {
            Choosing::X => 'x',
            Choosing::Y => 'y',
            Choosing::Baseline => 'b',
        }
    }
}

impl Model {
    /// The baselines that the op has.
    pub(super) fn baselines(&self) -> Vec<Baseline> {
        let op = self.question.op;
        {
            // What needs a process of its own is not looked at beside the others.
            let here = |b: &Baseline| *b != Baseline::LibcTuned;
            let all = Baseline::ALL.iter().copied().filter(here);
            all.filter(|b| baseline_entrant(*b, op).is_some()).collect()
        }
    }

    pub(super) fn choice_key(&mut self, key: Key) {
        let Mode::Choice(choice) = &mut self.mode else { return };
        let n = choice.items.len().max(1);
        match key {
            Key::Up | Key::Char('k') | Key::BackTab => choice.at = (choice.at + n - 1) % n,
            Key::Down | Key::Char('j') | Key::Tab => choice.at = (choice.at + 1) % n,
            Key::Char(c) if c == choice.opener() => choice.at = (choice.at + 1) % n,
            Key::Home => choice.at = 0,
            Key::End => choice.at = n - 1,
            Key::Enter | Key::Char(' ') => {
                let (what, at) = (choice.what, choice.at.min(n - 1));
                self.mode = Mode::Plain;
                self.chosen(what, at);
            }
            Key::Esc | Key::Char('q') => self.mode = Mode::Plain,
            // The first item from the next on that begins with the letter.
            Key::Char(c) => {
                let mut next = (1..=n).map(|i| (choice.at + i) % n);
                let hit = next.find(|i| choice.items.get(*i).is_some_and(|t| t.starts_with(c)));
                choice.at = hit.unwrap_or(choice.at);
            }
            _ => {}
        }
    }

    fn chosen(&mut self, what: Choosing, at: usize) {
        match what {
            Choosing::X if self.curve.is_some() => {
                self.curve = Some(match at < self.world.axes.len() {
                    true => CurveOf::Axis(at),
                    false => CurveOf::Size,
                });
            }
            Choosing::X => self.set_axis(true, at),
            Choosing::Y => self.set_axis(false, at),
            Choosing::Baseline => {
                if let Some(baseline) = self.baselines().get(at) {
                    self.baseline = *baseline;
                    self.say(StatusKind::Done, format!("compared with {baseline}"));
                }
            }
        }
    }
}
