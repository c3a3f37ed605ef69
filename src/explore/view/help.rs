//! Keys and what they do.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::layout::middle;
use super::look::Look;
use super::overlay::frame;
use super::text::{cut, put, put_right, width, wrap};

/// Columns between two columns of help.
const GAP: u16 = 3;

/// Columns between a key and what it does.
const KEY_GAP: u16 = 2;

/// Columns of help beside each other, at most.
const MOST: usize = 3;

/// A name, and (keys, what they do).
type Group = (String, Vec<(String, String)>);

/// Groups of keys.
type Groups = [Group];

/// A line of help.
#[derive(Clone, Debug, PartialEq)]
enum Line {
    Gap,
    Group(String),
    /// Keys, empty where the line goes on with the one before, the columns of the group's
    /// keys, and what they do.
    Key(String, u16, String),
}

/// A column of help.
#[derive(Clone, Debug, PartialEq)]
struct Column {
    width: u16,
    lines: Vec<Line>,
}

/// Draws help over the middle of `area`.
pub(super) fn draw(groups: &Groups, area: Rect, buffer: &mut Buffer, look: Look) {
    let room = (area.width.saturating_sub(4), area.height.saturating_sub(2));
    let columns = arrange(groups, room);
    let wide = columns.iter().map(|column| column.width + GAP).sum::<u16>();
    let tall = columns.iter().map(|column| column.lines.len()).max().unwrap_or(0) as u16;
    let outer = middle(area, wide.saturating_sub(GAP) + 4, tall.saturating_add(2));
    let inner = frame(outer, "keys", buffer, look);
    let mut x = inner.x;
    for column in &columns {
        let place = Rect { x, width: column.width, ..inner }.intersection(inner);
        draw_column(column, place, buffer, look);
        x = x.saturating_add(column.width + GAP);
    }
}

/// The fewest columns in which everything stands in full; else those in which every key
/// stands, what it does broken into lines as far as there is room, and cut beyond.
fn arrange(groups: &Groups, (width, height): (u16, u16)) -> Vec<Column> {
    let fits = |columns: &[Column]| columns.iter().all(|c| c.lines.len() <= usize::from(height));
    let most = groups.len().clamp(1, MOST);
    for gaps in [true, false] {
        for count in 1..=most {
            let columns = columns(groups, count, gaps, None, &[]);
            let used: u16 = columns.iter().map(|column| column.width + GAP).sum();
            if used <= width + GAP && fits(&columns) {
                return columns;
            }
        }
    }
    let mut best = columns(groups, 1, false, Some(width), &[]);
    for count in 2..=most {
        let each = (width + GAP) / count as u16;
        let tried = columns(groups, count, false, Some(each.saturating_sub(GAP)), &[]);
        let tall = |columns: &[Column]| columns.iter().map(|c| c.lines.len()).max();
        if !fits(&best) && tall(&tried) < tall(&best) {
            best = tried;
        }
    }
    // What loses most by a cut is broken first.
    let each = ((width + GAP) / best.len() as u16).saturating_sub(GAP);
    let count = best.len();
    let texts = groups.iter().flat_map(|(_, keys)| keys).map(|(key, about)| width_of(key, about));
    let mut longest: Vec<(usize, u16)> = texts.enumerate().collect();
    longest.retain(|(_, wide)| *wide > each);
    longest.sort_by_key(|(_, wide)| std::cmp::Reverse(*wide));
    longest.truncate(usize::from(height) * count);
    let mut broken = Vec::new();
    for (key, _) in longest {
        broken.push(key);
        let tried = columns(groups, count, false, Some(each), &broken);
        if fits(&tried) && tried.len() == count {
            best = tried;
        } else {
            broken.pop();
        }
    }
    best
}

fn width_of(key: &str, about: &str) -> u16 {
    width(key) + KEY_GAP + width(about)
}

/// The groups in at most so many columns of about the same height, none of them divided; in
/// columns of a given width or of that they need. `broken` are the keys (by their number)
/// whose text goes over several lines.
fn columns(
    groups: &Groups,
    count: usize,
    gaps: bool,
    width: Option<u16>,
    broken: &[usize],
) -> Vec<Column> {
    let gap = usize::from(gaps);
    let total: usize = groups.iter().map(|(_, keys)| keys.len() + 1 + gap).sum();
    let target = total.div_ceil(count.max(1));
    let mut parts: Vec<Vec<(usize, &Group)>> = vec![Vec::new()];
    let (mut height, mut number) = (0, 0);
    for group in groups {
        let own = group.1.len() + 1 + gap;
        if height > 0 && parts.len() < count && height + own / 2 >= target {
            parts.push(Vec::new());
            height = 0;
        }
        if let Some(part) = parts.last_mut() {
            part.push((number, group));
        }
        (height, number) = (height + own, number + group.1.len());
    }
    parts.into_iter().map(|part| column(&part, gaps, width, broken)).collect()
}

fn column(
    groups: &[(usize, &Group)],
    gaps: bool,
    columns: Option<u16>,
    broken: &[usize],
) -> Column {
    let widest =
        |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| width(text)).max().unwrap_or(0);
    // Keys stand below each other in a group; a group of short ones leaves more for the text.
    let keys_of = |keys: &[(String, String)]| widest(&mut keys.iter().map(|(key, _)| key));
    let natural = groups.iter().map(|(_, (name, keys))| {
        let about = widest(&mut keys.iter().map(|(_, about)| about));
        (keys_of(keys) + KEY_GAP + about).max(width(name))
    });
    let column = columns.unwrap_or_else(|| natural.max().unwrap_or(0));
    let mut lines = Vec::new();
    for (first, (name, keys)) in groups {
        if gaps && !lines.is_empty() {
            lines.push(Line::Gap);
        }
        lines.push(Line::Group(name.clone()));
        let key_width = keys_of(keys);
        let room = column.saturating_sub(key_width + KEY_GAP);
        for (number, (key, text)) in (*first..).zip(keys) {
            if broken.contains(&number) {
                let keys = std::iter::once(key.clone()).chain(std::iter::repeat(String::new()));
                let texts = wrap(text, room);
                lines.extend(keys.zip(texts).map(|(key, text)| Line::Key(key, key_width, text)));
            } else {
                lines.push(Line::Key(key.clone(), key_width, cut(text, room)));
            }
        }
    }
    Column { width: column, lines }
}

fn draw_column(column: &Column, area: Rect, buffer: &mut Buffer, look: Look) {
    let key_style = look.accent().add_modifier(Modifier::BOLD);
    let group_style = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
    for (row, line) in (0..area.height).zip(&column.lines) {
        if row + 1 == area.height && usize::from(area.height) < column.lines.len() {
            put(buffer, area, (0, row), "… more in a taller window", look.muted());
            break;
        }
        match line {
            Line::Gap => {}
            Line::Group(name) => {
                put(buffer, area, (0, row), &cut(name, area.width), group_style);
            }
            Line::Key(keys, key_width, about) => {
                let left = Rect { width: (*key_width).min(area.width), ..area };
                put_right(buffer, left, row, keys, key_style);
                put(buffer, area, (key_width + KEY_GAP, row), about, Style::new());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(sizes: &[usize], about: &str) -> Vec<(String, Vec<(String, String)>)> {
        let key = |n: usize| (format!("k{n}"), format!("{about} {n}"));
        sizes.iter().map(|n| (format!("group of {n}"), (0..*n).map(key).collect())).collect()
    }

    #[test]
    fn no_key_is_lost_where_there_is_room_for_all() {
        let groups = groups(&[5, 6, 4, 12], "what it does, in rather more words than few");
        for room in [(76, 20), (116, 36), (196, 56)] {
            let columns = arrange(&groups, room);
            let shown = columns.iter().flat_map(|column| &column.lines);
            let keys = shown.filter(|line| matches!(line, Line::Key(key, ..) if !key.is_empty()));
            assert_eq!(keys.count(), 27, "{room:?}");
            for column in &columns {
                assert!(column.lines.len() <= usize::from(room.1), "{room:?} {columns:?}");
            }
        }
    }

    #[test]
    fn spare_lines_are_used_to_say_more() {
        let columns = arrange(&groups(&[4], "a text that is too long for its column"), (30, 9));
        let cut = |line: &&Line| matches!(line, Line::Key(_, _, text) if text.contains('…'));
        assert_eq!(columns[0].lines.len(), 9);
        assert_eq!(columns[0].lines.iter().filter(cut).count(), 0, "{columns:?}");
    }
}
