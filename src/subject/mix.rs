//! Size mixes: how often calls of each size come, in place of one size.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::units::{MAX_MIX_SIZE, human_size, parse_size, regular};

/// Bytes of a name that are kept; what is longer is cut. File names beyond it are rare, and the
/// digest tells mixes apart whatever they are called.
const NAME_BYTES: usize = 40;

/// Sizes of a mix at most. Sequences are far shorter, so more could not even be drawn.
const MOST_SIZES: usize = 1 << 16;

/// Bytes of a file at most: many times what [`MOST_SIZES`] sizes with their weights need, or a
/// probability for each size there can be.
const MOST_FILE_BYTES: u64 = 64 << 20;

/// What a cell says of its mix: the name that people know it by, and what tells it from others
/// of that name. The sizes themselves are in a [`SizeMix`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "Recorded", try_from = "Recorded")]
pub struct Mix {
    /// Padded with zeros.
    name: [u8; NAME_BYTES],
    /// Of sizes and probabilities.
    digest: u64,
    /// Mean size of a call, thousandths of a byte: a whole number, so that mixes compare.
    mean_millibytes: u64,
}

/// A mix in words and numbers.
#[derive(Serialize, Deserialize)]
struct Recorded {
    name: String,
    digest: u64,
    mean_millibytes: u64,
}

impl From<Mix> for Recorded {
    fn from(mix: Mix) -> Recorded {
        let name = mix.name().to_string();
        Recorded { name, digest: mix.digest, mean_millibytes: mix.mean_millibytes }
    }
}

impl TryFrom<Recorded> for Mix {
    type Error = String;

    fn try_from(r: Recorded) -> Result<Mix, String> {
        Mix::new(&r.name, r.digest, r.mean_millibytes as f64 / 1e3)
    }
}

impl Mix {
    /// A mix as it is recorded. `mean`: bytes a call.
    ///
    /// # Errors
    /// Where the name is empty or the mean is that of no mix.
    pub fn new(name: &str, digest: u64, mean: f64) -> Result<Mix, String> {
        let name = kept(name);
        if name.is_empty() {
            return Err("a mix without a name".into());
        }
        if !(mean > 0.0 && mean <= MAX_MIX_SIZE as f64) {
            return Err(format!("a mix cannot have a mean of {mean} bytes"));
        }
        let mut padded = [0; NAME_BYTES];
        padded[..name.len()].copy_from_slice(name.as_bytes());
        Ok(Mix { name: padded, digest, mean_millibytes: ((mean * 1e3).round() as u64).max(1) })
    }

    /// What people call it: the stem of its file's name.
    pub fn name(&self) -> &str {
        let end = self.name.iter().position(|b| *b == 0).unwrap_or(NAME_BYTES);
        std::str::from_utf8(&self.name[..end]).unwrap_or("?")
    }

    /// Tells it from other mixes of its name.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Mean size of a call, bytes, to the thousandth.
    pub fn mean(&self) -> f64 {
        self.mean_millibytes as f64 / 1e3
    }
}

impl std::fmt::Debug for Mix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mix({} {:016x}, mean {})", self.name(), self.digest, self.mean())
    }
}

impl std::fmt::Display for Mix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// The part of a name that is kept: printable, and short enough for a cell to hold.
fn kept(name: &str) -> String {
    let mut kept = String::new();
    for c in name.trim().chars().map(|c| if c.is_control() { ' ' } else { c }) {
        if kept.len() + c.len_utf8() > NAME_BYTES {
            break;
        }
        kept.push(c);
    }
    kept
}

/// How many bytes calls have: one size, or a mix of sizes. Fixed sizes order before mixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Extent {
    /// The mix, where it is one.
    pub mix: Option<Mix>,
    /// The size of every call; of a mix the largest.
    pub size: u64,
}

impl Extent {
    /// One size.
    pub const fn fixed(size: u64) -> Extent {
        Extent { mix: None, size }
    }

    /// Bytes a call in the mean.
    pub fn mean(&self) -> f64 {
        self.mix.map_or(self.size as f64, |mix| mix.mean())
    }

    /// In a sentence: `4k bytes`, or `the mix NAME`.
    pub fn phrase(&self) -> String {
        match self.mix {
            None => format!("{} bytes", human_size(self.size)),
            Some(mix) => format!("the mix {mix}"),
        }
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.mix {
            None => f.pad(&human_size(self.size)),
            Some(mix) => f.pad(mix.name()),
        }
    }
}

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

/// Tells mixes apart (FNV-1a of sizes and probabilities).
fn digest(weights: &[(u32, f64)]) -> u64 {
    let bytes = weights.iter().flat_map(|(size, weight)| {
        size.to_le_bytes().into_iter().chain(weight.to_bits().to_le_bytes())
    });
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
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

    #[test]
    fn a_mix_comes_back_as_it_was_recorded() {
        let mix = parse("0,1,1,1").unwrap().mix;
        assert_eq!(Mix::new(mix.name(), mix.digest(), mix.mean()), Ok(mix));
        let text = serde_json::to_string(&mix).unwrap();
        assert_eq!(serde_json::from_str::<Mix>(&text).unwrap(), mix);
        let long = "ü".repeat(100);
        assert_eq!(Mix::new(&long, 1, 1.0).unwrap().name(), "ü".repeat(20));
        assert!(Mix::new(" ", 1, 1.0).is_err() && Mix::new("a", 1, f64::NAN).is_err());
    }

    #[test]
    fn fixed_sizes_stand_before_mixes() {
        let mix = parse("8,1\n16,1").unwrap().extent();
        assert!(Extent::fixed(u64::MAX) < mix);
        assert_eq!((mix.to_string(), mix.mean()), ("a".into(), 12.0));
        assert_eq!(Extent::fixed(4096).phrase(), "4k bytes");
    }
}
