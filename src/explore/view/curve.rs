//! One axis alone: the loop's times with their intervals, and the baselines.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::widgets::Widget;
use ratatui::widgets::canvas::{Canvas, Line};

use super::super::screen::{Curve, CurvePoint, Series};
use super::figures::significant;
use super::look::Look;
use super::scale::Scale;
use super::text::{cut, put, put_all, put_right, rule, width};

/// Points of the baselines, in their order; the loop's own are `●`.
const BASELINES: [&str; 4] = ["○", "+", "x", "◇"];

/// Lines of the plot between two ticks, in a low plot and in a high one.
const LINES_A_TICK: (u16, u16) = (2, 3);

/// Lines of a low plot.
const LOW: u16 = 12;

/// Where the points of a curve are.
struct Plot {
    /// The points' rectangle, without labels.
    inner: Rect,
    x: Scale,
    y: Scale,
    ticks: Vec<(f64, String)>,
}

impl Plot {
    /// The plot of a curve in `area`, whose first row is the rule; `None` without points or
    /// room.
    fn of(curve: &Curve, area: Rect) -> Option<Plot> {
        let points = || curve.series.iter().flat_map(|series| &series.points);
        let x = Scale::of(points().map(|point| point.x), curve.logarithmic)?;
        let y = Scale::upwards(points().flat_map(|point| [point.y.0, point.y.1, point.y.2]))?;
        // Rule and legend above; the axis, its labels and the cursor's figure below.
        let lines = area.height.checked_sub(5).filter(|lines| *lines >= 2)?;
        let apart = if lines <= LOW { LINES_A_TICK.0 } else { LINES_A_TICK.1 };
        let ticks = y.ticks(usize::from(lines / apart).max(2));
        let label = ticks.iter().map(|(_, text)| width(text)).max().unwrap_or(0).min(10);
        let columns = area.width.checked_sub(label + 2).filter(|columns| *columns >= 8)?;
        let inner = Rect { x: area.x + label + 2, y: area.y + 2, width: columns, height: lines };
        Some(Plot { inner, x, y, ticks })
    }

    /// Dots of the canvas, two in a column and four in a line, from the left and from below.
    fn dots(&self, x: f64, y: f64) -> (f64, f64) {
        // A column is left free at both ends.
        let columns = f64::from(self.inner.width.saturating_sub(2)) * 2.0 - 1.0;
        let lines = f64::from(self.inner.height) * 4.0 - 1.0;
        ((2.0 + self.x.place(x) * columns).round(), (self.y.place(y) * lines).round())
    }

    fn column(&self, x: f64) -> u16 {
        self.inner.x + (self.dots(x, 0.0).0 / 2.0) as u16
    }

    fn row(&self, y: f64) -> u16 {
        self.inner.bottom() - 1 - (self.dots(0.0, y).1 / 4.0) as u16
    }
}

/// The point of the first series that is nearest to a place of the screen.
pub(super) fn hit(curve: &Curve, area: Rect, column: u16, row: u16) -> Option<usize> {
    let plot = Plot::of(curve, area)?;
    if !plot.inner.contains((column, row).into()) {
        return None;
    }
    let own = curve.series.first()?.points.iter().enumerate();
    own.min_by_key(|(_, point)| {
        (plot.column(point.x).abs_diff(column), plot.row(point.y.0).abs_diff(row))
    })
    .map(|(index, _)| index)
}

/// Draws the curve.
pub(super) fn draw(curve: &Curve, area: Rect, buffer: &mut Buffer, look: Look) {
    rule(buffer, area, &curve.title, "", look);
    let Some(plot) = Plot::of(curve, area) else {
        put(buffer, area, (1, 2), &cut("no point has a time yet", area.width), look.muted());
        return;
    };
    legend(curve, area, buffer, look);
    axes(curve, &plot, area, buffer, look);
    lines(curve, &plot, buffer, look);
    let own = curve.series.first().map_or(&[][..], |series| &series.points);
    let at = curve.cursor.and_then(|cursor| own.get(cursor));
    if let Some(point) = at {
        cursor_line(plot.column(point.x), &plot, buffer, look);
    }
    for (index, series) in curve.series.iter().enumerate().skip(1) {
        for point in &series.points {
            let place = (plot.column(point.x), plot.row(point.y.0));
            buffer.set_stringn(place.0, place.1, glyph(index), 1, style(index, look));
        }
    }
    for point in own {
        interval(point, &plot, buffer, look);
    }
    for point in own {
        let here = at.is_some_and(|at| std::ptr::eq(at, point));
        let emphasis = if here { Modifier::BOLD | Modifier::REVERSED } else { Modifier::BOLD };
        let style = style(0, look).add_modifier(emphasis);
        buffer.set_stringn(plot.column(point.x), plot.row(point.y.0), "●", 1, style);
    }
    if let Some(point) = at {
        readout(curve, point, area, buffer, look);
    }
}

fn glyph(series: usize) -> &'static str {
    series.checked_sub(1).map_or("●", |index| BASELINES[index % BASELINES.len()])
}

fn style(series: usize, look: Look) -> Style {
    match series {
        0 => look.accent(),
        n if n % 3 == 1 => look.warn(),
        n if n % 3 == 2 => look.good(),
        _ => look.bad(),
    }
}

/// What runs upwards, and whose the lines are.
fn legend(curve: &Curve, area: Rect, buffer: &mut Buffer, look: Look) {
    let mut column = put(buffer, area, (0, 1), &curve.y, look.muted()) + 2;
    for (index, series) in curve.series.iter().enumerate() {
        let room = area.width.saturating_sub(column);
        if room < 6 {
            break;
        }
        let name = cut(&series.name, room.saturating_sub(2).min(24));
        let pieces = [
            (glyph(index), style(index, look).add_modifier(Modifier::BOLD)),
            (" ", Style::new()),
            (&name, Style::new()),
            ("  ", Style::new()),
        ];
        column = put_all(buffer, area, (column, 1), &pieces);
    }
}

/// The scales: round figures at the left, the values of the points below.
fn axes(curve: &Curve, plot: &Plot, area: Rect, buffer: &mut Buffer, look: Look) {
    let inner = plot.inner;
    for row in inner.y..inner.bottom() {
        buffer.set_stringn(inner.x - 1, row, "│", 1, look.muted());
    }
    let labels = Rect { width: inner.x - 1 - area.x, ..area };
    for (tick, text) in &plot.ticks {
        let row = plot.row(*tick);
        buffer.set_stringn(inner.x - 1, row, "┤", 1, look.muted());
        put_right(buffer, labels, row - area.y, text, Style::new());
    }
    let below = Rect { x: inner.x - 1, y: inner.bottom(), width: inner.width + 1, height: 2 };
    put(buffer, below, (0, 0), &format!("└{}", "─".repeat(usize::from(inner.width))), look.muted());

    let own = curve.series.first().map_or(&[][..], |series| &series.points);
    let cursor = curve.cursor.filter(|cursor| *cursor < own.len());
    // The cursor's label first, then both ends, then what has room between them.
    let ends = [0, own.len().saturating_sub(1)];
    let order = cursor.into_iter().chain(ends).chain(0..own.len());
    let mut taken: Vec<(u16, u16)> = Vec::new();
    let mut ticked = std::collections::BTreeSet::new();
    for index in order {
        let Some(point) = own.get(index) else { continue };
        let column = plot.column(point.x) - below.x;
        let wide = width(&point.label);
        let start = column.saturating_sub(wide / 2).min(below.width.saturating_sub(wide));
        let end = start + wide;
        if !ticked.insert(index) || taken.iter().any(|(s, e)| start <= *e && *s <= end) {
            continue;
        }
        taken.push((start, end));
        let here = cursor == Some(index);
        let style = if here { look.accent().add_modifier(Modifier::BOLD) } else { Style::new() };
        put(buffer, below, (column, 0), "┴", look.muted());
        put(buffer, below, (start, 1), &point.label, style);
    }
}

/// The lines through the points. The loop's own comes last, over the others.
fn lines(curve: &Curve, plot: &Plot, buffer: &mut Buffer, look: Look) {
    let (columns, lines) =
        (f64::from(plot.inner.width) * 2.0 - 1.0, f64::from(plot.inner.height) * 4.0 - 1.0);
    let color = |series: usize| style(series, look).fg.unwrap_or_default();
    Canvas::default()
        .marker(Marker::Braille)
        .x_bounds([0.0, columns])
        .y_bounds([0.0, lines])
        .paint(|context| {
            for (index, series) in curve.series.iter().enumerate().rev() {
                for pair in series.points.windows(2) {
                    let [a, b] = pair else { continue };
                    let (x1, y1) = plot.dots(a.x, a.y.0);
                    let (x2, y2) = plot.dots(b.x, b.y.0);
                    context.draw(&Line { x1, y1, x2, y2, color: color(index) });
                }
                if index > 0 {
                    spans(series, plot, |x1, y1, x2, y2| {
                        context.draw(&Line { x1, y1, x2, y2, color: color(index) });
                    });
                }
                context.layer();
            }
        })
        .render(plot.inner, buffer);
}

/// The intervals of a baseline, as lines.
fn spans(series: &Series, plot: &Plot, mut line: impl FnMut(f64, f64, f64, f64)) {
    for point in &series.points {
        let (x, low) = plot.dots(point.x, point.y.1);
        let (_, high) = plot.dots(point.x, point.y.2);
        line(x, low, x, high);
    }
}

/// The interval of one of the loop's own points.
fn interval(point: &CurvePoint, plot: &Plot, buffer: &mut Buffer, look: Look) {
    let column = plot.column(point.x);
    let (top, bottom) = (plot.row(point.y.2), plot.row(point.y.1));
    for row in top..=bottom {
        let bar = match row {
            row if row == top => "┬",
            row if row == bottom => "┴",
            _ => "│",
        };
        buffer.set_stringn(column, row, bar, 1, style(0, look));
    }
}

/// A line through the cursor's point, where nothing else is.
fn cursor_line(column: u16, plot: &Plot, buffer: &mut Buffer, look: Look) {
    for row in plot.inner.y..plot.inner.bottom() {
        let free = buffer
            .cell((column, row))
            .is_some_and(|cell| matches!(cell.symbol(), " " | "\u{2800}"));
        if free {
            buffer.set_stringn(column, row, "┊", 1, look.muted());
        }
    }
}

/// The figures at the cursor.
fn readout(curve: &Curve, point: &CurvePoint, area: Rect, buffer: &mut Buffer, look: Look) {
    let row = area.height - 1;
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let name = format!(" {} ", curve.x);
    let label = format!("{}: ", point.label);
    let (median, low, high) = point.y;
    let median = significant(median);
    let interval = format!(" [{}, {}]", significant(low), significant(high));
    let accent = look.accent().add_modifier(Modifier::BOLD);
    let pieces = [
        (name.as_str(), look.muted()),
        (&label, accent),
        (&median, bold),
        (&interval, Style::new()),
    ];
    let mut column = put_all(buffer, area, (0, row), &pieces);
    for (index, series) in curve.series.iter().enumerate().skip(1) {
        let Some(other) = series.points.iter().find(|other| other.x == point.x) else { continue };
        let text = format!("  {} {}", glyph(index), significant(other.y.0));
        if column + width(&text) > area.width {
            break;
        }
        column = put(buffer, area, (column, row), &text, style(index, look));
    }
}
