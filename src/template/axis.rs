//! The axes one by one, for whoever walks them without knowing which there are: views,
//! reports, completions.

use super::value::AxisValue;
use crate::subject::{
    Align, Class, Count, Direction, Encoding, Head, Hint, Order, Prefetch, Side, Store, Streams,
    Tail, Touch, Variant,
};

/// Bytes ahead of a prefetch that is switched on before anybody chose its distance.
const FIRST_DISTANCE: u16 = 512;

/// One axis of a loop. Values are the words that files write.
#[derive(Clone, Copy)]
pub struct Axis {
    /// The key that files name it by.
    pub key: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// How an id writes a value, by example.
    pub token: &'static str,
    /// What an id means that does not name it, in words.
    pub default: &'static str,
    /// Every value, in canonical order.
    pub values: fn() -> Vec<String>,
    /// Sixteen values at most that span the axis, for a first look.
    pub coarse: fn() -> Vec<String>,
    /// The value a variant has; `None` where the axis does not apply to it (the distance of a
    /// loop without prefetch).
    pub of: fn(&Variant) -> Option<String>,
    /// The variant with another value, everything else the same, but for axes that stood at a
    /// default which the value moves. `None` where the word is no value of the axis, or the
    /// axis does not apply. Whether the point is legal is for `space` to say.
    pub with: fn(&Variant, &str) -> Option<Variant>,
}

impl std::fmt::Debug for Axis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Axis").field("key", &self.key).finish_non_exhaustive()
    }
}

impl PartialEq for Axis {
    fn eq(&self, other: &Axis) -> bool {
        self.key == other.key
    }
}

impl Eq for Axis {}

/// The axes, in canonical order. The op is not among them: it is the question.
pub static AXES: &[Axis] = &[
    Axis {
        key: "class",
        about: "registers that move the bytes",
        token: "zero/ymm",
        default: "always named",
        values: words::<Class>,
        coarse: words::<Class>,
        of: |v| Some(AxisValue::word(v.class)),
        with: |v, word| read(word).map(|class| with_class(v, class)),
    },
    Axis {
        key: "encoding",
        about: "how vector instructions are encoded",
        token: "evex",
        default: "ymm vex, zmm evex, else legacy",
        values: words::<Encoding>,
        coarse: words::<Encoding>,
        of: |v| Some(AxisValue::word(v.encoding)),
        with: |v, word| read(word).map(|encoding| Variant { encoding, ..*v }),
    },
    Axis {
        key: "unroll",
        about: "registers an iteration moves",
        token: "u4",
        default: "1",
        values: words::<u8>,
        coarse: words::<u8>,
        of: |v| Some(v.unroll.word()),
        with: |v, word| read(word).map(|unroll| Variant { unroll, ..*v }),
    },
    Axis {
        key: "order",
        about: "order of loads and stores in an iteration",
        token: "batch",
        default: "pair",
        values: words::<Order>,
        coarse: words::<Order>,
        of: |v| Some(AxisValue::word(v.order)),
        with: |v, word| read(word).map(|order| Variant { order, ..*v }),
    },
    Axis {
        key: "align",
        about: "address of the loop top: a modulus and a skew",
        token: "a64+32",
        default: "a1, where it falls",
        values: words::<Align>,
        coarse: coarse_aligns,
        of: |v| Some(v.align.word()),
        with: |v, word| read(word).map(|align| Variant { align, ..*v }),
    },
    Axis {
        key: "store",
        about: "store instruction of the loop",
        token: "nt",
        default: "plain",
        values: words::<Store>,
        coarse: words::<Store>,
        of: |v| Some(AxisValue::word(v.store)),
        with: |v, word| read(word).map(|store| with_store(v, store)),
    },
    Axis {
        key: "hint",
        about: "prefetch instruction of the loop",
        token: "pf-t0@256",
        default: "none",
        values: words::<Option<Hint>>,
        coarse: words::<Option<Hint>>,
        of: |v| Some(v.prefetch.map(|p| p.hint).word()),
        with: |v, word| read(word).map(|hint| with_hint(v, hint)),
    },
    Axis {
        key: "distance",
        about: "bytes that the prefetch runs ahead",
        token: "pf-t0@256",
        default: "named with the hint",
        values: words::<u16>,
        coarse: coarse_distances,
        of: |v| v.prefetch.map(|p| p.distance.word()),
        with: |v, word| {
            let prefetch = Prefetch { distance: read(word)?, ..v.prefetch? };
            Some(Variant { prefetch: Some(prefetch), ..*v })
        },
    },
    Axis {
        key: "side",
        about: "pointer that the prefetch runs ahead of",
        token: "pf-t0@256-both",
        default: "copy src, zero dst",
        values: words::<Side>,
        coarse: words::<Side>,
        of: |v| v.prefetch.map(|p| AxisValue::word(p.side)),
        with: |v, word| {
            let prefetch = Prefetch { side: read(word)?, ..v.prefetch? };
            Some(Variant { prefetch: Some(prefetch), ..*v })
        },
    },
    Axis {
        key: "touch",
        about: "what is read besides: the line to be written, or the source ahead",
        token: "rbw",
        default: "none",
        values: words::<Touch>,
        coarse: words::<Touch>,
        of: |v| Some(AxisValue::word(v.touch)),
        with: |v, word| read(word).map(|touch| Variant { touch, ..*v }),
    },
    Axis {
        key: "count",
        about: "how the loop counts",
        token: "dec",
        default: "cmp",
        values: words::<Count>,
        coarse: words::<Count>,
        of: |v| Some(AxisValue::word(v.count)),
        with: |v, word| read(word).map(|count| Variant { count, ..*v }),
    },
    Axis {
        key: "head",
        about: "pointer that is aligned before the loop",
        token: "head-dst",
        default: "dst if the store wants it, else none",
        values: words::<Head>,
        coarse: words::<Head>,
        of: |v| Some(AxisValue::word(v.head)),
        with: |v, word| read(word).map(|head| Variant { head, ..*v }),
    },
    Axis {
        key: "tail",
        about: "how the bytes after the loop are done",
        token: "tail-rep",
        default: "rep classes rep, else overlap",
        values: words::<Tail>,
        coarse: words::<Tail>,
        of: |v| Some(AxisValue::word(v.tail)),
        with: |v, word| read(word).map(|tail| Variant { tail, ..*v }),
    },
    Axis {
        key: "bounce",
        about: "bytes of a block in the first-level cache that a copy goes through",
        token: "bounce4096",
        default: "none",
        values: words::<Option<u16>>,
        coarse: words::<Option<u16>>,
        of: |v| Some(AxisValue::word(v.bounce)),
        with: |v, word| read(word).map(|bounce| Variant { bounce, ..*v }),
    },
    Axis {
        key: "streams",
        about: "pages walked side by side",
        token: "s2",
        default: "s1",
        values: words::<Streams>,
        coarse: words::<Streams>,
        of: |v| Some(AxisValue::word(v.streams)),
        with: |v, word| read(word).map(|streams| Variant { streams, ..*v }),
    },
    Axis {
        key: "direction",
        about: "from which end the loop goes",
        token: "bwd",
        default: "fwd",
        values: words::<Direction>,
        coarse: words::<Direction>,
        of: |v| Some(AxisValue::word(v.direction)),
        with: |v, word| read(word).map(|direction| Variant { direction, ..*v }),
    },
    Axis {
        key: "fixed",
        about: "the one size that the function is for, bytes",
        token: "n4096",
        default: "any size",
        values: words::<Option<u32>>,
        coarse: words::<Option<u32>>,
        of: |v| Some(AxisValue::word(v.fixed)),
        with: |v, word| read(word).map(|fixed| Variant { fixed, ..*v }),
    },
];

fn words<T: AxisValue>() -> Vec<String> {
    T::all().into_iter().map(T::word).collect()
}

/// The value of a word that stands for one.
fn read<T: AxisValue>(word: &str) -> Option<T> {
    match T::read(word)?.as_slice() {
        [value] => Some(*value),
        _ => None,
    }
}

/// Each modulus, and the skews of a 64-byte line in steps of 8.
fn coarse_aligns() -> Vec<String> {
    let plain = Align::MODULI.iter().map(|&modulus| Align { modulus, skew: 0 });
    let skewed = (1..8).map(|step| Align { modulus: 64, skew: 8 * step });
    plain.chain(skewed).map(AxisValue::word).collect()
}

fn coarse_distances() -> Vec<String> {
    const FEW: [u16; 10] = [64, 128, 256, 384, 512, 768, 1024, 1536, 2048, Prefetch::MAX_DISTANCE];
    FEW.map(AxisValue::word).to_vec()
}

fn with_class(v: &Variant, class: Class) -> Variant {
    let mut new = Variant { class, ..*v };
    if v.encoding == v.class.default_encoding() {
        new.encoding = class.default_encoding();
    }
    if v.tail == Variant::default_tail(v.class) {
        new.tail = Variant::default_tail(class);
    }
    if v.head == Variant::default_head(v.store, v.class) {
        new.head = Variant::default_head(v.store, class);
    }
    new
}

fn with_store(v: &Variant, store: Store) -> Variant {
    let default = v.head == Variant::default_head(v.store, v.class);
    let head = if default { Variant::default_head(store, v.class) } else { v.head };
    Variant { store, head, ..*v }
}

fn with_hint(v: &Variant, hint: Option<Hint>) -> Variant {
    let first =
        Prefetch { hint: Hint::T0, distance: FIRST_DISTANCE, side: Prefetch::default_side(v.op) };
    let prefetch = hint.map(|hint| Prefetch { hint, ..v.prefetch.unwrap_or(first) });
    Variant { prefetch, ..*v }
}

#[cfg(test)]
mod tests {
    use super::super::Axes;
    use super::*;

    fn variant(id: &str) -> Variant {
        id.parse().unwrap()
    }

    #[test]
    fn they_are_the_axes_of_files() {
        let keys: Vec<&str> = AXES.iter().map(|axis| axis.key).collect();
        let listed: Vec<&str> = Axes::all().listing().iter().map(|axis| axis.key).collect();
        assert_eq!(keys, listed);
    }

    #[test]
    fn a_value_set_is_the_value_read() {
        let v = variant("copy/ymm/u4/pf-t0@256");
        for axis in AXES {
            for word in (axis.values)() {
                let changed = (axis.with)(&v, &word).unwrap();
                let read = (axis.of)(&changed);
                // Without a hint there is nothing else of a prefetch.
                assert_eq!(read.as_deref(), Some(word.as_str()), "{axis:?}");
            }
            for word in (axis.coarse)() {
                assert!((axis.values)().contains(&word), "{axis:?} {word}");
            }
            assert!((axis.coarse)().len() <= 16, "{axis:?}");
            assert_eq!((axis.with)(&v, "nonsense"), None, "{axis:?}");
        }
    }

    #[test]
    fn what_stood_at_a_default_moves_with_it() {
        let with = |id: &str, key: &str, word: &str| {
            let axis = AXES.iter().find(|axis| axis.key == key).unwrap();
            (axis.with)(&variant(id), word).map(|v| v.to_string())
        };
        assert_eq!(with("zero/xmm/u4", "class", "ymm").unwrap(), "zero/ymm/u4");
        assert_eq!(with("zero/ymm/u4", "store", "nt").unwrap(), "zero/ymm/u4/nt");
        assert_eq!(with("zero/ymm/u4/nt", "store", "plain").unwrap(), "zero/ymm/u4");
        assert_eq!(with("zero/ymm/u4", "hint", "t0").unwrap(), "zero/ymm/u4/pf-t0@512");
        assert_eq!(with("zero/ymm/u4", "distance", "64"), None);
    }
}
