//! How the values of each axis are written in files and tables.

use crate::subject::{
    Align, BOUNCES, Class, Count, Direction, Encoding, Head, Hint, LARGEST_FIXED, Order, Prefetch,
    Side, Store, Streams, Tail, Touch, UNROLLS,
};
use crate::units::did_you_mean;

/// A value of an axis, written as in an id where an id names it.
pub trait AxisValue: Copy + PartialEq + Sized + 'static {
    /// Every value that an id may have, in canonical order.
    fn all() -> Vec<Self>;

    /// The value as files and tables write it.
    fn word(self) -> String;

    /// The values that a word stands for; most words stand for one.
    fn read(word: &str) -> Option<Vec<Self>> {
        Self::all().into_iter().find(|v| v.word() == word).map(|v| vec![v])
    }

    /// What would be right, for messages.
    fn legal() -> String {
        Self::all().into_iter().map(Self::word).collect::<Vec<_>>().join(" ")
    }

    /// The values that are left of a list where only others are allowed too, in their order.
    fn kept(from: &[Self], by: Option<&[Self]>) -> Vec<Self> {
        super::axes::kept(from, by)
    }

    /// A list of values for people, short where the list is long.
    fn summary(values: &[Self]) -> String {
        values.iter().map(|v| v.word()).collect::<Vec<_>>().join(" ")
    }

    /// Why a word is no value: what would be right, and what it may have meant.
    fn complaint(word: &str) -> String {
        let meant = did_you_mean(word, Self::all().into_iter().map(Self::word));
        format!("`{word}` is no value of this axis; write {}{meant}", Self::legal())
    }
}

macro_rules! plain_words {
    ($($axis:ty),+) => { $(
        impl AxisValue for $axis {
            fn all() -> Vec<Self> {
                <$axis>::ALL.to_vec()
            }

            fn word(self) -> String {
                <$axis>::word(self).to_string()
            }
        }
    )+ };
}
plain_words!(Class, Encoding, Order, Store, Side, Count, Touch, Direction);

impl AxisValue for Streams {
    fn all() -> Vec<Self> {
        Streams::ALL.to_vec()
    }

    fn word(self) -> String {
        Streams::word(self).to_string()
    }

    /// As numbers, too.
    fn read(word: &str) -> Option<Vec<Self>> {
        let named = Streams::from_word(word);
        let counted = || Streams::ALL.iter().copied().find(|s| s.count().to_string() == word);
        named.or_else(counted).map(|v| vec![v])
    }
}

/// Heads and tails drop the prefix that sets them apart in an id; with it they read as well.
macro_rules! prefixed_words {
    ($($axis:ty, $prefix:literal);+) => { $(
        impl AxisValue for $axis {
            fn all() -> Vec<Self> {
                <$axis>::ALL.to_vec()
            }

            fn word(self) -> String {
                <$axis>::word(self).trim_start_matches($prefix).to_string()
            }

            fn read(word: &str) -> Option<Vec<Self>> {
                let word = word.strip_prefix($prefix).unwrap_or(word);
                Self::all().into_iter().find(|v| AxisValue::word(*v) == word).map(|v| vec![v])
            }
        }
    )+ };
}
prefixed_words!(Head, "head-"; Tail, "tail-");

/// The unroll factor.
impl AxisValue for u8 {
    fn all() -> Vec<u8> {
        UNROLLS.to_vec()
    }

    fn word(self) -> String {
        self.to_string()
    }
}

/// The prefetch distance, bytes.
impl AxisValue for u16 {
    fn all() -> Vec<u16> {
        (1..=Prefetch::MAX_DISTANCE / 64).map(|lines| lines * 64).collect()
    }

    fn word(self) -> String {
        self.to_string()
    }

    fn legal() -> String {
        format!("a multiple of 64 from 64 to {}", Prefetch::MAX_DISTANCE)
    }

    fn summary(values: &[u16]) -> String {
        if values == u16::all() {
            return format!("64 128 … {}", Prefetch::MAX_DISTANCE);
        }
        values.iter().map(u16::to_string).collect::<Vec<_>>().join(" ")
    }
}

/// The prefetch hint, or none.
impl AxisValue for Option<Hint> {
    fn all() -> Vec<Self> {
        std::iter::once(None).chain(Hint::ALL.iter().copied().map(Some)).collect()
    }

    fn word(self) -> String {
        self.map_or("none", Hint::word).to_string()
    }
}

/// The block that a copy goes through, bytes, or none.
impl AxisValue for Option<u16> {
    fn all() -> Vec<Self> {
        std::iter::once(None).chain(BOUNCES.iter().copied().map(Some)).collect()
    }

    fn word(self) -> String {
        self.map_or("none".into(), |bytes| bytes.to_string())
    }

    /// As in ids, too.
    fn read(word: &str) -> Option<Vec<Self>> {
        let word = word.strip_prefix("bounce").unwrap_or(word);
        Self::all().into_iter().find(|v| v.word() == word).map(|v| vec![v])
    }
}

/// The one size of a function, bytes, or any. There are too many to be listed.
impl AxisValue for Option<u32> {
    fn all() -> Vec<Self> {
        vec![None]
    }

    fn word(self) -> String {
        self.map_or("any".into(), |bytes| bytes.to_string())
    }

    fn read(word: &str) -> Option<Vec<Self>> {
        if word == "any" {
            return Some(vec![None]);
        }
        let word = word.strip_prefix('n').unwrap_or(word);
        let bytes = word.parse().ok().filter(|n: &u32| n.to_string() == word)?;
        (1..=LARGEST_FIXED).contains(&bytes).then(|| vec![Some(bytes)])
    }

    /// Nothing lists every size, so that one who names some means just these.
    fn kept(from: &[Self], by: Option<&[Self]>) -> Vec<Self> {
        by.unwrap_or(from).to_vec()
    }

    fn legal() -> String {
        format!("\"any\" or a number of bytes from 1 to {LARGEST_FIXED}")
    }
}

impl AxisValue for Align {
    fn all() -> Vec<Align> {
        Align::MODULI.iter().flat_map(|m| skews(*m)).collect()
    }

    fn word(self) -> String {
        match (self.modulus, self.skew) {
            (m, 0) => format!("a{m}"),
            (m, k) => format!("a{m}+{k}"),
        }
    }

    /// `aA` and `aA+K` as in ids; `aA+*` for every skew of a modulus, 0 included.
    fn read(word: &str) -> Option<Vec<Align>> {
        if let Some(modulus) = word.strip_prefix('a').and_then(|w| w.strip_suffix("+*")) {
            let modulus = Align::MODULI.iter().find(|m| m.to_string() == modulus)?;
            return Some(skews(*modulus).collect());
        }
        Self::all().into_iter().find(|v| v.word() == word).map(|v| vec![v])
    }

    fn legal() -> String {
        "a1 a16 a32 a64, with a skew below the modulus as in a64+32, or a64+* for every skew".into()
    }

    fn summary(values: &[Align]) -> String {
        let mut words = Vec::new();
        for modulus in Align::MODULI {
            let of: Vec<Align> = values.iter().copied().filter(|a| a.modulus == *modulus).collect();
            if *modulus > 1 && of.len() == usize::from(*modulus) {
                words.push(format!("a{modulus}+*"));
            } else {
                words.extend(of.into_iter().map(AxisValue::word));
            }
        }
        words.join(" ")
    }
}

fn skews(modulus: u8) -> impl Iterator<Item = Align> {
    (0..modulus).map(move |skew| Align { modulus, skew })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads_its_own_words<T: AxisValue + std::fmt::Debug>() {
        for value in T::all() {
            assert_eq!(T::read(&value.word()), Some(vec![value]));
        }
    }

    #[test]
    fn every_value_reads_back() {
        reads_its_own_words::<Class>();
        reads_its_own_words::<Encoding>();
        reads_its_own_words::<u8>();
        reads_its_own_words::<Order>();
        reads_its_own_words::<Align>();
        reads_its_own_words::<Store>();
        reads_its_own_words::<Option<Hint>>();
        reads_its_own_words::<u16>();
        reads_its_own_words::<Side>();
        reads_its_own_words::<Count>();
        reads_its_own_words::<Head>();
        reads_its_own_words::<Tail>();
        reads_its_own_words::<Touch>();
        reads_its_own_words::<Option<u16>>();
        reads_its_own_words::<Option<u32>>();
        assert_eq!(<Option<u32>>::read("4096"), Some(vec![Some(4096)]));
        assert_eq!(<Option<u32>>::read("0"), None);
        assert_eq!(<Option<u32>>::read("n64"), Some(vec![Some(64)]));
        assert_eq!(<Option<u16>>::read("bounce1024"), Some(vec![Some(1024)]));
        assert_eq!(Streams::read("2"), Some(vec![Streams::Two]));
        reads_its_own_words::<Streams>();
        reads_its_own_words::<Direction>();
    }

    #[test]
    fn short_and_long_forms() {
        assert_eq!(Head::read("head-dst"), Head::read("dst"));
        assert_eq!(Align::read("a64+*").unwrap().len(), 64);
        assert_eq!(Align::read("a64+64"), None);
        assert_eq!(Align::read("a8"), None);
        assert_eq!(u16::read("100"), None);
        assert_eq!(Align::summary(&Align::all()), "a1 a16+* a32+* a64+*");
        assert!(<Option<Hint>>::complaint("ntaa").contains("did you mean nta"));
        assert!(Align::complaint("a64+99").contains("below the modulus"));
    }
}
