//! Charts with what is to be seen on them.

use super::super::charts::{
    Bar, Series, SizeCurves, SizePoint, bars, broad, curve, distributions, heat, size_curves,
};
use super::super::facts::Limit;
use super::super::gather::{Details, HostResults, Map, OpResults};
use super::super::text::state;
use super::tables::baseline_names;
use super::{Block, Figure, captions};
use crate::search::{CellOutcome, SearchOutcome, SizeOutcome};
use crate::subject::{Cell, Drive, Op, State};

/// The first series of every chart.
pub(super) const WINNER: &str = "winner";

/// Curves shown of a cell: those with the most points.
const CURVES: usize = 4;

/// Sizes that make a curve, where so many were measured.
const LEAST_SIZES: usize = 3;

/// Speed by size where there are several sizes, else by state.
pub(super) fn overview(
    found: &HostResults,
    op: &OpResults,
    limit: Option<&Limit>,
    host: &str,
) -> Option<Block> {
    let outcome = op.outcome();
    let limit = limit.map(|l| l.bytes_per_cycle);
    let (mixed, fixed): (Vec<&SizeOutcome>, Vec<&SizeOutcome>) =
        outcome.sizes.iter().partition(|s| s.extent.mix.is_some());
    let mut figures = match fixed.as_slice() {
        [] => Vec::new(),
        [one] => by_state(outcome, one, limit, host).into_iter().collect(),
        several => by_size(found, outcome.op, several, limit, host),
    };
    // A mix is no point on an axis of sizes.
    figures.extend(mixed.into_iter().filter_map(|mix| by_state(outcome, mix, limit, host)));
    (!figures.is_empty()).then_some(Block::Figures { figures })
}

/// Bytes a cycle of a winner or a baseline with its interval, by name.
fn speed(cell: &CellOutcome, name: &str) -> Option<SizePoint> {
    let size = cell.cell.size;
    let bytes = cell.cell.extent().mean();
    let (figure, ci) = if name == WINNER {
        let w = cell.winner.as_ref()?;
        (w.bytes_per_cycle, (w.bytes_per_cycle * w.ns / w.ci.1, w.bytes_per_cycle * w.ns / w.ci.0))
    } else {
        let t = cell.baselines.iter().find(|b| b.name == name)?.result.as_ref().ok()?;
        let of = |ns: f64| bytes / (ns * cell.cycles_per_ns);
        (of(t.ns), (of(t.ci.1), of(t.ci.0)))
    };
    let sensible = [figure, ci.0, ci.1].iter().all(|v| v.is_finite() && *v > 0.0);
    sensible.then_some(SizePoint { size, figure, ci })
}

fn names_of<'a>(cells: impl Iterator<Item = &'a CellOutcome>) -> Vec<String> {
    std::iter::once(WINNER.to_string()).chain(baseline_names(cells)).collect()
}

fn by_state(
    outcome: &SearchOutcome,
    size: &SizeOutcome,
    limit: Option<f64>,
    host: &str,
) -> Option<Figure> {
    let names = names_of(size.cells.iter());
    let mut lines = Vec::new();
    for cell in &size.cells {
        for (series, name) in names.iter().enumerate() {
            if let Some(speed) = speed(cell, name) {
                let group = state(&cell.cell);
                lines.push(Bar { group, series, figure: speed.figure, ci: speed.ci });
            }
        }
    }
    if lines.is_empty() {
        return None;
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let title = format!("{} of {} by state{host}", outcome.op, size.extent.phrase());
    Some(Figure {
        svg: bars(&title, &names, &lines, "bytes a cycle", limit),
        caption: captions::by_state(size),
        title,
        broad: false,
    })
}

fn by_size(
    found: &HostResults,
    op: Op,
    sizes: &[&SizeOutcome],
    limit: Option<f64>,
    host: &str,
) -> Vec<Figure> {
    let cells = || sizes.iter().flat_map(|s| &s.cells);
    let mut kinds: Vec<(Drive, State)> = cells().map(|c| (c.cell.drive, c.cell.state)).collect();
    kinds.sort();
    kinds.dedup();
    // Two points are a curve where there are no more; else they say little for their room.
    let enough = sizes.len().min(LEAST_SIZES);
    let mut figures = Vec::new();
    for (drive, of_state) in kinds {
        let own: Vec<&CellOutcome> =
            cells().filter(|c| (c.cell.drive, c.cell.state) == (drive, of_state)).collect();
        let Some(first) = own.first().filter(|_| own.len() >= enough) else { continue };
        let series = names_of(own.iter().copied()).into_iter().map(|name| Series {
            points: own.iter().filter_map(|cell| speed(cell, &name)).collect(),
            name,
        });
        let series: Vec<Series> = series.filter(|s| s.points.len() >= 2).collect();
        if series.is_empty() {
            continue;
        }
        let title = format!("{op} in {} by size{host}", state(&first.cell));
        let caches = caches(found, &first.cell);
        let data = SizeCurves { title: title.clone(), series, limit, caches };
        let caption = captions::by_size(&own, limit);
        figures.push(Figure { svg: size_curves(&data), title, caption, broad: false });
    }
    figures
}

/// Sizes of a call at which what it touches fills a cache.
fn caches(found: &HostResults, cell: &Cell) -> Vec<(String, u64)> {
    let Some(host) = &found.host else { return Vec::new() };
    let touched = (cell.footprint() / cell.size.max(1)).max(1);
    let caches = &host.caches;
    let of = [
        ("L1d", Some(caches.l1d_bytes())),
        ("L2", Some(caches.l2_bytes())),
        ("LLC", caches.llc_bytes()),
    ];
    of.into_iter()
        .filter_map(|(name, bytes)| Some((format!("fills {name}"), bytes? / touched)))
        .collect()
}

/// The conditions, where they are not the defaults: cells that differ in nothing else have
/// charts of their own.
fn conditions(cell: &Cell) -> String {
    match cell.conditions.words() {
        words if words.is_empty() => String::new(),
        words => format!(" ({})", words.join(", ")),
    }
}

/// Maps, curves and distributions of a size. `host` ends each title where there are several.
pub(super) fn of_size(
    outcome: &SearchOutcome,
    details: &[&Details],
    limit: Option<f64>,
    host: &str,
) -> Vec<Block> {
    let mut maps = Vec::new();
    let mut curves = Vec::new();
    let mut samples = Vec::new();
    for of_cell in details {
        let cell = &of_cell.cell;
        let placed = conditions(cell);
        let place = format!("{} {} in {}{placed}", cell.op, cell.extent(), state(cell));
        for map in &of_cell.maps {
            let axes = |map: &Map| format!("{} × {}", map.y.key, map.x.key);
            let same = of_cell.maps.iter().filter(|other| axes(other) == axes(map)).count();
            let run = if same > 1 { format!(", run {}", map.run) } else { String::new() };
            let title = format!("{place}: {}{run}{host}", axes(map));
            let caption = captions::map(map, limit, of_cell.bench);
            let broad = broad(map);
            maps.push(Figure { svg: heat(&title, map, limit), title, caption, broad });
        }
        let mut own: Vec<_> = of_cell.curves.iter().collect();
        own.sort_by_key(|c| std::cmp::Reverse(c.points.len()));
        for data in own.into_iter().take(CURVES) {
            let title = format!("{place}: {} alone{host}", data.key);
            let caption = captions::curve(data, limit);
            curves.push(Figure { svg: curve(&title, data), title, caption, broad: false });
        }
        if !of_cell.distributions.is_empty() {
            let found = outcome.sizes.iter().flat_map(|s| &s.cells).find(|c| c.cell == *cell);
            let title = format!("{place}: samples{host}");
            let caption = captions::distributions(&of_cell.distributions, found);
            samples.push(Figure {
                svg: distributions(&title, &of_cell.distributions),
                title,
                caption,
                broad: false,
            });
        }
    }
    [maps, curves, samples]
        .into_iter()
        .filter(|figures| !figures.is_empty())
        .map(|figures| Block::Figures { figures })
        .collect()
}
