//! The page after a search.

use super::crossover::of_search;
use super::facts::Facts;
use super::grid::{Grid, Side, WIDTH};
use super::size::one_size;
use super::sizes::many_sizes;
use super::text::{count, fold, mix_notes, state};
use crate::search::{CellOutcome, SearchOutcome, SizeOutcome};
use crate::subject::{Contract, Extent};
use crate::units::human_ns;

/// Up to this many sizes get their own tables; more are shown by size × state.
const OWN_TABLES: usize = 2;

/// The page that a person reads after a search: at most 100 columns, no colours.
pub fn outcome(found: &SearchOutcome, facts: &Facts) -> String {
    let mut page = heading(found, facts);
    page.push('\n');
    page.push_str(&tables(found, facts));
    page.push_str(&how(found));
    page.push_str(&notes(found, facts));
    page
}

/// The tables of what was found, without heading and notes.
pub(super) fn tables(found: &SearchOutcome, facts: &Facts) -> String {
    if found.sizes.len() > OWN_TABLES {
        return many_sizes(found);
    }
    found.sizes.iter().map(|size| one_size(size, facts)).collect()
}

fn heading(found: &SearchOutcome, facts: &Facts) -> String {
    let bytes = match found.sizes.as_slice() {
        [one] if one.extent.mix.is_none() => format!("{} bytes", one.extent.size),
        _ => extents(found),
    };
    let mut host = format!("{} ({})", facts.cpu, facts.host_key);
    if let Some(libc) = &facts.libc {
        host.push_str(", ");
        host.push_str(libc);
    }
    let width = usize::from(WIDTH);
    let contract = match found.contract {
        Contract::User => String::new(),
        other => format!(", {other} contract"),
    };
    format!("{}, {bytes}{contract}\n{}\n", found.op, fold(&host, width, 2))
}

/// The sizes and mixes in words.
fn extents(found: &SearchOutcome) -> String {
    let of = |mixed: bool| -> Vec<Extent> {
        let all = found.sizes.iter().map(|s| s.extent);
        all.filter(|e| e.mix.is_some() == mixed).collect()
    };
    let fixed = match of(false).as_slice() {
        [] => None,
        [one] => Some(one.phrase()),
        [first, .., last] => Some(format!("{first} to {last} bytes, {} sizes", of(false).len())),
    };
    let mixed = match of(true).as_slice() {
        [] => None,
        [one] => Some(one.phrase()),
        many => Some(format!("{} mixes of sizes", many.len())),
    };
    match (fixed, mixed) {
        (None, None) => "no size".into(),
        (Some(fixed), Some(mixed)) => format!("{fixed}, and {mixed}"),
        (fixed, mixed) => fixed.or(mixed).unwrap_or_default(),
    }
}

/// How the cells were measured: trials, samples, why it ended, what has no time.
fn how(found: &SearchOutcome) -> String {
    if found.sizes.len() > OWN_TABLES {
        return totals(found);
    }
    let several = found.sizes.len() > 1;
    let mut columns = vec![
        ("measured", Side::Left),
        ("candidates", Side::Right),
        ("samples", Side::Right),
        ("stopped by", Side::Left),
        ("without a time", Side::Left),
    ];
    if several {
        columns.insert(0, ("size", Side::Right));
    }
    let mut grid = Grid::new(&columns);
    for size in &found.sizes {
        for cell in &size.cells {
            let mut row = vec![
                state(&cell.cell),
                count(cell.trials),
                count(cell.samples),
                cell.stop.to_string(),
                excluded(cell),
            ];
            if several {
                row.insert(0, size.extent.to_string());
            }
            grid.row(row);
        }
    }
    format!("{}\n", grid.text())
}

/// One line instead of a row for each of many cells.
fn totals(found: &SearchOutcome) -> String {
    let cells = || found.sizes.iter().flat_map(|size: &SizeOutcome| &size.cells);
    let sum = |of: fn(&CellOutcome) -> u64| cells().map(of).sum::<u64>();
    let mut stops: Vec<(String, usize)> = Vec::new();
    for cell in cells() {
        let stop = cell.stop.to_string();
        match stops.iter_mut().find(|(s, _)| *s == stop) {
            Some((_, n)) => *n += 1,
            None => stops.push((stop, 1)),
        }
    }
    let stops: Vec<String> = stops.iter().map(|(s, n)| format!("{s} in {n}")).collect();
    let text = format!(
        "{} cells, {} candidates timed, {} samples; stopped by {}; without a time: {} unsupported, \
         {} incorrect, {} crashed, {} hung.",
        cells().count(),
        count(sum(|c| c.trials)),
        count(sum(|c| c.samples)),
        if stops.is_empty() { "nothing".into() } else { stops.join(", ") },
        count(sum(|c| c.excluded.unsupported)),
        count(sum(|c| c.excluded.incorrect)),
        count(sum(|c| c.excluded.crashed)),
        count(sum(|c| c.excluded.hung)),
    );
    format!("{}\n\n", fold(&text, usize::from(WIDTH), 2))
}

fn excluded(cell: &CellOutcome) -> String {
    let e = &cell.excluded;
    let counts = [
        (e.unsupported, "unsupported"),
        (e.incorrect, "incorrect"),
        (e.crashed, "crashed"),
        (e.hung, "hung"),
    ];
    let told: Vec<String> = counts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{} {what}", count(*n)))
        .collect();
    if told.is_empty() { "none".into() } else { told.join(", ") }
}

/// What a reader must know: warnings, how to read the figures, the seed.
fn notes(found: &SearchOutcome, facts: &Facts) -> String {
    let width = usize::from(WIDTH);
    let mut text = String::new();
    let mut line = |note: &str| {
        text.push_str(&fold(note, width, 2));
        text.push('\n');
    };
    for warning in &found.warnings {
        line(&format!("! {warning}"));
    }
    of_search(found).iter().for_each(|note| line(note));
    mix_notes(found.sizes.iter().map(|s| s.extent)).iter().for_each(|note| line(note));
    if let Some(limit) = &facts.limit {
        line(&format!("limit: {:.0} bytes a cycle, {}.", limit.bytes_per_cycle, limit.why));
    }
    let empty = found.sizes.iter().flat_map(|s| &s.cells).map(|c| c.driver_ns).fold(0.0, f64::max);
    line(&format!(
        "Brackets hold 95 % intervals. Verdicts are of the baseline against the winner. \
         Regret: time over the state's best, minus one. Times are of a whole call; an empty \
         function's takes {}.",
        human_ns(empty)
    ));
    line(&format!("seed {}, {:.1} s: {}", found.seed, found.seconds, facts.command));
    text
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn fits(page: &str) {
        for line in page.lines() {
            assert!(line.chars().count() <= usize::from(WIDTH), "{line}");
            assert_eq!(line, line.trim_end());
        }
    }

    #[test]
    fn one_size() {
        let page = outcome(&sample::search(&[4096]), &sample::facts());
        fits(&page);
        insta::assert_snapshot!(page);
    }

    #[test]
    fn a_small_size_has_both_drives() {
        let page = outcome(&sample::search(&[128]), &sample::facts());
        fits(&page);
        insta::assert_snapshot!(page);
    }

    #[test]
    fn every_state_in_both_drives() {
        let mut found = sample::search(&[128]);
        found.sizes = vec![sample::all_cells(128)];
        let page = outcome(&found, &sample::facts());
        fits(&page);
        insta::assert_snapshot!(page);
    }

    #[test]
    fn many_sizes_in_one_table() {
        let page = outcome(&sample::search(&[64, 128, 4096, 1 << 20]), &sample::facts());
        fits(&page);
        insta::assert_snapshot!(page);
    }

    #[test]
    fn a_mix_stands_beside_sizes_under_its_name() {
        let mut found = sample::search(&[64]);
        found.sizes.push(sample::mixed("MemcpyOfAWebServer"));
        let page = outcome(&found, &sample::facts());
        fits(&page);
        insta::assert_snapshot!(page);
        found.sizes.extend(["b", "a name of thirty-two characters!"].map(sample::mixed));
        let page = outcome(&found, &sample::facts());
        fits(&page);
        assert!(page.contains("64 bytes, and 3 mixes of sizes"), "{page}");
        // With its interval, also where many stand in one table.
        assert!(page.contains("libc 1.10×") && page.contains("[1.093, 1.107]"), "{page}");
        // Ids are broken behind slashes only.
        assert!(page.lines().any(|line| line.contains(" ymm/u8/a64  ")), "{page}");
        let alone = SearchOutcome { sizes: found.sizes.split_off(3), ..found.clone() };
        fits(&outcome(&alone, &sample::facts()));
        found.sizes.extend(alone.sizes);
        found.sizes.drain(..1);
        assert!(outcome(&found, &sample::facts()).starts_with("zero, 3 mixes of sizes"));
    }

    #[test]
    fn nothing_timed_is_said() {
        let mut found = sample::search(&[4096]);
        let size = &mut found.sizes[0];
        (size.robust, size.best_plain, size.best_nt) = (None, None, None);
        size.best_kernel = None;
        for cell in &mut size.cells {
            cell.winner = None;
            cell.ties.clear();
            cell.standings.clear();
            cell.baselines.clear();
        }
        let page = outcome(&found, &Facts { limit: None, ..sample::facts() });
        fits(&page);
        assert!(page.contains("nothing could be timed"));
        assert!(page.contains("none was measured in all states"));
        found.sizes.clear();
        assert!(outcome(&found, &Facts::default()).contains("no size"));
    }
}
