//! Arguments that several subcommands share.

use super::exit::usage;
use crate::space::explain;
use crate::subject::{Drive, Level, Op, State, Subject, Variant};
use crate::units::parse_sizes;

/// Sizes as one argument.
#[derive(Clone, Debug)]
pub(super) struct Sizes(pub(super) Vec<u64>);

/// States as one argument.
#[derive(Clone, Debug)]
pub(super) struct States(pub(super) Vec<State>);

/// Drives as one argument.
#[derive(Clone, Debug)]
pub(super) struct Drives(pub(super) Vec<Drive>);

/// Weights of states as one argument.
#[derive(Clone, Debug)]
pub(super) struct Weights(pub(super) Vec<(State, f64)>);

fn words<T: Copy>(all: &[T], word: impl Fn(T) -> &'static str) -> String {
    all.iter().map(|v| word(*v)).collect::<Vec<_>>().join(" ")
}

pub(super) fn op(text: &str) -> Result<Op, String> {
    Op::from_word(text)
        .ok_or_else(|| format!("`{text}` is no op; ops are {}", words(Op::ALL, Op::word)))
}

pub(super) fn sizes(text: &str) -> Result<Sizes, String> {
    parse_sizes(text).map(Sizes).map_err(|e| e.to_string())
}

pub(super) fn state(text: &str) -> Result<State, String> {
    let state = State::from_word(text.trim()).ok_or_else(|| {
        format!("`{text}` is no state; states are {}", words(Level::ALL, Level::word))
    })?;
    match state.level() {
        Some(_) => Ok(state),
        None => Err(format!(
            "`{text}`: states with a level for each pointer are not measured yet; states are {}",
            words(Level::ALL, Level::word)
        )),
    }
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

pub(super) fn states(text: &str) -> Result<States, String> {
    list(text, state).map(States)
}

pub(super) fn drive(text: &str) -> Result<Drive, String> {
    Drive::from_word(text.trim()).ok_or_else(|| {
        format!("`{text}` is no drive; drives are {}", words(Drive::ALL, Drive::word))
    })
}

pub(super) fn drives(text: &str) -> Result<Drives, String> {
    list(text, drive).map(Drives)
}

pub(super) fn weights(text: &str) -> Result<Weights, String> {
    let weight = |part: &str| {
        let wrong = || format!("`{part}` is no weight; write state=number, as in l1=3,dram=1");
        let (word, number) = part.split_once('=').ok_or_else(wrong)?;
        let number = number.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        Ok((state(word)?, number.ok_or_else(wrong)?))
    };
    list(text, weight).map(Weights)
}

pub(super) fn subject(text: &str) -> Result<Subject, String> {
    Subject::parse(text).map_err(|e| e.to_string())
}

/// Refuses a variant that breaks a rule, with the rule and what would be legal.
pub(super) fn legal(variant: &Variant) -> anyhow::Result<()> {
    match explain(variant) {
        None => Ok(()),
        Some(explanation) => usage(explanation.to_string()),
    }
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
        assert_eq!(states("l1,dram,l1").unwrap().0.len(), 2);
        assert!(states("l1,l4").unwrap_err().contains("`l4` is no state"));
        assert!(states("dram:l1").unwrap_err().contains("not measured yet"));
        assert!(drives("fast").unwrap_err().contains("throughput chained"));
        assert!(weights("l1").unwrap_err().contains("state=number"));
        assert_eq!(fraction("2%"), Ok(0.02));
        assert!(fraction("-1").is_err());
        assert!(op("fill").unwrap_err().contains("copy zero"));
    }
}
