//! A drawn screen as a picture, for pages that cannot run a terminal.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::ramp::rgb;

/// Width and height of a character, and the distance from its top to its baseline, pixels.
/// Ratio and place are those of common monospace fonts at [`FONT_SIZE`].
const CELL: (f64, f64) = (8.4, 18.0);
const BASELINE: f64 = 13.5;
const FONT_SIZE: f64 = 14.0;

/// Free pixels around the screen, and the height of the bar with the title.
const MARGIN: f64 = 12.0;
const BAR: f64 = 30.0;

/// Text and background where the terminal's own are meant.
const INK: (u8, u8, u8) = (216, 219, 226);
const PAPER: (u8, u8, u8) = (22, 24, 29);

/// How a run of cells looks.
#[derive(Clone, Copy, PartialEq)]
struct Face {
    ink: (u8, u8, u8),
    paper: (u8, u8, u8),
    modifier: Modifier,
}

impl Face {
    fn of(cell: &Cell) -> Face {
        let named = |color: Color, own: (u8, u8, u8)| rgb(color).unwrap_or(own);
        let (mut ink, mut paper) = (named(cell.fg, INK), named(cell.bg, PAPER));
        if cell.modifier.contains(Modifier::REVERSED) {
            std::mem::swap(&mut ink, &mut paper);
        }
        if cell.modifier.contains(Modifier::DIM) {
            let mix = |a: u8, b: u8| ((u16::from(a) * 3 + u16::from(b) * 2) / 5) as u8;
            ink = (mix(ink.0, paper.0), mix(ink.1, paper.1), mix(ink.2, paper.2));
        }
        Face { ink, paper, modifier: cell.modifier }
    }
}

/// A buffer as a self-contained SVG picture on a dark ground, with a title above it. Blocks,
/// braille and lines are shapes, so that they meet whatever font the reader has.
pub fn svg(buffer: &Buffer, title: &str) -> String {
    let area = buffer.area();
    let (width, height) = (
        f64::from(area.width) * CELL.0 + 2.0 * MARGIN,
        f64::from(area.height) * CELL.1 + MARGIN + BAR,
    );
    let mut out = String::new();
    let title = escape(title);
    put(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.1} {height:.1}\" role=\"img\" aria-label=\"{title}\">\n\
             <title>{title}</title>\n\
             <style>text{{font:{FONT_SIZE}px ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,\
             monospace;white-space:pre}}</style>\n\
             <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n\
             <text x=\"{:.1}\" y=\"20\" text-anchor=\"middle\" fill=\"#9aa0ab\">{title}</text>\n",
            hex(PAPER),
            width / 2.0,
        ),
    );
    for row in 0..area.height {
        let top = BAR + f64::from(row) * CELL.1;
        let cells: Vec<&Cell> = (0..area.width)
            .filter_map(|column| buffer.cell((area.x + column, area.y + row)))
            .collect();
        let faces: Vec<Face> = cells.iter().map(|cell| Face::of(cell)).collect();
        papers(&faces, top, &mut out);
        shapes(&cells, &faces, top, &mut out);
        texts(&cells, &faces, top, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

/// Writing to a string cannot fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

fn hex((r, g, b): (u8, u8, u8)) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn left(column: usize) -> f64 {
    MARGIN + column as f64 * CELL.0
}

/// Runs of things that are alike: the first index and the number of each.
fn runs<T>(things: &[T], alike: impl Fn(&T, &T) -> bool) -> Vec<(usize, usize)> {
    let mut first = 0;
    let mut runs = Vec::new();
    for run in things.chunk_by(alike) {
        runs.push((first, run.len()));
        first += run.len();
    }
    runs
}

fn papers(faces: &[Face], top: f64, out: &mut String) {
    for (first, count) in runs(faces, |a, b| a.paper == b.paper) {
        let paper = faces[first].paper;
        if paper != PAPER {
            rect(out, (left(first), top), (count as f64 * CELL.0, CELL.1), paper);
        }
    }
}

fn rect(out: &mut String, (x, y): (f64, f64), (width, height): (f64, f64), fill: (u8, u8, u8)) {
    put(
        out,
        format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.2}\" width=\"{width:.1}\" height=\"{height:.2}\" \
             fill=\"{}\" shape-rendering=\"crispEdges\"/>\n",
            hex(fill)
        ),
    );
}

/// Text, a run of one face at a time; blanks and shapes part the runs.
fn texts(cells: &[&Cell], faces: &[Face], top: f64, out: &mut String) {
    let spelled: Vec<(Face, bool)> = cells
        .iter()
        .zip(faces)
        .map(|(cell, face)| (*face, drawn_as_shape(cell.symbol())))
        .collect();
    let alike = |a: &(Face, bool), b: &(Face, bool)| {
        a.1 == b.1 && a.0.ink == b.0.ink && a.0.modifier == b.0.modifier
    };
    for (first, count) in runs(&spelled, alike) {
        let (face, shape) = spelled[first];
        if shape {
            continue;
        }
        let text: String = cells[first..first + count].iter().map(|cell| cell.symbol()).collect();
        let underlined = face.modifier.contains(Modifier::UNDERLINED);
        if text.trim().is_empty() && !underlined {
            continue;
        }
        let trimmed = if underlined { text.as_str() } else { text.trim_end() };
        let lead = trimmed.chars().take_while(|c| *c == ' ' && !underlined).count();
        let trimmed = &trimmed[lead..];
        let length = trimmed.chars().count() as f64 * CELL.0;
        let weight =
            if face.modifier.contains(Modifier::BOLD) { " font-weight=\"700\"" } else { "" };
        let slant =
            if face.modifier.contains(Modifier::ITALIC) { " font-style=\"italic\"" } else { "" };
        let line = if underlined { " text-decoration=\"underline\"" } else { "" };
        put(
            out,
            format_args!(
                "<text x=\"{:.1}\" y=\"{:.1}\" textLength=\"{length:.1}\" \
                 lengthAdjust=\"spacingAndGlyphs\" fill=\"{}\"{weight}{slant}{line}>{}</text>\n",
                left(first + lead),
                top + BASELINE,
                hex(face.ink),
                escape(trimmed)
            ),
        );
    }
}

fn drawn_as_shape(symbol: &str) -> bool {
    symbol
        .chars()
        .next()
        .is_some_and(|c| matches!(c, '▁'..='█' | '\u{2800}'..='\u{28ff}') || arms(c).is_some())
}

/// Which ways the arms of a line character go: left, right, up, down.
fn arms(c: char) -> Option<(bool, bool, bool, bool)> {
    Some(match c {
        '─' | '═' | '╌' => (true, true, false, false),
        '│' | '┃' | '┊' => (false, false, true, true),
        '┌' | '╭' => (false, true, false, true),
        '┐' | '╮' => (true, false, false, true),
        '└' | '╰' => (false, true, true, false),
        '┘' | '╯' => (true, false, true, false),
        '├' => (false, true, true, true),
        '┤' => (true, false, true, true),
        '┬' => (true, true, false, true),
        '┴' => (true, true, true, false),
        '┼' | '╪' => (true, true, true, true),
        _ => return None,
    })
}

fn shapes(cells: &[&Cell], faces: &[Face], top: f64, out: &mut String) {
    let runs =
        runs(cells, |a, b| a.symbol() == b.symbol() && a.fg == b.fg && a.modifier == b.modifier);
    for (first, count) in runs {
        let Some(c) = cells[first].symbol().chars().next() else { continue };
        let ink = faces[first].ink;
        match c {
            '▁'..='█' => {
                let eighths = f64::from(u32::from(c) - u32::from('▁') + 1);
                let height = CELL.1 * eighths / 8.0;
                let size = (count as f64 * CELL.0, height);
                rect(out, (left(first), top + CELL.1 - height), size, ink);
            }
            '\u{2800}'..='\u{28ff}' => {
                for column in first..first + count {
                    braille(c, (left(column), top), ink, out);
                }
            }
            _ => {
                if let Some(arms) = arms(c) {
                    line(c, arms, (first, count), top, ink, out);
                }
            }
        }
    }
}

/// The dots of a braille character.
fn braille(c: char, (x, y): (f64, f64), ink: (u8, u8, u8), out: &mut String) {
    /// Bit of each dot, by line and column.
    const BITS: [[u32; 2]; 4] = [[0, 3], [1, 4], [2, 5], [6, 7]];
    let pattern = u32::from(c) - 0x2800;
    for (line, bits) in BITS.iter().enumerate() {
        for (column, bit) in bits.iter().enumerate() {
            if pattern >> bit & 1 == 1 {
                put(
                    out,
                    format_args!(
                        "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.2\" fill=\"{}\"/>\n",
                        x + CELL.0 * (0.25 + 0.5 * column as f64),
                        y + CELL.1 * (0.125 + 0.25 * line as f64),
                        hex(ink)
                    ),
                );
            }
        }
    }
}

/// A run of one line character.
fn line(
    c: char,
    (to_left, to_right, up, down): (bool, bool, bool, bool),
    (first, count): (usize, usize),
    top: f64,
    ink: (u8, u8, u8),
    out: &mut String,
) {
    let middle = top + CELL.1 / 2.0;
    let mut path = String::new();
    let horizontal = |y: f64, path: &mut String| {
        // A run is one line; the ends go as far as their arms.
        let begin = left(first) + if to_left { 0.0 } else { CELL.0 / 2.0 };
        let end = left(first + count) - if to_right { 0.0 } else { CELL.0 / 2.0 };
        put(path, format_args!("M{begin:.1} {y:.1}H{end:.1}"));
    };
    if to_left || to_right {
        if matches!(c, '═' | '╪') {
            horizontal(middle - 1.5, &mut path);
            horizontal(middle + 1.5, &mut path);
        } else {
            horizontal(middle, &mut path);
        }
    }
    if up || down {
        let (begin, end) =
            (if up { top } else { middle }, if down { top + CELL.1 } else { middle });
        for column in first..first + count {
            let x = left(column) + CELL.0 / 2.0;
            put(&mut path, format_args!("M{x:.1} {begin:.1}V{end:.1}"));
        }
    }
    let width = if c == '┃' { 2.6 } else { 1.1 };
    let dashes = match c {
        '╌' => " stroke-dasharray=\"2.4 1.8\"",
        '┊' => " stroke-dasharray=\"2 2.5\"",
        _ => "",
    };
    put(
        out,
        format_args!(
            "<path d=\"{path}\" stroke=\"{}\" stroke-width=\"{width}\" fill=\"none\"{dashes}/>\n",
            hex(ink)
        ),
    );
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn colours_text_and_shapes_are_in_the_picture() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 2));
        buffer.set_string(0, 0, "a<b & c", Style::new().fg(Color::Rgb(1, 2, 3)));
        buffer.set_string(0, 1, "▄█─│⣿", Style::new().bg(Color::Rgb(9, 8, 7)));
        let picture = svg(&buffer, "a \"title\"");
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
        assert!(picture.contains(">a&lt;b &amp; c</text>"), "{picture}");
        assert!(picture.contains("fill=\"#010203\"") && picture.contains("fill=\"#090807\""));
        assert!(picture.contains("a &quot;title&quot;"));
        assert_eq!(picture.matches("<circle").count(), 8, "{picture}");
        assert_eq!(picture.matches("<path").count(), 2, "{picture}");
        // nothing is fetched from anywhere
        assert_eq!(picture.matches("http").count(), 1, "{picture}");
    }
}
