//! The state machine. Events in, effects out; [`Model::screen`] says what to draw. It knows no
//! terminal and no worker, and of the axes only what [`Axis`] tells.

mod act;
mod choice;
mod curve;
mod face;
mod figures;
mod help;
mod prompt;
#[cfg(test)]
mod tests;

use super::event::{Effect, Event, Exported, Key, Report, Spot};
use super::grid::{Grid, Place, shown};
use super::ledger::Ledger;
use super::schedule::{self, Order};
use super::screen::{Status, StatusKind};
use crate::host::FeatureSet;
use crate::search::band;
use crate::subject::{
    Baseline, Cell, Class, Conditions, Drive, Op, Placement, State, Subject, Variant,
};
use crate::template::Axis;
use choice::Choice;
use curve::CurveOf;
use prompt::Prompting;

/// The axes of the first map, where the model has them: unroll against the address of the loop.
const FIRST_X: &str = "align";
const FIRST_Y: &str = "unroll";

/// Registers an iteration of the loop that stands under the cursor first.
const FIRST_UNROLL: u8 = 4;

/// Failed attempts to get a worker, in a row, after which nobody tries again by himself.
const ATTEMPTS: u32 = 3;

/// Says whether a cell exists, or why not.
pub type Exists = Box<dyn Fn(&Cell) -> Result<(), String>>;

/// What the model must know of the world around it.
pub struct World {
    /// The axes to walk.
    pub axes: &'static [Axis],
    /// What the host may use; `None`: any loop is shown, for figures that were made elsewhere.
    pub usable: Option<FeatureSet>,
    /// States to cycle through.
    pub states: Vec<State>,
    /// Sizes to step through, bytes, ascending.
    pub sizes: Vec<u64>,
    /// Whether a cell exists, or why not.
    pub exists: Exists,
    /// Bytes a core cycle that the ports allow, by op.
    pub limits: Vec<(Op, f64)>,
    /// Where figures were recorded; `None` where they are measured.
    pub recorded: Option<String>,
    /// What is known already.
    pub ledger: Ledger,
}

/// What is asked first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// The op.
    pub op: Op,
    /// Bytes a call.
    pub size: u64,
    /// The state.
    pub state: State,
    /// The drive.
    pub drive: Drive,
}

/// What keys go to.
#[derive(Clone, Debug)]
enum Mode {
    Plain,
    Help,
    Prompt(Prompting),
    Choice(Choice),
}

/// The explorer's state.
pub struct Model {
    world: World,
    question: Question,
    /// The loop that the map is drawn around; the cursor is a place on the map.
    base: Variant,
    /// Axes of the map, and the one that + and − change.
    x: usize,
    y: usize,
    selected: usize,
    /// Axes of which all values are shown.
    all: Vec<bool>,
    grid: Grid,
    cursor: (usize, usize),
    pin: Option<Variant>,
    baseline: Baseline,
    mode: Mode,
    curve: Option<CurveOf>,
    /// Where the buffers lie, while a curve over placements is shown.
    placement: Placement,
    scroll: i32,
    said: Option<Status>,
    in_flight: Option<Order>,
    troubles: u32,
    /// Why nothing is measured any more.
    stopped: Option<String>,
    /// Whether the thread that measures is gone for good.
    gone: bool,
    quitting: bool,
}

impl Model {
    /// The first screen of a question.
    pub fn new(world: World, question: Question) -> Model {
        let find = |key: &str| world.axes.iter().position(|axis| axis.key == key);
        let x = find(FIRST_X).unwrap_or(0);
        let y = find(FIRST_Y).filter(|y| *y != x).unwrap_or(usize::from(x == 0));
        let base = first_loop(&world, &question);
        let selected = (0..world.axes.len()).find(|i| *i != x && *i != y).unwrap_or(x);
        let all = vec![false; world.axes.len()];
        let grid = grid(&world, &base, None, (x, y), &all);
        let cursor = grid.find(&base).unwrap_or((0, 0));
        Model {
            world,
            question,
            base,
            x,
            y,
            selected,
            all,
            grid,
            cursor,
            pin: None,
            baseline: Baseline::Libc,
            mode: Mode::Plain,
            curve: None,
            placement: Placement::ALIGNED,
            scroll: 0,
            said: None,
            in_flight: None,
            troubles: 0,
            stopped: None,
            gone: false,
            quitting: false,
        }
    }

    /// Tells the reader something on the last line, until the next key.
    pub fn notice(&mut self, text: &str) {
        self.say(StatusKind::Notice, text);
    }

    /// Something happened.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = match event {
            Event::Start => Vec::new(),
            Event::Key(key) => self.key(key),
            Event::Mouse(spot) => self.mouse(spot),
            Event::Paste(text) => self.paste(&text),
            Event::Report(report) => self.report(report),
        };
        effects.extend(self.measure_next());
        effects
    }

    /// Whether every loop of the map, or of the curve, has a time or cannot have one.
    pub fn is_coarse_complete(&self) -> bool {
        let (done, all) = self.done();
        done == all
    }

    /// Points with an outcome, and points that could have one.
    pub fn done(&self) -> (usize, usize) {
        let points = self.points();
        let has_outcome = |(cell, v): &&(Cell, Variant)| {
            let entry = self.world.ledger.entry(cell, &Subject::Variant(*v));
            entry.is_some_and(|e| e.known.is_some() || e.trouble.is_some())
        };
        (points.iter().filter(has_outcome).count(), points.len())
    }

    /// Whether there is nothing more to measure.
    pub fn is_settled(&self) -> bool {
        self.in_flight.is_none()
    }

    fn key(&mut self, key: Key) -> Vec<Effect> {
        match key {
            Key::Ctrl('c') => return self.quit(),
            Key::Ctrl('z') => return vec![Effect::Suspend],
            _ => {}
        }
        self.said = None;
        match &self.mode {
            Mode::Plain => self.plain_key(key),
            Mode::Help => {
                self.mode = Mode::Plain;
                // Whoever reads the help may try a key at once.
                match key {
                    Key::Esc | Key::Enter | Key::Char('?' | 'q' | ' ') => Vec::new(),
                    key => self.plain_key(key),
                }
            }
            Mode::Prompt(_) => self.prompt_key(key),
            Mode::Choice(_) => {
                self.choice_key(key);
                Vec::new()
            }
        }
    }

    fn mouse(&mut self, spot: Spot) -> Vec<Effect> {
        match (&mut self.mode, spot) {
            (Mode::Choice(choice), Spot::Item(item)) => {
                choice.at = item;
                self.choice_key(Key::Enter);
            }
            (Mode::Plain, Spot::Cell(column, row)) if self.curve.is_none() => {
                self.said = None;
                self.go((column, row));
            }
            (Mode::Plain, Spot::Axis(axis)) => {
                self.said = None;
                self.select(axis);
            }
            (Mode::Plain, Spot::Point(point)) => self.go_on_curve(point),
            (Mode::Plain, Spot::Listing(lines)) => self.scroll += lines,
            (Mode::Help, _) => self.mode = Mode::Plain,
            _ => {}
        }
        Vec::new()
    }

    fn report(&mut self, report: Report) -> Vec<Effect> {
        match report {
            Report::Measured(batch) => {
                self.in_flight = None;
                self.troubles = 0;
                self.stopped = None;
                self.world.ledger.take(&batch);
            }
            Report::Trouble(why) => {
                self.in_flight = None;
                self.troubles += 1;
                if self.troubles >= ATTEMPTS {
                    self.say(StatusKind::Error, format!("{why}; r tries again"));
                    self.stopped = Some(why);
                }
            }
            Report::Gone(why) => {
                self.in_flight = None;
                self.gone = true;
                let text = format!("nothing is measured any more: {why}");
                self.say(StatusKind::Error, text);
                self.stopped = Some(why);
            }
            Report::Exported(Exported::Written(text)) => self.say(StatusKind::Done, text),
            Report::Exported(Exported::Refused(why)) => self.say(StatusKind::Error, why),
            Report::Exported(Exported::Exists(path)) => self.ask_to_overwrite(&path),
            Report::Written(Ok(text)) => self.say(StatusKind::Done, text),
            Report::Written(Err(why)) => self.say(StatusKind::Error, why),
        }
        Vec::new()
    }

    fn quit(&mut self) -> Vec<Effect> {
        self.quitting = true;
        vec![Effect::Quit]
    }

    fn say(&mut self, kind: StatusKind, text: impl Into<String>) {
        self.said = Some(Status { kind, text: text.into() });
    }

    /// The next batch, unless one is being measured.
    fn measure_next(&mut self) -> Option<Effect> {
        let idle = self.in_flight.is_none() && self.stopped.is_none() && !self.quitting;
        if !idle || self.world.recorded.is_some() {
            return None;
        }
        let order = schedule::next(&self.scene())?;
        self.in_flight = Some(order.clone());
        Some(Effect::Measure(order))
    }

    fn scene(&self) -> schedule::Scene {
        let cell = self.cell();
        let cursor = self.place().runnable();
        let mut baselines: Vec<Baseline> = match self.curve {
            Some(CurveOf::Size) => Baseline::PRESENT.to_vec(),
            _ => vec![Baseline::Libc, self.baseline],
        };
        baselines.dedup();
        let points = self.points();
        let order = schedule::scattered(points.len());
        let points = order.into_iter().map(|i| points[i]);
        let beside = Subject::Baseline(self.baseline);
        let at_cursor = cursor.and_then(|v| self.point(&cell, v, Some(&beside)));
        // What counts of the pin is how often it was measured beside the loop at the cursor.
        let pin = self.pin.zip(cursor).filter(|(pin, cursor)| pin != cursor);
        let pin = pin.and_then(|(pin, cursor)| {
            let together = self.point(&cell, cursor, Some(&Subject::Variant(pin)))?.layouts;
            let point = self.point(&cell, pin, None)?;
            Some(schedule::Point { layouts: point.layouts.min(together), ..point })
        });
        schedule::Scene {
            cursor: at_cursor,
            pin,
            points: points.filter_map(|(cell, v)| self.point(&cell, v, None)).collect(),
            curve: self.curve.is_some(),
            baselines,
            costs: self.world.ledger.costs(),
        }
    }

    /// A loop as the scheduler sees it; `None` for those that failed. What counts is how often
    /// it was measured, or measured beside another.
    fn point(
        &self,
        cell: &Cell,
        variant: Variant,
        beside: Option<&Subject>,
    ) -> Option<schedule::Point> {
        let subject = Subject::Variant(variant);
        let ledger = &self.world.ledger;
        let Some(entry) = ledger.entry(cell, &subject) else {
            return Some(schedule::Point {
                cell: *cell,
                variant,
                layouts: 0,
                fine: false,
                value: None,
            });
        };
        if entry.trouble.is_some() {
            return None;
        }
        // Who cannot run is nobody to wait for.
        let runs = |s: &&Subject| ledger.entry(cell, s).is_none_or(|e| e.trouble.is_none());
        let beside = beside.filter(runs).filter(|s| **s != subject);
        let layouts = match (beside, ledger.book(cell)) {
            (Some(other), Some(book)) => book.layouts_with(&subject, other).min(entry.layouts()),
            _ => entry.layouts(),
        };
        let value = entry.known.map(|k| face::value(&k));
        let fine = entry.known.is_some_and(|k| k.width() < band(cell));
        Some(schedule::Point { cell: *cell, variant, layouts, fine, value })
    }

    /// The loops that the map or the curve shows, those that can run here.
    fn points(&self) -> Vec<(Cell, Variant)> {
        match &self.curve {
            Some(of) => self.curve_points(of).into_iter().map(|p| (p.cell, p.variant)).collect(),
            None => {
                let cell = self.cell();
                let mut points = Vec::new();
                for variant in self.grid.places.iter().filter_map(Place::runnable) {
                    if !points.contains(&(cell, variant)) {
                        points.push((cell, variant));
                    }
                }
                points
            }
        }
    }

    fn cell(&self) -> Cell {
        let Question { op, size, state, drive } = self.question;
        // What has no source has no offset of it.
        let dst = Placement { dst: self.placement.dst, ..Placement::ALIGNED };
        let placement = if op.copies() { self.placement } else { dst };
        let conditions = Conditions { placement, ..Conditions::DEFAULT };
        Cell { conditions, ..Cell::new(op, size, state, drive) }
    }

    /// What is under the cursor.
    fn place(&self) -> &Place {
        self.grid.place(self.cursor)
    }

    /// The point under the cursor, or what the map is drawn around.
    fn variant(&self) -> Variant {
        self.place().variant().unwrap_or(self.base)
    }
}

/// The values and loops of a map.
fn grid(
    world: &World,
    base: &Variant,
    pin: Option<&Variant>,
    (x, y): (usize, usize),
    all: &[bool],
) -> Grid {
    let mut also = vec![*base];
    also.extend(pin.filter(|pin| pin.op == base.op));
    let axis = |i: usize| {
        let axis = &world.axes[i];
        (axis, shown(axis, all[i], &also))
    };
    Grid::new(base, axis(x), axis(y), world.usable.as_ref())
}

/// Where to begin: at the fastest recorded loop, else at the widest ordinary registers of this host.
fn first_loop(world: &World, question: &Question) -> Variant {
    let Question { op, size, state, drive } = *question;
    let cell = Cell::new(op, size, state, drive);
    let recorded = world.ledger.book(&cell).into_iter().flat_map(|book| book.entries());
    // A first look of a moment when the clock was fast is no finalist's time: ratios before
    // nanoseconds, and what was looked at more than once before all.
    let timed = recorded.filter_map(|(subject, entry)| match subject {
        Subject::Variant(v) => {
            let known = entry.known?;
            let (none, value) = known.relative.map_or((true, known.ns.0), |r| (false, r.0));
            Some((*v, (known.is_scant(), none), value))
        }
        _ => None,
    });
    if let Some((fastest, ..)) = timed.min_by(|a, b| a.1.cmp(&b.1).then(a.2.total_cmp(&b.2))) {
        return fastest;
    }
    let plain = |class: &Class| Variant { unroll: FIRST_UNROLL, ..Variant::new(op, *class) };
    let ordinary = |c: &&Class| c.is_vector() || **c == Class::R64;
    let loops = Class::ALL.iter().filter(ordinary).map(plain);
    let runs = loops.filter(|v| Place::of(*v, world.usable.as_ref()).runnable().is_some());
    runs.max_by_key(|v| v.class.width()).unwrap_or_else(|| Variant::new(op, Class::R64))
}
