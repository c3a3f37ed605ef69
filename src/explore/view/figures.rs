//! The times of the loop under the cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::super::screen::{Figures, Histogram, Ratio};
use super::look::Look;
use super::text::{cut, put, put_all, put_right, rule, shorten, width, wrap};
use crate::units::human_ns;

/// Heights of a bar in a line: nothing to full.
const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Columns of the histogram at most.
const WIDEST: u16 = 64;

/// Columns of the names that a loop is compared to, at most.
const NAME_COLUMNS: u16 = 18;

/// Columns from which figures stand in sentences.
const ROOMY: u16 = 76;

/// Pieces of a line with their styles.
type Pieces = Vec<(String, Style)>;

/// Draws the times.
pub(super) fn draw(figures: &Figures, area: Rect, buffer: &mut Buffer, look: Look) {
    let samples = match figures.samples {
        0 => String::new(),
        1 => "1 sample".to_string(),
        n => format!("{n} samples"),
    };
    let id = shorten(&figures.id, area.width.saturating_sub(width(&samples) + 10));
    rule(buffer, area, &id, &samples, look);
    let inner = Rect {
        x: area.x + 1,
        y: area.y + 1,
        width: area.width.saturating_sub(1),
        height: area.height.saturating_sub(1),
    };
    let text = match &figures.histogram {
        Some(histogram) if figures.ns.is_some() => {
            let room = (area.width / 3).min(WIDEST);
            let used = histogram_columns(histogram, room);
            let place = Rect { width: used.min(room), ..inner };
            draw_histogram(histogram, figures.ns.map(|ns| ns.0), place, buffer, look);
            let gap = place.width + 2;
            Rect { x: inner.x + gap, width: inner.width.saturating_sub(gap), ..inner }
        }
        _ => inner,
    };
    let lines = lines(figures, text, look);
    for (row, line) in (0..text.height).zip(&lines) {
        let pieces: Vec<(&str, Style)> = line.iter().map(|(t, s)| (t.as_str(), *s)).collect();
        put_all(buffer, text, (0, row), &pieces);
    }
}

/// The figures in words, in as many lines as there are.
fn lines(figures: &Figures, area: Rect, look: Look) -> Vec<Pieces> {
    let note = figures.note.as_deref().unwrap_or_default();
    let Some(ns) = figures.ns else {
        let note = if note.is_empty() { "no time yet" } else { note };
        let lines = wrap(note, area.width).into_iter();
        return lines.map(|line| vec![(line, look.warn())]).collect();
    };
    let time = time(ns, area.width >= ROOMY, look);
    let rates = rates(figures, look);
    let mut compared = comparisons(figures, area.width, look);
    let fits = |pieces: &Pieces, more: &Pieces| {
        pieces.iter().chain(more).map(|(text, _)| width(text)).sum::<u16>() + 2 <= area.width
    };
    let notes = wrap(note, area.width);
    let lines_all = 2 + compared.len() + notes.len();
    let mut lines = Vec::new();
    if lines_all > usize::from(area.height) && fits(&time, &rates) {
        let gap = vec![("  ".to_string(), Style::new())];
        lines.push([time, gap, rates].concat());
    } else {
        lines.push(time);
        if !rates.is_empty() {
            lines.push(rates);
        }
    }
    let room = usize::from(area.height).saturating_sub(lines.len());
    // Where not all fits, the first line of a note is worth more than the last comparison.
    if compared.len() + usize::from(!notes.is_empty()) > room && !notes.is_empty() {
        compared.truncate(room.saturating_sub(1));
    }
    lines.extend(compared);
    let room = usize::from(area.height).saturating_sub(lines.len()).max(1);
    let whole = notes.len() <= room;
    for (index, line) in notes.into_iter().take(room).enumerate() {
        let ends = !whole && index + 1 == room;
        let line = if ends { cut(&format!("{line} …"), area.width) } else { line };
        lines.push(vec![(line, look.warn())]);
    }
    lines
}

/// `21.3 ns [21.2, 21.4]`, with more words where there is room for them.
fn time((median, low, high): (f64, f64, f64), roomy: bool, look: Look) -> Pieces {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let median = human_ns(median);
    let unit = median.split(' ').next_back().unwrap_or_default();
    let bound = |ns: f64| {
        let text = human_ns(ns);
        text.strip_suffix(unit).map_or(text.clone(), |number| number.trim_end().to_string())
    };
    if low >= high {
        // One sample, or all alike: no interval.
        let words = if roomy { " a call" } else { "" };
        return vec![(median, bold), (words.to_string(), look.muted())];
    }
    let interval = format!(" [{}, {}]", bound(low), bound(high));
    let mut pieces = vec![(median.clone(), bold), (interval, Style::new())];
    if roomy {
        pieces.insert(1, (" a call,".to_string(), look.muted()));
        pieces.push((" median and its 95 % interval".to_string(), look.muted()));
    }
    pieces
}

/// `63.4 B/cycle  99 % of the limit`
fn rates(figures: &Figures, look: Look) -> Pieces {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let mut pieces = Vec::new();
    if let Some(rate) = figures.bytes_per_cycle {
        pieces.push((significant(rate), bold));
        pieces.push((" B/cycle".to_string(), Style::new()));
    }
    if let Some(share) = figures.share_of_limit {
        let gap = if pieces.is_empty() { "" } else { "  " };
        pieces.push((format!("{gap}{:.0} %", share * 100.0), bold));
        pieces.push((" of limit".to_string(), look.muted()));
    }
    if let Some(clock) = figures.clock_ghz {
        pieces.extend(ghz(clock, !pieces.is_empty(), look));
    }
    pieces
}

/// Part of the clock by which its least and most must lie apart to be told.
const STEADY: f64 = 0.01;

/// `3.06 GHz`, and the range where it was not steady.
fn ghz((median, least, most): (f64, f64, f64), gap: bool, look: Look) -> Pieces {
    let gap = if gap { "  " } else { "" };
    let mut text = format!("{gap}{median:.2}");
    if most > least && most - least > STEADY * median {
        text.push_str(&format!(" [{least:.2}, {most:.2}]"));
    }
    vec![(text, Style::new()), (" GHz".to_string(), look.muted())]
}

/// A line for the baseline and one for the pin, their figures below each other.
fn comparisons(figures: &Figures, columns: u16, look: Look) -> Vec<Pieces> {
    let others = [("", figures.baseline.as_ref()), ("P ", figures.pin.as_ref())];
    let others = || others.iter().filter_map(|(mark, ratio)| Some((*mark, (*ratio)?)));
    let name = |mark: &str, ratio: &Ratio| width(&ratio.name) + width(mark);
    let names = others().map(|(mark, ratio)| name(mark, ratio)).max().unwrap_or(0);
    let roomy = columns >= ROOMY;
    let names = names.min(if roomy { 2 * NAME_COLUMNS } else { NAME_COLUMNS });
    others().map(|(mark, ratio)| comparison(mark, ratio, names, roomy, look)).collect()
}

/// `libc  1.10× [1.09, 1.11] faster`, with more words where there is room for them.
fn comparison(mark: &str, ratio: &Ratio, names: u16, roomy: bool, look: Look) -> Pieces {
    let bold = Modifier::BOLD;
    let verdict = match ratio.verdict.as_str() {
        "faster" => look.good().add_modifier(bold),
        "slower" => look.bad().add_modifier(bold),
        _ => look.muted().add_modifier(bold),
    };
    let name = shorten(&ratio.name, names.saturating_sub(width(mark)));
    let pad = usize::from(names.saturating_sub(width(mark) + width(&name)));
    let words = |text: &str| (if roomy { text } else { " " }.to_string(), look.muted());
    let interval = format!(" [{}, {}]", factor(ratio.ci.0), factor(ratio.ci.1));
    vec![
        (mark.trim_end().to_string(), Style::new().add_modifier(Modifier::UNDERLINED)),
        (mark.trim_start_matches('P').to_string(), Style::new()),
        (format!("{name}{:pad$}", ""), Style::new()),
        words(" takes "),
        (format!("{}×", factor(ratio.ratio)), Style::new().add_modifier(bold)),
        (interval, Style::new()),
        words(match ratio.verdict.as_str() {
            "faster" | "slower" => " as long; this loop is ",
            _ => " as long; ",
        }),
        (ratio.verdict.clone(), verdict),
    ]
}

/// A ratio: per mille around 1, fewer digits far from it.
fn factor(ratio: f64) -> String {
    match ratio {
        r if r < 2.0 => format!("{r:.3}"),
        r if r < 100.0 => format!("{r:.2}"),
        r => format!("{r:.0}"),
    }
}

/// Three significant digits.
pub(super) fn significant(value: f64) -> String {
    match value.abs() {
        v if v < 10.0 => format!("{value:.2}"),
        v if v < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Bars over a line that says where they begin and end.
fn draw_histogram(
    histogram: &Histogram,
    median: Option<f64>,
    area: Rect,
    buffer: &mut Buffer,
    look: Look,
) {
    let Some(lines) = area.height.checked_sub(1).filter(|lines| *lines > 0) else { return };
    let bars = bars(&histogram.bins, area.width);
    let highest = bars.iter().copied().max().unwrap_or(0).max(1);
    let (low, high) = histogram.range;
    let at = median.map(|ns| (ns - low) / (high - low)).filter(|at| (0.0..=1.0).contains(at));
    let last = (bars.len() as u16).saturating_sub(1);
    let at = at.map(|at| ((at * bars.len() as f64) as u16).min(last));
    for (column, bar) in (0..).zip(&bars) {
        // What was seen at least once is seen here.
        let eighths = (*bar * u64::from(lines) * 8).div_ceil(highest) as u16;
        let style = if at == Some(column) {
            look.warn().add_modifier(Modifier::BOLD)
        } else {
            look.accent()
        };
        for line in 0..lines {
            let level = eighths.saturating_sub(8 * (lines - 1 - line)).min(8);
            put(buffer, area, (column, line), EIGHTHS[usize::from(level)], style);
        }
    }
    let begin = human_ns(low);
    let end = upper_end(histogram);
    let row = area.height - 1;
    let foot = Rect { width: (bars.len() as u16).max(width(&begin) + width(&end) + 1), ..area };
    let foot = foot.intersection(area);
    put(buffer, area, (0, row), &begin, look.muted());
    put_right(buffer, foot, row, &end, look.muted());
    let free = width(&begin)..foot.width.saturating_sub(width(&end));
    if let Some(column) = at.filter(|column| free.contains(column)) {
        put(buffer, area, (column, row), "▲", look.warn());
    }
}

/// Columns that a histogram needs of so many.
fn histogram_columns(histogram: &Histogram, room: u16) -> u16 {
    let bars = bars(&histogram.bins, room).len() as u16;
    let foot = width(&human_ns(histogram.range.0)) + width(&upper_end(histogram)) + 3;
    bars.max(foot)
}

/// The end of the last bin, and what lies beyond.
fn upper_end(histogram: &Histogram) -> String {
    let high = human_ns(histogram.range.1);
    match histogram.above {
        0 => high,
        above => format!("{high} +{above}"),
    }
}

/// The bins in as many bars as there are columns: whole bins together, or each in several.
fn bars(bins: &[u32], columns: u16) -> Vec<u64> {
    let columns = usize::from(columns.max(1));
    if bins.len() > columns {
        let group = bins.len().div_ceil(columns);
        return bins.chunks(group).map(|bins| bins.iter().copied().map(u64::from).sum()).collect();
    }
    let repeat = columns / bins.len().max(1);
    bins.iter().flat_map(|bin| std::iter::repeat_n(u64::from(*bin), repeat)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_shares_the_unit_of_its_median() {
        let text = |ns| {
            time(ns, false, Look::default()).into_iter().map(|(text, _)| text).collect::<String>()
        };
        assert_eq!(text((21.31, 21.2, 21.42)), "21.3 ns [21.2, 21.4]");
        assert_eq!(text((999.0, 990.0, 1010.0)), "999 ns [990, 1.01 µs]");
    }

    #[test]
    fn no_sample_is_lost_in_the_bars() {
        for columns in 1..40 {
            let bins: Vec<u32> = (0..24).collect();
            let bars = bars(&bins, columns);
            assert!(bars.len() <= usize::from(columns));
            if usize::from(columns) < bins.len() {
                assert_eq!(bars.iter().sum::<u64>(), u64::from(bins.iter().sum::<u32>()));
            }
        }
        assert!(bars(&[], 10).is_empty());
    }
}
