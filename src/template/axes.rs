//! Lists of values, one for each axis.

use serde::Deserialize;
use toml::Spanned;

use super::file::{FileError, Source};
use super::value::AxisValue;
use crate::subject::{
    Align, Class, Count, Direction, Encoding, Head, Hint, Op, Order, Prefetch, Side, Store,
    Streams, Tail, Touch, Variant,
};

/// A value as a file writes it: a word or a number.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a value is a word in quotes or a whole number")]
enum Word {
    Number(i64),
    Text(String),
}

/// The list of an axis as a file writes it.
type WordList = Spanned<Vec<Spanned<Word>>>;

/// One axis, for tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisListing {
    /// The key that files name it by.
    pub key: &'static str,
    /// Its values.
    pub values: Vec<String>,
    /// The same in one line, shortened where there are many.
    pub summary: String,
}

macro_rules! axes {
    ($($(#[$doc:meta])* $field:ident: $value:ty = $key:literal),+ $(,)?) => {
        /// Values of each axis: their cross product, as far as no rule forbids, is a space.
        /// No list repeats a value. Prefetches are hint × distance × side, where the hint is
        /// not none.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Axes {
            /// What the loop does.
            pub ops: Vec<Op>,
            $($(#[$doc])* pub $field: Vec<$value>),+
        }

        /// Values that a file allows: an axis it does not name stays as it is.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Narrowing {
            /// What the loop does.
            pub ops: Option<Vec<Op>>,
            $($(#[$doc])* pub $field: Option<Vec<$value>>),+
        }

        /// Wire form of a [`Narrowing`]: a table with a list for each named axis.
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct AxesFile {
            $(#[serde(rename = $key)] $field: Option<WordList>),+
        }

        impl AxesFile {
            /// The domain form.
            ///
            /// # Errors
            /// Names file, line and key of a value that the axis does not have, of a value
            /// said twice, or of an empty list.
            pub fn narrowing(
                &self,
                source: &Source<'_>,
                ops: Option<Vec<Op>>,
            ) -> Result<Narrowing, FileError> {
                Ok(Narrowing { ops, $($field: values($key, &self.$field, source)?),+ })
            }
        }

        impl Axes {
            /// Every value of every axis.
            pub fn all() -> Axes {
                Axes { ops: Op::ALL.to_vec(), $($field: <$value>::all()),+ }
            }

            /// The values that a narrowing allows too, in the narrowing's order.
            #[must_use]
            pub fn narrow(&self, by: &Narrowing) -> Axes {
                Axes {
                    ops: kept(&self.ops, by.ops.as_deref()),
                    $($field: <$value>::kept(&self.$field, by.$field.as_deref())),+
                }
            }

            /// Adds what these axes lack of the other's values.
            pub fn extend(&mut self, other: &Axes) {
                add(&mut self.ops, &other.ops);
                $(add(&mut self.$field, &other.$field);)+
            }

            /// Keys of axes without a value. Distance and side need none where no hint does.
            pub fn empty_axes(&self) -> Vec<&'static str> {
                let mut empty = Vec::new();
                if self.ops.is_empty() { empty.push("ops"); }
                $(if self.$field.is_empty() { empty.push($key); })+
                if !self.prefetches_at_all() {
                    empty.retain(|key| !matches!(*key, "distance" | "side"));
                }
                empty
            }

            /// The axes for people, in canonical order; the op is not among them.
            pub fn listing(&self) -> Vec<AxisListing> {
                vec![$(AxisListing {
                    key: $key,
                    values: self.$field.iter().map(|v| AxisValue::word(*v)).collect(),
                    summary: <$value>::summary(&self.$field),
                }),+]
            }
        }
    };
}

axes! {
    /// Register classes.
    classes: Class = "class",
    /// Encodings.
    encodings: Encoding = "encoding",
    /// Registers an iteration.
    unrolls: u8 = "unroll",
    /// Orders of loads and stores.
    orders: Order = "order",
    /// Addresses of the loop top.
    aligns: Align = "align",
    /// Store instructions.
    stores: Store = "store",
    /// Prefetch hints; `None` for no prefetch.
    hints: Option<Hint> = "hint",
    /// Prefetch distances, bytes.
    distances: u16 = "distance",
    /// Pointers that the prefetch runs ahead of.
    sides: Side = "side",
    /// What is read besides.
    touches: Touch = "touch",
    /// Loop counts.
    counts: Count = "count",
    /// Alignments before the loop.
    heads: Head = "head",
    /// Ways of the last bytes.
    tails: Tail = "tail",
    /// Blocks that a copy goes through, bytes; `None` for straight.
    bounces: Option<u16> = "bounce",
    /// Pages walked side by side.
    streams: Streams = "streams",
    /// Directions.
    directions: Direction = "direction",
    /// Fixed sizes, bytes; `None` for any size.
    fixed: Option<u32> = "fixed",
}

impl Axes {
    /// The same, with the axes that few loops want at their default where neither the lists
    /// nor `named` say anything of them: a file that speaks of unroll factors does not mean
    /// every detour as well.
    #[must_use]
    pub fn straight(self, named: &[&Narrowing]) -> Axes {
        fn settle<T: PartialEq>(values: Vec<T>, named: bool, default: T) -> Vec<T> {
            if named || !values.contains(&default) { values } else { vec![default] }
        }
        let says = |of: fn(&Narrowing) -> bool| named.iter().any(|n| of(n));
        Axes {
            touches: settle(self.touches, says(|n| n.touches.is_some()), Touch::None),
            bounces: settle(self.bounces, says(|n| n.bounces.is_some()), None),
            streams: settle(self.streams, says(|n| n.streams.is_some()), Streams::One),
            directions: settle(
                self.directions,
                says(|n| n.directions.is_some()),
                Direction::Forward,
            ),
            ..self
        }
    }
}

impl Axes {
    /// The values of the prefetch axis: none, and hint × distance × side.
    pub fn prefetches(&self) -> Vec<Option<Prefetch>> {
        let mut prefetches = Vec::new();
        for hint in &self.hints {
            let Some(hint) = *hint else {
                prefetches.push(None);
                continue;
            };
            for &distance in &self.distances {
                prefetches
                    .extend(self.sides.iter().map(|&side| Some(Prefetch { hint, distance, side })));
            }
        }
        prefetches
    }

    /// Whether any point has a prefetch.
    pub fn prefetches_at_all(&self) -> bool {
        self.hints.iter().any(Option::is_some)
    }

    /// Points of the cross product.
    pub fn product(&self) -> u64 {
        let prefetches = self.hints.iter().filter(|h| h.is_some()).count()
            * self.distances.len()
            * self.sides.len()
            + self.hints.iter().filter(|h| h.is_none()).count();
        [
            self.ops.len(),
            self.classes.len(),
            self.encodings.len(),
            self.unrolls.len(),
            self.orders.len(),
            self.aligns.len(),
            self.stores.len(),
            prefetches,
            self.counts.len(),
            self.heads.len(),
            self.tails.len(),
            self.touches.len(),
            self.bounces.len(),
            self.streams.len(),
            self.directions.len(),
            self.fixed.len(),
        ]
        .iter()
        .fold(1, |product, len| product * *len as u64)
    }

    /// Whether the variant's values all stand in the lists.
    pub fn contains(&self, v: &Variant) -> bool {
        self.classes.contains(&v.class)
            && self.encodings.contains(&v.encoding)
            && self.ops.contains(&v.op)
            && self.stores.contains(&v.store)
            && self.heads.contains(&v.head)
            && self.aligns.contains(&v.align)
            && self.tails.contains(&v.tail)
            && self.counts.contains(&v.count)
            && self.orders.contains(&v.order)
            && self.unrolls.contains(&v.unroll)
            && self.touches.contains(&v.touch)
            && self.bounces.contains(&v.bounce)
            && self.streams.contains(&v.streams)
            && self.directions.contains(&v.direction)
            && self.fixed.contains(&v.fixed)
            && match v.prefetch {
                None => self.hints.contains(&None),
                Some(p) => {
                    self.hints.contains(&Some(p.hint))
                        && self.distances.contains(&p.distance)
                        && self.sides.contains(&p.side)
                }
            }
    }
}

/// The values of one list that another has too, in the other's order.
pub(super) fn kept<T: Copy + PartialEq>(from: &[T], by: Option<&[T]>) -> Vec<T> {
    match by {
        None => from.to_vec(),
        Some(by) => by.iter().copied().filter(|v| from.contains(v)).collect(),
    }
}

fn add<T: Copy + PartialEq>(to: &mut Vec<T>, from: &[T]) {
    for value in from {
        if !to.contains(value) {
            to.push(*value);
        }
    }
}

fn values<T: AxisValue>(
    key: &str,
    list: &Option<WordList>,
    source: &Source<'_>,
) -> Result<Option<Vec<T>>, FileError> {
    let Some(list) = list else { return Ok(None) };
    if list.get_ref().is_empty() {
        let why = format!(
            "the list is empty, so nothing is left; name values ({}) or leave the key out to allow all",
            T::legal()
        );
        return Err(source.value(&list.span(), key, why));
    }
    let mut values = Vec::new();
    for item in list.get_ref() {
        let word = match item.get_ref() {
            Word::Number(n) => n.to_string(),
            Word::Text(text) => text.clone(),
        };
        let read =
            T::read(&word).ok_or_else(|| source.value(&item.span(), key, T::complaint(&word)))?;
        for value in read {
            if values.contains(&value) {
                let why = format!("{} is said twice; say it once", value.word());
                return Err(source.value(&item.span(), key, why));
            }
            values.push(value);
        }
    }
    Ok(Some(values))
}
