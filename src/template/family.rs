//! Families of loops.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::axes::{Axes, AxesFile};
use super::file::{self, FileError, Source};
use crate::subject::Op;
use crate::units::{did_you_mean, near, offer};

/// A kind of loop: which values its axes have, and why it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// A word that search files name it by.
    pub name: String,
    /// Why it exists, one or two sentences.
    pub why: String,
    /// The values its axes have; the ops are among them.
    pub axes: Axes,
}

/// Wire form of a family.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyFile {
    name: Spanned<String>,
    why: Spanned<String>,
    ops: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    axes: AxesFile,
}

/// The families that are built in, in the order in which tables show them.
const EMBEDDED: [(&str, &str); 9] = [
    ("templates/loops/general.toml", include_str!("../../templates/loops/general.toml")),
    ("templates/loops/mmx.toml", include_str!("../../templates/loops/mmx.toml")),
    ("templates/loops/sse.toml", include_str!("../../templates/loops/sse.toml")),
    ("templates/loops/avx.toml", include_str!("../../templates/loops/avx.toml")),
    ("templates/loops/avx512.toml", include_str!("../../templates/loops/avx512.toml")),
    ("templates/loops/x87.toml", include_str!("../../templates/loops/x87.toml")),
    ("templates/loops/tile.toml", include_str!("../../templates/loops/tile.toml")),
    ("templates/loops/line.toml", include_str!("../../templates/loops/line.toml")),
    ("templates/loops/string.toml", include_str!("../../templates/loops/string.toml")),
];

/// No family has the name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no family is called `{name}`; built in are {}{}; a family of your own is named by the path of its .toml file",
    known.join(" "),
    offer(near)
)]
pub struct UnknownFamily {
    name: String,
    known: Vec<String>,
    near: Vec<String>,
}

impl Family {
    /// The built-in families.
    pub fn embedded() -> Vec<Family> {
        EMBEDDED
            .iter()
            .map(|(file, text)| Family::parse(&Source { file, text }))
            .collect::<Result<_, _>>()
            .expect("the built-in families parse: a test reads each of them")
    }

    /// The built-in family of a name.
    ///
    /// # Errors
    /// Lists the names there are, and the near ones.
    pub fn named(name: &str) -> Result<Family, UnknownFamily> {
        let families = Family::embedded();
        let known: Vec<String> = families.iter().map(|f| f.name.clone()).collect();
        families.into_iter().find(|f| f.name == name).ok_or_else(|| UnknownFamily {
            name: name.to_string(),
            near: near(name, known.iter().cloned()),
            known,
        })
    }

    /// The family in a file.
    ///
    /// # Errors
    /// Names the file, the line, the key and what would be right.
    pub fn load(path: &Path) -> Result<Family, FileError> {
        let text = file::read(path)?;
        Family::parse(&Source { file: &path.display().to_string(), text: &text })
    }

    /// The family in a text.
    ///
    /// # Errors
    /// As [`Family::load`].
    pub fn parse(source: &Source<'_>) -> Result<Family, FileError> {
        let file: FamilyFile = source.parse()?;
        for (key, value) in [("name", &file.name), ("why", &file.why)] {
            if value.get_ref().trim().is_empty() {
                return Err(source.value(&value.span(), key, "the text is empty; say it in words"));
            }
        }
        let ops = source.ops(&file.ops)?;
        let narrowing = file.axes.narrowing(source, Some(ops))?;
        Ok(Family {
            name: file.name.into_inner(),
            why: file.why.into_inner().trim().to_string(),
            axes: Axes::all().narrow(&narrowing),
        })
    }
}

impl Source<'_> {
    /// The ops that the list of a key `ops` names.
    ///
    /// # Errors
    /// Names the line of an unknown op, or of an empty list.
    pub fn ops(&self, list: &Spanned<Vec<Spanned<String>>>) -> Result<Vec<Op>, FileError> {
        let all: Vec<String> = Op::ALL.iter().map(|op| op.word().to_string()).collect();
        let legal = format!("ops are {}", all.join(" "));
        if list.get_ref().is_empty() {
            return Err(self.value(&list.span(), "ops", format!("the list is empty; {legal}")));
        }
        let mut ops: Vec<Op> = Vec::new();
        for item in list.get_ref() {
            let word = item.get_ref();
            let op = Op::from_word(word).ok_or_else(|| {
                self.value(&item.span(), "ops", {
                    let near = did_you_mean(word, all.clone());
                    format!("`{word}` is no op; {legal}{near}")
                })
            })?;
            if !ops.contains(&op) {
                ops.push(op);
            }
        }
        Ok(ops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Class, Encoding};

    fn fails(text: &str) -> String {
        Family::parse(&Source { file: "f.toml", text }).unwrap_err().to_string()
    }

    #[test]
    fn built_in_families_parse_and_are_named_apart() {
        let families = Family::embedded();
        for (i, family) in families.iter().enumerate() {
            assert!(EMBEDDED[i].0.ends_with(&format!("/{}.toml", family.name)));
            assert!(family.axes.empty_axes().is_empty(), "{}", family.name);
        }
        assert_eq!(Family::named("avx").unwrap().axes.encodings, [Encoding::Vex]);
        let classes: Vec<Class> = families.iter().flat_map(|f| f.axes.classes.clone()).collect();
        assert!(Class::ALL.iter().all(|c| classes.contains(c)));
    }

    #[test]
    fn complaints_name_line_key_and_fix() {
        let head = "name = \"x\"\nwhy = \"y\"\nops = [\"zero\"]\n[axes]\n";
        let e = fails(&format!("{head}clas = [\"ymm\"]"));
        assert!(e.starts_with("f.toml:5: unknown key `clas`"), "{e}");
        assert!(e.contains("did you mean class?"), "{e}");
        let e = fails(&format!("{head}class = [\n  \"ymmm\"]"));
        assert!(e.starts_with("f.toml:6: class: `ymmm`") && e.contains("did you mean"), "{e}");
        let e = fails(&format!("{head}unroll = []"));
        assert!(e.starts_with("f.toml:5: unroll: the list is empty"), "{e}");
        let e = fails(&format!("{head}unroll = [5]"));
        assert!(e.contains("1 2 3 4 6 8 12 16 32"), "{e}");
        let e = fails(&format!("{head}unroll = [4, 4]"));
        assert!(e.contains("said twice"), "{e}");
        let e = fails(&format!("{head}unroll = [4.5]"));
        assert!(e.starts_with("f.toml:5: axes.unroll: ") && e.contains("whole number"), "{e}");
        let e = fails("name = \"x\"\nwhy = \"y\"\nops = \"zero\"");
        assert!(e.starts_with("f.toml:3: ops: ") && e.contains("ops = [\"zero\"]"), "{e}");
        let e = fails("name = \"x\"\nwhy = \"y\"\nops = [\"cpoy\"]");
        assert!(e.starts_with("f.toml:3: ops: `cpoy`"), "{e}");
        let e = fails("name = \"x\"\nwhy = \"\"\nops = [\"zero\"]");
        assert!(e.starts_with("f.toml:2: why:"), "{e}");
        let e = fails("name = \"x\"\nops = [\"zero\"]");
        assert!(e.contains("the key `why` is missing"), "{e}");
        let e = fails("name = ");
        assert!(e.starts_with("f.toml:1:"), "{e}");
        let e = Family::named("axv").unwrap_err().to_string();
        assert!(e.contains("did you mean avx"), "{e}");
    }
}
