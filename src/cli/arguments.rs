//! Arguments that several subcommands share. Whatever is a word in them comes from the
//! definitions, so that help and completions know every word there is.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};

use super::exit::usage;
use crate::search::selftest::Neighbour;
use crate::search::selftest::traps::Trap;
use crate::search::{SearchFile, StrategyName, Sweep};
use crate::space::explain;
use crate::subject::{
    Baseline, Class, Consumer, Contract, Drive, Level, NamedLoop, Op, Pages, SizeMix, Source,
    State, Subject, Variant,
};
use crate::trial::Countermeasure;
use crate::units::{Words, did_you_mean, parse_sizes};

/// Sizes as one argument.
#[derive(Clone, Debug)]
pub(super) struct Sizes(pub(super) Vec<u64>);

/// States as one argument.
#[derive(Clone, Debug)]
pub(super) struct States(pub(super) Vec<State>);

/// Consumers as one argument.
#[derive(Clone, Debug)]
pub(super) struct Consumers(pub(super) Vec<Consumer>);

/// Drives as one argument.
#[derive(Clone, Debug)]
pub(super) struct Drives(pub(super) Vec<Drive>);

/// Strategies as one argument.
#[derive(Clone, Debug)]
pub(super) struct Strategies(pub(super) Vec<StrategyName>);

/// Weights of states as one argument.
#[derive(Clone, Debug)]
pub(super) struct Weights(pub(super) Vec<(State, f64)>);

/// A parser whose words help and completions may tell. The parser alone says what is legal:
/// lists of the words, say, are legal too.
#[derive(Clone)]
pub(super) struct Telling<F> {
    parse: F,
    words: fn() -> Vec<String>,
}

impl<F, T> TypedValueParser for Telling<F>
where
    F: Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        self.parse.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.words)().into_iter().map(PossibleValue::new)))
    }
}

/// Every word of an enum.
fn words<T: Words>() -> Vec<String> {
    T::ALL.iter().map(|value| value.word().to_string()).collect()
}

/// Every word of an enum, as a line of text has them.
fn line<T: Words>() -> String {
    words::<T>().join(" ")
}

/// What is said of a word that is none of them; `what` names one of them.
fn unknown(what: &str, text: &str, words: Vec<String>) -> String {
    let several = match what.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{what}s"),
    };
    format!("`{text}` is no {what}; {several} are {}{}", words.join(" "), did_you_mean(text, words))
}

fn word<T: Words>(what: &str, text: &str) -> Result<T, String> {
    let text = text.trim();
    let found = T::ALL.iter().copied().find(|value| value.word() == text);
    found.ok_or_else(|| unknown(what, text, words::<T>()))
}

/// One word of an enum; `what` is the name of one.
pub(super) fn one<T: Words>(
    what: &'static str,
) -> Telling<impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static> {
    Telling { parse: move |text: &str| word(what, text), words: words::<T> }
}

/// A comma-separated list of words of an enum, without repetition, wrapped by `wrap`.
pub(super) fn several<T: Words + PartialEq, L: Clone + Send + Sync + 'static>(
    what: &'static str,
    wrap: fn(Vec<T>) -> L,
) -> Telling<impl Fn(&str) -> Result<L, String> + Clone + Send + Sync + 'static> {
    let parse = move |text: &str| list(text, |item| word(what, item)).map(wrap);
    Telling { parse, words: words::<T> }
}

pub(super) fn op() -> impl TypedValueParser<Value = Op> {
    one::<Op>("op")
}

/// An op that is searched and exported.
pub(super) fn tuned_op() -> impl TypedValueParser<Value = Op> {
    let words = || Op::TUNED.iter().map(|op| op.word().to_string()).collect();
    let parse = |text: &str| match Op::from_word(text) {
        Some(op) if op.is_tuned() => Ok(op),
        Some(op) => Err(format!(
            "`{op}` is a bandwidth row, which is timed with `bench` and not searched; ops here are \
             copy and zero"
        )),
        None => {
            Err(unknown("op", text, Op::TUNED.iter().map(|op| op.word().to_string()).collect()))
        }
    };
    Telling { parse, words }
}

pub(super) fn pages() -> impl TypedValueParser<Value = Pages> {
    one::<Pages>("page backing")
}

pub(super) fn consumers() -> impl TypedValueParser<Value = Consumers> {
    several("consumer", Consumers)
}

/// Countermeasures as one argument.
#[derive(Clone, Debug)]
pub(super) struct Countermeasures(pub(super) Vec<Countermeasure>);

pub(super) fn countermeasures() -> impl TypedValueParser<Value = Countermeasures> {
    several("countermeasure", Countermeasures)
}

/// Placements, or a word for many of them.
pub(super) fn placement() -> impl TypedValueParser<Value = Sweep> {
    let words = || ["quick", "full", "aligned", "dst1", "dst1/src8"].map(String::from).to_vec();
    Telling { parse: |text: &str| Sweep::parse(text), words }
}

/// Traps as one argument.
#[derive(Clone, Debug)]
pub(super) struct Traps(pub(super) Vec<Trap>);

pub(super) fn traps() -> impl TypedValueParser<Value = Traps> {
    several("trap", Traps)
}

pub(super) fn neighbour() -> impl TypedValueParser<Value = Neighbour> {
    one::<Neighbour>("neighbour")
}

pub(super) fn source() -> impl TypedValueParser<Value = Source> {
    one::<Source>("source")
}

pub(super) fn contract() -> impl TypedValueParser<Value = Contract> {
    one::<Contract>("contract")
}

pub(super) fn strategy() -> impl TypedValueParser<Value = StrategyName> {
    one::<StrategyName>("strategy")
}

pub(super) fn strategies() -> impl TypedValueParser<Value = Strategies> {
    several("strategy", Strategies)
}

pub(super) fn drive() -> impl TypedValueParser<Value = Drive> {
    one::<Drive>("drive")
}

pub(super) fn drives() -> impl TypedValueParser<Value = Drives> {
    several("drive", Drives)
}

pub(super) fn sizes(text: &str) -> Result<Sizes, String> {
    parse_sizes(text).map(Sizes).map_err(|e| e.to_string())
}

/// The mixes in these files, each once.
///
/// # Errors
/// Wrong arguments where there is no such file, or two mixes go by one name; else what is wrong
/// with a file.
pub(super) fn mixes(paths: &[PathBuf]) -> anyhow::Result<Vec<SizeMix>> {
    let mut mixes: Vec<SizeMix> = Vec::new();
    for path in paths {
        if !path.exists() {
            return usage(format!(
                "there is no file {}; --mix takes files of sizes with their probabilities",
                path.display()
            ));
        }
        let mix = SizeMix::load(path)?;
        match mixes.iter().find(|m| m.mix.name() == mix.mix.name()) {
            Some(same) if same.mix == mix.mix => {}
            Some(_) => {
                return usage(format!(
                    "two mixes would be called `{}`, and tables could not tell them apart; rename \
                     {}",
                    mix.mix,
                    path.display()
                ));
            }
            None => mixes.push(mix),
        }
    }
    Ok(mixes)
}

fn read_state(text: &str) -> Result<State, String> {
    let text = text.trim();
    State::from_word(text).ok_or_else(|| unknown("state", text, state_words()))
}

/// The states that are offered: a level for both pointers, and those of the two that programs
/// meet most. Any other `src:dst` is a state too.
fn state_words() -> Vec<String> {
    let mut words = words::<Level>();
    words.extend(["dram-dirty", "dram:l1", "l1:dram"].map(String::from));
    words
}

/// A comma-separated list, without repetition.
fn list<T: PartialEq>(
    text: &str,
    item: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let value = item(part)?;
        if !all.contains(&value) {
            all.push(value);
        }
    }
    Ok(all)
}

fn read_states(text: &str) -> Result<States, String> {
    list(text, read_state).map(States)
}

pub(super) fn state() -> impl TypedValueParser<Value = State> {
    Telling { parse: read_state, words: state_words }
}

pub(super) fn states() -> impl TypedValueParser<Value = States> {
    Telling { parse: read_states, words: state_words }
}

/// A state, or the choice over all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateOrAll(pub(super) Option<State>);

/// The word for the choice over all states.
const ROBUST: &str = "robust";

fn states_and_robust() -> Vec<String> {
    let mut words = state_words();
    words.push(ROBUST.into());
    words
}

fn read_state_or_all(text: &str) -> Result<StateOrAll, String> {
    match State::from_word(text) {
        Some(state) => Ok(StateOrAll(Some(state))),
        None if text == ROBUST => Ok(StateOrAll(None)),
        None => Err(unknown("state", text, states_and_robust())),
    }
}

pub(super) fn state_or_all() -> impl TypedValueParser<Value = StateOrAll> {
    Telling { parse: read_state_or_all, words: states_and_robust }
}

/// A search file: a built-in name, which is offered, or a path.
pub(super) fn space() -> impl TypedValueParser<Value = String> {
    let words = || SearchFile::names().into_iter().map(String::from).collect();
    Telling { parse: |text: &str| Ok(text.to_string()), words }
}

fn read_weights(text: &str) -> Result<Weights, String> {
    let weight = |part: &str| {
        let wrong = || format!("`{part}` is no weight; write state=number, as in l1=3,dram=1");
        let (word, number) = part.split_once('=').ok_or_else(wrong)?;
        let number = number.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        Ok((read_state(word)?, number.ok_or_else(wrong)?))
    };
    list(text, weight).map(Weights)
}

pub(super) fn weights() -> impl TypedValueParser<Value = Weights> {
    let words = || state_words().into_iter().map(|word| format!("{word}=1")).collect();
    Telling { parse: read_weights, words }
}

fn read_subject(text: &str) -> Result<Subject, String> {
    Subject::parse(text).map_err(|e| e.to_string())
}

/// Every op and class, as the beginning of a variant.
fn beginnings() -> Vec<String> {
    let of = |op: &Op| Class::ALL.iter().map(move |class| format!("{op}/{class}")).collect();
    Op::ALL.iter().flat_map(|op| -> Vec<String> { of(op) }).collect()
}

/// Subjects without end begin with these.
fn subject_words() -> Vec<String> {
    Subject::names().map(String::from).chain(beginnings()).collect()
}

pub(super) fn subject() -> impl TypedValueParser<Value = Subject> {
    Telling { parse: read_subject, words: subject_words }
}

fn read_variant(text: &str) -> Result<Variant, String> {
    match read_subject(text)? {
        Subject::Variant(variant) => Ok(variant),
        Subject::Named(named) => Ok(named.variant()),
        Subject::Baseline(baseline) => {
            let ids = Op::ALL.iter().filter_map(|op| baseline.as_variant(*op));
            match ids.map(|v| v.to_string()).collect::<Vec<_>>() {
                ids if ids.is_empty() => Err(format!(
                    "the code of `{baseline}` is not generated; write a variant such as zero/ymm/u4"
                )),
                ids => Err(format!("`{baseline}` is several loops; write {}", ids.join(" or "))),
            }
        }
        Subject::Foreign { .. } => {
            Err("only generated loops can be exported; write a variant such as zero/ymm/u4".into())
        }
    }
}

/// A subject that must be a variant, by its id or its name.
pub(super) fn variant() -> impl TypedValueParser<Value = Variant> {
    let words = || NamedLoop::all().map(|n| n.word().to_string()).chain(beginnings()).collect();
    Telling { parse: read_variant, words }
}

/// What ids are made of, below the help of commands that take one.
pub(super) fn about_ids() -> String {
    format!(
        "A variant is op/class and tokens in any order (`looptune list` shows all of them).\n  \
         ops: {}\n  classes: {}\n  baselines: {}\n\
         Loops with names, such as {}, stand in `looptune list` too.",
        line::<Op>(),
        line::<Class>(),
        line::<Baseline>(),
        NamedLoop::all().next().map_or("", NamedLoop::word)
    )
}

/// Refuses a variant that breaks a rule, with the rule and what would be legal.
pub(super) fn legal(variant: &Variant) -> anyhow::Result<()> {
    match explain(variant) {
        None => Ok(()),
        Some(explanation) => usage(explanation.to_string()),
    }
}

/// The search file that an argument names.
///
/// # Errors
/// Wrong arguments where there is no such file; else what is wrong with it.
pub(super) fn search_file(name: &str) -> anyhow::Result<SearchFile> {
    let known = SearchFile::names();
    if !known.contains(&name) && !std::path::Path::new(name).exists() {
        if name.contains('/') || name.ends_with(".toml") {
            return usage(format!("there is no search file {name}"));
        }
        let near = did_you_mean(name, known.iter().map(ToString::to_string));
        return usage(format!(
            "no search file is called `{name}`; built in are {}{near}; one of your own is named by \
             its path",
            known.join(" ")
        ));
    }
    Ok(SearchFile::open(name)?)
}

/// A fraction such as `2%` or `0.02`.
pub(super) fn fraction(text: &str) -> Result<f64, String> {
    let value = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().map(|p| p / 100.0),
        None => text.parse::<f64>(),
    };
    value
        .ok()
        .filter(|v| (0.0..=1.0).contains(v))
        .ok_or_else(|| format!("`{text}` is no fraction; write a percentage such as 2% or 0.5%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_what_is_wrong() {
        assert_eq!(read_states("l1,dram,l1").unwrap().0.len(), 2);
        let e = read_states("l1,drma").unwrap_err();
        assert!(e.contains("`drma` is no state; states are l1 l2 llc dram dram-dirty"), "{e}");
        assert!(e.contains("(did you mean dram?)"), "{e}");
        assert_eq!(read_states("dram:l1,llc:l2").unwrap().0.len(), 2);
        assert!(read_state_or_all("robsut").unwrap_err().contains("did you mean robust"));
        assert_eq!(read_state_or_all("robust"), Ok(StateOrAll(None)));
        assert!(read_weights("l1").unwrap_err().contains("state=number"));
        assert!(read_weights("l1=1,drma=2").unwrap_err().contains("did you mean dram"));
        assert_eq!(fraction("2%"), Ok(0.02));
        assert!(fraction("-1").is_err());
        let e = word::<Op>("op", "coppy").unwrap_err();
        assert!(e.contains("ops are copy zero read write (did you mean copy?)"), "{e}");
        let e = word::<StrategyName>("strategy", "best").unwrap_err();
        assert!(e.contains("is no strategy; strategies are default"), "{e}");
        assert!(read_variant("rep").unwrap_err().contains("copy/rep8 or zero/rep8"));
        assert!(read_variant("libc").unwrap_err().contains("not generated"));
    }
}
