//! The state as a screen.

use super::{Mode, Model};
use crate::encode::{self, Placed};
use crate::explore::grid::Place;
use crate::explore::ledger::Known;
use crate::explore::screen::{
    AxisLine, AxisRole, Heat, HeatMap, Listing, ListingLine, Overlay, Screen, Status, StatusKind,
    Ticks, Title,
};
use crate::ir::{Insn, Item};
use crate::print::{att, nop_mnemonic};
use crate::search::band;
use crate::subject::Subject;
use crate::units::human_size;

/// The keys one needs most.
const HINT: &str = "? help  q quit  arrows move  f fastest  e export  w write  / jump  c curve  \
                    p pin  x y axes  Tab +- others  s o [ ] state op size";

/// What loops of one cell are ranked by: time relative to the baseline of the block, where
/// there was one, so that a drifting clock does not count.
pub(super) fn value(known: &Known) -> f64 {
    known.relative.map_or_else(|| known.ns.0.ln(), |(estimate, ..)| estimate)
}

/// The largest over the smallest of positive numbers; 1 where one is none.
pub(super) fn scale(numbers: &[f64]) -> f64 {
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(0.0, f64::max);
    if low > 0.0 && low.is_finite() { high / low } else { 1.0 }
}

impl Model {
    /// What to draw.
    pub fn screen(&self) -> Screen {
        Screen {
            title: self.title(),
            map: self.map(),
            axes: self.axis_lines(),
            listing: self.listing(),
            figures: self.figures(),
            curve: self.curve_screen(),
            overlay: self.overlay(),
            status: self.status(),
        }
    }

    fn title(&self) -> Title {
        let question = &self.question;
        let source = match (&self.world.recorded, &self.stopped, &self.in_flight) {
            (Some(name), ..) => format!("recorded in {name}"),
            (None, Some(_), _) => "stopped".into(),
            (None, None, Some(_)) => "measuring".into(),
            (None, None, None) => "settled".into(),
        };
        Title {
            op: question.op.to_string(),
            size: human_size(question.size),
            state: question.state.to_string(),
            drive: question.drive.to_string(),
            baseline: self.baseline.to_string(),
            source,
            done: self.done(),
        }
    }

    /// What is known of each place of the map, and what it is ranked by.
    fn times(&self) -> Vec<Option<(Known, f64)>> {
        let book = self.world.ledger.book(&self.cell());
        let known: Vec<Option<Known>> = self
            .grid
            .places
            .iter()
            .map(|place| book?.entry(&Subject::Variant(place.legal()?))?.known)
            .collect();
        // Relative and absolute figures do not mix.
        let relative = known.iter().flatten().all(|k| k.relative.is_some());
        let rank = |k: Known| if relative { value(&k) } else { k.ns.0.ln() };
        known.into_iter().map(|k| k.map(|k| (k, rank(k)))).collect()
    }

    /// Column and row of the fastest, of all or of one row.
    pub(super) fn fastest(&self, row: Option<usize>) -> Option<(usize, usize)> {
        let columns = self.grid.xs.len();
        let times = self.times();
        let timed = times.iter().enumerate().filter_map(|(i, t)| Some((i, t.as_ref()?.1)));
        let timed = timed.filter(|(i, _)| row.is_none_or(|row| i / columns == row));
        let (at, _) = timed.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((at % columns, at / columns))
    }

    fn map(&self) -> HeatMap {
        let cell = self.cell();
        let times = self.times();
        let best = times.iter().flatten().map(|t| t.1).fold(f64::INFINITY, f64::min);
        let in_flight = self.in_flight.as_ref().filter(|order| order.cell == cell);
        let heat = |(place, time): (&Place, &Option<(Known, f64)>)| match (place, time) {
            (Place::Illegal(..), _) => Heat::Illegal,
            (_, Some((known, rank))) => {
                let fine = known.width() < band(&cell);
                Heat::Measured { slower: (rank - best).exp(), fine }
            }
            (Place::Unsupported(..), None) => Heat::Unsupported,
            (Place::Loop(v), None) => {
                let trouble = self.world.ledger.entry(&cell, &Subject::Variant(*v));
                match trouble.and_then(|e| e.trouble.as_ref()) {
                    Some(trouble) if trouble.unsupported => Heat::Unsupported,
                    Some(_) => Heat::Failed,
                    None if in_flight.is_some_and(|o| o.members.contains(v)) => Heat::Measuring,
                    None => Heat::Unmeasured,
                }
            }
        };
        let ticks =
            |key: &str, values: &[String]| Ticks { key: key.into(), values: values.to_vec() };
        HeatMap {
            x: ticks(self.grid.x.key, &self.grid.xs),
            y: ticks(self.grid.y.key, &self.grid.ys),
            cells: self.grid.places.iter().zip(&times).map(heat).collect(),
            cursor: self.cursor,
            pin: self.pin.and_then(|pin| self.grid.find(&pin)),
            best: self.fastest(None),
        }
    }

    fn axis_lines(&self) -> Vec<AxisLine> {
        let variant = self.variant();
        let line = |(i, axis): (usize, &crate::template::Axis)| AxisLine {
            key: axis.key.into(),
            value: (axis.of)(&variant),
            role: match i {
                i if i == self.x => AxisRole::X,
                i if i == self.y => AxisRole::Y,
                _ => AxisRole::Fixed,
            },
            selected: i == self.selected,
        };
        self.world.axes.iter().enumerate().map(line).collect()
    }

    fn listing(&self) -> Listing {
        let absent = |why: &str| Listing { absent: why.into(), ..Listing::default() };
        let Some(variant) = self.place().legal() else {
            let id = self.place().variant().map(|v| v.to_string()).unwrap_or_default();
            return Listing { id, ..absent(self.place().reason().unwrap_or_default()) };
        };
        let code = match encode::compile(&variant) {
            Ok(code) => code,
            Err(why) => return Listing { id: variant.to_string(), ..absent(&why.to_string()) },
        };
        let in_loop = |offset: u32| code.loop_range.as_ref().is_some_and(|r| r.contains(&offset));
        let mut lines = Vec::new();
        let mut loop_line = None;
        for placed in &code.placed {
            let Placed { item, offset, len } = *placed;
            let range = offset as usize..offset as usize + usize::from(len);
            let (bytes, text) = match item {
                Item::Insn(Insn::Nop { len }) => (range, nop_mnemonic(len).to_string()),
                Item::Insn(insn) => (range, att(&insn, ".L")),
                Item::Label(label) => (0..0, format!(".L{}:", label.name())),
                Item::LoopTop { .. } => {
                    loop_line = Some(lines.len());
                    continue;
                }
                Item::Part(_) => continue,
            };
            lines.push(ListingLine {
                offset,
                in_loop: in_loop(offset),
                bytes: code.bytes.get(bytes).unwrap_or_default().to_vec(),
                text,
            });
        }
        let id = variant.to_string();
        Listing { id, lines, loop_line, scroll: self.scroll, absent: String::new() }
    }

    fn overlay(&self) -> Option<Overlay> {
        match &self.mode {
            Mode::Plain => None,
            Mode::Help => Some(super::help::overlay(self.world.axes)),
            Mode::Prompt(prompt) => Some(self.prompt_overlay(prompt)),
            Mode::Choice(choice) => Some(choice.overlay()),
        }
    }

    fn status(&self) -> Status {
        if let Some(said) = &self.said {
            return said.clone();
        }
        if let Some(why) = &self.stopped {
            return Status { kind: StatusKind::Error, text: format!("{why}; r tries again") };
        }
        if let Err(why) = (self.world.exists)(&self.cell()) {
            return Status { kind: StatusKind::Notice, text: why };
        }
        let notice = |text: &str| Status { kind: StatusKind::Notice, text: text.into() };
        if let Some(why) = self.place().reason() {
            return notice(why);
        }
        let subject = self.place().runnable().map(Subject::Variant);
        let entry = subject.and_then(|s| self.world.ledger.entry(&self.cell(), &s));
        match entry.and_then(|e| e.trouble.as_ref()) {
            Some(trouble) => notice(&trouble.text),
            None => Status { kind: StatusKind::Hint, text: HINT.into() },
        }
    }
}
