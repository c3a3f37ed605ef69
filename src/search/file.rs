//! Search files: which part of the axes a search spans, and how it goes about it.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::budget::Budget;
use super::strategy::{Strategy, Wording};
use crate::space::{Points, RULES, Space, check};
use crate::subject::{Class, Contract, Drive, Level, Op, State, Variant};
use crate::template::{Axes, AxesFile, Family, FileError, Source, read};
use crate::units::{did_you_mean, parse_sizes};

/// Points that a search file may span, legal or not. A second of enumeration, and far more
/// than can be timed; a file that wants more has forgotten to narrow an axis.
pub const MAX_POINTS: u64 = 4_000_000;

/// A part of a search file's space, with the reason why it is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Why it is searched; empty where the file does not say.
    pub why: String,
    /// Its axes, one for each family that has a part in it.
    pub axes: Vec<Axes>,
}

/// What a search file says.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchFile {
    /// Built-in name, or path.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The ops it has a space for.
    pub ops: Vec<Op>,
    /// The parts of its space. A point in several of them counts for the first.
    pub regions: Vec<Region>,
    /// Sizes, bytes, where the command line names none.
    pub sizes: Option<Vec<u64>>,
    /// States, where the command line names none.
    pub states: Option<Vec<State>>,
    /// Drives, where the command line names none.
    pub drives: Option<Vec<Drive>>,
    /// Budget, where the command line names none.
    pub budget: Option<Budget>,
    /// How the search goes about it.
    pub strategy: Strategy,
}

/// A list of words with their places.
type Words = Spanned<Vec<Spanned<String>>>;

/// Wire form of a search file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    description: String,
    ops: Words,
    families: Words,
    sizes: Option<Spanned<String>>,
    states: Option<Words>,
    drives: Option<Words>,
    budget: Option<Spanned<String>>,
    #[serde(default)]
    strategy: Wording,
    #[serde(default)]
    axes: AxesFile,
    #[serde(default)]
    region: Vec<Spanned<WireRegion>>,
}

/// Wire form of a region; what it does not name is as at the top of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireRegion {
    #[serde(default)]
    why: String,
    ops: Option<Words>,
    families: Option<Words>,
    #[serde(default)]
    axes: AxesFile,
}

/// The search files that are built in.
const EMBEDDED: [(&str, &str); 4] = [
    ("zero", include_str!("../../search/zero.toml")),
    ("copy", include_str!("../../search/copy.toml")),
    ("align", include_str!("../../search/align.toml")),
    ("pagezero", include_str!("../../search/pagezero.toml")),
];

impl SearchFile {
    /// The file of a search for which none is named.
    pub fn default_for(op: Op) -> SearchFile {
        SearchFile::built_in(op.word()).expect("each op has a built-in file: a test reads them all")
    }

    /// The built-in search files.
    pub fn embedded() -> Vec<SearchFile> {
        EMBEDDED.iter().filter_map(|(name, _)| SearchFile::built_in(name)).collect()
    }

    /// The names of the built-in search files.
    pub fn names() -> Vec<&'static str> {
        EMBEDDED.iter().map(|(name, _)| *name).collect()
    }

    /// The built-in search file of a name.
    fn built_in(name: &str) -> Option<SearchFile> {
        let (name, text) = EMBEDDED.iter().find(|(n, _)| *n == name)?;
        let file = SearchFile::parse(&Source { file: name, text }, Path::new(""));
        Some(file.expect("the built-in search files parse: a test reads each of them"))
    }

    /// The built-in file of a name, else the file at a path.
    ///
    /// # Errors
    /// As [`SearchFile::load`].
    pub fn open(name_or_path: &str) -> Result<SearchFile, FileError> {
        match SearchFile::built_in(name_or_path) {
            Some(file) => Ok(file),
            None => SearchFile::load(Path::new(name_or_path)),
        }
    }

    /// The search file at a path. Families that it names by path are looked for beside it.
    ///
    /// # Errors
    /// Names the file, the line, the key and what would be right.
    pub fn load(path: &Path) -> Result<SearchFile, FileError> {
        let text = read(path)?;
        let source = Source { file: &path.display().to_string(), text: &text };
        SearchFile::parse(&source, path.parent().unwrap_or(Path::new("")))
    }

    /// The search file in a text; `beside` is the folder that paths of families start from.
    ///
    /// # Errors
    /// As [`SearchFile::load`].
    pub fn parse(source: &Source<'_>, beside: &Path) -> Result<SearchFile, FileError> {
        let wire: Wire = source.parse()?;
        let ops = source.ops(&wire.ops)?;
        if let Some(op) = ops.iter().find(|op| !op.is_tuned()) {
            let why = format!("{op} is a bandwidth row, not searched; write copy or zero");
            return Err(source.value(&wire.ops.span(), "ops", why));
        }
        let states = wire.states.as_ref().map(|s| states(source, s, &ops)).transpose()?;
        let drives = wire.drives.as_ref().map(|d| drives(source, d)).transpose()?;
        let sizes = wire.sizes.as_ref().map(|s| sizes(source, s)).transpose()?;
        let budget = wire.budget.as_ref().map(|b| budget(source, b)).transpose()?;
        let strategy = wire.strategy.read(source)?;
        Ok(SearchFile {
            name: source.file.to_string(),
            description: wire.description.trim().to_string(),
            regions: regions(source, &wire, &ops, beside)?,
            ops,
            sizes,
            states,
            drives,
            budget,
            strategy,
        })
    }

    /// The same file with the loops that keep a contract only.
    #[must_use]
    pub fn under(mut self, contract: Contract) -> SearchFile {
        for region in &mut self.regions {
            for axes in &mut region.axes {
                let keeps = |change: &dyn Fn(Variant) -> Variant| {
                    change(Variant::new(Op::Zero, Class::R64)).keeps(contract)
                };
                axes.classes.retain(|&class| keeps(&|v| Variant { class, ..v }));
                axes.bounces.retain(|&bounce| keeps(&|v| Variant { bounce, ..v }));
            }
            region.axes.retain(|axes| axes.empty_axes().is_empty());
        }
        self.regions.retain(|region| !region.axes.is_empty());
        self
    }

    /// The same file without loops of vector registers wider than so many bits.
    #[must_use]
    pub fn up_to(mut self, vector_bits: u32) -> SearchFile {
        for region in &mut self.regions {
            for axes in &mut region.axes {
                axes.classes.retain(|class| class.vector_bits() <= vector_bits);
            }
            region.axes.retain(|axes| axes.empty_axes().is_empty());
        }
        self.regions.retain(|region| !region.axes.is_empty());
        self
    }

    /// The space of one op; empty where the file has none for it.
    pub fn space(&self, op: Op) -> Space {
        Space::new(self.regions.iter().flat_map(|r| r.axes.iter().cloned())).of(op)
    }
}

fn regions(
    source: &Source<'_>,
    wire: &Wire,
    ops: &[Op],
    beside: &Path,
) -> Result<Vec<Region>, FileError> {
    let common = wire.axes.narrowing(source, Some(ops.to_vec()))?;
    let all_families = families(source, &wire.families, beside)?;
    let whole = [Spanned::new(0..0, WireRegion::default())];
    let parts = if wire.region.is_empty() { &whole[..] } else { &wire.region[..] };
    let mut regions = Vec::new();
    let mut points = 0;
    for part in parts {
        let region = part.get_ref();
        let of_region =
            region.families.as_ref().map(|f| families(source, f, beside)).transpose()?;
        let ops = region.ops.as_ref().map(|o| source.ops(o)).transpose()?;
        let narrowing = region.axes.narrowing(source, ops)?;
        let spans: Vec<Axes> = of_region
            .as_ref()
            .unwrap_or(&all_families)
            .iter()
            .map(|family| family.axes.narrow(&common).narrow(&narrowing))
            .map(|axes| axes.straight(&[&common, &narrowing]))
            .collect();
        let axes: Vec<Axes> = spans.iter().filter(|a| a.empty_axes().is_empty()).cloned().collect();
        points += axes.iter().map(Axes::product).sum::<u64>();
        if points > MAX_POINTS {
            return Err(source.value(&part.span(), "region", spans_too_much(points, &axes)));
        }
        if let Some(why) = spans_nothing(&spans, &axes) {
            return Err(source.value(&part.span(), "region", why));
        }
        regions.push(Region { why: region.why.trim().to_string(), axes });
    }
    Ok(regions)
}

fn spans_too_much(points: u64, axes: &[Axes]) -> String {
    let mut whole = axes[0].clone();
    axes.iter().for_each(|a| whole.extend(a));
    let mut widest = whole.listing();
    widest.sort_by_key(|axis| std::cmp::Reverse(axis.values.len()));
    let widest: Vec<String> = widest
        .iter()
        .take(3)
        .map(|axis| format!("{} ({} values)", axis.key, axis.values.len()))
        .collect();
    format!(
        "with this the file spans {points} points, and {MAX_POINTS} are the most that a search \
         takes; narrow the widest axes: {}",
        widest.join(", ")
    )
}

/// Why a region has no legal point, if it has none.
fn spans_nothing(spans: &[Axes], filled: &[Axes]) -> Option<String> {
    if filled.is_empty() {
        let mut empty: Vec<&str> = spans.iter().flat_map(Axes::empty_axes).collect();
        empty.sort_unstable();
        empty.dedup();
        return Some(format!(
            "none of its families has the values that it narrows to ({}); name other families or \
             other values",
            empty.join(", ")
        ));
    }
    if filled.iter().flat_map(Points::new).any(|v| check(&v).is_ok()) {
        return None;
    }
    let first = filled.iter().flat_map(Points::new).next()?;
    let rule = RULES.iter().find(|r| (r.breaks)(&first))?;
    Some(format!(
        "no point of it is legal; `{first}` for one breaks the rule {}: {}",
        rule.name, rule.reason
    ))
}

fn families(source: &Source<'_>, names: &Words, beside: &Path) -> Result<Vec<Family>, FileError> {
    if names.get_ref().is_empty() {
        let why = "the list is empty; name families, `looptune list` shows them";
        return Err(source.value(&names.span(), "families", why));
    }
    let find = |name: &Spanned<String>| {
        if name.get_ref().ends_with(".toml") {
            return Family::load(&beside.join(name.get_ref()));
        }
        Family::named(name.get_ref())
            .map_err(|e| source.value(&name.span(), "families", e.to_string()))
    };
    names.get_ref().iter().map(find).collect()
}

fn states(source: &Source<'_>, words: &Words, ops: &[Op]) -> Result<Vec<State>, FileError> {
    each(source, "states", words, |word| {
        let state = State::from_word(word)
            .ok_or_else(|| unknown("state", word, Level::ALL.iter().map(|l| l.word())))?;
        if state.level().is_none() && ops.contains(&Op::Zero) {
            return Err(format!("`{word}` places a source, and a zero has none; write one level"));
        }
        Ok(state)
    })
}

/// What is said of a word that is none of `words`; `what` names one of them.
fn unknown(what: &str, word: &str, words: impl Iterator<Item = &'static str>) -> String {
    let words: Vec<String> = words.map(String::from).collect();
    format!("`{word}` is no {what}; {what}s are {}{}", words.join(" "), did_you_mean(word, words))
}

fn drives(source: &Source<'_>, words: &Words) -> Result<Vec<Drive>, FileError> {
    each(source, "drives", words, |word| {
        Drive::from_word(word)
            .ok_or_else(|| unknown("drive", word, Drive::ALL.iter().map(|d| d.word())))
    })
}

fn sizes(source: &Source<'_>, text: &Spanned<String>) -> Result<Vec<u64>, FileError> {
    parse_sizes(text.get_ref()).map_err(|e| source.value(&text.span(), "sizes", e.to_string()))
}

fn budget(source: &Source<'_>, text: &Spanned<String>) -> Result<Budget, FileError> {
    Budget::parse(text.get_ref()).map_err(|why| source.value(&text.span(), "budget", why))
}

/// Reads every word of a list that may be neither empty nor repeat itself.
fn each<T: PartialEq>(
    source: &Source<'_>,
    key: &str,
    words: &Words,
    value: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, FileError> {
    if words.get_ref().is_empty() {
        let why = "the list is empty; name values or leave the key out";
        return Err(source.value(&words.span(), key, why));
    }
    let mut values = Vec::new();
    for word in words.get_ref() {
        let value = value(word.get_ref()).map_err(|why| source.value(&word.span(), key, why))?;
        if values.contains(&value) {
            let why = format!("`{}` is said twice; say it once", word.get_ref());
            return Err(source.value(&word.span(), key, why));
        }
        values.push(value);
    }
    Ok(values)
}
