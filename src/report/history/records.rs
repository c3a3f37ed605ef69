//! The tables for programs: one form of row for all of them, so that they stand in one file.

use serde::Serialize;

use super::measured::{Measured, mb_s};

/// Kind of the rows that were posted.
pub(super) const POSTED: &str = "1996";

/// A row. Columns carry their unit; what does not apply is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HistoryRecord {
    /// Which table: `size`, `bzero`, `pagezero` or `breed`.
    pub table: &'static str,
    /// `time` of one subject, `pair` of two, `1996` for what was posted, `recorded` for another
    /// host.
    pub kind: &'static str,
    /// Key of the host, or what it was.
    pub host: String,
    /// The op.
    pub op: String,
    /// Bytes a call.
    pub size_bytes: Option<u64>,
    /// The state, or the word of 1996 for it.
    pub state: String,
    /// Who.
    pub subject: String,
    /// Who the ratio is against.
    pub against: String,
    /// Nanoseconds a call.
    pub ns: Option<f64>,
    /// Ends of its 95 % interval.
    pub ci_low_ns: Option<f64>,
    /// Ends of its 95 % interval.
    pub ci_high_ns: Option<f64>,
    /// Millions of bytes a second.
    pub mb_per_s: Option<f64>,
    /// Bytes a core cycle.
    pub bytes_per_cycle: Option<f64>,
    /// The same, as predicted.
    pub predicted_bytes_per_cycle: Option<f64>,
    /// Cycles an iteration that memory leaves.
    pub need_cycles_per_iteration: Option<f64>,
    /// Cycles an iteration that the loop takes by itself.
    pub own_cycles_per_iteration: Option<f64>,
    /// Time of `against` over the subject's: above 1, the subject is faster.
    pub ratio: Option<f64>,
    /// Ends of its 95 % interval.
    pub ratio_ci_low: Option<f64>,
    /// Ends of its 95 % interval.
    pub ratio_ci_high: Option<f64>,
    /// What the ratio says.
    pub verdict: String,
    /// Program whose times follow.
    pub program: String,
    /// Seconds of a program.
    pub real_s: Option<f64>,
    /// Seconds of a program in user mode.
    pub user_s: Option<f64>,
    /// Seconds of a program in the kernel.
    pub sys_s: Option<f64>,
    /// Time-stamp ticks inside the subject, as posted.
    pub ticks: String,
    /// Why there are no times.
    pub failure: String,
}

/// The rows as a table with a head.
///
/// # Errors
/// Where a row cannot be written, which a string does not refuse.
pub fn history_csv(records: &[HistoryRecord]) -> Result<String, csv::Error> {
    let mut out = csv::Writer::from_writer(Vec::new());
    for record in records {
        out.serialize(record)?;
    }
    let text = out.into_inner().map_err(|e| csv::Error::from(e.into_error()))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The rows of a cell: times, then pairs.
pub(super) fn of_cell(table: &'static str, measured: &Measured) -> Vec<HistoryRecord> {
    let cell = &measured.cell;
    let blank = |kind| HistoryRecord {
        table,
        kind,
        host: "this".into(),
        op: cell.op.to_string(),
        size_bytes: Some(cell.size),
        state: cell.state.to_string(),
        ..HistoryRecord::default()
    };
    let mut records = Vec::new();
    let reference = measured.rows.iter().find(|row| row.result.is_ok());
    let reference = reference.map_or(String::new(), |row| row.subject.to_string());
    for row in &measured.rows {
        let subject = row.subject.to_string();
        records.push(match &row.result {
            Err(failure) => {
                HistoryRecord { subject, failure: failure.to_string(), ..blank("time") }
            }
            Ok(times) => HistoryRecord {
                subject,
                against: reference.clone(),
                ns: Some(times.ns),
                ci_low_ns: Some(times.ci.0),
                ci_high_ns: Some(times.ci.1),
                mb_per_s: Some(mb_s(cell.size, times.ns)),
                bytes_per_cycle: Some(times.bytes_per_cycle),
                ratio: Some(times.ratio),
                ratio_ci_low: Some(times.ratio_ci.0),
                ratio_ci_high: Some(times.ratio_ci.1),
                verdict: times.verdict.to_string(),
                ..blank("time")
            },
        });
    }
    for pair in &measured.pairs {
        records.push(HistoryRecord {
            subject: measured.name(pair.row),
            against: measured.name(pair.against),
            ratio: Some(pair.ratio),
            ratio_ci_low: Some(pair.ratio_ci.0),
            ratio_ci_high: Some(pair.ratio_ci.1),
            verdict: pair.verdict.to_string(),
            ..blank("pair")
        });
    }
    records
}
