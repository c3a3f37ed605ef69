//! The colours of the map: dark blue for slow, bright yellow for fast.
//!
//! Hue, lightness and saturation change together, so that the order reads with every kind of
//! colour vision and on paper.

use ratatui::style::Color;

use super::look::Depth;

/// Ten equidistant points of cividis, the map that Nuñez, Anderton and Renslow computed to
/// look alike with and without red-green blindness (PLOS ONE 13(7), 2018).
const CIVIDIS: [(u8, u8, u8); 10] = [
    (0, 34, 78),
    (18, 53, 112),
    (59, 73, 108),
    (87, 93, 109),
    (112, 113, 115),
    (138, 134, 120),
    (165, 156, 116),
    (195, 179, 105),
    (225, 204, 85),
    (254, 232, 56),
];

/// The like of it among the 256 colours of xterm.
const INDEXED: [u8; 8] = [17, 18, 60, 102, 144, 179, 185, 227];

/// The like of it among the sixteen that themes define.
const NAMED: [Color; 4] = [Color::Blue, Color::Cyan, Color::Yellow, Color::LightYellow];

/// Where the ramp ends: a loop that takes twice the time is as dark as can be.
const SLOWEST: f64 = 2.0;

/// Background and text of a cell whose time is `slower` times that of the fastest; `None`
/// where there are no colours.
pub(super) fn heat(depth: Depth, slower: f64) -> Option<(Color, Color)> {
    let place = place(slower);
    let background = match depth {
        Depth::None => return None,
        Depth::True => {
            let (r, g, b) = cividis(place);
            Color::Rgb(r, g, b)
        }
        Depth::Indexed => Color::Indexed(*step(&INDEXED, place)?),
        Depth::Sixteen => *step(&NAMED, place)?,
    };
    Some((background, text_on(background, depth)))
}

/// Place on the ramp from 0 (slow) to 1 (the fastest). The root spreads the first few per
/// cent, where the choice is made.
fn place(slower: f64) -> f64 {
    let excess = ((slower - 1.0) / (SLOWEST - 1.0)).clamp(0.0, 1.0);
    if excess.is_nan() { 0.0 } else { 1.0 - excess.sqrt() }
}

fn step<T>(steps: &[T], place: f64) -> Option<&T> {
    let last = steps.len().checked_sub(1)?;
    steps.get(((place * steps.len() as f64) as usize).min(last))
}

/// The colour at a place from 0 to 1, between the published points in straight lines.
pub(super) fn cividis(place: f64) -> (u8, u8, u8) {
    let scaled = place.clamp(0.0, 1.0) * (CIVIDIS.len() - 1) as f64;
    let low = (scaled as usize).min(CIVIDIS.len() - 2);
    let (a, b, part) = (CIVIDIS[low], CIVIDIS[low + 1], scaled - low as f64);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    (mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// Black or white, whichever reads better.
fn text_on(background: Color, depth: Depth) -> Color {
    let light = luminance(rgb(background).unwrap_or_default());
    let black = contrast(light, 0.0) >= contrast(light, 1.0);
    match (depth, black) {
        (Depth::True, true) => Color::Rgb(0, 0, 0),
        (Depth::True, false) => Color::Rgb(255, 255, 255),
        (Depth::Indexed, true) => Color::Indexed(16),
        (Depth::Indexed, false) => Color::Indexed(231),
        (_, true) => Color::Black,
        (_, false) => Color::White,
    }
}

/// Relative luminance of an sRGB colour, 0 to 1, as WCAG 2 defines it.
pub(super) fn luminance((r, g, b): (u8, u8, u8)) -> f64 {
    let linear = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// Contrast of two luminances, 1 to 21, as WCAG 2 defines it.
pub(super) fn contrast(a: f64, b: f64) -> f64 {
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Red, green and blue of a colour as xterm has it; `None` for the terminal's own.
pub(super) fn rgb(color: Color) -> Option<(u8, u8, u8)> {
    let index = match color {
        Color::Reset => return None,
        Color::Rgb(r, g, b) => return Some((r, g, b)),
        Color::Indexed(index) => index,
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
    };
    Some(xterm(index))
}

fn xterm(index: u8) -> (u8, u8, u8) {
    const NAMED: [(u8, u8, u8); 16] = [
        (0, 0, 0),
        (205, 0, 0),
        (0, 205, 0),
        (205, 205, 0),
        (0, 0, 238),
        (205, 0, 205),
        (0, 205, 205),
        (229, 229, 229),
        (127, 127, 127),
        (255, 0, 0),
        (0, 255, 0),
        (255, 255, 0),
        (92, 92, 255),
        (255, 0, 255),
        (0, 255, 255),
        (255, 255, 255),
    ];
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    match index {
        0..16 => NAMED[usize::from(index)],
        16..232 => {
            let i = index - 16;
            (level(i / 36), level(i / 6 % 6), level(i % 6))
        }
        232.. => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEPTHS: [Depth; 3] = [Depth::Sixteen, Depth::Indexed, Depth::True];

    #[test]
    fn slower_is_darker_at_every_depth() {
        for depth in DEPTHS {
            let mut last = f64::INFINITY;
            let mut tones = std::collections::BTreeSet::new();
            for step in 0..=150 {
                let (background, _) = heat(depth, 1.0 + f64::from(step) / 100.0).unwrap();
                let rgb = rgb(background).unwrap();
                let light = luminance(rgb);
                assert!(light <= last, "{depth:?} at {step} %: {background:?}");
                last = light;
                tones.insert(rgb);
            }
            assert!(tones.len() >= 4, "{depth:?}: {tones:?}");
        }
        assert_eq!(heat(Depth::None, 1.2), None);
    }

    #[test]
    fn text_reads_on_every_cell() {
        for depth in DEPTHS {
            for step in 0..=150 {
                let (background, text) = heat(depth, 1.0 + f64::from(step) / 100.0).unwrap();
                let (a, b) = (rgb(background).unwrap(), rgb(text).unwrap());
                let contrast = contrast(luminance(a), luminance(b));
                assert!(contrast >= 4.5, "{depth:?} at {step} %: {contrast:.2}");
            }
        }
    }

    #[test]
    fn what_is_no_ratio_is_dark() {
        let dark = heat(Depth::True, 9.0);
        assert_eq!(heat(Depth::True, f64::NAN), dark);
        assert_eq!(heat(Depth::True, f64::INFINITY), dark);
    }
}
