//! Data flows one way: a module imports only from modules of a lower layer, and `unsafe`
//! stays in its rooms. The sources are scanned as text, without their comments and strings.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The layer of each module. Modules of one layer never see each other.
const LAYERS: &[(&str, u32)] = &[
    ("units", 0),
    ("stats", 0),
    ("subject", 1),
    ("host", 1),
    ("trial", 2),
    ("template", 2),
    ("space", 3),
    ("ir", 4),
    ("encode", 5),
    ("print", 6),
    ("mem", 6),
    ("jit", 7),
    ("verify", 8),
    ("measure", 9),
    ("worker", 10),
    ("search", 11),
    ("results", 12),
    ("export", 13),
    ("report", 13),
    ("explore", 14),
    ("cli", 15),
];

/// The rooms of `unsafe`.
const UNSAFE_ROOMS: &[&str] = &["host", "mem", "jit", "measure"];

fn layer(module: &str) -> Option<u32> {
    LAYERS.iter().find(|(name, _)| *name == module).map(|(_, layer)| *layer)
}

/// A word or a mark of the source. `::` is one mark.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Mark(char),
    PathSeparator,
}

/// The source without comments, strings and character literals.
fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        match at(i) {
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            '/' if at(i + 1) == '*' => i = after_block_comment(&chars, i),
            '"' => i = after_string(&chars, i),
            // a lifetime has no closing quote right after its first character
            '\'' if at(i + 1) == '\\' || at(i + 2) == '\'' => {
                i += if at(i + 1) == '\\' { 3 } else { 2 };
                while i < chars.len() && at(i) != '\'' {
                    i += 1;
                }
                i += 1;
            }
            ':' if at(i + 1) == ':' => {
                tokens.push(Token::PathSeparator);
                i += 2;
            }
            c if is_word(c) => {
                let begin = i;
                while is_word(at(i)) {
                    i += 1;
                }
                let word: String = chars[begin..i].iter().collect();
                let raw = matches!(word.as_str(), "r" | "br" | "cr");
                let hashes = (i..chars.len()).take_while(|j| at(*j) == '#').count();
                if raw && at(i + hashes) == '"' {
                    i = after_raw_string(&chars, i + hashes + 1, hashes);
                } else if raw && hashes == 1 && is_word(at(i + 1)) {
                    i += 1; // a raw identifier: the word follows
                } else {
                    tokens.push(Token::Word(word));
                }
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(Token::Mark(c));
                }
                i += 1;
            }
        }
    }
    tokens
}

/// The index after a block comment that begins at `i`; they nest.
fn after_block_comment(chars: &[char], mut i: usize) -> usize {
    let mut depth = 0;
    while i < chars.len() {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            break;
        }
    }
    i
}

/// The index after a string whose opening quote is at `i`.
fn after_string(chars: &[char], mut i: usize) -> usize {
    i += 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// The index after a raw string whose content begins at `i`.
fn after_raw_string(chars: &[char], mut i: usize, hashes: usize) -> usize {
    while i < chars.len() {
        let closing = (1..=hashes).all(|h| chars.get(i + h) == Some(&'#'));
        if chars[i] == '"' && closing {
            return i + 1 + hashes;
        }
        i += 1;
    }
    i
}

/// Names of items of the crate root that the source reaches, by `crate::…` or by enough
/// `super::`. `depth` is how deep the file's own module lies: `src/host/mod.rs` 1,
/// `src/host/tsc.rs` 2. A glob of the root is reached as `*`.
fn reached(tokens: &[Token], depth: usize) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut inline = Vec::new(); // for each open brace, whether it opened a module
    for i in 0..tokens.len() {
        match &tokens[i] {
            Token::Mark('{') => inline.push(i >= 2 && tokens[i - 2] == Token::Word("mod".into())),
            Token::Mark('}') => {
                inline.pop();
            }
            Token::Word(word) if i == 0 || tokens[i - 1] != Token::PathSeparator => {
                let here = depth + inline.iter().filter(|module| **module).count();
                match word.as_str() {
                    "crate" => follow(&tokens[i + 1..], 0, &mut reached),
                    "self" => follow(&tokens[i + 1..], here, &mut reached),
                    "super" => follow(&tokens[i + 1..], here.saturating_sub(1), &mut reached),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    reached
}

/// Follows a path from a module `depth` below the root; `rest` begins after its name.
fn follow(rest: &[Token], depth: usize, reached: &mut BTreeSet<String>) {
    if let Some((Token::PathSeparator, rest)) = rest.split_first() {
        step(rest, depth, reached);
    }
}

/// One part of a path: a name, `*`, `super`, or a group of paths.
fn step(rest: &[Token], depth: usize, reached: &mut BTreeSet<String>) {
    match rest.first() {
        Some(Token::Word(word)) if word == "super" => {
            follow(&rest[1..], depth.saturating_sub(1), reached);
        }
        Some(Token::Word(word)) if word == "self" => follow(&rest[1..], depth, reached),
        Some(Token::Word(word)) if depth == 0 => {
            reached.insert(word.clone());
        }
        Some(Token::Mark('*')) if depth == 0 => {
            reached.insert("*".into());
        }
        Some(Token::Mark('{')) => {
            let mut open = 0;
            let mut begins = false;
            for (i, token) in rest.iter().enumerate() {
                match token {
                    // a group within a group belongs to the path before it, which gets to it
                    _ if begins && open == 1 => step(&rest[i..], depth, reached),
                    _ => {}
                }
                match token {
                    Token::Mark('{') => open += 1,
                    Token::Mark('}') => open -= 1,
                    _ => {}
                }
                if open == 0 {
                    break;
                }
                begins = open == 1 && (i == 0 || *token == Token::Mark(','));
            }
        }
        _ => {}
    }
}

/// What one file of a module does that it must not.
fn violations(module: &str, depth: usize, source: &str) -> Vec<String> {
    let Some(own) = layer(module) else {
        return vec![format!("module `{module}` has no layer in the table")];
    };
    let tokens = tokens(source);
    let mut found = Vec::new();
    for name in reached(&tokens, depth) {
        match layer(&name) {
            _ if name == module => {}
            None => found.push(format!("reaches `{name}` of the crate root, which has no layer")),
            Some(other) if other >= own => {
                found.push(format!("`{module}` (layer {own}) reaches `{name}` (layer {other})"));
            }
            Some(_) => {}
        }
    }
    let room = UNSAFE_ROOMS.contains(&module);
    if !room && tokens.contains(&Token::Word("unsafe".into())) {
        found.push(format!("`unsafe` in `{module}`, which is none of its rooms"));
    }
    found
}

fn source_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(source_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The module of a file and how deep its own module lies; `None` for the crate roots.
fn place(file: &Path) -> Option<(String, usize)> {
    let part = |part: &std::ffi::OsStr| part.to_string_lossy().trim_end_matches(".rs").to_string();
    let mut parts: Vec<String> = file.iter().map(part).collect();
    if parts.last().is_some_and(|name| name == "mod") {
        parts.pop();
    }
    match parts.as_slice() {
        [root] if root == "main" || root == "lib" => None,
        [module, ..] => Some((module.clone(), parts.len())),
        [] => None,
    }
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn arrows_run_down_and_unsafe_stays_in_its_rooms() {
    let src = src();
    let mut found = Vec::new();
    let files = source_files(&src);
    assert!(files.len() > LAYERS.len() / 2, "too few files to be the whole of {}", src.display());
    for file in files {
        let relative = file.strip_prefix(&src).expect("the file was found under src");
        let source = fs::read_to_string(&file).unwrap();
        let these = match place(relative) {
            Some((module, depth)) => violations(&module, depth, &source),
            None if tokens(&source).contains(&Token::Word("unsafe".into())) => {
                vec!["`unsafe` in a crate root".to_string()]
            }
            None => Vec::new(),
        };
        found.extend(these.into_iter().map(|v| format!("src/{}: {v}", relative.display())));
    }
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn the_crate_lists_its_modules_in_layer_order() {
    let lib = tokens(&fs::read_to_string(src().join("lib.rs")).unwrap());
    let mut last = 0;
    for pair in lib.windows(2) {
        if let [Token::Word(keyword), Token::Word(name)] = pair
            && keyword == "mod"
        {
            let layer = layer(name).unwrap_or_else(|| panic!("`{name}` has no layer"));
            assert!(layer >= last, "`{name}` (layer {layer}) stands after layer {last}");
            last = layer;
        }
    }
    assert!(last > 0, "lib.rs lists no modules");
}

#[test]
fn the_scanner_finds_what_it_must() {
    // (module, depth of the file's module, source, what is found)
    let cases: &[(&str, usize, &str, &str)] = &[
        ("units", 1, "use crate::host::Host;", "`units` (layer 0) reaches `host`"),
        ("host", 2, "use crate::subject::Op;", "`host` (layer 1) reaches `subject`"),
        ("host", 2, "use crate::{units::words, trial::{Body, Check}};", "reaches `trial`"),
        ("host", 2, "use crate::{units::{a, b}, {trial, stats}};", "reaches `trial`"),
        ("host", 2, "fn f() -> crate :: ir :: Insn {}", "reaches `ir`"),
        ("host", 2, "macro_rules! m { () => { $crate::jit::call() } }", "reaches `jit`"),
        ("host", 1, "use super::trial::Body;", "reaches `trial`"),
        ("host", 2, "use super::super::trial::Body;", "reaches `trial`"),
        ("host", 2, "use super::{super::trial, tsc};", "reaches `trial`"),
        ("host", 2, "use super::super::{units, search::{self, Plan}};", "reaches `search`"),
        ("host", 2, "use self::super::super::cli;", "reaches `cli`"),
        ("host", 1, "mod tests { use super::super::cli; }", "reaches `cli`"),
        ("host", 1, "mod a { mod b { fn f() { super::super::super::cli::run() } } }", "`cli`"),
        ("host", 1, "mod a { fn f() {} } use super::cli;", "reaches `cli`"),
        ("units", 1, "use crate::*;", "reaches `*` of the crate root"),
        ("units", 1, "use crate::nowhere::X;", "reaches `nowhere` of the crate root"),
        ("nowhere", 1, "", "`nowhere` has no layer"),
        ("worker", 1, "fn f() { unsafe { g() } }", "`unsafe` in `worker`"),
        ("worker", 1, "let q = '\"'; unsafe { g() } let r = '\"';", "`unsafe` in `worker`"),
        ("worker", 1, "fn f<'a>(x: &'a u8) { unsafe { g() } }", "`unsafe` in `worker`"),
        ("worker", 1, "let s = \"\\\"\"; unsafe { g() }", "`unsafe` in `worker`"),
        ("worker", 1, "let s = r#\"\"\"#; unsafe { g() }", "`unsafe` in `worker`"),
        ("worker", 1, "/* /* */ */ unsafe { g() }", "`unsafe` in `worker`"),
    ];
    for (module, depth, source, wanted) in cases {
        let found = violations(module, *depth, source);
        assert_eq!(found.len(), 1, "{source}: {found:?}");
        assert!(found[0].contains(wanted), "{source}: {found:?} is not `{wanted}`");
    }
}

#[test]
fn the_scanner_lets_through_what_it_may() {
    let cases: &[(&str, usize, &str)] = &[
        ("host", 2, "use crate::units::{human_size, words};\nuse crate::host::Host;"),
        ("host", 2, "use super::tsc::Tsc; use super::{cache, key::{self, Key}};"),
        ("host", 1, "mod tests { use super::*; use super::trial_of_strength; }"),
        ("host", 1, "mod a { mod b { use super::super::Host; } }"),
        ("host", 3, "use super::super::Host;"),
        ("host", 1, "//! See [`crate::cli`].\n/// unsafe\n// super::cli\n/* crate::cli */"),
        ("worker", 1, "let s = \"unsafe crate::cli\"; let r = r##\"unsafe \"# crate::cli\"##;"),
        ("worker", 1, "#![deny(unsafe_code)] let c = '\\''; let d = '{';"),
        ("host", 1, "pub(crate) fn f() { unsafe { g() } }"),
        ("host", 1, "use other::crate_x; use std::super_like::cli; self.cli(); self::tsc::read()"),
        ("cli", 2, "use crate::{export, report::{table}, explore};"),
    ];
    for (module, depth, source) in cases {
        assert_eq!(violations(module, *depth, source), [""; 0], "{source}");
    }
}

#[test]
fn files_have_their_place() {
    let at = |path: &str| place(Path::new(path));
    assert_eq!(at("host/mod.rs"), Some(("host".into(), 1)));
    assert_eq!(at("host/tsc.rs"), Some(("host".into(), 2)));
    assert_eq!(at("cli/views/list.rs"), Some(("cli".into(), 3)));
    assert_eq!(at("stray.rs"), Some(("stray".into(), 1)));
    assert_eq!(at("main.rs"), None);
}
