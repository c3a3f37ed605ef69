//! `looptune host`: what this machine is, and what will disturb a measurement on it.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

use anstyle::Style;
use serde_json::{Value, json};

use super::measured::{cache_lines, caches_json, libc_functions, libc_line};
use super::session::Session;
use crate::host::{Cache, Feature, Host, PortLimit, Why};
use crate::measure::{Edges, Thoroughness};
use crate::units::human_size;

/// Arguments of `looptune host`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct HostArgs {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Detects the host and prints it: a page for people, or one JSON document.
///
/// # Errors
/// If standard output cannot be written; a reader that closed it early is no error.
pub fn run(args: &HostArgs, runner: Option<&str>) -> anyhow::Result<()> {
    let mut session = Session::new(runner)?;
    let edges = match session.client.edges(Thoroughness::Thorough) {
        Ok(edges) => edges,
        // The rest of the page needs no worker.
        Err(e) => Err(e.to_string()),
    };
    let host = &session.host;
    let measured = Some(&edges);
    let mut stdout = std::io::stdout().lock();
    let text = if args.json {
        format!("{:#}\n", document(host, measured))
    } else {
        let colour = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none();
        page(host, measured, colour)
    };
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Columns of the page.
const WIDTH: usize = 100;
/// Columns of the labels on the left.
const LABEL: usize = 10;
/// Access widths whose port limits are shown, bytes.
const WIDTHS: [u32; 4] = [8, 16, 32, 64];

/// The page for people, 100 columns; `colour` allows bold labels. `edges`: where the caches end,
/// or why that is not known.
pub fn page(host: &Host, edges: Option<&Result<Edges, String>>, colour: bool) -> String {
    let mut page = Page { text: String::new(), colour };
    let (cpu, conditions) = (&host.cpu, &host.conditions);

    page.row("cpu", &cpu.brand);
    let microcode = conditions.microcode.as_deref().unwrap_or("not told");
    page.row(
        "",
        &format!(
            "{}, core {}, family {} model {} stepping {}, microcode {microcode}",
            cpu.vendor, cpu.microarch, cpu.family, cpu.model, cpu.stepping
        ),
    );
    page.row("key", &host.key);
    page.gap();

    page.row("usable", &words(host.usable.iter()));
    for (i, (why, features)) in by_reason(host).into_iter().enumerate() {
        let label = if i == 0 { "refused" } else { "" };
        page.row(label, &format!("{why}: {}", words(features.into_iter())));
    }
    page.gap();

    let levels = [("L1d", host.caches.l1d), ("L2", host.caches.l2), ("L3", host.caches.l3)];
    for (i, (name, cache)) in levels.into_iter().enumerate() {
        page.row(if i == 0 { "caches" } else { "" }, &cache_line(name, cache));
    }
    for warning in &host.caches.warnings {
        page.row("", &format!("! {warning}"));
    }
    for line in edges.iter().flat_map(|edges| cache_lines(host, edges)) {
        page.row("", &line);
    }
    ports(&mut page, host);
    page.row("clock", &clock(host));
    page.row("libc", &libc(host));
    if let Some(line) = libc_line(&libc_functions()) {
        page.row("", &line);
    }
    page.row("system", &system(host));
    page.gap();

    let disturbances = host.disturbances();
    if disturbances.is_empty() {
        page.row("disturbs", "nothing that the system tells of");
    }
    for (i, sentence) in disturbances.iter().enumerate() {
        page.row(if i == 0 { "disturbs" } else { "" }, sentence);
    }
    page.text
}

struct Page {
    text: String,
    colour: bool,
}

impl Page {
    /// A labelled paragraph, wrapped with a hanging indent.
    fn row(&mut self, label: &str, paragraph: &str) {
        let bold = if self.colour { Style::new().bold() } else { Style::new() };
        for (i, line) in wrap(paragraph, WIDTH - LABEL).iter().enumerate() {
            let label = if i == 0 { label } else { "" };
            // writing to a String cannot fail
            let _ = writeln!(self.text, "{bold}{label:<LABEL$}{bold:#}{line}");
        }
    }

    fn gap(&mut self) {
        self.text.push('\n');
    }
}

/// Breaks at spaces; runs of spaces (columns) stay. A word longer than a line stands alone
/// on it.
pub(super) fn wrap(paragraph: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line: Option<String> = None;
    for word in paragraph.split(' ') {
        line = Some(match line {
            None => word.to_string(),
            Some(begun) if begun.chars().count() + 1 + word.chars().count() > width => {
                lines.push(begun.trim_end().to_string());
                word.to_string()
            }
            Some(begun) => begun + " " + word,
        });
    }
    lines.extend(line.map(|last| last.trim_end().to_string()));
    lines
}

fn words(features: impl Iterator<Item = Feature>) -> String {
    features.map(Feature::word).collect::<Vec<_>>().join(" ")
}

/// Refused features under their reasons, in the order in which the reasons come up.
fn by_reason(host: &Host) -> Vec<(Why, Vec<Feature>)> {
    let mut groups: Vec<(Why, Vec<Feature>)> = Vec::new();
    for refusal in &host.refused {
        match groups.iter_mut().find(|(why, _)| *why == refusal.why) {
            Some((_, features)) => features.push(refusal.feature),
            None => groups.push((refusal.why, vec![refusal.feature])),
        }
    }
    groups
}

fn cache_line(name: &str, cache: Option<Cache>) -> String {
    let Some(c) = cache else { return format!("{name:<3}  not told") };
    let size = human_size(c.size_bytes);
    let ways = if c.ways == 0 { String::new() } else { format!("{} ways", c.ways) };
    let shared = match c.shared_by {
        0 => String::new(),
        1 => "of each CPU".to_string(),
        n => format!("shared by {n} CPUs"),
    };
    let line = format!("{name:<3}  {size:>5}  {:>3}-byte lines  {ways:>8}  {shared}", c.line_bytes);
    line.trim_end().to_string()
}

/// What the ports allow, by width of the access, for the widths that are usable.
fn ports(page: &mut Page, host: &Host) {
    let usable = |width: &u32| match width {
        64 => host.usable.contains(Feature::Avx512f),
        32 => host.usable.contains(Feature::Avx),
        _ => true,
    };
    let widths: Vec<u32> = WIDTHS.into_iter().filter(usable).collect();
    let head: String = widths.iter().map(|w| format!("{w:>6}")).collect();
    page.row("ports", &format!("width {head}  bytes"));
    let mut row = |name: &str, limit: &dyn Fn(u32) -> PortLimit| {
        let cells = widths.iter().map(|w| format!("{:>6}", limit(*w).bytes_per_cycle));
        page.row("", &format!("{name:<6}{}  bytes a cycle", cells.collect::<String>()));
    };
    row("stores", &|w| host.store_limit(w));
    row("loads", &|w| host.load_limit(w));
    row("copies", &|w| host.copy_limit(w));
    let mut reasons = [host.store_limit(8).why, host.load_limit(8).why].to_vec();
    reasons.dedup();
    for why in reasons {
        page.row("", &why);
    }
}

fn clock(host: &Host) -> String {
    let tsc = &host.tsc;
    let steady = if tsc.invariant { "invariant" } else { "not invariant" };
    let told = match tsc.told_hz {
        Some(hz) => format!("told {:.1}", hz / 1e6),
        None => "frequency not told by CPUID".to_string(),
    };
    format!(
        "time-stamp counter {steady}, {:.1} MHz measured (± {:.3} %), {told}",
        tsc.calibrated_hz / 1e6,
        tsc.spread * 50.0
    )
}

fn libc(host: &Host) -> String {
    let clib = &host.conditions.clib;
    let mut parts = vec![match &clib.glibc {
        Some(version) => format!("glibc {version}"),
        None => "not glibc".to_string(),
    }];
    for (name, threshold) in [
        ("non-temporal", clib.nt_threshold),
        ("rep movsb", clib.rep_movsb_threshold),
        ("rep stosb", clib.rep_stosb_threshold),
    ] {
        if let Some(bytes) = threshold {
            parts.push(format!("{name} from {}", human_size(bytes)));
        }
    }
    parts.join(", ")
}

fn system(host: &Host) -> String {
    let c = &host.conditions;
    let or_not_told = |x: &Option<String>| x.as_deref().unwrap_or("not told").to_string();
    let hypervisor = match &c.hypervisor {
        Some(name) => format!("guest of {name}"),
        None => "no hypervisor".to_string(),
    };
    let load = match c.load {
        Some([one, five, fifteen]) => format!("{one:.2} {five:.2} {fifteen:.2}"),
        None => "not told".to_string(),
    };
    format!(
        "kernel {}, {hypervisor}, CPUs {} of {}, load {load}, governor {}, transparent huge pages {}",
        or_not_told(&c.kernel),
        c.allowed_list(),
        c.online_cpus,
        or_not_told(&c.governor),
        or_not_told(&c.thp)
    )
}

/// The JSON document, schema 1; `edges` as for [`page`]. Sizes in bytes, rates in hertz; what is not told is null.
pub fn document(host: &Host, edges: Option<&Result<Edges, String>>) -> Value {
    let (cpu, c, tsc) = (&host.cpu, &host.conditions, &host.tsc);
    let refused: Vec<Value> = host
        .refused
        .iter()
        .map(|r| json!({"feature": r.feature.word(), "why": r.why.to_string()}))
        .collect();
    let limits = |of: &dyn Fn(u32) -> PortLimit| -> Vec<Value> {
        let row = |w: u32| {
            let limit = of(w);
            json!({"width_bytes": w, "bytes_per_cycle": limit.bytes_per_cycle, "why": limit.why,
                   "known": limit.known})
        };
        WIDTHS.iter().copied().map(row).collect()
    };
    json!({
        "schema": 1,
        "host": {
            "key": host.key,
            "cpu": cpu.brand,
            "features": host.usable.iter().map(Feature::word).collect::<Vec<_>>(),
        },
        "processor": {
            "vendor": cpu.vendor,
            "family": cpu.family,
            "model": cpu.model,
            "stepping": cpu.stepping,
            "core": cpu.microarch.word(),
            "hybrid": cpu.hybrid,
            "microcode": c.microcode,
            "xcr0": host.xcr0,
        },
        "refused": refused,
        "caches": {
            "l1d": host.caches.l1d,
            "l2": host.caches.l2,
            "l3": host.caches.l3,
            "used": {
                "l1d_bytes": host.caches.l1d_bytes(),
                "l2_bytes": host.caches.l2_bytes(),
                "llc_bytes": host.caches.llc_bytes(),
                "line_bytes": host.caches.line_bytes(),
            },
            "warnings": host.caches.warnings,
            "measured": edges.map(|edges| caches_json(host, edges)),
        },
        "ports": {
            "store": limits(&|w| host.store_limit(w)),
            "load": limits(&|w| host.load_limit(w)),
            "copy": limits(&|w| host.copy_limit(w)),
        },
        "tsc": {
            "invariant": tsc.invariant,
            "told_hz": tsc.told_hz,
            "calibrated_hz": tsc.calibrated_hz,
            "spread": tsc.spread,
        },
        "libc": c.clib,
        "libc_functions": libc_functions().into_iter().map(|(op, found)| json!({
            "op": op.word(), "name": found.name, "library": found.library,
            "offset": found.offset, "uses": found.uses,
        })).collect::<Vec<_>>(),
        "system": {
            "kernel": c.kernel,
            "hypervisor": c.hypervisor,
            "governor": c.governor,
            "boost": c.boost,
            "smt": c.smt,
            "thp": c.thp,
            "load": c.load,
            "online_cpus": c.online_cpus,
            "allowed_cpus": c.allowed_cpus,
        },
        "disturbances": host.disturbances(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_break_at_words_and_keep_columns() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("a   b", 10), ["a   b"]);
        assert_eq!(wrap("toolongaword b", 5), ["toolongaword", "b"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("± é", 3), ["± é"]);
    }
}
