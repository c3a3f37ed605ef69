//! What a cell says beside op, size, state and drive: where the buffers lie, what backs them,
//! who reads the result, what the source is, how many do it at once.

use serde::{Deserialize, Serialize};

use crate::units::words;

words! {
    /// Page backing of the buffers.
    Pages {
        /// 4 KiB pages (`MADV_NOHUGEPAGE`).
        Small = "4k",
        /// 2 MiB pages (`MADV_HUGEPAGE`), and the kernel's word that they are.
        Huge = "2m",
        /// Pages of the destination that nobody has touched: every one faults in the timed
        /// region.
        Fresh = "fresh",
    }
}

words! {
    /// Who reads the destination inside the timed region.
    Consumer {
        /// Nobody.
        None = "none",
        /// A loop that reads every line of it once, after each call.
        Read = "read",
    }
}

words! {
    /// What the source of a copy is.
    Source {
        /// Written with distinct data before.
        Written = "written",
        /// Never written: all of its pages are the kernel's one page of zeros. Shows what a
        /// benchmark that forgets to write measures.
        Untouched = "untouched",
    }
}

/// Addresses of the buffers, as far as loops can feel them. Bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Placement {
    /// Destination modulo 64.
    pub dst: u8,
    /// Source modulo 64.
    pub src: u8,
    /// (dst − src) modulo 4096 where fixed (a multiple of 64, before the offsets above are
    /// added); `None`: redrawn from the multiples of 64 at each layout.
    pub delta: Option<u16>,
}

impl Placement {
    /// Both pointers at multiples of 64, their distance redrawn.
    pub const ALIGNED: Placement = Placement { dst: 0, src: 0, delta: None };

    /// Reads what [`Display`](std::fmt::Display) writes: `aligned`, or any of `dstN`, `srcN`
    /// and `deltaN` joined by `/`.
    ///
    /// # Errors
    /// What is wrong and what would be right, as a sentence.
    pub fn parse(text: &str) -> Result<Placement, String> {
        let mut placement = Placement::ALIGNED;
        if text == "aligned" {
            return Ok(placement);
        }
        let mut seen: Vec<&str> = Vec::new();
        for token in text.split('/') {
            let key = token.trim_end_matches(|c: char| c.is_ascii_digit());
            let value = token[key.len()..].parse::<u16>().ok();
            let (limit, step) = if key == "delta" { (4096, 64) } else { (64, 1) };
            let value = value.filter(|v| *v < limit && v.is_multiple_of(step));
            if seen.contains(&key) {
                return Err(format!("`{text}` says {key} twice"));
            }
            seen.push(key);
            match (key, value) {
                ("dst", Some(v)) => placement.dst = v as u8,
                ("src", Some(v)) => placement.src = v as u8,
                ("delta", Some(v)) => placement.delta = Some(v),
                _ => {
                    return Err(format!(
                        "`{token}` is no part of a placement: write aligned, or dst0 to dst63, src0 \
                         to src63 and delta0 to delta4032 (a multiple of 64) joined by `/`, as in \
                         dst1/src8"
                    ));
                }
            }
        }
        Ok(placement)
    }
}

impl std::fmt::Display for Placement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        if self.dst > 0 {
            parts.push(format!("dst{}", self.dst));
        }
        if self.src > 0 {
            parts.push(format!("src{}", self.src));
        }
        parts.extend(self.delta.map(|delta| format!("delta{delta}")));
        if parts.is_empty() {
            parts.push("aligned".into());
        }
        f.pad(&parts.join("/"))
    }
}

/// Under which conditions a cell is measured. The defaults: buffers at multiples of 64, 4 KiB
/// pages, no consumer, a written source, one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Conditions {
    /// Where the buffers lie.
    pub placement: Placement,
    /// What backs them.
    pub pages: Pages,
    /// Who reads the result.
    pub consumer: Consumer,
    /// What the source is.
    pub source: Source,
    /// How many workers, each on a CPU of its own, make the same calls at once.
    pub threads: u16,
}

impl Conditions {
    /// The defaults.
    pub const DEFAULT: Conditions = Conditions {
        placement: Placement::ALIGNED,
        pages: Pages::Small,
        consumer: Consumer::None,
        source: Source::Written,
        threads: 1,
    };

    /// What differs from the defaults, a word or two each.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.placement != Placement::ALIGNED {
            words.push(self.placement.to_string());
        }
        if self.pages != Pages::Small {
            words.push(format!("{} pages", self.pages));
        }
        if self.consumer != Consumer::None {
            words.push("then read".into());
        }
        if self.source != Source::Written {
            words.push(format!("{} source", self.source));
        }
        if self.threads != 1 {
            words.push(format!("{} threads", self.threads));
        }
        words
    }
}

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_read_as_they_are_written() {
        for text in ["aligned", "dst1", "src63", "dst1/src8/delta4032", "delta0"] {
            assert_eq!(Placement::parse(text).unwrap().to_string(), text);
        }
        for bad in ["", "dst", "dst64", "delta100", "delta4096", "dst1/dst2", "x1", "dst-1"] {
            assert!(Placement::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_what_differs_is_said() {
        assert!(Conditions::DEFAULT.words().is_empty());
        let other = Conditions {
            pages: Pages::Huge,
            consumer: Consumer::Read,
            source: Source::Untouched,
            threads: 2,
            placement: Placement { dst: 1, ..Placement::ALIGNED },
        };
        let words = ["dst1", "2m pages", "then read", "untouched source", "2 threads"];
        assert_eq!(other.words(), words);
    }
}
