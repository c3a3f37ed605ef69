//! What is measured of the machine itself, before loops are: options, rows and records of it.

use clap::builder::TypedValueParser;
use serde::Serialize;
use serde_json::{Value, json};

use super::arguments;
use super::session::Session;
use crate::host::Host;
use crate::jit::{Resolved, libc_resolved};
use crate::measure::{CacheSizes, Edges, Levels, Reckoned};
use crate::subject::Op;
use crate::units::human_size;
use crate::worker::Tuning;

/// Reads whose word on cache sizes counts.
pub(super) fn cache_sizes() -> impl TypedValueParser<Value = CacheSizes> {
    arguments::one::<CacheSizes>("source of cache sizes")
}

/// Reads a width of vector registers, bits.
pub(super) fn vector_bits(text: &str) -> Result<u32, String> {
    match text.trim() {
        "128" => Ok(128),
        "256" => Ok(256),
        "512" => Ok(512),
        _ => Err(format!("`{text}` is no width of vector registers; write 128, 256 or 512")),
    }
}

/// The functions of the C library that are baselines, as resolved here.
pub(super) fn libc_functions() -> Vec<(Op, Resolved)> {
    let ops = [Op::Copy, Op::Zero].into_iter();
    ops.filter_map(|op| Some((op, libc_resolved(op)?))).collect()
}

/// The facts of a host with what was measured of it, as `host.toml` keeps them.
#[derive(Serialize)]
pub(super) struct Recorded<'a> {
    #[serde(flatten)]
    host: &'a Host,
    measured: Measured<'a>,
}

#[derive(Serialize)]
struct Measured<'a> {
    /// Sizes that states are made of, and what stands against them.
    states: &'a Reckoned,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges: Option<&'a Edges>,
    #[serde(skip_serializing_if = "Option::is_none")]
    libc_tuned: Option<&'a Tuning>,
    libc_functions: Vec<Function>,
}

#[derive(Serialize)]
struct Function {
    op: Op,
    #[serde(flatten)]
    resolved: Resolved,
}

impl<'a> Recorded<'a> {
    pub(super) fn of(session: &'a Session) -> Recorded<'a> {
        let functions = libc_functions().into_iter();
        let measured = Measured {
            states: &session.reckoned,
            edges: session.edges.as_ref(),
            libc_tuned: session.client.tuning().ok(),
            libc_functions: functions.map(|(op, resolved)| Function { op, resolved }).collect(),
        };
        Recorded { host: &session.host, measured }
    }
}

/// Lines about the caches as measured, for people.
pub(super) fn cache_lines(host: &Host, edges: &Result<Edges, String>) -> Vec<String> {
    let edges = match edges {
        Ok(edges) => edges,
        Err(why) => return vec![format!("measured: not, {why}")],
    };
    let mut lines = vec![format!(
        "measured  L1d {}, L2 {}, last level {}; memory {:.0} ns",
        edges.l1d, edges.l2, edges.llc, edges.memory_ns
    )];
    let reckoned = Reckoned::of(&Levels::of(&host.caches), edges);
    lines.extend(reckoned.warnings.iter().map(|warning| format!("! {warning}")));
    lines
}

/// The same as a document: sizes in bytes, the curve as `[bytes, ns, ns of translations]`.
pub(super) fn caches_json(host: &Host, edges: &Result<Edges, String>) -> Value {
    let edges = match edges {
        Ok(edges) => edges,
        Err(why) => return json!({ "failure": why }),
    };
    let reckoned = Reckoned::of(&Levels::of(&host.caches), edges);
    json!({
        "l1d": edges.l1d,
        "l2": edges.l2,
        "llc": edges.llc,
        "memory_ns": edges.memory_ns,
        "states": reckoned.levels,
        "warnings": reckoned.warnings,
        "curve": edges.curve.iter().map(|p| json!([p.bytes, p.ns, p.translation_ns]))
            .collect::<Vec<_>>(),
    })
}

/// What is said of the C library's functions, for people: one line.
pub(super) fn libc_line(functions: &[(Op, Resolved)]) -> Option<String> {
    let told: Vec<String> = functions
        .iter()
        .map(|(op, resolved)| match &resolved.name {
            Some(_) => format!("{op} {resolved} ({})", resolved.uses),
            None => format!("{op} {resolved}"),
        })
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// What stands below times of `libc-tuned`.
pub(super) fn tuned_note(session: &Session, op: Op) -> String {
    match session.client.tuning() {
        Ok(tuning) => format!(
            "libc-tuned: {} with GLIBC_TUNABLES={}, a process of its own; its times are scaled by \
             a loop that runs in both",
            session.facts(op).libc.unwrap_or_else(|| "the C library".into()),
            tuning.tunables
        ),
        Err(why) => format!("libc-tuned: {why}"),
    }
}

/// A cache size as a reader knows it.
pub(super) fn size_or_none(bytes: Option<u64>) -> String {
    bytes.map_or("none".into(), human_size)
}
