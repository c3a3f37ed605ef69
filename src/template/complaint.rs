//! What serde and the TOML parser complain of, in the words of whoever wrote the file.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::units::did_you_mean;

/// What is wrong with a value or a key, and what would be right; `key` is the last part of
/// the key in question. A message that is no complaint of these kinds is returned as it is.
pub(super) fn translated(message: &str, key: Option<&str>) -> String {
    let parts: Vec<&str> = message.split('`').collect();
    match (message.split_once(' '), parts.as_slice()) {
        (Some(("missing", _)), [_, missing, ..]) if message.starts_with("missing field") => {
            format!("the key `{missing}` is missing; it must be there")
        }
        (Some(("duplicate", _)), [_, twice, ..]) if message.starts_with("duplicate field") => {
            format!("the key `{twice}` is there twice; say it once")
        }
        (Some(("unknown", _)), [_, found, rest @ ..]) if message.starts_with("unknown field") => {
            let known: Vec<String> =
                rest.iter().skip(1).step_by(2).map(ToString::to_string).collect();
            let near = did_you_mean(found, known.clone());
            format!("unknown key `{found}`; keys are {}{near}", known.join(" "))
        }
        _ => mistyped(message, key.unwrap_or("key")).unwrap_or_else(|| message.to_string()),
    }
}

/// A value of the wrong type: `invalid type: FOUND, expected WANTED`.
fn mistyped(message: &str, key: &str) -> Option<String> {
    let (found, wanted) = message.strip_prefix("invalid type: ")?.rsplit_once(", expected ")?;
    let between = |open: char, close: char| -> Option<&str> {
        found.split_once(open)?.1.rsplit_once(close).map(|(inner, _)| inner)
    };
    // How the file has it, and what to call it.
    let (written, called) = match found.split(' ').next()? {
        "string" => (format!("\"{}\"", between('"', '"')?), "a text"),
        "boolean" => (between('`', '`')?.to_string(), "true or false"),
        "integer" => (between('`', '`')?.to_string(), "a number"),
        "floating" => (between('`', '`')?.to_string(), "a number with a fraction"),
        "sequence" => (String::new(), "a list"),
        "map" => (String::new(), "a table"),
        _ => return None,
    };
    let right = match (wanted, found.split(' ').next()?) {
        ("a string", "sequence" | "map") => "write one text in quotes".to_string(),
        ("a string", _) => format!("write a text in quotes, {key} = \"{written}\""),
        ("a sequence", "map" | "sequence") => format!("write a list, {key} = [\"…\"]"),
        ("a sequence", _) => format!("write a list, {key} = [{written}]"),
        ("i64", "string") => {
            let bare = written.trim_matches('"');
            match bare.parse::<i64>() {
                Ok(number) => format!("write it without quotes, {key} = {number}"),
                Err(_) => format!("write a whole number, as in {key} = 3"),
            }
        }
        ("i64", _) => format!("write a whole number, as in {key} = 3"),
        (table, _) if table.starts_with("struct ") || table == "a map" => {
            format!("write a table of keys, [{key}] on a line of its own")
        }
        _ => return None,
    };
    Some(match written.as_str() {
        "" => format!("this is {called}; {right}"),
        written => format!("{written} is {called}; {right}"),
    })
}

/// The key of the value at a span, with the tables it stands in: `strategy.finalists`.
pub(super) fn key_at(text: &str, span: &Range<usize>) -> Option<String> {
    let document = DeTable::parse(text).ok()?;
    find(document.get_ref(), "", span)
}

fn find(table: &DeTable<'_>, within: &str, span: &Range<usize>) -> Option<String> {
    let named = |key: &Spanned<_>| -> String {
        let key: &std::borrow::Cow<'_, str> = key.get_ref();
        if within.is_empty() { key.to_string() } else { format!("{within}.{key}") }
    };
    let holds = |outer: Range<usize>| outer.start <= span.start && span.end <= outer.end;
    // A table's own span may end with its header: the values say where they are.
    for (key, value) in table.iter() {
        let name = named(key);
        let deeper = match value.get_ref() {
            DeValue::Table(inner) => find(inner, &name, span),
            DeValue::Array(items) => items.iter().find_map(|item| match item.get_ref() {
                DeValue::Table(inner) => find(inner, &name, span),
                _ => None,
            }),
            _ => None,
        };
        if deeper.is_some() {
            return deeper;
        }
    }
    let here = table.iter().find(|(_, value)| holds(value.span()));
    here.map(|(key, _)| named(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_as_what_to_write() {
        for (message, said) in [
            (
                "invalid type: integer `64`, expected a string",
                "64 is a number; write a text in quotes, k = \"64\"",
            ),
            (
                "invalid type: string \"zero\", expected a sequence",
                "\"zero\" is a text; write a list, k = [\"zero\"]",
            ),
            (
                "invalid type: string \"3\", expected i64",
                "\"3\" is a text; write it without quotes, k = 3",
            ),
            (
                "invalid type: string \"x\", expected i64",
                "\"x\" is a text; write a whole number, as in k = 3",
            ),
            (
                "invalid type: floating point `2.5`, expected i64",
                "2.5 is a number with a fraction; write a whole number, as in k = 3",
            ),
            (
                "invalid type: sequence, expected a string",
                "this is a list; write one text in quotes",
            ),
            (
                "invalid type: boolean `true`, expected struct AxesFile",
                "true is true or false; write a table of keys, [k] on a line of its own",
            ),
            ("missing field `why`", "the key `why` is missing; it must be there"),
            ("something else", "something else"),
        ] {
            assert_eq!(translated(message, Some("k")), said);
        }
        let unknown = "unknown field `clas`, expected one of `class`, `store`";
        assert_eq!(
            translated(unknown, None),
            "unknown key `clas`; keys are class store (did you mean class?)"
        );
    }

    #[test]
    fn keys_are_found_by_their_values_place() {
        let text = "a = 1\n[t]\nb = \"x\"\n[[r]]\n[[r]]\nc = [1, 2]\n[r.axes]\nd = 7\n";
        let at = |value: &str| {
            let start = text.find(value).unwrap();
            key_at(text, &(start..start + value.len()))
        };
        assert_eq!(at("\"x\"").as_deref(), Some("t.b"));
        assert_eq!(at("1").as_deref(), Some("a"));
        assert_eq!(at("2]").as_deref(), Some("r.c"));
        assert_eq!(at("7").as_deref(), Some("r.axes.d"));
        assert_eq!(key_at("a = ", &(0..1)), None);
    }
}
