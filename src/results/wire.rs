//! Rows as they stand in the files. Names of fields are names of columns; the text in a
//! field is what its domain type displays.

use serde::{Deserialize, Serialize};

use crate::subject::{Cell, Conditions, Consumer, Drive, Mix, Op, Pages, Placement, Source, State};

/// Declares a row and the names of its columns.
macro_rules! row {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub(super) struct $name { $($(#[$fdoc])* pub(super) $field: $type),+ }

        impl $name {
            /// Names of the columns, in order.
            pub(super) const HEADER: &'static [&'static str] = &[$(stringify!($field)),+];
        }
    };
}

row! {
    /// A row of `trials.csv`.
    TrialRow {
        run: String,
        phase: String,
        role: String,
        op: String,
        size_bytes: u64,
        state: String,
        drive: String,
        dst_mod64_bytes: u8,
        src_mod64_bytes: u8,
        /// Empty where redrawn.
        delta_mod4096_bytes: Option<u16>,
        pages: String,
        consumer: String,
        subject: String,
        code_bytes: Option<u32>,
        fully_verified: bool,
        /// `ok` or the word of a failure.
        outcome: String,
        failure: String,
        samples: Option<u32>,
        median_ps: Option<u64>,
        ci_low_ps: Option<u64>,
        ci_high_ps: Option<u64>,
        /// Time of the trial's first baseline over the subject's.
        ratio: Option<f64>,
        bytes_per_cycle: Option<f64>,
        cycles_per_tick: f64,
        /// Name of the mix of sizes; empty for one size. Older files lack these three.
        mix: Option<String>,
        mix_digest: Option<String>,
        mean_bytes: Option<f64>,
        /// Older files lack these two: a written source, one thread.
        source: Option<String>,
        threads: Option<u16>,
    }
}

row! {
    /// A row of `decisions.csv`. Empty fields do not apply to the row's kind.
    DecisionRow {
        run: String,
        /// What the row says: see `decision::kind`.
        kind: String,
        op: String,
        size_bytes: Option<u64>,
        state: String,
        drive: String,
        dst_mod64_bytes: Option<u8>,
        src_mod64_bytes: Option<u8>,
        delta_mod4096_bytes: Option<u16>,
        pages: String,
        consumer: String,
        subject: String,
        code_bytes: Option<u32>,
        median_ps: Option<u64>,
        ci_low_ps: Option<u64>,
        ci_high_ps: Option<u64>,
        bytes_per_cycle: Option<f64>,
        /// Of a finalist its time over the best's, of a baseline its time over the winner's.
        ratio: Option<f64>,
        ratio_ci_low: Option<f64>,
        ratio_ci_high: Option<f64>,
        verdict: String,
        regret: Option<f64>,
        regret_ci_low: Option<f64>,
        regret_ci_high: Option<f64>,
        trials: Option<u64>,
        samples: Option<u64>,
        stop: String,
        cycles_per_ns: Option<f64>,
        driver_ns: Option<f64>,
        unsupported: Option<u64>,
        incorrect: Option<u64>,
        crashed: Option<u64>,
        hung: Option<u64>,
        seed: Option<u64>,
        seconds: Option<f64>,
        /// A reason or a warning, for people.
        detail: String,
        /// As in `trials.csv`.
        mix: Option<String>,
        mix_digest: Option<String>,
        mean_bytes: Option<f64>,
        source: Option<String>,
        threads: Option<u16>,
    }
}

row! {
    /// A row of `samples.csv`.
    SampleRow {
        run: String,
        phase: String,
        op: String,
        size_bytes: u64,
        state: String,
        drive: String,
        dst_mod64_bytes: u8,
        src_mod64_bytes: u8,
        delta_mod4096_bytes: Option<u16>,
        pages: String,
        consumer: String,
        subject: String,
        layout: u32,
        block: u32,
        ticks: u64,
        calls: u32,
        switches: u32,
        repeats: u32,
        cycles_per_tick: f64,
        /// As in `trials.csv`.
        mix: Option<String>,
        mix_digest: Option<String>,
        mean_bytes: Option<f64>,
        source: Option<String>,
        threads: Option<u16>,
        /// Which of the threads; of rows from before there were any, none.
        thread: Option<u16>,
        /// The request that made it, and the visit of the whole field that the request was part
        /// of: for who replays. Older files lack these two.
        request: Option<u64>,
        epoch: Option<u32>,
    }
}

/// The columns of a mix. The mean is there for a reader's sake and because bytes a cycle need
/// it; the digest tells mixes of one name apart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MixText<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) digest: Option<&'a str>,
    pub(super) mean: Option<f64>,
}

impl MixText<'_> {
    /// The mix, if the columns name one.
    ///
    /// # Errors
    /// Names the column that is missing or wrong.
    pub(super) fn mix(&self) -> Result<Option<Mix>, String> {
        let Some(name) = self.name.filter(|name| !name.is_empty()) else { return Ok(None) };
        let digest = self.digest.unwrap_or_default();
        let number = u64::from_str_radix(digest, 16)
            .map_err(|_| format!("`{digest}` is no mix_digest: it has 16 hexadecimal digits"))?;
        let mean = self.mean.ok_or_else(|| format!("the mix `{name}` lacks mean_bytes"))?;
        Mix::new(name, number, mean).map(Some)
    }
}

/// The columns of a mix: name, digest and mean.
pub(super) fn mix_columns(mix: Option<Mix>) -> (Option<String>, Option<String>, Option<f64>) {
    let name = mix.map(|m| super::table::one_line(m.name()));
    (name, mix.map(|m| format!("{:016x}", m.digest())), mix.map(|m| m.mean()))
}

/// The columns of a cell, as texts.
pub(super) struct CellText<'a> {
    pub(super) op: &'a str,
    pub(super) mix: MixText<'a>,
    pub(super) size: u64,
    pub(super) state: &'a str,
    pub(super) drive: &'a str,
    pub(super) placement: Placement,
    pub(super) pages: &'a str,
    pub(super) consumer: &'a str,
    pub(super) source: Option<&'a str>,
    pub(super) threads: Option<u16>,
}

impl CellText<'_> {
    /// The cell.
    ///
    /// # Errors
    /// Names the word that is none.
    pub(super) fn cell(&self) -> Result<Cell, String> {
        Ok(Cell {
            op: word("op", self.op, Op::from_word)?,
            mix: self.mix.mix()?,
            size: self.size,
            state: word("state", self.state, State::from_word)?,
            drive: word("drive", self.drive, Drive::from_word)?,
            conditions: Conditions {
                placement: self.placement,
                pages: word("page backing", self.pages, Pages::from_word)?,
                consumer: word("consumer", self.consumer, Consumer::from_word)?,
                source: match self.source {
                    None | Some("") => Source::Written,
                    Some(text) => word("source", text, Source::from_word)?,
                },
                threads: self.threads.unwrap_or(1),
            },
        })
    }
}

/// Rows of a measurement say where it was made in the same columns.
macro_rules! cells {
    ($($row:ident),+) => { $(
        impl $row {
            /// The cell.
            ///
            /// # Errors
            /// Names the word that is none.
            pub(super) fn cell(&self) -> Result<Cell, String> {
                let placement = Placement {
                    dst: self.dst_mod64_bytes,
                    src: self.src_mod64_bytes,
                    delta: self.delta_mod4096_bytes,
                };
                let text = CellText {
                    op: &self.op,
                    mix: MixText {
                        name: self.mix.as_deref(),
                        digest: self.mix_digest.as_deref(),
                        mean: self.mean_bytes,
                    },
                    size: self.size_bytes,
                    state: &self.state,
                    drive: &self.drive,
                    placement,
                    pages: &self.pages,
                    consumer: &self.consumer,
                    source: self.source.as_deref(),
                    threads: self.threads,
                };
                text.cell()
            }
        }
    )+ };
}
cells!(TrialRow, SampleRow);

/// The value of a word.
///
/// # Errors
/// Names the word and what it should have been.
pub(super) fn word<T>(
    what: &str,
    text: &str,
    from_word: impl Fn(&str) -> Option<T>,
) -> Result<T, String> {
    from_word(text).ok_or_else(|| format!("`{text}` is no {what}"))
}
