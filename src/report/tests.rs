//! Reports on folders as the journal writes them, whole and damaged.

use std::collections::HashSet;
use std::fs;

use tempfile::TempDir;

use super::document::document;
use super::fixture::{bench, cell, distances, folder, id, interrupted, looks};
use super::folders::{Form, folders};
use super::gather::{Depth, gather, gather_over};
use super::html::html;
use super::plain::plain;
use crate::results::Folder;
use crate::template::{AXES, Axis};

/// Checks that a page is well-formed: tags close in order, attributes are quoted, ids are
/// unique, links lead somewhere within, and nothing is fetched or no number.
fn well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut ids = HashSet::new();
    let mut links = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a document type");
    while let Some((text, after)) = rest.split_once('<') {
        for entity in text.split('&').skip(1) {
            let name = entity.split_once(';').expect("an entity ends").0;
            assert!(["lt", "gt", "amp", "quot", "apos", "#x27", "#x2f"].contains(&name), "{name}");
        }
        let (tag, behind) = after.split_once('>').expect("a tag ends");
        rest = behind;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closes in order");
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes close in <{tag}>");
        let name = tag.split([' ', '\n', '/']).next().unwrap_or_default();
        for (i, part) in tag.split('"').enumerate() {
            if i % 2 == 0 && i + 1 < tag.split('"').count() {
                assert!(part.ends_with('='), "an attribute in <{tag}>");
            }
        }
        if let Some((_, id)) = tag.split_once(" id=\"") {
            assert!(ids.insert(id.split('"').next().unwrap()), "id twice: {id}");
        }
        if let Some((_, link)) = tag.split_once("href=\"") {
            links.push(link.split('"').next().unwrap());
        }
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0], "all closed");
    for link in links {
        let id = link.strip_prefix('#').expect("links stay within");
        assert!(ids.contains(id), "{link} leads nowhere");
    }
    for never in
        ["http:", "https:", "url(", "<script", "<link", "src=", "NaN", "#0101", "&amp;#", "&lt;wbr"]
    {
        assert!(!page.contains(never), "{never}");
    }
    for word in page.split(|c: char| !c.is_ascii_alphanumeric()) {
        assert_ne!(word, "inf");
    }
}

#[test]
fn the_page_holds_every_chart_and_is_well_formed() {
    let dir = TempDir::new().unwrap();
    let one = folder(dir.path(), "amd-1", &[4096]);
    let page = folders(&[one], Form::Html).unwrap();
    well_formed(&page);
    for wanted in [
        "zero of 4k bytes by state",
        "zero 4k in l1: align × unroll",
        "zero 4k in l1: unroll alone",
        "zero 4k in l1: align alone",
        "zero 4k in l1: samples",
        "Regret of finalists and baselines by state",
        "top at 0 modulo 64",
        "looptune search --op zero --size 4096 # &lt;b&gt; &amp; &quot;quotes&quot;",
        "fastest in l1",
        "prefers-color-scheme: dark",
        "name=\"viewport\"",
    ] {
        assert!(page.contains(wanted), "{wanted} in\n{}", &page[..page.len().min(20_000)]);
    }
    // The captions say what the data say: u4 is best by 3 ns a step, three registers cost
    // 3 ns of 46.
    assert!(page.contains("Best at align a1 and unroll 4"), "the map's best");
    assert!(page.contains("Best at unroll 4: "), "the curve's best");
    assert!(page.contains("of winner and one of libc, winner is faster in 100 %"));
}

#[test]
fn first_looks_claim_no_best() {
    let dir = TempDir::new().unwrap();
    let one = looks(dir.path(), "amd-1", &[4096], &[3]);
    let page = folders(&[one], Form::Html).unwrap();
    well_formed(&page);
    assert!(page.contains("First looks of 3 samples: no best is claimed"));
    assert!(!page.contains("Best at"));
    // Five or six candidates a value tell what an axis costs.
    assert!(page.contains("the best loop at unroll 8 takes"), "{page}");
    let none = looks(dir.path(), "amd-2", &[4096], &[2, 1]);
    let page = folders(&[none], Form::Html).unwrap();
    assert!(!page.contains("align × unroll"), "rows of two samples count for nothing");
}

#[test]
fn a_bench_is_called_one() {
    let dir = TempDir::new().unwrap();
    let one = bench(dir.path(), "amd-1");
    let page = folders(&[one], Form::Html).unwrap();
    well_formed(&page);
    assert!(page.contains("of a bench of 300 samples each"), "{page}");
    assert!(page.contains("Figures of benches: no search decided anything here."));
    assert!(!page.contains("first look"));
    let plain = folders(&[Folder::at(&dir.path().join("amd-1"))], Form::Plain).unwrap();
    assert!(plain.contains("figures of benches, no search"), "{plain}");
}

#[test]
fn many_sizes_have_curves_with_the_caches_marked() {
    let dir = TempDir::new().unwrap();
    let one = folder(dir.path(), "amd-1", &[64, 4096, 1 << 20, 1 << 22]);
    let page = folders(&[one], Form::Html).unwrap();
    well_formed(&page);
    assert!(page.contains("zero in l1 by size"));
    assert!(page.contains("fills L2"));
    assert!(page.contains("The winners peak at"));
    assert!(page.contains("libc is slower at 4 of 4 sizes"));
}

#[test]
fn hosts_stand_side_by_side_in_every_form() {
    let dir = TempDir::new().unwrap();
    let both = [folder(dir.path(), "amd-1", &[4096]), folder(dir.path(), "intel-2", &[4096, 8192])];
    let page = folders(&both, Form::Html).unwrap();
    well_formed(&page);
    let markdown = folders(&both, Form::Markdown).unwrap();
    let plain = folders(&both, Form::Plain).unwrap();
    for text in [&page, &markdown, &plain] {
        assert!(text.to_lowercase().contains("best of the breed"), "{text}");
        assert!(text.contains('★') && text.contains("amd-1") && text.contains("intel-2"));
    }
    assert!(plain.lines().all(|l| l.chars().count() <= 100 || l.starts_with('/')), "{plain}");
    // What one host alone has measured is no contest.
    let alone = markdown.lines().find(|l| l.starts_with("|   8k |")).unwrap();
    assert!(!alone.contains('★'), "{alone}");
}

#[test]
fn markdown_reads_as_text() {
    let dir = TempDir::new().unwrap();
    let one = folder(dir.path(), "amd-1", &[4096]);
    let text = folders(&[one], Form::Markdown).unwrap();
    assert!(!text.contains("<svg") && text.contains("zero/ymm/u4/a64"));
    let lines: Vec<&str> = text.lines().collect();
    let tables = lines.chunk_by(|a, b| a.starts_with('|') == b.starts_with('|'));
    for table in tables.filter(|t| t[0].starts_with('|')) {
        let width = table[0].chars().count();
        assert!(table.iter().all(|l| l.chars().count() == width), "{}", table.join("\n"));
        assert!(table[1].starts_with("|-") || table[1].starts_with("| -"), "{}", table[1]);
    }
}

#[test]
fn rows_are_tidy() {
    let dir = TempDir::new().unwrap();
    let one = folder(dir.path(), "amd-1", &[128, 4096]);
    let text = folders(&[one], Form::Csv).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().unwrap().clone();
    let at = |name: &str| head.iter().position(|h| h == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    // A finalist and two baselines in each of seven cells.
    assert_eq!(rows.len(), 21);
    let winner = rows.iter().find(|r| &r[at("size_bytes")] == "4096").unwrap();
    assert_eq!(&winner[at("subject")], "zero/ymm/u4/a64");
    assert_eq!(&winner[at("median_ns")], "42.1");
    assert_eq!(&winner[at("is_winner")], "true");
    assert!(
        rows.iter().any(|r| r[at("failure")].contains("crashed") && r[at("median_ns")].is_empty())
    );
    // A folder without decisions still gives the head.
    let empty = dir.path().join("none");
    fs::create_dir(&empty).unwrap();
    fs::write(empty.join("command.txt"), "").unwrap();
    let text = folders(&[Folder::at(&empty)], Form::Csv).unwrap();
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn files_cut_anywhere_still_make_a_page() {
    let dir = TempDir::new().unwrap();
    folder(dir.path(), "whole", &[4096]);
    let whole = dir.path().join("whole");
    let files = ["trials.csv", "decisions.csv", "samples.csv", "host.toml", "command.txt"];
    // A fixed sequence that looks drawn: failures can be repeated.
    let mut state = 12_345_u64;
    for file in files {
        let bytes = fs::read(whole.join(file)).unwrap();
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let cut = (state >> 33) as usize % bytes.len();
            let damaged = dir.path().join("damaged");
            fs::create_dir_all(&damaged).unwrap();
            for other in files {
                fs::copy(whole.join(other), damaged.join(other)).unwrap();
            }
            fs::write(damaged.join(file), &bytes[..cut]).unwrap();
            let page = folders(&[Folder::at(&damaged)], Form::Html).unwrap();
            well_formed(&page);
            let torn = cut > 0 && bytes[cut - 1] != b'\n' && file.ends_with(".csv");
            assert!(!torn || page.contains("cut off") || page.contains("left out"), "{file} {cut}");
            folders(&[Folder::at(&damaged)], Form::Markdown).unwrap();
        }
    }
    let damaged = dir.path().join("damaged");
    fs::write(damaged.join("host.toml"), "key = \"x\n").unwrap();
    let page = folders(&[Folder::at(&damaged)], Form::Html).unwrap();
    assert!(page.contains("facts of the host are damaged"));
}

#[test]
fn words_of_later_versions_are_warnings() {
    let dir = TempDir::new().unwrap();
    let one = folder(dir.path(), "amd-1", &[4096]);
    for file in ["trials.csv", "samples.csv"] {
        let path = one.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        let line = text.lines().last().unwrap().replace(",l1,", ",l9,");
        fs::write(&path, format!("{text}{line}\n")).unwrap();
    }
    let page = folders(&[one], Form::Html).unwrap();
    well_formed(&page);
    assert_eq!(page.matches("`l9` is no state").count(), 2);
    assert!(page.contains("zero 4k in l1: unroll alone"), "the rest is shown");
}

/// An axis that nobody knows: the skew of the loop top under another name.
static FLAVOUR: Axis = Axis {
    key: "flavour",
    about: "an axis of a test",
    token: "flavour",
    default: "none",
    values: || ["sweet", "sour", "salt", "bitter"].map(String::from).to_vec(),
    coarse: || Vec::new(),
    of: |v| {
        let at = (v.align.modulus == 64).then_some(v.align.skew / 16)?;
        ["sweet", "sour", "salt", "bitter"].get(usize::from(at)).map(|w| w.to_string())
    },
    with: |v, word| {
        let at = ["sweet", "sour", "salt", "bitter"].iter().position(|w| *w == word)? as u8;
        let align = crate::subject::Align { modulus: 64, skew: 16 * at };
        Some(crate::subject::Variant { align, ..*v })
    },
};

#[test]
fn a_new_axis_needs_no_word_here() {
    let dir = TempDir::new().unwrap();
    let one = folder(dir.path(), "amd-1", &[4096]);
    let unroll = AXES.iter().find(|a| a.key == "unroll").copied().unwrap();
    let found = gather_over(&one, Depth::Everything, &[unroll, FLAVOUR]).unwrap();
    let page = html(&document(&[found])).unwrap();
    well_formed(&page);
    assert!(page.contains("zero 4k in l1: flavour × unroll"));
    assert!(page.contains("zero 4k in l1: flavour alone"));
    assert!(page.contains("an axis of a test"));
    assert!(page.contains("Best at flavour sweet"), "what is to be seen on it");
}

#[test]
fn curves_go_through_the_winner() {
    let dir = TempDir::new().unwrap();
    let one = folder(dir.path(), "amd-1", &[4096]);
    let found = gather(&one, Depth::Everything).unwrap();
    let details = found.ops[0].details.iter().find(|d| d.cell == cell()).unwrap();
    let align = details.curves.iter().find(|c| c.key == "align").unwrap();
    assert_eq!(align.anchor, id("zero/ymm/u4/a64"));
    let values: Vec<&str> = align.points.iter().map(|p| p.value.as_str()).collect();
    assert_eq!(values, ["a1", "a64", "a64+16", "a64+32", "a64+48"]);
    assert_eq!(align.points.iter().filter(|p| p.anchor).count(), 1);
    let map = &details.maps[0];
    assert_eq!((map.x.key.as_str(), map.y.key.as_str()), ("unroll", "align"));
    assert_eq!(map.cells.len(), 30);
    assert_eq!(map.candidates, 30);
}

#[test]
fn an_axis_that_the_winner_lacks_goes_through_a_finalist() {
    let dir = TempDir::new().unwrap();
    let one = distances(dir.path(), "amd-1");
    let found = gather(&one, Depth::Everything).unwrap();
    let details = found.ops[0].details.iter().find(|d| d.cell == cell()).unwrap();
    let distance = details.curves.iter().find(|c| c.key == "distance").unwrap();
    assert_eq!(distance.anchor, id("zero/ymm/u4/a64/pf-t0@256"));
    assert_eq!(distance.points.len(), 5);
}

#[test]
fn trials_without_a_decision_are_shown() {
    let dir = TempDir::new().unwrap();
    let one = folder(dir.path(), "amd-1", &[4096]);
    fs::remove_file(one.path().join("decisions.csv")).unwrap();
    let page = folders(&[one], Form::Html).unwrap();
    well_formed(&page);
    assert!(page.contains("No search of this came to its end"));
    assert!(page.contains("zero 4k in l1: align alone"));
}

#[test]
fn winners_are_explained_and_other_conditions_stand_apart() {
    let dir = TempDir::new().unwrap();
    let one = super::fixture::explained(dir.path(), "amd-1", &[4096]);
    let page = folders(std::slice::from_ref(&one), Form::Html).unwrap();
    well_formed(&page);
    for wanted in [
        "zero 4k in l2: address of the loop",
        "zero 4k in l2 by placement",
        "One axis at a time, zero",
        "the gain is credited to it",
        "the optimum sits on the edge of the swept range: 256 is the largest",
        "dst mod 64: 1 against 0",
        "zero under other conditions: 2m pages",
        "zero 4k: measured under other conditions too (2m pages)",
    ] {
        assert!(page.contains(wanted), "{wanted} in\n{}", &page[..page.len().min(20_000)]);
    }
    let markdown = folders(std::slice::from_ref(&one), Form::Markdown).unwrap();
    assert!(markdown.contains("One axis at a time"), "{markdown}");
    let plain = folders(std::slice::from_ref(&one), Form::Plain).unwrap();
    assert!(plain.contains("zero under other conditions (2m pages), from "), "{plain}");
    assert!(plain.contains("why winners win") && plain.contains("hangs on"), "{plain}");
    assert!(plain.lines().all(|line| line.chars().count() <= 100), "{plain}");
    // No row says less than where and under which conditions it was measured.
    let rows = folders(&[one], Form::Csv).unwrap();
    let of = |pages: &str| rows.lines().filter(|l| l.contains(&format!(",{pages},none,"))).count();
    assert!(of("4k") > 64 && of("2m") > 0, "{rows}");
    assert_eq!(of("4k") + of("2m") + 1, rows.lines().count(), "{rows}");
}

#[test]
fn a_reader_of_the_result_may_want_another_winner() {
    use crate::subject::Consumer;
    let mut size = super::sample::search(&[4096]).sizes.remove(0);
    assert!(super::size::reading(&size).is_empty());
    let mut read = size.cells[0].clone();
    read.cell.conditions.consumer = Consumer::Read;
    size.cells.push(read.clone());
    assert!(super::size::reading(&size).is_empty(), "the same winner");
    let winner = read.winner.as_mut().unwrap();
    let alone = winner.variant;
    winner.variant = super::fixture::id("zero/ymm/u8/nt");
    let own = read.standings.iter_mut().find(|s| s.timed.variant == alone).unwrap();
    (own.ratio_to_best, own.ratio_ci) = (1.35, (1.3, 1.4));
    own.verdict = crate::stats::Verdict::Slower;
    *size.cells.last_mut().unwrap() = read;
    let lines = super::size::reading(&size);
    let wanted = format!(
        "in l1, if the result is read next: zero/ymm/u8/nt instead of {alone}, which then takes \
         1.350 [1.300, 1.400] of the fastest's time"
    );
    assert_eq!(lines, [wanted]);
}

#[test]
fn an_interrupted_search_takes_no_older_ones_place() {
    let dir = TempDir::new().unwrap();
    let before = plain(&folder(dir.path(), "a", &[4096])).unwrap();
    let page = plain(&interrupted(dir.path(), "b", &[4096])).unwrap();
    assert!(before.contains("1 run, 1 finished\n"), "{before}");
    assert!(page.contains("2 runs, 1 finished, 1 interrupted\n"), "{page}");
    // The heading names the run, whose id is of its own.
    let tables = |page: &str| page.split_once("\n\n  state").unwrap().1.to_string();
    assert_eq!(tables(&page), tables(&before));
}
