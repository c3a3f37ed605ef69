//! Size mixes: how often calls of each size come, in place of one size.

use std::path::Path;

use super::extent::{Extent, Mix};
use crate::units::{MAX_MIX_SIZE, human_size, parse_size, regular};

/// Sizes of a mix at most. Sequences are far shorter, so more could not even be drawn.
const MOST_SIZES: usize = 1 << 16;

/// Bytes of a file at most: many times what [`MOST_SIZES`] sizes with their weights need, or a
/// probability for each size there can be.
const MOST_FILE_BYTES: u64 = 64 << 20;

/// Sizes of calls with their probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeMix {
    /// Its name and what tells it from others.
    pub mix: Mix,
    /// Sizes, bytes, ascending, each with its probability; these are above 0 and their sum is 1.
    pub weights: Vec<(u32, f64)>,
}

/// Why a file is no size mix.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum MixError {
    #[error("{file}: cannot be read: {why}")]
    Read { file: String, why: std::io::Error },
    #[error("{file}:{line}:{column}: {why}")]
    At { file: String, line: usize, column: usize, why: String },
    #[error("{file}: {why}")]
    Whole { file: String, why: String },
}

/// What a file of a mix has to be.
const FORMS: &str = "a mix is one line of comma-separated probabilities, the first of size 0, the \
                     next of size 1 and so on, or lines of size,weight";

/// What is wrong at a byte of a line.
struct Wrong {
    column: usize,
    why: String,
}

impl SizeMix {
    /// The mix in a file, named by its stem.
    ///
    /// # Errors
    /// Names the file, the line and the column, and what would be right.
    pub fn load(path: &Path) -> Result<SizeMix, MixError> {
        let file = path.display().to_string();
        let read = || -> std::io::Result<Vec<u8>> {
            use std::io::Read as _;
            let mut bytes = Vec::new();
            regular(path)?.take(MOST_FILE_BYTES + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = match read() {
            Ok(bytes) => bytes,
            Err(why) => return Err(MixError::Read { file, why }),
        };
        if bytes.len() as u64 > MOST_FILE_BYTES {
            let most = human_size(MOST_FILE_BYTES);
            return Err(MixError::Whole { file, why: format!("larger than {most}B; {FORMS}") });
        }
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(MixError::Whole { file, why: format!("not a text; {FORMS}") });
        };
        let name = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
        SizeMix::parse(&file, &name, &text)
    }

    /// The mix in a text. `file` is what messages call it, `name` what tables do.
    ///
    /// Either one line of comma-separated numbers, the i-th (from 0) the probability of size i,
    /// or lines of `size,weight`, with a line of names above them or without. Numbers need not
    /// sum to 1. A single line of two numbers is a size and its weight where the first is a
    /// whole number from 2.
    ///
    /// # Errors
    /// As [`SizeMix::load`].
    pub fn parse(file: &str, name: &str, text: &str) -> Result<SizeMix, MixError> {
        let lines: Vec<(usize, &str)> = text
            .lines()
            .enumerate()
            .map(|(i, line)| (i + 1, line))
            .filter(|(_, line)| !line.trim().is_empty())
            .collect();
        let whole = |why: String| MixError::Whole { file: file.into(), why };
        let at = |line: usize, wrong: Wrong| MixError::At {
            file: file.into(),
            line,
            column: wrong.column,
            why: wrong.why,
        };
        let mut weights = match lines.as_slice() {
            [] => return Err(whole(format!("empty; {FORMS}"))),
            [(number, line)] if !is_pair(line) => {
                probabilities(line).map_err(|w| at(*number, w))?
            }
            lines => pairs(lines).map_err(|(number, w)| at(number, w))?,
        };
        weights.retain(|(_, weight)| *weight > 0.0);
        weights.sort_by_key(|(size, _)| *size);
        if weights.len() > MOST_SIZES {
            let why = format!("{} sizes with a weight; {MOST_SIZES} are the most", weights.len());
            return Err(whole(why));
        }
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        if weights.is_empty() {
            return Err(whole(
                "all weights are 0; give at least one size a weight above it".into(),
            ));
        }
        if !sum.is_finite() {
            return Err(whole("the sum of the weights is too large; write smaller ones".into()));
        }
        weights.iter_mut().for_each(|(_, weight)| *weight /= sum);
        let mean: f64 = weights.iter().map(|(size, weight)| f64::from(*size) * weight).sum();
        if mean <= 0.0 {
            let why = "all calls are of 0 bytes, which has nothing to measure; give a larger size \
                       a weight";
            return Err(whole(why.into()));
        }
        let mix = Mix::new(name, digest(&weights), mean).map_err(whole)?;
        Ok(SizeMix { mix, weights })
    }

    /// The largest size, bytes; never 0.
    pub fn largest(&self) -> u64 {
        self.weights.last().map_or(1, |(size, _)| u64::from(*size).max(1))
    }

    /// How many bytes its calls have.
    pub fn extent(&self) -> Extent {
        Extent { mix: Some(self.mix), size: self.largest() }
    }
}

/// Whether the only line of a file is a size with its weight: its first number is no
/// probability.
fn is_pair(line: &str) -> bool {
    let mut fields = line.split(',');
    let first = fields.next().and_then(|f| f.trim().parse::<u64>().ok());
    first.is_some_and(|size| size >= 2) && fields.next().is_some() && fields.next().is_none()
}

/// The fields of a line, each with the column (from 1) that it begins at.
fn fields(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut column = 1;
    line.split(',').map(move |field| {
        let begin = column + field.chars().take_while(|c| c.is_whitespace()).count();
        column += field.chars().count() + 1;
        (begin, field.trim())
    })
}

fn weight(column: usize, text: &str, what: &str) -> Result<f64, Wrong> {
    let wrong = |why: String| Wrong { column, why };
    let right = "write a number from 0 up, such as 0.25";
    if text.is_empty() {
        return Err(wrong(format!("{what} is missing; {right}")));
    }
    match text.parse::<f64>() {
        Ok(number) if number < 0.0 => Err(wrong(format!("{what}, `{text}`, is negative; {right}"))),
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(wrong(format!("{what}, `{text}`, is no number; {right}"))),
    }
}

fn probabilities(line: &str) -> Result<Vec<(u32, f64)>, Wrong> {
    let mut weights = Vec::new();
    for (size, (column, text)) in fields(line).enumerate() {
        let weight = weight(column, text, &format!("the probability of size {size}"))?;
        if weight > 0.0 {
            weights.push((size_of(size as u64).ok_or_else(|| too_large(column, size))?, weight));
        }
    }
    Ok(weights)
}

fn size_of(bytes: u64) -> Option<u32> {
    (bytes <= MAX_MIX_SIZE).then(|| u32::try_from(bytes).ok()).flatten()
}

fn too_large(column: usize, size: impl std::fmt::Display) -> Wrong {
    let most = human_size(MAX_MIX_SIZE);
    Wrong { column, why: format!("size {size} is too large; sizes of a mix go from 0 to {most}") }
}

fn pairs(lines: &[(usize, &str)]) -> Result<Vec<(u32, f64)>, (usize, Wrong)> {
    let mut weights: Vec<(u32, f64)> = Vec::new();
    let mut seen: std::collections::HashMap<u32, usize> = std::collections::HashMap::new();
    for (i, (number, line)) in lines.iter().enumerate() {
        let list: Vec<(usize, &str)> = fields(line).collect();
        let [(column, size), (after, text)] = list.as_slice() else {
            let why = format!("{} instead of size,weight; {FORMS}", fields_word(list.len()));
            return Err((*number, Wrong { column: 1, why }));
        };
        // Names of columns.
        if i == 0 && [size, text].iter().all(|t| t.starts_with(|c: char| c.is_alphabetic())) {
            continue;
        }
        let bytes = match size.trim_start_matches('0') {
            "" if !size.is_empty() => 0,
            _ => parse_size(size)
                .map_err(|e| (*number, Wrong { column: *column, why: e.to_string() }))?,
        };
        let bytes = size_of(bytes).ok_or_else(|| (*number, too_large(*column, size)))?;
        if let Some(before) = seen.insert(bytes, *number) {
            let why = format!("size {bytes} stands on line {before} already; give it one weight");
            return Err((*number, Wrong { column: *column, why }));
        }
        let what = format!("the weight of size {size}");
        weights.push((bytes, weight(*after, text, &what).map_err(|w| (*number, w))?));
    }
    Ok(weights)
}

fn fields_word(count: usize) -> String {
    if count == 1 { "one value".into() } else { format!("{count} values") }
}

/// Tells mixes apart (of sizes and probabilities).
fn digest(weights: &[(u32, f64)]) -> u64 {
    crate::units::digest(weights.iter().flat_map(|(size, weight)| {
        size.to_le_bytes().into_iter().chain(weight.to_bits().to_le_bytes())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<SizeMix, MixError> {
        SizeMix::parse("a.csv", "a", text)
    }

    fn said(text: &str) -> String {
        parse(text).expect_err(text).to_string()
    }

    #[test]
    fn both_forms_say_the_same() {
        let line = parse("0,0.25,0,0,0.75\n").unwrap();
        assert_eq!(line.weights, [(1, 0.25), (4, 0.75)]);
        assert_eq!((line.mix.mean(), line.largest(), line.mix.name()), (3.25, 4, "a"));
        for pairs in ["size,weight\n1,25\n4,75\n", "4,3\r\n\r\n1,1\r\n2,0\n", " 4 , 3 \n1,1"] {
            assert_eq!(parse(pairs).unwrap(), line, "{pairs}");
        }
        assert_ne!(parse("0,0.25,0,0,0.8").unwrap().mix, line.mix);
        // Units, size 0, and a single size.
        assert_eq!(parse("0,1\n4k,1").unwrap().weights, [(0, 0.5), (4096, 0.5)]);
        assert_eq!(parse("64,1").unwrap().weights, [(64, 1.0)]);
        assert_eq!(parse("0.5,0.5").unwrap().weights, [(0, 0.5), (1, 0.5)]);
        assert_eq!(parse("0,1").unwrap().weights, [(1, 1.0)]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (text, place, why) in [
            ("", "a.csv: ", "empty"),
            ("\n \n", "a.csv: ", "empty"),
            ("0.5,x,0.5", "a.csv:1:5: ", "the probability of size 1, `x`, is no number"),
            ("0.5,,0.5", "a.csv:1:5: ", "the probability of size 1 is missing"),
            ("0.5, 0.5,", "a.csv:1:10: ", "the probability of size 2 is missing"),
            ("0.5,-0.5,1", "a.csv:1:5: ", "negative"),
            ("0.5,inf,1", "a.csv:1:5: ", "no number"),
            ("0.5,nan,1", "a.csv:1:5: ", "no number"),
            ("0,0,0", "a.csv: ", "all weights are 0"),
            ("1,0,0", "a.csv: ", "all calls are of 0 bytes"),
            ("64,1\n32,-1", "a.csv:2:4: ", "the weight of size 32, `-1`, is negative"),
            ("64,1\n32", "a.csv:2:1: ", "one value instead of size,weight"),
            ("64,1\n32,1,1", "a.csv:2:1: ", "3 values instead of size,weight"),
            ("64,1\n64,2", "a.csv:2:1: ", "size 64 stands on line 1 already"),
            ("64,1\n4.5,2", "a.csv:2:1: ", "`4.5` is no size"),
            ("64,1\n-4,2", "a.csv:2:1: ", "`-4` is no size"),
            ("64,1\nsize,weight", "a.csv:2:1: ", "`size` is no size"),
            ("64,1\n1G,2", "a.csv:2:1: ", "too large; sizes of a mix go from 0 to 16M"),
            ("64,1e308\n65,1e308", "a.csv: ", "the sum of the weights is too large"),
        ] {
            let said = said(text);
            assert!(said.starts_with(place) && said.contains(why), "{text:?}: {said}");
        }
    }

    #[test]
    fn a_file_that_is_none_is_refused() {
        let room = tempfile::tempdir().unwrap();
        let said = |path: &Path| SizeMix::load(path).unwrap_err().to_string();
        assert!(said(room.path()).contains("a folder; name a regular file"));
        assert!(said(Path::new("/dev/zero")).contains("a device; name a regular file"));
        let path = room.path().join("web.server.csv");
        assert!(said(&path).contains("web.server.csv: cannot be read"));
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(said(&path).contains("not a text"));
        std::fs::write(&path, "8,1\n16,1").unwrap();
        assert_eq!(SizeMix::load(&path).unwrap().mix.name(), "web.server");
    }
}
