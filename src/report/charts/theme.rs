//! Colours by name. The drawing library wants numbers, so each name has one that stands for
//! it while drawing and is replaced by a variable of the style sheet afterwards.

use plotters::style::RGBColor;

/// What is drawn, for the style sheet to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// Words and axes.
    Text,
    /// Words and lines of less weight.
    Muted,
    /// Lines behind the data.
    Grid,
    /// What the page is made of.
    Paper,
    /// A series, by its place.
    Series(usize),
    /// A step of the ramp, from slow to fast.
    Ramp(usize),
    /// Words on a step of the ramp.
    OnRamp(usize),
}

/// Colours of series; further ones begin again.
const SERIES: usize = 6;

/// Steps of the ramp.
pub(in crate::report) const STEPS: usize = 8;

/// First two parts of every stand-in: a colour that nobody chooses.
const MARK: u8 = 1;

impl Ink {
    pub(super) fn colour(self) -> RGBColor {
        RGBColor(MARK, MARK, self.code())
    }

    fn code(self) -> u8 {
        let code = match self {
            Ink::Text => 0,
            Ink::Muted => 1,
            Ink::Grid => 2,
            Ink::Paper => 3,
            Ink::Series(i) => 16 + i % SERIES,
            Ink::Ramp(i) => 32 + i.min(STEPS - 1),
            Ink::OnRamp(i) => 48 + i.min(STEPS - 1),
        };
        code as u8
    }

    fn variable(self) -> String {
        match self {
            Ink::Text => "--ink".into(),
            Ink::Muted => "--muted".into(),
            Ink::Grid => "--grid".into(),
            Ink::Paper => "--paper".into(),
            Ink::Series(i) => format!("--s{i}"),
            Ink::Ramp(i) => format!("--r{i}"),
            Ink::OnRamp(i) => format!("--on-r{i}"),
        }
    }

    fn all() -> impl Iterator<Item = Ink> {
        [Ink::Text, Ink::Muted, Ink::Grid, Ink::Paper]
            .into_iter()
            .chain((0..SERIES).map(Ink::Series))
            .chain((0..STEPS).flat_map(|i| [Ink::Ramp(i), Ink::OnRamp(i)]))
    }
}

/// Puts the variables in the place of their stand-ins, and leaves out what says nothing.
pub(super) fn themed(svg: &str) -> String {
    let mut text = svg.replace(" opacity=\"1\"", "").replace(" font-family=\"sans-serif\"", "");
    for ink in Ink::all() {
        let stand_in = format!("#{MARK:02X}{MARK:02X}{:02X}", ink.code());
        text = text.replace(&stand_in, &format!("var({})", ink.variable()));
    }
    text
}
