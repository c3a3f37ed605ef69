//! The page of `looptune list` for people, 100 columns wide.

use comfy_table::{
    Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table,
    TableStyle, Width,
};

use super::axes::{axes, classes};
use super::{Counted, Listed, named};
use crate::host::{Feature, FeatureSet};
use crate::space::RULES;
use crate::subject::{Baseline, Class, Encoding, Op};
use crate::template::{Axes, AxisValue, Family};

/// Columns of the page.
const WIDTH: u16 = 100;

/// A rule under the header is all the lines a reader needs.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// The page. `whole`: families, axes and baselines too, not the search files alone.
pub(super) fn page(host: FeatureSet, listed: &[Listed], whole: bool) -> String {
    let mut sections = Vec::new();
    if whole {
        sections.push(families());
        sections.push(axes(host));
        sections.push(classes(listed));
        sections.push(baselines());
        sections.push(named::page());
    }
    sections.push(files(listed));
    if !whole {
        sections.extend(listed.iter().map(regions));
    }
    sections.push(spaces(listed));
    sections.push(rules(listed));
    sections.extend(unsupported(listed));
    sections.join("\n\n") + "\n"
}

pub(super) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(STYLE)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(header.iter().map(|h| Cell::new(h).add_attribute(Attribute::Bold)));
    table
}

/// Fixes the widths of the first columns; what does not fit is wrapped. The last column has
/// the rest of the page, less one place between columns.
pub(super) fn widths(table: &mut Table, first: &[u16]) {
    let used = first.iter().sum::<u16>() + table.column_count().saturating_sub(1) as u16;
    let last = WIDTH.saturating_sub(used).max(20);
    let columns = first.iter().copied().chain([last]);
    table.set_constraints(columns.map(|w| ColumnConstraint::Absolute(Width::Fixed(w))));
}

fn families() -> String {
    let mut table = table(&["family", "classes", "encoding", "why"]);
    for family in Family::embedded() {
        table.add_row([
            family.name,
            Class::summary(&family.axes.classes),
            Encoding::summary(&family.axes.encodings),
            family.why,
        ]);
    }
    widths(&mut table, &[10, 13, 10]);
    table.trim_fmt()
}

/// What a baseline is.
pub(super) fn baseline_meaning(baseline: Baseline) -> String {
    match baseline {
        Baseline::Libc => "memcpy or memset of the C library that runs here".into(),
        Baseline::LibcTuned => {
            "the same in a process of its own, with GLIBC_TUNABLES set to the caches as measured"
                .into()
        }
        Baseline::Rep => {
            let ids: Vec<String> = Op::ALL
                .iter()
                .filter_map(|op| baseline.as_variant(*op))
                .map(|v| v.to_string())
                .collect();
            format!("the bare string instruction: {}", ids.join(" or "))
        }
        Baseline::CompilerO2 | Baseline::CompilerO3 => format!(
            "a plain loop in C, built here with cc {}; for every op",
            baseline.optimisation().unwrap_or_default()
        ),
    }
}

fn baselines() -> String {
    let mut table = table(&["baseline", "what it is"]);
    for baseline in Baseline::ALL {
        table.add_row([baseline.word().to_string(), baseline_meaning(*baseline)]);
    }
    let name = column(Baseline::ALL.iter().map(|b| b.word()), "baseline");
    widths(&mut table, &[name]);
    table.trim_fmt()
}

fn files(listed: &[Listed]) -> String {
    let mut table = table(&["search file", "what it is for"]);
    for Listed { file, .. } in listed {
        table.add_row([&file.name, &file.description]);
    }
    let name = column(listed.iter().map(|l| l.file.name.as_str()), "search file");
    widths(&mut table, &[name]);
    table.trim_fmt()
}

/// Width of a column of names: the longest and its padding, up to a third of the page.
fn column<'a>(names: impl Iterator<Item = &'a str>, header: &'a str) -> u16 {
    let longest = names.chain([header]).map(|n| n.chars().count()).max().unwrap_or(0);
    u16::try_from(longest + 2).unwrap_or(WIDTH).min(WIDTH / 3)
}

fn regions(listed: &Listed) -> String {
    let mut table = table(&["region", "points", "why"]);
    for (nth, region) in listed.file.regions.iter().enumerate() {
        let points = region.axes.iter().map(Axes::product).sum();
        table.add_row([(nth + 1).to_string(), grouped(points), region.why.clone()]);
    }
    right_from(&mut table, 0, 2);
    widths(&mut table, &[8, 10]);
    table.trim_fmt()
}

/// Each space with the name of its file and op.
fn counted(listed: &[Listed]) -> impl Iterator<Item = (String, &Counted)> {
    listed.iter().flat_map(|l| {
        l.spaces.iter().map(move |s| {
            let name = if l.file.name == s.op.word() || l.spaces.len() == 1 {
                l.file.name.clone()
            } else {
                format!("{}, {}", l.file.name, s.op)
            };
            (name, s)
        })
    })
}

fn spaces(listed: &[Listed]) -> String {
    let header =
        ["space", "points", "excluded", "repeated", "legal", "by code", "run here", "by code"];
    let mut table = table(&header);
    for (name, space) in counted(listed) {
        let excluded: u64 = space.here.excluded.iter().map(|(_, n)| n).sum();
        let numbers = [
            space.here.points,
            excluded,
            space.here.repeated,
            space.here.legal,
            space.distinct as u64,
            space.here.variants.len() as u64,
            space.distinct_here as u64,
        ];
        table.add_row(
            std::iter::once(Cell::new(name)).chain(numbers.map(|n| Cell::new(grouped(n)))),
        );
    }
    right_from(&mut table, 1, header.len());
    let legend = " repeated: in an earlier region of the file; by code: distinct machine code";
    format!("{}\n{legend}", table.trim_fmt())
}

fn right_from(table: &mut Table, from: usize, to: usize) {
    for i in from..to {
        if let Some(column) = table.column_mut(i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

fn rules(listed: &[Listed]) -> String {
    let spaces: Vec<(String, &Counted)> =
        counted(listed).filter(|(_, s)| !s.here.excluded.is_empty()).collect();
    let mut header = vec!["excluded by rule"];
    header.extend(spaces.iter().map(|(name, _)| name.as_str()));
    header.push("why");
    let mut table = table(&header);
    let mut unused = Vec::new();
    for rule in RULES {
        let counts: Vec<u64> = spaces
            .iter()
            .map(|(_, s)| {
                s.here.excluded.iter().find(|(r, _)| *r == rule).map_or(0, |(_, count)| *count)
            })
            .collect();
        if counts.iter().all(|count| *count == 0) {
            unused.push([rule.name, rule.reason]);
            continue;
        }
        let counts = counts.into_iter().map(|n| match n {
            0 => String::new(),
            n => grouped(n),
        });
        table.add_row(
            std::iter::once(rule.name.to_string())
                .chain(counts)
                .chain(std::iter::once(rule.reason.to_string())),
        );
    }
    right_from(&mut table, 1, header.len() - 1);
    let names = column(RULES.iter().map(|r| r.name), "excluded by rule");
    let mut columns = vec![names];
    columns
        .extend(spaces.iter().map(|(name, _)| column(std::iter::once(name.as_str()), "123,456")));
    widths(&mut table, &columns);
    if unused.is_empty() {
        return table.trim_fmt();
    }
    let mut others = self::table(&["excludes none of these", "why"]);
    others.add_rows(unused);
    widths(&mut others, &[names]);
    format!("{}\n\n{}", table.trim_fmt(), others.trim_fmt())
}

fn unsupported(listed: &[Listed]) -> Option<String> {
    let mut table = table(&["not on this host", "variants", "needs"]);
    for (name, space) in counted(listed) {
        for (reason, count) in &space.here.unsupported {
            table.add_row([name.clone(), grouped(*count), features(reason.missing)]);
        }
    }
    right_from(&mut table, 1, 2);
    widths(&mut table, &[28, 10]);
    (table.row_count() > 0).then(|| table.trim_fmt())
}

fn features(set: FeatureSet) -> String {
    set.iter().map(Feature::word).collect::<Vec<_>>().join(" ")
}

/// A number with its thousands apart.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::count;
    use super::*;
    use crate::search::SearchFile;

    pub(in super::super) fn old_host() -> FeatureSet {
        [Feature::Mmx, Feature::Sse, Feature::Sse2].into_iter().collect()
    }

    #[test]
    fn the_page_fits_its_width_and_tells_everything() {
        let listed: Vec<Listed> =
            SearchFile::embedded().into_iter().map(|f| count(f, old_host())).collect();
        let page = page(old_host(), &listed, true);
        for line in page.lines() {
            assert!(line.chars().count() <= usize::from(WIDTH), "{line}");
        }
        for rule in RULES {
            assert!(page.contains(rule.name), "{} is not told", rule.name);
            // Reasons are wrapped: their first words stand in one line.
            let reason: Vec<&str> = rule.reason.split(' ').take(2).collect();
            let told = page.lines().any(|l| l.contains(rule.name) && l.contains(&reason.join(" ")));
            assert!(told, "{} without its reason", rule.name);
        }
        for family in Family::embedded() {
            assert!(page.contains(&format!(" {} ", family.name)));
        }
        assert!(page.contains("avx512f avx512vl"));
        assert!(page.contains("libc") && page.contains("copy/rep8 or zero/rep8"));
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1234), "1,234");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
