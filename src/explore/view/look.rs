//! What the terminal can show: colours and characters.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::ramp;

/// How many colours there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// None: only bold, dim and reverse.
    None,
    /// The sixteen that the terminal's theme names.
    #[default]
    Sixteen,
    /// The cube and the greys of xterm.
    Indexed,
    /// Red, green and blue, 8 bits each.
    True,
}

/// How a screen is to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// How many colours there are.
    pub depth: Depth,
    /// Whether only ASCII characters can be shown.
    pub ascii: bool,
}

/// Terminals that show 24-bit colour without saying so in `COLORTERM`.
const TRUE_TERMS: [&str; 6] = ["direct", "kitty", "alacritty", "wezterm", "ghostty", "foot"];

impl Look {
    /// The look that `NO_COLOR`, `COLORTERM` and `TERM` ask for: any `NO_COLOR` but an empty
    /// one takes the colours away. Characters beyond ASCII are taken as shown; see
    /// [`Look::with_locale`].
    pub fn from_env(no_color: Option<&str>, colorterm: Option<&str>, term: Option<&str>) -> Look {
        let term = term.unwrap_or_default();
        let asked_for_none = no_color.is_some_and(|value| !value.is_empty());
        let depth = if asked_for_none || term.is_empty() || term == "dumb" {
            Depth::None
        } else if matches!(colorterm, Some("truecolor" | "24bit"))
            || TRUE_TERMS.iter().any(|name| term.contains(name))
        {
            Depth::True
        } else if term.contains("256") {
            Depth::Indexed
        } else if term.starts_with("vt") {
            Depth::None
        } else {
            Depth::Sixteen
        };
        Look { depth, ascii: false }
    }

    /// The same look with the characters that `LC_ALL`, `LC_CTYPE` and `LANG` allow: the first
    /// of them that is set and not empty must name UTF-8.
    #[must_use]
    pub fn with_locale(
        self,
        lc_all: Option<&str>,
        lc_ctype: Option<&str>,
        lang: Option<&str>,
    ) -> Look {
        let locale = [lc_all, lc_ctype, lang]
            .into_iter()
            .flatten()
            .find(|value| !value.is_empty())
            .unwrap_or_default()
            .to_ascii_lowercase();
        let utf8 = locale.contains("utf-8") || locale.contains("utf8");
        Look { ascii: !utf8, ..self }
    }

    /// One of `[true colour, indexed, sixteen]`, on the terminal's own background. The tones
    /// of the first two are middling, so that they read on dark and on light ones.
    fn ink(self, rgb: (u8, u8, u8), indexed: u8, named: Color) -> Style {
        let color = match self.depth {
            Depth::True => Color::Rgb(rgb.0, rgb.1, rgb.2),
            Depth::Indexed => Color::Indexed(indexed),
            Depth::Sixteen => named,
            Depth::None => return Style::new(),
        };
        Style::new().fg(color)
    }

    /// Rules, hints, what may be overlooked.
    pub(super) fn muted(self) -> Style {
        match self.depth {
            Depth::None => Style::new().add_modifier(Modifier::DIM),
            _ => self.ink((128, 128, 128), 244, Color::DarkGray),
        }
    }

    /// What belongs to the cursor or the loop.
    pub(super) fn accent(self) -> Style {
        self.ink((38, 139, 210), 32, Color::Cyan)
    }

    /// What a reader should know.
    pub(super) fn warn(self) -> Style {
        self.ink((214, 126, 0), 172, Color::Yellow)
    }

    /// What went wrong.
    pub(super) fn bad(self) -> Style {
        self.ink((220, 75, 70), 167, Color::Red)
    }

    /// What went well.
    pub(super) fn good(self) -> Style {
        self.ink((60, 150, 80), 71, Color::Green)
    }

    /// The colours of a cell whose time is `slower` times that of the fastest.
    pub(super) fn heat(self, slower: f64) -> Style {
        match ramp::heat(self.depth, slower) {
            Some((background, text)) => Style::new().bg(background).fg(text),
            None => Style::new(),
        }
    }

    /// Takes from what was drawn in `area` what the terminal cannot show.
    pub(super) fn reduce(self, area: Rect, buffer: &mut Buffer) {
        if !self.ascii && self.depth != Depth::None {
            return;
        }
        for position in area.intersection(*buffer.area()).positions() {
            let Some(cell) = buffer.cell_mut(position) else { continue };
            if self.ascii && !cell.symbol().is_ascii() {
                let plain = cell.symbol().chars().next().map_or(' ', ascii);
                cell.set_char(plain);
            }
            if self.depth == Depth::None {
                cell.set_fg(Color::Reset).set_bg(Color::Reset);
            }
        }
    }
}

/// The ASCII character that stands for another; always one for one, so that nothing moves.
fn ascii(c: char) -> char {
    match c {
        '─' | '–' | '−' | '╌' => '-',
        '━' | '═' => '=',
        '│' | '┃' | '▏' | '┆' | '┊' => '|',
        '╪' => '#',
        '┼' | '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴' | '╭' | '╮' | '╰' | '╯' | '±' => {
            '+'
        }
        '★' => '*',
        '·' => '.',
        '×' => 'x',
        '●' | '○' => 'o',
        '…' => '~',
        '⋯' => '?',
        '→' | '▸' | '≥' => '>',
        '←' | '◂' | '≤' => '<',
        '↑' | '▴' | '▲' => '^',
        '↓' | '▾' => 'v',
        'µ' | 'μ' => 'u',
        '✓' => '+',
        '✗' => '!',
        '▁' | '▂' => '.',
        '▃' | '▄' | '▅' => ':',
        '▆' | '▇' => '|',
        '█' | '▌' | '▐' => '#',
        '\u{2800}' | '\u{a0}' => ' ',
        '\u{2801}'..='\u{28ff}' => '.',
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_chooses_the_colours() {
        let depth = |no, color, term| Look::from_env(no, color, term).depth;
        assert_eq!(depth(None, Some("truecolor"), Some("xterm-256color")), Depth::True);
        assert_eq!(depth(None, None, Some("xterm-kitty")), Depth::True);
        assert_eq!(depth(None, None, Some("screen-256color")), Depth::Indexed);
        assert_eq!(depth(None, None, Some("xterm")), Depth::Sixteen);
        assert_eq!(depth(None, None, Some("linux")), Depth::Sixteen);
        assert_eq!(depth(None, None, Some("dumb")), Depth::None);
        assert_eq!(depth(None, Some("truecolor"), None), Depth::None);
        assert_eq!(depth(Some("1"), Some("truecolor"), Some("xterm")), Depth::None);
        assert_eq!(depth(Some(""), Some("truecolor"), Some("xterm")), Depth::True);
    }

    #[test]
    fn the_locale_chooses_the_characters() {
        let ascii = |all, ctype, lang| Look::default().with_locale(all, ctype, lang).ascii;
        assert!(!ascii(None, None, Some("en_US.UTF-8")));
        assert!(!ascii(Some(""), Some("C.utf8"), Some("C")));
        assert!(ascii(Some("C"), Some("C.utf8"), Some("en_US.UTF-8")));
        assert!(ascii(None, None, None));
    }
}
