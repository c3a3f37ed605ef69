//! Every axis with its value under the cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::super::screen::{AxisLine, AxisRole};
use super::layout::{Regions, axes_columns, window};
use super::look::Look;
use super::text::{cut, put, put_right, rule, width};

/// The axes that are shown: index and rectangle of each.
pub(super) fn places(axes: &[AxisLine], regions: &Regions) -> Vec<(usize, Rect)> {
    let area = regions.axes;
    let (columns, top) = if regions.stacked { (axes_columns(area.width), 0) } else { (1, 1) };
    let hint = u16::from(!regions.stacked);
    let lines = axes.len().div_ceil(usize::from(columns));
    let room = area.height.saturating_sub(top + hint);
    let selected = axes.iter().position(|axis| axis.selected).unwrap_or(0);
    // Downwards first, as a list is read.
    let (first, shown) = window(selected % lines.max(1), lines, usize::from(room));
    let wide = area.width / columns;
    let place = |index: usize| {
        let (column, line) = ((index / lines) as u16, index % lines);
        let line = line.checked_sub(first).filter(|line| *line < shown)? as u16;
        Some(Rect { x: area.x + column * wide, y: area.y + top + line, width: wide, height: 1 })
    };
    (0..axes.len()).filter_map(|index| Some((index, place(index)?))).collect()
}

/// Draws the axes.
pub(super) fn draw(axes: &[AxisLine], regions: &Regions, buffer: &mut Buffer, look: Look) {
    if !regions.stacked {
        rule(buffer, regions.axes, "axes", "", look);
    }
    let places = places(axes, regions);
    for (index, place) in &places {
        if let Some(axis) = axes.get(*index) {
            line(axis, *place, buffer, look);
        }
    }
    if !regions.stacked {
        let row = places.iter().map(|(_, place)| place.bottom() - regions.axes.y).max();
        let row = row.unwrap_or(1).min(regions.axes.height.saturating_sub(1));
        put(buffer, regions.axes, (2, row), "+/− change the value", look.muted());
    }
}

fn line(axis: &AxisLine, place: Rect, buffer: &mut Buffer, look: Look) {
    let role = match axis.role {
        AxisRole::Fixed => "",
        AxisRole::X => "→",
        AxisRole::Y => "↓",
    };
    let applies = axis.value.is_some();
    let style = match (axis.role, applies) {
        (_, false) => look.muted(),
        (AxisRole::Fixed, true) => Style::new(),
        (_, true) => look.accent(),
    };
    let value = axis.value.as_deref().unwrap_or("–");
    // The last column parts the entry from the next, unless the entry needs it.
    let need = 2 + width(&axis.key) + width(value);
    let spare = u16::from(need < place.width);
    let inner = Rect { width: place.width.saturating_sub(spare), ..place };
    let value = cut(value, inner.width.saturating_sub(6));
    let room = inner.width.saturating_sub(2 + width(&value));
    put(buffer, inner, (0, 0), role, style.add_modifier(Modifier::BOLD));
    put(buffer, inner, (1, 0), &cut(&axis.key, room), style);
    put_right(buffer, inner, 0, &value, style.add_modifier(Modifier::BOLD));
    if axis.selected {
        buffer.set_style(inner, Style::new().add_modifier(Modifier::REVERSED));
        let gap = inner.width.saturating_sub(1 + width(&axis.key) + width(&value));
        let hint = match gap {
            5.. => "+/−",
            3.. => "±",
            _ => "",
        };
        let end = inner.width - width(&value);
        put(buffer, inner, (end.saturating_sub(width(hint) + 1), 0), hint, style);
    }
}
