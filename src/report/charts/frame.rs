//! The frame of a chart: axes with few ticks, titles with units, and a canvas in the units
//! of the data.

use plotters::coord::types::RangedCoordf64;
use plotters::coord::{Shift, cartesian::Cartesian2d};
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, IntoFont, ShapeStyle, TextStyle};

use super::theme::{Ink, themed};

/// Drawing units a pixel: the library draws at whole units, and curves want finer steps.
const FINE: i32 = 4;

/// Letters, in pixels.
pub(super) const LETTERS: i32 = 12;

/// One side of the frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Scale {
    /// Value at the left or at the bottom.
    pub(super) from: f64,
    /// Value at the right or at the top.
    pub(super) to: f64,
    /// Where words stand, and which.
    pub(super) ticks: Vec<(f64, String)>,
    /// What is measured, with its unit.
    pub(super) title: String,
}

/// Sizes in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) left: i32,
    pub(super) right: i32,
    pub(super) top: i32,
    pub(super) bottom: i32,
}

impl Default for Frame {
    /// Small, so that two stand abreast on a screen and one fills a telephone.
    fn default() -> Frame {
        Frame { width: 480, height: 270, left: 50, right: 14, top: 26, bottom: 44 }
    }
}

/// Which words of an axis are drawn, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grid {
    /// Words, and lines behind the data.
    Lines,
    /// Words only.
    Plain,
}

/// Where a word stands beside its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Left,
    Middle,
    Right,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A canvas in the units of the data.
pub(super) struct Canvas<'a> {
    area: Area<'a>,
    data: DrawingArea<SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>,
    frame: Frame,
}

/// Draws a chart. `title` is what it shows, for those who do not see it.
pub(super) fn draw(
    title: &str,
    frame: Frame,
    (x, y): (&Scale, &Scale),
    (x_grid, y_grid): (Grid, Grid),
    paint: impl FnOnce(&Canvas<'_>),
) -> String {
    let letters = y.ticks.iter().map(|(_, word)| word.chars().count() as i32).max().unwrap_or(0);
    // Words of the axis stand beside its title, not on it.
    let frame = Frame { left: frame.left.max(28 + letters * LETTERS * 3 / 5), ..frame };
    let mut svg = String::new();
    {
        let size = ((frame.width * FINE) as u32, (frame.height * FINE) as u32);
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let (left, right) = (frame.left * FINE, (frame.width - frame.right) * FINE);
        let (top, bottom) = (frame.top * FINE, (frame.height - frame.bottom) * FINE);
        let coordinates = Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(
            x.from..x.to,
            y.from..y.to,
            (left..right, bottom..top),
        );
        let data = area.apply_coord_spec(coordinates);
        let canvas = Canvas { area, data, frame };
        canvas.axes(x, y, x_grid, y_grid);
        paint(&canvas);
        canvas.done();
    }
    finish(title, frame, &svg)
}

/// Replaces the library's opening tag by one that scales and has a name.
fn finish(title: &str, frame: Frame, svg: &str) -> String {
    let inner = svg.split_once('>').map_or("", |(_, inner)| inner);
    let name = escaped(title);
    let (width, height) = (frame.width * FINE, frame.height * FINE);
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{name}\" \
         style=\"max-width:{}px\">\n<title>{name}</title>{}",
        frame.width * 3 / 2,
        themed(inner)
    )
}

pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// The backend writes to a string, which cannot fail.
fn drawn<E>(result: Result<(), E>) {
    debug_assert!(result.is_ok());
}

impl Canvas<'_> {
    fn done(&self) {
        drawn(self.area.present());
    }

    /// The place of a value, in drawing units.
    fn place(&self, x: f64, y: f64) -> (i32, i32) {
        self.data.map_coordinate(&(x, y))
    }

    fn axes(&self, x: &Scale, y: &Scale, x_grid: Grid, y_grid: Grid) {
        let frame = self.frame;
        let (left, right) = (frame.left, frame.width - frame.right);
        let (top, bottom) = (frame.top, frame.height - frame.bottom);
        for (value, word) in &y.ticks {
            let at = self.place(x.from, *value).1;
            if y_grid == Grid::Lines {
                self.stroke(&[(left * FINE, at), (right * FINE, at)], Ink::Grid, 1.0, 1.0);
            }
            let middle = at + LETTERS * FINE * 3 / 8;
            self.letters(word, ((left - 6) * FINE, middle), At::Right, Ink::Muted, LETTERS, false);
        }
        for (value, word) in &x.ticks {
            let at = self.place(*value, y.from).0;
            if x_grid == Grid::Lines {
                self.stroke(&[(at, top * FINE), (at, bottom * FINE)], Ink::Grid, 1.0, 1.0);
            }
            let below = (bottom + LETTERS + 4) * FINE;
            self.letters(word, (at, below), At::Middle, Ink::Muted, LETTERS, false);
        }
        let under = ((left + right) * FINE / 2, (frame.height - 8) * FINE);
        self.letters(&x.title, under, At::Middle, Ink::Text, LETTERS, false);
        let beside = ((LETTERS + 1) * FINE, (top + bottom) * FINE / 2);
        self.letters(&y.title, beside, At::Middle, Ink::Text, LETTERS, true);
    }

    /// A line through values, its width in pixels.
    pub(super) fn line(&self, points: &[(f64, f64)], ink: Ink, width: f64) {
        let points: Vec<(i32, i32)> = points.iter().map(|(x, y)| self.place(*x, *y)).collect();
        self.stroke(&points, ink, width, 1.0);
    }

    fn stroke(&self, points: &[(i32, i32)], ink: Ink, width: f64, strength: f64) {
        let style = ShapeStyle {
            color: ink.colour().mix(strength),
            filled: false,
            stroke_width: (width * f64::from(FINE)).round() as u32,
        };
        drawn(self.area.draw(&PathElement::new(points.to_vec(), style)));
    }

    /// The area between a lower and an upper bound, each as (x, low, high).
    pub(super) fn ribbon(&self, bounds: &[(f64, f64, f64)], ink: Ink) {
        let lower = bounds.iter().map(|(x, low, _)| self.place(*x, *low));
        let upper = bounds.iter().rev().map(|(x, _, high)| self.place(*x, *high));
        let around: Vec<(i32, i32)> = lower.chain(upper).collect();
        let style = ink.colour().mix(0.2).filled();
        drawn(self.area.draw(&Polygon::new(around, style)));
    }

    /// A filled rectangle between two corners, less a margin in pixels.
    pub(super) fn fill(&self, from: (f64, f64), to: (f64, f64), margin: f64, ink: Ink) {
        let (a, b) = (self.place(from.0, from.1), self.place(to.0, to.1));
        let m = (margin * f64::from(FINE)).round() as i32;
        let corners = [(a.0.min(b.0) + m, a.1.min(b.1) + m), (a.0.max(b.0) - m, a.1.max(b.1) - m)];
        drawn(self.area.draw(&Rectangle::new(corners, ink.colour().filled())));
    }

    /// The outline of a rectangle between two corners.
    pub(super) fn outline(&self, from: (f64, f64), to: (f64, f64), ink: Ink, width: f64) {
        let (a, b) = (self.place(from.0, from.1), self.place(to.0, to.1));
        let around = [a, (b.0, a.1), b, (a.0, b.1), a];
        self.stroke(&around, ink, width, 1.0);
    }

    /// A mark whose shape goes with the series, so that it is told without colour.
    pub(super) fn mark(&self, x: f64, y: f64, series: usize, radius: f64) {
        self.shape(self.place(x, y), series, radius);
    }

    fn shape(&self, (x, y): (i32, i32), series: usize, radius: f64) {
        let style = Ink::Series(series).colour().filled();
        let r = (radius * f64::from(FINE)).round() as i32;
        match series % 4 {
            0 => drawn(self.area.draw(&Circle::new((x, y), r, style))),
            1 => drawn(self.area.draw(&Rectangle::new([(x - r, y - r), (x + r, y + r)], style))),
            2 => {
                let triangle =
                    vec![(x, y - r - r / 3), (x + r + r / 6, y + r), (x - r - r / 6, y + r)];
                drawn(self.area.draw(&Polygon::new(triangle, style)));
            }
            _ => {
                let far = r + r / 3;
                let diamond = vec![(x, y - far), (x + far, y), (x, y + far), (x - far, y)];
                drawn(self.area.draw(&Polygon::new(diamond, style)));
            }
        }
    }

    /// Words at a value, moved by some pixels.
    pub(super) fn words(
        &self,
        text: &str,
        (x, y): (f64, f64),
        (dx, dy): (i32, i32),
        at: At,
        ink: Ink,
    ) {
        let (px, py) = self.place(x, y);
        self.letters(text, (px + dx * FINE, py + dy * FINE), at, ink, LETTERS, false);
    }

    /// Words at a place of the frame, in pixels.
    pub(super) fn note(&self, text: &str, (x, y): (i32, i32), at: At, ink: Ink) {
        self.letters(text, (x * FINE, y * FINE), at, ink, LETTERS, false);
    }

    /// Names of the series with their marks, in a row at the top.
    pub(super) fn key(&self, names: &[&str]) {
        let mut x = self.frame.left + 4;
        for (series, name) in names.iter().enumerate() {
            self.shape((x * FINE, 12 * FINE), series, 4.0);
            self.note(name, (x + 9, 16), At::Left, Ink::Text);
            // Letters are a little over half as wide as high.
            x += 9 + name.chars().count() as i32 * LETTERS * 3 / 5 + 16;
        }
    }

    fn letters(&self, text: &str, place: (i32, i32), at: At, ink: Ink, size: i32, upright: bool) {
        if text.is_empty() {
            return;
        }
        let h = match at {
            At::Left => HPos::Left,
            At::Middle => HPos::Center,
            At::Right => HPos::Right,
        };
        // The backend shifts words up by half a letter for this anchor; here a place is
        // the line that words stand on.
        let place = match upright {
            true => (place.0, place.1),
            false => (place.0, place.1 - size * FINE / 4),
        };
        // The backend makes letters smaller by this.
        let size = f64::from(size * FINE) * 1.24;
        let font = ("sans-serif", size).into_font();
        let font = if upright { font.transform(FontTransform::Rotate270) } else { font };
        let anchor = Pos::new(h, VPos::Center);
        let colour = ink.colour();
        let style = TextStyle::from(font).color(&colour).pos(anchor);
        drawn(self.area.draw_text(text, &style, place));
    }
}

/// Up to about `most` round numbers between 0 (or `from`) and `to`.
pub(super) fn round_ticks(from: f64, to: f64, most: usize) -> Vec<f64> {
    let span = to - from;
    if !(span.is_finite() && span > 0.0) {
        return Vec::new();
    }
    let rough = span / most.max(1) as f64;
    let unit = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * unit).into_iter().find(|s| *s >= rough * 0.999);
    let step = step.unwrap_or(unit * 10.0);
    let first = (from / step).ceil() as i64;
    let last = (to / step * (1.0 + 1e-9)).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

/// A number as few digits as its neighbours need.
pub(super) fn tick_word(value: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}")
}

/// A scale from 0 (or a little below the least) to a little above the most.
pub(super) fn linear(title: &str, from: f64, to: f64, most: usize) -> Scale {
    let ticks = round_ticks(from, to, most);
    let step = ticks.windows(2).next().map_or(1.0, |w| w[1] - w[0]);
    let ticks = ticks.into_iter().map(|v| (v, tick_word(v, step))).collect();
    Scale { from, to, ticks, title: title.into() }
}

/// Every how many of `count` words there is room for: a word of `letters` in `pixels`.
pub(super) fn every(count: usize, letters: usize, pixels: i32) -> usize {
    let room = pixels as f64 / (letters.max(1) as f64 * f64::from(LETTERS) * 0.6 + 5.0);
    [1, 2, 4, 8, 16, 32, 64].into_iter().find(|e| count as f64 / *e as f64 <= room).unwrap_or(128)
}
