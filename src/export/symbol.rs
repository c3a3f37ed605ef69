//! Names of exported functions.

use super::error::ExportError;
use crate::subject::Op;

/// The name of an exported function when none is given.
pub fn default_symbol(op: Op) -> String {
    format!("looptune_{op}")
}

/// Words that the C preprocessor replaces on Linux before the assembler sees them.
const MACROS: [&str; 2] = ["linux", "unix"];

/// Whether a name can be the symbol of an exported function, in assembly and in C.
///
/// # Errors
/// Says what is wrong with it and what would be right.
pub fn check_symbol(symbol: &str) -> Result<(), ExportError> {
    let refuse =
        |why: &str| Err(ExportError::Symbol { symbol: symbol.to_string(), why: why.to_string() });
    let Some(first) = symbol.chars().next() else {
        return refuse("it is empty");
    };
    if !(first.is_ascii_alphabetic() || first == '_') {
        return refuse("it begins with something else than a letter or `_`");
    }
    if let Some(odd) = symbol.chars().find(|c| !(c.is_ascii_alphanumeric() || "_.$".contains(*c))) {
        return refuse(&format!("`{odd}` is no letter, digit, `_`, `.` or `$`"));
    }
    if MACROS.contains(&symbol) {
        return refuse("C preprocessors replace this word");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_pass_and_others_are_told_why() {
        for good in ["memset_fast", "_f", "a.b$1", "X"] {
            assert!(check_symbol(good).is_ok(), "{good}");
        }
        for (bad, why) in [
            ("", "empty"),
            ("1f", "begins with"),
            (".Lf", "begins with"),
            ("$f", "begins with"),
            ("a b", "` ` is no"),
            ("a;ret", "`;` is no"),
            ("é", "begins with"),
            ("unix", "preprocessors"),
        ] {
            let message = check_symbol(bad).unwrap_err().to_string();
            assert!(message.contains(why) && message.contains("--symbol"), "{bad}: {message}");
        }
    }
}
