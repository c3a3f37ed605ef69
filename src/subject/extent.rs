//! How many bytes calls have: one size, or a mix of sizes by name.

use serde::{Deserialize, Serialize};

use crate::units::{MAX_MIX_SIZE, human_size};

/// Bytes of a name that are kept; what is longer is cut. File names beyond it are rare, and the
/// digest tells mixes apart whatever they are called.
const NAME_BYTES: usize = 32;

/// What a cell says of its mix: the name that people know it by, and what tells it from others
/// of that name. The sizes themselves are in a [`SizeMix`](super::SizeMix).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_comes_back_as_it_was_recorded() {
        let mix = Mix::new("web", 0xdead_beef, 91.1234).unwrap();
        assert_eq!((mix.name(), mix.mean()), ("web", 91.123));
        assert_eq!(Mix::new(mix.name(), mix.digest(), mix.mean()), Ok(mix));
        let text = serde_json::to_string(&mix).unwrap();
        assert_eq!(serde_json::from_str::<Mix>(&text).unwrap(), mix);
        let long = "ü".repeat(100);
        assert_eq!(Mix::new(&long, 1, 1.0).unwrap().name(), "ü".repeat(16));
        assert!(Mix::new(" ", 1, 1.0).is_err() && Mix::new("a", 1, f64::NAN).is_err());
    }

    #[test]
    fn fixed_sizes_stand_before_mixes() {
        let mix = Extent { mix: Mix::new("a", 1, 12.0).ok(), size: 16 };
        assert!(Extent::fixed(u64::MAX) < mix);
        assert_eq!((mix.to_string(), mix.mean()), ("a".into(), 12.0));
        assert_eq!(Extent::fixed(4096).phrase(), "4k bytes");
    }
}
