//! The pages and documents of a self-test.

use serde_json::{Value, json};

use super::bench::host_line;
use super::facts::Facts;
use super::grid::{Grid, Side, WIDTH};
use super::text::{NONE, fold, percent, state};
use crate::search::selftest::traps::{Shown, Side as Run, Trapped};
use crate::search::selftest::{Bias, Neighbour, Noise, PLANTS, StateNoise};
use crate::stats::Share;

/// Under which circumstances a self-test was made.
#[derive(Clone, Debug, PartialEq)]
pub struct SelftestSetting {
    /// Seed of everything drawn.
    pub seed: u64,
    /// The neighbour that was kept busy, and its CPU.
    pub busy: Option<(Neighbour, u32)>,
    /// The worker's CPU, where it was pinned.
    pub cpu: Option<u32>,
    /// Ticks a second of the time-stamp counter.
    pub counter_hz: f64,
    /// What the host says will disturb, a sentence each.
    pub disturbances: Vec<String>,
}

/// The page of a test of noise.
pub fn noise(
    found: &Noise,
    absent: &[(String, String)],
    setting: &SelftestSetting,
    facts: &Facts,
) -> String {
    let mut page = host_line(facts);
    if let Some(first) = found.states.first() {
        page.push_str(&format!("{} {}{}\n\n", first.cell.op, first.cell.extent(), who(setting)));
        page.push_str(&contests(&found.states));
        page.push('\n');
        page.push_str(&movements(&found.states));
        page.push('\n');
    }
    for state in &found.states {
        page.push_str(&line(&verdict(state)));
    }
    page.push('\n');
    for (state, why) in absent {
        page.push_str(&line(&format!("{state}: {why}")));
    }
    page.push_str(&line(&about(found, setting)));
    for sentence in &setting.disturbances {
        page.push_str(&line(sentence));
    }
    page
}

fn line(text: &str) -> String {
    format!("{}\n", fold(text, usize::from(WIDTH), 2))
}

fn who(setting: &SelftestSetting) -> String {
    let worker = setting.cpu.map_or(String::new(), |cpu| format!(", on CPU {cpu}"));
    let busy = setting.busy.map_or(String::new(), |(how, cpu)| format!(", CPU {cpu} busy ({how})"));
    format!("{worker}{busy}, seed {}", setting.seed)
}

/// False wins and plants.
fn contests(states: &[StateNoise]) -> String {
    let plants: Vec<String> = PLANTS.iter().map(|p| format!("+{}", percent(*p))).collect();
    let mut columns = vec![
        ("state", Side::Left),
        ("contests", Side::Right),
        ("of layouts", Side::Right),
        ("false wins, 95 %", Side::Left),
    ];
    columns.extend(plants.iter().map(|p| (p.as_str(), Side::Left)));
    columns.push(("believed", Side::Right));
    let mut grid = Grid::new(&columns);
    for found in states {
        let mut row = vec![
            state(&found.cell),
            found.false_wins.of.to_string(),
            format!("{} × {}", found.layouts, found.blocks),
            share(found.false_wins),
        ];
        row.extend(found.power.iter().map(|p| percent(p.found.rate())));
        row.push(format!("> {}", percent(found.believable)));
        grid.row(row);
    }
    let note = "False wins: contests of a loop against itself that had a winner. Then how many saw \
                so much extra work. Believed: the difference that 95 of 100 contests see.";
    let rounded: String = states.iter().filter_map(rounded).map(|text| line(&text)).collect();
    format!("{}\n{}{rounded}", grid.text(), line(note))
}

/// Where whole calls make other plants of those that were asked for, what they are.
fn rounded(found: &StateNoise) -> Option<String> {
    let off = found.power.iter().filter(|p| (p.planted / p.asked - 1.0).abs() > 0.1);
    let pairs = off.map(|p| format!("+{} is +{}", percent(p.asked), percent(p.planted)));
    let pairs: Vec<String> = pairs.collect();
    let of = state(&found.cell);
    (!pairs.is_empty()).then(|| {
        format!(
            "In {of} passes have few calls, of which whole ones are added: {}.",
            pairs.join(", ")
        )
    })
}

fn share(share: Share) -> String {
    let (low, high) = share.interval();
    let shown = |v: f64| percent(v).trim_end_matches(" %").to_string();
    format!("{}: {} to {} %", share.hits, shown(low), shown(high))
}

/// Biases, drift and disturbances.
fn movements(states: &[StateNoise]) -> String {
    let columns = [
        ("state", Side::Left),
        ("after nt", Side::Left),
        ("first in block", Side::Left),
        ("drift", Side::Right),
        ("clock", Side::Right),
        ("repeated", Side::Right),
        ("disturbed", Side::Right),
        ("shared", Side::Right),
        ("switches", Side::Right),
    ];
    let mut grid = Grid::new(&columns);
    for found in states {
        let (low, high) = found.drift.clock;
        grid.row(vec![
            state(&found.cell),
            bias(&found.predecessor),
            bias(&found.order),
            percent(found.drift.sentinel),
            percent(high / low - 1.0),
            percent(found.repeated.rate()),
            percent(found.disturbed.rate()),
            found.company.shared().map_or(NONE.into(), percent),
            found.switches.to_string(),
        ]);
    }
    let note = "After nt: a plain loop after a non-temporal one over the same after a plain one. \
                First in block: over second, where both are one loop; shuffling makes nothing of \
                it. Drift: one loop's time, slowest over fastest tenth of the test. Clock: the core's, most over least. Repeated: \
                passes that something got into; disturbed: those that stayed so. Shared: samples while another thread, \
                a neighbour's or one of this machine, had part of the core.";
    format!("{}\n{}", grid.text(), line(note))
}

fn bias(bias: &Bias) -> String {
    if bias.ratio.is_nan() {
        return NONE.into();
    }
    let (low, high) = bias.ci;
    let mark = if bias.is_there() { " !" } else { "" };
    format!("{:.3} [{low:.3}, {high:.3}]{mark}", bias.ratio)
}

/// The verdict on a state, as a sentence.
fn verdict(found: &StateNoise) -> String {
    let mut said = format!(
        "{}: differences above {} can be believed here, now",
        state(&found.cell),
        percent(found.believable)
    );
    if found.is_loud() {
        said.push_str("; this is loud");
    }
    if found.false_wins.interval().0 > 0.05 {
        said.push_str(&format!(
            "; {} of contests between equals have a winner, which is too many",
            percent(found.false_wins.rate())
        ));
    }
    if found.predecessor.is_there() {
        said.push_str("; times hang on who ran before");
    }
    said.push('.');
    said
}

/// Clock, steal, time, and what ended it.
fn about(found: &Noise, setting: &SelftestSetting) -> String {
    let step = found.states.iter().map(|s| s.clock_step).max();
    let step = step.map_or(String::new(), |step| {
        let ns = step as f64 / setting.counter_hz * 1e9;
        format!(", in steps of {step} ({ns:.1} ns)")
    });
    let steal = match found.steal {
        Some(steal) => format!("{} of the CPUs' time went to others", percent(steal)),
        None => "how much time others took is not told".into(),
    };
    let interrupted = if found.interrupted { " Interrupted: states are missing." } else { "" };
    format!(
        "The time-stamp counter runs at {:.1} MHz{step}; {steal}; {:.0} s in all.{interrupted}",
        setting.counter_hz / 1e6,
        found.seconds
    )
}

/// The document of a test of noise, schema 1: shares as `{"hits", "of"}`, differences and
/// drift as fractions, ratios with `ci`, the 95 % interval.
pub fn noise_json(
    found: &Noise,
    absent: &[(String, String)],
    setting: &SelftestSetting,
    facts: &Facts,
) -> Value {
    let absent = absent.iter().map(|(state, why)| json!({ "state": state, "reason": why }));
    let mut document = head(setting, facts, found.seconds, found.interrupted);
    document["steal"] = json!(found.steal);
    document["states"] = found.states.iter().map(state_json).collect();
    document["absent"] = absent.collect();
    document
}

fn head(setting: &SelftestSetting, facts: &Facts, seconds: f64, interrupted: bool) -> Value {
    let busy = setting.busy.map(|(how, cpu)| json!({ "how": how.word(), "cpu": cpu }));
    json!({
        "schema": 1,
        "command": facts.command,
        "seed": setting.seed,
        "seconds": seconds,
        "interrupted": interrupted,
        "host": { "key": facts.host_key, "cpu": facts.cpu, "features": facts.features },
        "worker_cpu": setting.cpu,
        "busy": busy,
        "counter_hz": setting.counter_hz,
        "disturbances": setting.disturbances,
    })
}

fn state_json(found: &StateNoise) -> Value {
    let share = |s: Share| json!({ "hits": s.hits, "of": s.of });
    let bias =
        |b: &Bias| json!({ "ratio": b.ratio, "ci": [b.ci.0, b.ci.1], "verdict": b.verdict.word() });
    let power = found
        .power
        .iter()
        .map(|p| json!({ "asked": p.asked, "planted": p.planted, "found": share(p.found) }));
    json!({
        "op": found.cell.op.word(),
        "size_bytes": found.cell.size,
        "state": found.cell.state.to_string(),
        "drive": found.cell.drive.word(),
        "layouts": found.layouts,
        "blocks": found.blocks,
        "seconds": found.seconds,
        "false_wins": share(found.false_wins),
        "power": power.collect::<Vec<_>>(),
        "believable": found.believable,
        "loud": found.is_loud(),
        "predecessor": bias(&found.predecessor),
        "order": bias(&found.order),
        "drift": found.drift.sentinel,
        "cycles_per_tick": [found.drift.clock.0, found.drift.clock.1],
        "clock_step_ticks": found.clock_step,
        "repeated": share(found.repeated),
        "disturbed": share(found.disturbed),
        "shared": found.company.shared(),
        "additions_per_cycle": found.company.additions_per_cycle(),
        "switches": found.switches,
        "verdict": verdict(found),
    })
}

/// The page of the traps.
pub fn traps(found: &Trapped, setting: &SelftestSetting, facts: &Facts) -> String {
    let mut page = host_line(facts);
    page.push_str(&format!("Traps of measuring{}\n\n", who(setting)));
    let columns = [
        ("trap", Side::Left),
        ("as measured here", Side::Left),
        ("without the countermeasure", Side::Left),
        ("", Side::Left),
    ];
    let mut grid = Grid::new(&columns);
    for shown in &found.shown {
        let (with, without) = match &shown.sides {
            Ok((with, without)) => (run(with), run(without)),
            Err(_) => (NONE.into(), NONE.into()),
        };
        let (how, how_not) = shown.trap.runs();
        grid.row(vec![
            shown.trap.word().into(),
            format!("{how}\n{with}"),
            format!("{how_not}\n{without}"),
            shown.finding().map_or("cannot", |f| f.word()).into(),
        ]);
    }
    page.push_str(&grid.text());
    page.push('\n');
    for shown in &found.shown {
        page.push_str(&line(&told(shown)));
    }
    let interrupted = if found.interrupted { " Interrupted: traps are missing." } else { "" };
    page.push_str(&format!(
        "\nshut: the check holds, and fails without the countermeasure. not seen here: it holds \
         either way.\nopen: it does not hold. {:.0} s in all.{interrupted}\n",
        found.seconds
    ));
    page
}

fn run(side: &Run) -> String {
    format!("{:.3} {}\n{}", side.value, if side.holds { "holds" } else { "fails" }, side.text)
}

fn told(shown: &Shown) -> String {
    let word = shown.trap.word();
    match &shown.sides {
        Ok(_) => format!("{word}: {}", shown.trap.asks()),
        Err(why) => format!("{word}: cannot be shown here: {why}"),
    }
}

/// The document of the traps, schema 1: the figure of each check in both runs.
pub fn traps_json(found: &Trapped, setting: &SelftestSetting, facts: &Facts) -> Value {
    let mut document = head(setting, facts, found.seconds, found.interrupted);
    document["traps"] = found.shown.iter().map(trap_json).collect();
    document
}

fn trap_json(shown: &Shown) -> Value {
    let (how, how_not) = shown.trap.runs();
    let run = |run: &str, side: &Run| json!({ "run": run, "value": side.value, "holds": side.holds, "text": side.text });
    let mut trap = json!({
        "name": shown.trap.word(),
        "countermeasure": shown.trap.countermeasure().map(|c| c.word()),
        "asks": shown.trap.asks(),
        "finding": shown.finding().map_or("cannot", |f| f.word()),
        "tries": shown.tries,
    });
    match &shown.sides {
        Ok((with, without)) => {
            trap["with"] = run(how, with);
            trap["without"] = run(how_not, without);
        }
        Err(why) => trap["reason"] = json!(why),
    }
    trap
}
