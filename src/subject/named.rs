//! Loops with a name and a history: what people wrote by hand and argued about, as points of
//! the axes.

use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::variant::Variant;

/// The files, in the order in which tables show them, each by the name of its loop.
const EMBEDDED: &[(&str, &str)] = &[
    ("generic_bzero", include_str!("../../templates/loops/named/generic_bzero.toml")),
    ("i486_bzero", include_str!("../../templates/loops/named/i486_bzero.toml")),
    ("i586_bzero", include_str!("../../templates/loops/named/i586_bzero.toml")),
    ("i586_bzerox", include_str!("../../templates/loops/named/i586_bzerox.toml")),
    ("i586_bzero_fp", include_str!("../../templates/loops/named/i586_bzero_fp.toml")),
    ("i386_pagezero_old", include_str!("../../templates/loops/named/i386_pagezero_old.toml")),
    ("i386_pagezero", include_str!("../../templates/loops/named/i386_pagezero.toml")),
    ("sse2_pagezero_old", include_str!("../../templates/loops/named/sse2_pagezero_old.toml")),
    ("sse2_pagezero", include_str!("../../templates/loops/named/sse2_pagezero.toml")),
    ("libc_bcopy_1996", include_str!("../../templates/loops/named/libc_bcopy_1996.toml")),
    ("hasty_asami_bcopy", include_str!("../../templates/loops/named/hasty_asami_bcopy.toml")),
    ("i586_fastmove", include_str!("../../templates/loops/named/i586_fastmove.toml")),
    ("evans_fp_bcopy", include_str!("../../templates/loops/named/evans_fp_bcopy.toml")),
    ("evans_int_bcopy", include_str!("../../templates/loops/named/evans_int_bcopy.toml")),
    ("lmbench_bcopy_hand", include_str!("../../templates/loops/named/lmbench_bcopy_hand.toml")),
    ("lmbench_rd", include_str!("../../templates/loops/named/lmbench_rd.toml")),
    ("lmbench_wr", include_str!("../../templates/loops/named/lmbench_wr.toml")),
];

/// Wire form of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoopFile {
    name: String,
    /// The id of its variant.
    #[serde(rename = "loop")]
    id: String,
    gist: String,
    history: String,
    grade: Option<String>,
}

/// What a file says.
#[derive(Debug)]
struct Known {
    variant: Variant,
    gist: String,
    history: String,
    grade: Option<String>,
}

/// The parsed files, in their order.
static LOOPS: LazyLock<Vec<Known>> = LazyLock::new(|| {
    EMBEDDED
        .iter()
        .map(|(name, text)| {
            read(name, text).expect("the built-in loops parse: a test reads each of them")
        })
        .collect()
});

/// Reads the file of a loop.
///
/// # Errors
/// Names the loop and what is wrong.
fn read(name: &str, text: &str) -> Result<Known, String> {
    let file: LoopFile = toml::from_str(text).map_err(|e| format!("{name}: {e}"))?;
    if file.name != name {
        return Err(format!("{name}: the file says it is `{}`", file.name));
    }
    let tidy = |text: String| text.trim().to_string();
    Ok(Known {
        variant: file.id.parse().map_err(|e| format!("{name}: {e}"))?,
        gist: tidy(file.gist),
        history: tidy(file.history),
        grade: file.grade.map(tidy),
    })
}

/// A loop by its name. Written and read as the name everywhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NamedLoop(
    /// Place in [`EMBEDDED`].
    usize,
);

impl NamedLoop {
    /// Every named loop, in the order in which tables show them.
    pub fn all() -> impl ExactSizeIterator<Item = NamedLoop> {
        (0..EMBEDDED.len()).map(NamedLoop)
    }

    /// The loop of a name, if there is one.
    pub fn from_word(name: &str) -> Option<NamedLoop> {
        EMBEDDED.iter().position(|(known, _)| *known == name).map(NamedLoop)
    }

    /// Its name.
    pub fn word(self) -> &'static str {
        EMBEDDED[self.0].0
    }

    fn known(self) -> &'static Known {
        &LOOPS[self.0]
    }

    /// The point of the axes that it is.
    pub fn variant(self) -> Variant {
        self.known().variant
    }

    /// What it does, in one line.
    pub fn gist(self) -> &'static str {
        &self.known().gist
    }

    /// Where it comes from: who asked what, and what they found. One paragraph.
    pub fn history(self) -> &'static str {
        &self.known().history
    }

    /// What is to be known before it is used; `None` where it is exact.
    pub fn grade(self) -> Option<&'static str> {
        self.known().grade.as_deref()
    }
}

impl fmt::Display for NamedLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl fmt::Debug for NamedLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl From<NamedLoop> for String {
    fn from(named: NamedLoop) -> String {
        named.word().into()
    }
}

impl TryFrom<String> for NamedLoop {
    type Error = String;

    fn try_from(name: String) -> Result<NamedLoop, String> {
        NamedLoop::from_word(&name).ok_or_else(|| format!("no loop is called `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{Baseline, Subject};
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_built_in_and_parses() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/templates/loops/named");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|f| f.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        let names: BTreeSet<String> = EMBEDDED.iter().map(|(n, _)| n.to_string()).collect();
        assert_eq!(files, names);
        assert_eq!(names.len(), EMBEDDED.len(), "a name is there twice");
        for (name, text) in EMBEDDED {
            let known = read(name, text).unwrap();
            assert!(!known.gist.contains('\n') && known.gist.len() < 80, "{name}");
            assert!(!known.history.is_empty() && !known.history.contains('\n'), "{name}");
            // Who is not told that it changes bits would believe it.
            assert_eq!(known.grade.is_some(), !known.variant.is_exact(), "{name}");
            assert!(Baseline::from_word(name).is_none(), "{name}");
        }
        assert!(read("other", EMBEDDED[0].1).unwrap_err().contains("the file says it is"));
    }

    #[test]
    fn names_stand_where_ids_do() {
        for named in NamedLoop::all() {
            let subject = Subject::parse(named.word()).unwrap();
            assert_eq!(subject, Subject::Named(named));
            assert_eq!(subject.to_string(), named.word());
            assert_eq!(subject.op(), Some(named.variant().op));
            assert_eq!(subject.variant(), Some(named.variant()));
            let json = serde_json::to_string(&subject).unwrap();
            assert_eq!(serde_json::from_str::<Subject>(&json).unwrap(), subject);
        }
        let wrong = Subject::parse("hasty_asami_bcpy").unwrap_err().to_string();
        assert!(wrong.contains("did you mean hasty_asami_bcopy"), "{wrong}");
        assert!(serde_json::from_str::<NamedLoop>("\"nobody\"").is_err());
    }
}
