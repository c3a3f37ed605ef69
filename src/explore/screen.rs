//! What is on the screen, as plain data. Everything that is a word of an axis, a state or a
//! subject comes as text, so that new ones appear without a change to a view.

/// Everything that is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screen {
    /// The question, at the top.
    pub title: Title,
    /// Two axes against each other.
    pub map: HeatMap,
    /// Every axis, with its value under the cursor.
    pub axes: Vec<AxisLine>,
    /// The code under the cursor.
    pub listing: Listing,
    /// The times of the loop under the cursor.
    pub figures: Figures,
    /// One axis alone, in the place of the map; `None` while the map is shown.
    pub curve: Option<Curve>,
    /// What lies over everything.
    pub overlay: Option<Overlay>,
    /// The last line.
    pub status: Status,
}

/// The question and how far its answer is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Title {
    /// The op, in a word.
    pub op: String,
    /// The size, for people: `4 KiB`.
    pub size: String,
    /// The state, in a word.
    pub state: String,
    /// The drive, in a word.
    pub drive: String,
    /// The baseline's name.
    pub baseline: String,
    /// Where the figures come from: `measuring`, `paused`, `recorded in results/…`.
    pub source: String,
    /// Points of the map with a time, and points that could have one.
    pub done: (usize, usize),
}

/// An axis of the map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks {
    /// The axis's key.
    pub key: String,
    /// The values shown, in order.
    pub values: Vec<String>,
}

/// Two axes against each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// Columns.
    pub x: Ticks,
    /// Rows.
    pub y: Ticks,
    /// `y.values.len()` rows of `x.values.len()` cells, row by row.
    pub cells: Vec<Heat>,
    /// Column and row of the cursor.
    pub cursor: (usize, usize),
    /// Column and row of the pinned loop, where it is on this map.
    pub pin: Option<(usize, usize)>,
    /// Column and row of the fastest.
    pub best: Option<(usize, usize)>,
}

/// A cell of the map.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Heat {
    /// No time yet.
    #[default]
    Unmeasured,
    /// In the measurement that runs now, for the first time.
    Measuring,
    /// No such loop.
    Illegal,
    /// This host cannot run it.
    Unsupported,
    /// It was wrong, crashed or hung.
    Failed,
    /// It has a time.
    Measured {
        /// Its time over that of the map's fastest: 1 or more.
        slower: f64,
        /// Whether its interval is narrower than the comparison band of the state.
        fine: bool,
    },
}

/// What an axis is to the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AxisRole {
    /// Stands still; changed with + and −.
    #[default]
    Fixed,
    /// Runs to the right.
    X,
    /// Runs down.
    Y,
}

/// An axis in the side panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AxisLine {
    /// Its key.
    pub key: String,
    /// Its value under the cursor; `None` where it does not apply.
    pub value: Option<String>,
    /// What it is to the map.
    pub role: AxisRole,
    /// Whether + and − change it.
    pub selected: bool,
}

/// The code under the cursor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// Id of the loop.
    pub id: String,
    /// Its instructions and labels; empty where there is no such loop.
    pub lines: Vec<ListingLine>,
    /// Index of the first line of the main loop.
    pub loop_line: Option<usize>,
    /// Lines scrolled down from where the view would begin by itself.
    pub scroll: i32,
    /// What stands in its place where there are no lines.
    pub absent: String,
}

/// A line of a listing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListingLine {
    /// Bytes from the entry, which stands at a multiple of 64.
    pub offset: u32,
    /// Bytes of the instruction; empty for a label or a part's heading.
    pub bytes: Vec<u8>,
    /// The instruction, or the label with its colon.
    pub text: String,
    /// Whether it belongs to the main loop.
    pub in_loop: bool,
}

/// The times of the loop under the cursor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Id of the loop.
    pub id: String,
    /// Samples behind everything here.
    pub samples: usize,
    /// Median nanoseconds a call and its 95 % interval; `None` before the first.
    pub ns: Option<(f64, f64, f64)>,
    /// Bytes of the op a core cycle.
    pub bytes_per_cycle: Option<f64>,
    /// Bytes a cycle over what the core's ports allow.
    pub share_of_limit: Option<f64>,
    /// Core clock while it was measured last, GHz: median, least and most.
    pub clock_ghz: Option<(f64, f64, f64)>,
    /// Against the baseline.
    pub baseline: Option<Ratio>,
    /// Against the pinned loop.
    pub pin: Option<Ratio>,
    /// How the samples lie.
    pub histogram: Option<Histogram>,
    /// Why there is no time, or what a reader must know.
    pub note: Option<String>,
}

/// Another subject's time over that of the loop under the cursor: above 1 the loop under the
/// cursor is faster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ratio {
    /// The other subject.
    pub name: String,
    /// Its time over the loop's.
    pub ratio: f64,
    /// 95 % interval of the same.
    pub ci: (f64, f64),
    /// The verdict about the loop under the cursor, in a word.
    pub verdict: String,
}

/// How samples lie.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Lower end of the first bin and upper end of the last, nanoseconds a call.
    pub range: (f64, f64),
    /// Samples in bins of equal width.
    pub bins: Vec<u32>,
    /// Samples above the last bin.
    pub above: u32,
}

/// One axis alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// What it shows, in a line.
    pub title: String,
    /// The axis's key, with its unit.
    pub x: String,
    /// What runs upwards, with its unit.
    pub y: String,
    /// Whether x grows by factors rather than by steps.
    pub logarithmic: bool,
    /// The first is the loop's own, the others are baselines.
    pub series: Vec<Series>,
    /// Where the cursor stands in the first series.
    pub cursor: Option<usize>,
}

/// A line of a curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Whose.
    pub name: String,
    /// Points by rising x; those without a time are missing.
    pub points: Vec<CurvePoint>,
}

/// A point of a curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurvePoint {
    /// Place of the value: its number, or its place among the values where it is a word.
    pub x: f64,
    /// The value as written.
    pub label: String,
    /// The figure and its 95 % interval.
    pub y: (f64, f64, f64),
}

/// What lies over everything.
#[derive(Clone, Debug, PartialEq)]
pub enum Overlay {
    /// Keys and what they do: groups of (keys, what they do).
    Help(Vec<(String, Vec<(String, String)>)>),
    /// A line to type in.
    Prompt(Prompt),
    /// A list to choose from.
    Choice {
        /// What is chosen.
        title: String,
        /// What there is.
        items: Vec<String>,
        /// Which one the cursor is on.
        at: usize,
    },
}

/// A line to type in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompt {
    /// What is asked for.
    pub title: String,
    /// What was typed.
    pub text: String,
    /// What is wrong with it, if something is.
    pub error: Option<String>,
    /// What it could become.
    pub suggestions: Vec<String>,
}

/// What the last line says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatusKind {
    /// The keys one needs most.
    #[default]
    Hint,
    /// Something was done.
    Done,
    /// Something a reader should know: why a cell is illegal, say.
    Notice,
    /// Something went wrong.
    Error,
}

/// The last line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// What kind of line it is.
    pub kind: StatusKind,
    /// Its text.
    pub text: String,
}
