//! Ids of variants: `op/class{/token}`, parsed in any order, displayed canonically.

use std::fmt;
use std::str::FromStr;

use super::axes::{
    Align, BOUNCES, Class, Count, Direction, Encoding, Head, Hint, LARGEST_FIXED, Op, Order,
    Prefetch, Side, Store, Streams, Tail, Touch, UNROLLS,
};
use super::variant::Variant;
use crate::units::{near, offer};

/// Why a text names no subject.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum IdError {
    #[error("`{id}` starts with `{text}`, which is no op; ops are {}{}", op_words(), offer(near))]
    Op { id: String, text: String, near: Vec<String> },
    #[error("`{id}` names no class: write op/class, as in zero/ymm/u4")]
    MissingClass { id: String },
    #[error(
        "`{text}` in `{id}` is no register class; classes are {}{}",
        class_words(),
        offer(near)
    )]
    Class { id: String, text: String, near: Vec<String> },
    #[error("`{token}` in `{id}` is no token of a variant{}", offer(near))]
    Token { id: String, token: String, near: Vec<String> },
    #[error("`{token}` in `{id}` says the {axis} a second time; say it once")]
    Twice { id: String, token: String, axis: &'static str },
    #[error("`{token}` in `{id}`: {why}")]
    Value { id: String, token: String, why: String },
    #[error(
        "`{text}` names no baseline or named loop{}; a variant has a `/`, as in zero/ymm/u4, a foreign function a `:`, as in ./libx.so:memcpy",
        offer(near)
    )]
    Name { text: String, near: Vec<String> },
    #[error("`{text}` is not path:symbol; write for example ./libx.so:memcpy")]
    Foreign { text: String },
}

fn op_words() -> String {
    Op::ALL.iter().map(|o| o.word()).collect::<Vec<_>>().join(" ")
}

fn class_words() -> String {
    Class::ALL.iter().map(|c| c.word()).collect::<Vec<_>>().join(" ")
}

/// Tokens a person may have meant, for the messages.
fn vocabulary() -> impl Iterator<Item = String> {
    let mut words: Vec<String> = vec!["cmp".into(), "plain".into(), "pair".into()];
    words.extend(UNROLLS.iter().map(|u| format!("u{u}")));
    words.extend(Align::MODULI.iter().map(|a| format!("a{a}")));
    words.extend(["vex", "evex", "batch", "aligned", "nt", "dec", "negidx"].map(String::from));
    words.extend(Hint::ALL.iter().map(|h| format!("pf-{h}@256")));
    words.extend(Head::ALL.iter().map(|h| h.word().to_string()));
    words.extend(Tail::ALL.iter().map(|t| t.word().to_string()));
    words.extend(Touch::ALL.iter().skip(1).map(|t| t.word().to_string()));
    words.extend(BOUNCES.iter().map(|b| format!("bounce{b}")));
    words.extend(Streams::ALL.iter().map(|s| s.word().to_string()));
    words.extend(["reverse", "bwd", "fwd", "n4096"].map(String::from));
    words.into_iter()
}

/// A decimal number without sign or leading zeros.
fn plain_number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (digits && (text.len() == 1 || !text.starts_with('0'))).then(|| text.parse().ok()).flatten()
}

/// Starts with a letter and goes on with a digit: meant as a number, right or wrong.
fn numbered(token: &str, letter: char) -> Option<&str> {
    token.strip_prefix(letter).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The axes an id has named so far.
#[derive(Default)]
struct Named {
    encoding: Option<Encoding>,
    unroll: Option<u8>,
    order: Option<Order>,
    align: Option<Align>,
    store: Option<Store>,
    prefetch: Option<Prefetch>,
    touch: Option<Touch>,
    count: Option<Count>,
    head: Option<Head>,
    tail: Option<Tail>,
    bounce: Option<u16>,
    streams: Option<Streams>,
    direction: Option<Direction>,
    fixed: Option<u32>,
}

impl Named {
    fn read(&mut self, id: &str, op: Op, token: &str) -> Result<(), IdError> {
        let twice = |axis| IdError::Twice { id: id.to_string(), token: token.to_string(), axis };
        fn set<T>(slot: &mut Option<T>, value: T, e: IdError) -> Result<(), IdError> {
            if slot.replace(value).is_some() { Err(e) } else { Ok(()) }
        }
        if let Some(number) = numbered(token, 'u') {
            return set(&mut self.unroll, unroll(id, token, number)?, twice("unroll factor"));
        }
        if let Some(number) = numbered(token, 'a') {
            return set(&mut self.align, align(id, token, number)?, twice("loop alignment"));
        }
        if let Some(v) = Streams::from_word(token) {
            return set(&mut self.streams, v, twice("pages side by side"));
        }
        if let Some(number) = numbered(token, 'n') {
            return set(&mut self.fixed, fixed(id, token, number)?, twice("fixed size"));
        }
        if let Some(number) = token.strip_prefix("bounce") {
            return set(&mut self.bounce, bounce(id, token, number)?, twice("bounce block"));
        }
        if let Some(rest) = token.strip_prefix("pf-") {
            return set(&mut self.prefetch, prefetch(id, op, token, rest)?, twice("prefetch"));
        }
        if let Some(v) = Encoding::from_word(token).filter(|e| *e != Encoding::Legacy) {
            return set(&mut self.encoding, v, twice("encoding"));
        }
        if let Some(v) = Order::from_word(token) {
            return set(&mut self.order, v, twice("order"));
        }
        if let Some(v) = Store::from_word(token) {
            return set(&mut self.store, v, twice("store"));
        }
        if let Some(v) = Touch::from_word(token).filter(|t| *t != Touch::None) {
            return set(&mut self.touch, v, twice("extra read"));
        }
        if let Some(v) = Direction::from_word(token) {
            return set(&mut self.direction, v, twice("direction"));
        }
        if let Some(v) = Count::from_word(token) {
            return set(&mut self.count, v, twice("loop count"));
        }
        if let Some(v) = Head::from_word(token) {
            return set(&mut self.head, v, twice("head"));
        }
        if let Some(v) = Tail::from_word(token) {
            return set(&mut self.tail, v, twice("tail"));
        }
        let near = near(token, vocabulary());
        Err(IdError::Token { id: id.into(), token: token.into(), near })
    }
}

fn value(id: &str, token: &str, why: impl Into<String>) -> IdError {
    IdError::Value { id: id.into(), token: token.into(), why: why.into() }
}

fn unroll(id: &str, token: &str, number: &str) -> Result<u8, IdError> {
    listed((id, token, number), UNROLLS, "unroll factors", "u")
}

/// A number out of a list of legal ones.
fn listed<T: Copy + TryFrom<u32> + PartialEq + fmt::Display>(
    (id, token, number): (&str, &str, &str),
    legal: &[T],
    what: &str,
    prefix: &str,
) -> Result<T, IdError> {
    let read = plain_number(number).and_then(|n| T::try_from(n).ok());
    read.filter(|n| legal.contains(n)).ok_or_else(|| {
        let legal: Vec<_> = legal.iter().map(|n| format!("{prefix}{n}")).collect();
        value(id, token, format!("{what} are {}", legal.join(" ")))
    })
}

fn bounce(id: &str, token: &str, number: &str) -> Result<u16, IdError> {
    listed((id, token, number), BOUNCES, "bounce blocks", "bounce")
}

fn fixed(id: &str, token: &str, number: &str) -> Result<u32, IdError> {
    plain_number(number).filter(|n| (1..=LARGEST_FIXED).contains(n)).ok_or_else(|| {
        let why =
            format!("a fixed size is a number of bytes from 1 to {LARGEST_FIXED}, as in n4096");
        value(id, token, why)
    })
}

fn align(id: &str, token: &str, number: &str) -> Result<Align, IdError> {
    let (modulus, skew) = match number.split_once('+') {
        Some((m, k)) => (m, Some(k)),
        None => (number, None),
    };
    let modulus = plain_number(modulus)
        .and_then(|m| u8::try_from(m).ok())
        .filter(|m| Align::MODULI.contains(m))
        .ok_or_else(|| value(id, token, "alignments are a1 a16 a32 a64"))?;
    let skew = match skew {
        None => 0,
        Some(text) => plain_number(text)
            .and_then(|k| u8::try_from(k).ok())
            .filter(|k| (1..modulus).contains(k))
            .ok_or_else(|| {
                value(id, token, format!("the skew of a{modulus}+K is 0 < K < {modulus}"))
            })?,
    };
    Ok(Align { modulus, skew })
}

fn prefetch(id: &str, op: Op, token: &str, rest: &str) -> Result<Prefetch, IdError> {
    let shape = "a prefetch is pf-HINT@DISTANCE[-src|-dst|-both], as in pf-t0@256";
    let (hint, rest) = rest.split_once('@').ok_or_else(|| value(id, token, shape))?;
    let hint = Hint::from_word(hint).ok_or_else(|| {
        let words = || Hint::ALL.iter().map(|h| h.word().to_string());
        let all = words().collect::<Vec<_>>().join(" ");
        value(id, token, format!("prefetch hints are {all}{}", offer(&near(hint, words()))))
    })?;
    let (distance, side) = match rest.split_once('-') {
        Some((d, s)) => {
            let side = Side::from_word(s).ok_or_else(|| {
                let all: Vec<_> = Side::ALL.iter().map(|s| s.word()).collect();
                value(id, token, format!("prefetch sides are {}", all.join(" ")))
            })?;
            (d, side)
        }
        None => (rest, Prefetch::default_side(op)),
    };
    let distance = plain_number(distance)
        .and_then(|d| u16::try_from(d).ok())
        .filter(|d| *d > 0 && d % 64 == 0 && *d <= Prefetch::MAX_DISTANCE)
        .ok_or_else(|| value(id, token, "the distance is a multiple of 64 from 64 to 4096"))?;
    Ok(Prefetch { hint, distance, side })
}

impl FromStr for Variant {
    type Err = IdError;

    fn from_str(id: &str) -> Result<Variant, IdError> {
        let mut parts = id.split('/');
        let op = parts.next().unwrap_or_default();
        let op = Op::from_word(op).ok_or_else(|| IdError::Op {
            id: id.into(),
            text: op.into(),
            near: near(op, Op::ALL.iter().map(|o| o.word().to_string())),
        })?;
        let class = parts
            .next()
            .filter(|c| !c.is_empty())
            .ok_or_else(|| IdError::MissingClass { id: id.into() })?;
        let class = Class::from_word(class).ok_or_else(|| IdError::Class {
            id: id.into(),
            text: class.into(),
            near: near(class, Class::ALL.iter().map(|c| c.word().to_string())),
        })?;
        let mut named = Named::default();
        for token in parts {
            named.read(id, op, token)?;
        }
        let plain = Variant::new(op, class);
        let store = named.store.unwrap_or(plain.store);
        Ok(Variant {
            encoding: named.encoding.unwrap_or(plain.encoding),
            unroll: named.unroll.unwrap_or(plain.unroll),
            order: named.order.unwrap_or(plain.order),
            align: named.align.unwrap_or(plain.align),
            store,
            prefetch: named.prefetch,
            touch: named.touch.unwrap_or(plain.touch),
            count: named.count.unwrap_or(plain.count),
            head: named.head.unwrap_or(Variant::default_head(store, class)),
            tail: named.tail.unwrap_or(plain.tail),
            bounce: named.bounce,
            streams: named.streams.unwrap_or(plain.streams),
            direction: named.direction.unwrap_or(plain.direction),
            fixed: named.fixed,
            op,
            class,
        })
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut id = format!("{}/{}", self.op, self.class);
        let mut push = |token: &str| {
            id.push('/');
            id.push_str(token);
        };
        if self.encoding != self.class.default_encoding() {
            push(self.encoding.word());
        }
        if self.unroll != 1 {
            push(&format!("u{}", self.unroll));
        }
        if self.order != Order::Pair {
            push(self.order.word());
        }
        match (self.align.modulus, self.align.skew) {
            (1, _) => {}
            (modulus, 0) => push(&format!("a{modulus}")),
            (modulus, skew) => push(&format!("a{modulus}+{skew}")),
        }
        if self.store != Store::Plain {
            push(self.store.word());
        }
        if let Some(p) = self.prefetch {
            let mut token = format!("pf-{}@{}", p.hint, p.distance);
            if p.side != Prefetch::default_side(self.op) {
                token.push('-');
                token.push_str(p.side.word());
            }
            push(&token);
        }
        if self.touch != Touch::None {
            push(self.touch.word());
        }
        if self.count != Count::Cmp {
            push(self.count.word());
        }
        if self.head != Variant::default_head(self.store, self.class) {
            push(self.head.word());
        }
        if self.tail != Variant::default_tail(self.class) {
            push(self.tail.word());
        }
        if let Some(bytes) = self.bounce {
            push(&format!("bounce{bytes}"));
        }
        if self.streams != Streams::One {
            push(self.streams.word());
        }
        if self.direction != Direction::Forward {
            push(self.direction.word());
        }
        if let Some(size) = self.fixed {
            push(&format!("n{size}"));
        }
        f.pad(&id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str) -> String {
        id.parse::<Variant>().unwrap_err().to_string()
    }

    #[test]
    fn any_order_and_explicit_defaults_display_canonically() {
        let v: Variant = "copy/ymm/head-dst/nt/a64+32/u8/pair/cmp/pf-t0@256-src".parse().unwrap();
        assert_eq!(v.to_string(), "copy/ymm/u8/a64+32/nt/pf-t0@256");
        assert_eq!(v.head, Head::Dst);
        let v: Variant = "zero/clzero/n4096/fwd/s1/u2".parse().unwrap();
        assert_eq!(v.to_string(), "zero/clzero/u2/n4096");
        let id = "copy/x87i/u8/reverse/rbw/tail-bytes/bounce1024/s2/bwd/n64";
        assert_eq!(id.parse::<Variant>().unwrap().to_string(), id);
    }

    #[test]
    fn errors_name_the_token_and_offer_the_near_one() {
        assert!(message("zero/ymm/u5").contains("u1 u2 u3 u4 u6 u8 u12 u16 u32"));
        assert!(message("zero/ymm/u04").contains("`u04`"));
        assert!(message("zero/ymm/alined").contains("did you mean aligned"));
        assert!(message("zero/xmn").contains("did you mean xmm"));
        assert!(message("zerro/xmm").contains("did you mean zero"));
        assert!(message("zero/xmm/u2/u4").contains("second time"));
        assert!(message("zero/xmm/a64+64").contains("0 < K < 64"));
        assert!(message("zero/xmm/a64+0").contains("0 < K < 64"));
        assert!(message("zero/xmm/pf-t0@100").contains("multiple of 64"));
        assert!(message("zero/").contains("names no class"));
        assert!(message("zero/xmm/").contains("``"));
        assert!(message("zero/xmm/legacy").contains("no token"));
        assert!(message("zero/xmm/none").contains("no token"));
        assert!(message("zero/xmm/n0").contains("from 1 to"));
        assert!(message("zero/xmm/s3").contains("did you mean s"));
        assert!(message("copy/r32/bounce").contains("bounce1024"));
        assert!(message("copy/r32/rbw/placebo").contains("second time"));
        assert!(message("copy/r32/rbx").contains("did you mean rbw"));
    }

    #[test]
    fn a_colon_makes_it_foreign_and_a_slash_a_variant() {
        use super::super::Subject;
        assert!(matches!(Subject::parse("./a/b.so:memcpy"), Ok(Subject::Foreign { .. })));
        assert!(matches!(Subject::parse("zero/ymm"), Ok(Subject::Variant(_))));
        assert!(Subject::parse("lbic").unwrap_err().to_string().contains("did you mean libc"));
        assert!(Subject::parse(":x").is_err());
    }
}
