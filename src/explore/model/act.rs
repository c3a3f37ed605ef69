//! What the keys of the map do.

use super::choice::{Choice, Choosing};
use super::prompt::Prompting;
use super::{CurveOf, Mode, Model, Question, grid};
use crate::explore::event::{Effect, Key, Record};
use crate::explore::grid::Place;
use crate::explore::screen::StatusKind;
use crate::space::explain;
use crate::subject::{Cell, Drive, Op, Subject, Variant};
use crate::units::human_size;

/// Lines of the listing that a page key scrolls.
const PAGE: i32 = 10;

/// Best loops of a cell that are verified fully when results are written, so that they can be
/// exported from the record.
const VERIFIED: usize = 3;

impl Model {
    pub(super) fn plain_key(&mut self, key: Key) -> Vec<Effect> {
        let fixed = self.curve.is_none();
        match key {
            Key::Left | Key::Char('h') if !fixed => self.step_on_curve(-1),
            Key::Right | Key::Char('l') if !fixed => self.step_on_curve(1),
            Key::Left | Key::Char('h') => self.step(-1, 0),
            Key::Right | Key::Char('l') => self.step(1, 0),
            Key::Up | Key::Char('k') => self.step(0, -1),
            Key::Down | Key::Char('j') => self.step(0, 1),
            Key::Home => self.step(-(self.cursor.0 as i32), 0),
            Key::End => self.step(self.grid.xs.len() as i32, 0),
            Key::PageUp | Key::Char('K') => self.scroll -= PAGE,
            Key::PageDown | Key::Char('J') => self.scroll += PAGE,
            Key::Tab => self.select_next(1),
            Key::BackTab => self.select_next(-1),
            Key::Char('+' | '=') => self.turn(1),
            Key::Char('-' | '_') => self.turn(-1),
            Key::Char('x') => self.choose(Choosing::X),
            Key::Char('y') => self.choose(Choosing::Y),
            Key::Char('b') => self.choose(Choosing::Baseline),
            Key::Char('s') => self.next_state(),
            Key::Char('d') => self.next_drive(),
            Key::Char('o') => self.next_op(),
            Key::Char('[') => self.next_size(false),
            Key::Char(']') => self.next_size(true),
            Key::Char('z') => self.all_values(),
            Key::Char('f') => self.go_to_fastest(None),
            Key::Char('F') => self.go_to_fastest(Some(self.cursor.1)),
            Key::Char('p') => self.pin_or_unpin(),
            Key::Char('r') => self.measure_again(false),
            Key::Char('R') => self.measure_again(true),
            Key::Char('c') => self.toggle_curve(),
            Key::Char('/') => self.mode = Mode::Prompt(Prompting::jump()),
            Key::Char('e') => self.ask_where_to_export(),
            Key::Char('w') => return self.write(),
            Key::Char('?') => self.mode = Mode::Help,
            Key::Char('q') => return self.quit(),
            Key::Esc if self.curve.is_some() => self.toggle_curve(),
            _ => {}
        }
        Vec::new()
    }

    /// Puts the cursor on a place.
    pub(super) fn go(&mut self, (column, row): (usize, usize)) {
        let last = (self.grid.xs.len().saturating_sub(1), self.grid.ys.len().saturating_sub(1));
        self.cursor = (column.min(last.0), row.min(last.1));
        self.scroll = 0;
    }

    fn step(&mut self, columns: i32, rows: i32) {
        let moved = |at: usize, by: i32| at.saturating_add_signed(by as isize);
        self.go((moved(self.cursor.0, columns), moved(self.cursor.1, rows)));
    }

    /// Draws the map around another loop, with the cursor on it.
    pub(super) fn center(&mut self, variant: Variant) {
        self.base = variant;
        self.draw_map();
        let at = self.grid.find(&variant).unwrap_or(self.cursor);
        self.go(at);
    }

    /// Makes the map anew; the cursor stays on its values as far as they are there.
    pub(super) fn draw_map(&mut self) {
        let value = |values: &[String], at: usize| values.get(at).cloned();
        let x = value(&self.grid.xs, self.cursor.0);
        let y = value(&self.grid.ys, self.cursor.1);
        let same = (self.grid.x, self.grid.y);
        self.grid = grid(&self.world, &self.base, self.pin.as_ref(), (self.x, self.y), &self.all);
        let place = |values: &[String], old: Option<String>| {
            old.and_then(|old| values.iter().position(|v| *v == old))
        };
        if same == (self.grid.x, self.grid.y) {
            let column = place(&self.grid.xs, x).unwrap_or(self.cursor.0);
            let row = place(&self.grid.ys, y).unwrap_or(self.cursor.1);
            let scroll = self.scroll;
            self.go((column, row));
            self.scroll = scroll;
        }
    }

    /// Selects an axis for + and −.
    pub(super) fn select(&mut self, axis: usize) {
        if axis < self.world.axes.len() {
            self.selected = axis;
            if self.curve.is_some() {
                self.show_curve(CurveOf::Axis(axis));
            }
        }
    }

    fn select_next(&mut self, by: i32) {
        if self.curve.is_some() {
            return self.next_curve(by);
        }
        let n = self.world.axes.len();
        let step = if by > 0 { 1 } else { n - 1 };
        let mut next = (self.selected + step) % n;
        while (next == self.x || next == self.y) && next != self.selected {
            next = (next + step) % n;
        }
        self.selected = next;
    }

    /// The next value of the selected axis.
    fn turn(&mut self, by: i32) {
        let axis = &self.world.axes[self.selected];
        let (values, now) = (super::shown(axis, self.all[self.selected], &[self.variant()]), {
            (axis.of)(&self.variant())
        });
        let Some(now) = now else {
            let text = format!("{} ({}) does not apply to this loop", axis.key, axis.about);
            return self.say(StatusKind::Notice, text);
        };
        let at = values.iter().position(|v| *v == now).unwrap_or(0) as i32;
        let next = &values[(at + by).rem_euclid(values.len() as i32) as usize];
        if [self.x, self.y].contains(&self.selected) || self.curve.is_some() {
            // Their values are places on the map.
            if let Some(variant) = (axis.with)(&self.variant(), next) {
                self.center(variant);
            }
            return;
        }
        match (axis.with)(&self.base, next) {
            Some(variant) => {
                let cursor = self.cursor;
                let values = (self.grid.xs[cursor.0].clone(), self.grid.ys[cursor.1].clone());
                self.base = variant;
                self.draw_map();
                let place = |values: &[String], old: &str| values.iter().position(|v| v == old);
                let column = place(&self.grid.xs, &values.0).unwrap_or(cursor.0);
                let row = place(&self.grid.ys, &values.1).unwrap_or(cursor.1);
                self.go((column, row));
            }
            None => {
                let text = format!("{} {next} does not apply to {}", axis.key, self.base);
                self.say(StatusKind::Notice, text);
            }
        }
    }

    /// Makes an axis that of the columns or of the rows; the other takes its place where it
    /// had been there.
    pub(super) fn set_axis(&mut self, columns: bool, axis: usize) {
        let variant = self.variant();
        let (old, other) = if columns { (self.x, self.y) } else { (self.y, self.x) };
        if axis == old {
            return;
        }
        let (new, other) = if axis == other { (axis, old) } else { (axis, other) };
        (self.x, self.y) = if columns { (new, other) } else { (other, new) };
        if self.selected == self.x || self.selected == self.y {
            self.selected = old;
            if old == self.x || old == self.y {
                self.select_next(1);
            }
        }
        self.cursor = (0, 0);
        self.center(variant);
    }

    fn all_values(&mut self) {
        // The axis whose coarse values leave something out: that of the columns first.
        let leaves_out = |i: &usize| {
            let axis = &self.world.axes[*i];
            (axis.coarse)().len() < (axis.values)().len()
        };
        let candidates = [self.x, self.y, self.selected];
        let Some(axis) = candidates.into_iter().find(leaves_out) else {
            return self.say(StatusKind::Notice, "all values are shown already");
        };
        self.all[axis] = !self.all[axis];
        self.base = self.variant();
        self.draw_map();
        let key = self.world.axes[axis].key;
        let what = if self.all[axis] { "all values" } else { "a few values" };
        self.say(StatusKind::Done, format!("{what} of {key}; z switches"));
    }

    fn next_state(&mut self) {
        let cell = self.cell();
        let possible = |state| (self.world.exists)(&Cell { state, ..cell });
        let states = &self.world.states;
        let at = states.iter().position(|s| *s == cell.state);
        let n = states.len();
        let from = at.map_or(0, |at| at + 1);
        let next = (0..n).map(|i| states[(from + i) % n]);
        let mut skipped = None;
        for state in next {
            match possible(state) {
                Ok(()) => {
                    self.question.state = state;
                    break;
                }
                Err(why) => skipped = skipped.or(Some(format!("no {state} here: {why}"))),
            }
        }
        if let Some(why) = skipped {
            self.say(StatusKind::Notice, why);
        }
    }

    fn next_drive(&mut self) {
        let at = Drive::ALL.iter().position(|d| *d == self.question.drive).unwrap_or(0);
        let drive = Drive::ALL[(at + 1) % Drive::ALL.len()];
        match (self.world.exists)(&Cell { drive, ..self.cell() }) {
            Ok(()) => self.question.drive = drive,
            Err(why) => self.say(StatusKind::Notice, why),
        }
    }

    fn next_op(&mut self) {
        let at = Op::TUNED.iter().position(|o| *o == self.question.op).unwrap_or(0);
        let op = Op::TUNED[(at + 1) % Op::TUNED.len()];
        let question = Question { op, ..self.question };
        let same = Variant { op, ..self.variant() };
        let variant = match explain(&same) {
            None => same,
            Some(explanation) => explanation
                .nearest
                .filter(|v| v.op == op)
                .unwrap_or_else(|| super::first_loop(&self.world, &question)),
        };
        self.set_op(op);
        self.center(variant);
    }

    /// Another op asks another question: the pin has no part in it, and its size may be too
    /// large for the state.
    pub(super) fn set_op(&mut self, op: Op) {
        if op == self.question.op {
            return;
        }
        self.question.op = op;
        self.pin = None;
        self.fit_state();
    }

    fn next_size(&mut self, larger: bool) {
        let now = self.question.size;
        let mut sizes = self.world.sizes.iter().copied();
        let next = match larger {
            true => sizes.find(|s| *s > now),
            false => sizes.rfind(|s| *s < now),
        };
        let Some(size) = next else {
            let end = if larger { "largest" } else { "smallest" };
            let text = format!("{} is the {end} size here", human_size(now));
            return self.say(StatusKind::Notice, text);
        };
        self.question.size = size;
        self.fit_state();
    }

    /// Takes the nearest state that exists for the size.
    fn fit_state(&mut self) {
        let cell = self.cell();
        let Err(why) = (self.world.exists)(&cell) else { return };
        let at = self.world.states.iter().position(|s| *s == cell.state).unwrap_or(0);
        // Outwards first: what is too large for a level is in the next one.
        let states = &self.world.states;
        let outwards = states[at.min(states.len())..].iter().chain(states[..at].iter().rev());
        let next = outwards
            .copied()
            .find(|state| (self.world.exists)(&Cell { state: *state, ..cell }).is_ok());
        match next {
            Some(state) => {
                self.question.state = state;
                self.say(StatusKind::Notice, format!("no {} here: {why}", cell.state));
            }
            None => self.fit_all(&cell, why),
        }
    }

    /// Takes what exists nearest in size, in any state and drive.
    fn fit_all(&mut self, cell: &Cell, why: String) {
        let far = |size: u64| (size as f64 / cell.size as f64).ln().abs();
        let mut sizes = self.world.sizes.clone();
        sizes.sort_by(|a, b| far(*a).total_cmp(&far(*b)));
        let all = sizes.into_iter().flat_map(|size| {
            let states = self.world.states.iter();
            states.flat_map(move |state| {
                let state = *state;
                Drive::ALL.iter().map(move |drive| Cell { size, state, drive: *drive, ..*cell })
            })
        });
        match all.into_iter().find(|cell| (self.world.exists)(cell).is_ok()) {
            Some(Cell { op, size, state, drive, .. }) => {
                self.question = Question { op, size, state, drive };
                self.say(StatusKind::Notice, why);
            }
            None => self.say(StatusKind::Error, why),
        }
    }

    /// The fastest of the map, or of one of its rows.
    fn go_to_fastest(&mut self, row: Option<usize>) {
        match self.fastest(row) {
            Some(at) => {
                self.go(at);
                let whose = if row.is_some() { "this row" } else { "the map" };
                if let Some(variant) = self.place().runnable() {
                    self.say(StatusKind::Done, format!("the fastest of {whose}: {variant}"));
                }
            }
            None => self.say(StatusKind::Notice, "nothing is measured there yet"),
        }
    }

    fn pin_or_unpin(&mut self) {
        let Some(variant) = self.place().runnable() else {
            return self.say(StatusKind::Notice, "there is no loop to pin here");
        };
        if self.pin == Some(variant) {
            self.pin = None;
            return self.say(StatusKind::Done, "no pin any more");
        }
        self.pin = Some(variant);
        self.base = variant;
        self.draw_map();
        self.say(StatusKind::Done, format!("pinned {variant}; others are compared with it"));
    }

    fn measure_again(&mut self, everything: bool) {
        if self.gone {
            let why = self.stopped.clone().unwrap_or_default();
            return self.say(StatusKind::Error, format!("nothing is measured any more: {why}"));
        }
        if self.world.recorded.is_some() {
            return self.say(StatusKind::Notice, "recorded figures are not measured again");
        }
        self.stopped = None;
        self.troubles = 0;
        let forget: Vec<(Cell, Variant)> = match everything {
            true => self.points(),
            false => self.place().runnable().map(|v| (self.cell(), v)).into_iter().collect(),
        };
        for (cell, variant) in &forget {
            self.world.ledger.forget(cell, &Subject::Variant(*variant));
        }
        let what = match forget.as_slice() {
            [] => "there is no loop here".into(),
            [(_, variant)] => variant.to_string(),
            more => format!("{} loops", more.len()),
        };
        self.say(StatusKind::Done, format!("measuring again: {what}"));
    }

    fn choose(&mut self, choosing: Choosing) {
        self.mode = Mode::Choice(Choice::new(self, choosing));
    }

    fn write(&mut self) -> Vec<Effect> {
        if self.world.recorded.is_some() {
            self.say(StatusKind::Notice, "these are recorded figures; there is nothing to write");
            return Vec::new();
        }
        if self.gone {
            self.say(StatusKind::Error, "the thread that would write is gone");
            return Vec::new();
        }
        let (cursor, pin) = (self.place().runnable(), self.pin);
        let mut records: Vec<Record> = self
            .world
            .ledger
            .unwritten()
            .into_iter()
            .map(|u| Record {
                cell: u.cell,
                subject: u.subject.clone(),
                role: u.entry.role,
                code_bytes: u.entry.code_bytes,
                verify: false,
                outcome: u.outcome,
                samples: u.samples,
                clock: u.clock,
            })
            .collect();
        if records.is_empty() {
            self.say(StatusKind::Notice, "everything measured so far is written");
            return Vec::new();
        }
        let time = |r: &Record| r.outcome.as_ref().map_or(u64::MAX, |s| s.median.0);
        records.sort_by_key(|r| (r.cell, time(r)));
        for cell in records.chunk_by_mut(|a, b| a.cell == b.cell) {
            let mut place = 0;
            for record in cell {
                let Subject::Variant(variant) = record.subject else { continue };
                let named = [cursor, pin].contains(&Some(variant));
                record.verify = record.outcome.is_ok() && (place < VERIFIED || named);
                place += 1;
            }
        }
        self.say(StatusKind::Done, format!("writing {} rows…", records.len()));
        vec![Effect::Write(records)]
    }

    fn ask_where_to_export(&mut self) {
        match self.place() {
            Place::Loop(variant) => {
                self.mode = Mode::Prompt(Prompting::export(*variant));
            }
            Place::Unsupported(_, why) | Place::Illegal(_, why) => {
                let text = format!("cannot be exported: {why}");
                self.say(StatusKind::Notice, text);
            }
        }
    }
}
