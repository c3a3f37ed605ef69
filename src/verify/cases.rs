//! Which sizes and places are tried.

use super::source::NUMBERS_RUN;
use crate::subject::Op;
use crate::trial::Check;

/// The largest size that is tried at many places, bytes. Larger ones are tried once each.
pub(super) const LARGEST_SWEPT: usize = (64 << 10) + 256;

/// A boundary up to here makes the full check try every n to beyond twice its value.
const EVERY_N_TO: usize = 4096;

/// The full check tries at least every n up to here.
const AT_LEAST_TO: usize = 600;

/// Sizes that cross pages; all below [`LARGEST_SWEPT`].
const PAGE_CROSSERS: [usize; 12] =
    [4095, 4096, 4097, 8191, 8192, 8193, 12_224, 12_288, 12_353, 16_385, 65_536, 65_537];

/// Offsets modulo 64 of one pointer that are paired with every offset of the other: aligned
/// for every width, and one off. Boundaries take the two sets by turns.
const OFFSETS: [[u8; 4]; 2] = [[0, 8, 31, 33], [1, 16, 32, 63]];

/// Where a buffer lies between its guard pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Its start against the lower guard page.
    Start,
    /// Its end against the upper guard page.
    End,
    /// Free on both sides, at this offset modulo 64.
    At(u8),
}

/// Codes of places that a page of numbers can hold; offsets stand for themselves.
const START: u32 = 0x100;
const END: u32 = 0x200;
const NO_SOURCE: u32 = u32::MAX;

impl Place {
    /// A number for the place.
    pub(super) fn code(self) -> u32 {
        match self {
            Place::Start => START,
            Place::End => END,
            Place::At(offset) => u32::from(offset),
        }
    }
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) n: usize,
    pub(super) dst: Place,
    pub(super) src: Place,
}

impl Case {
    /// The code of the source's place, or that there is none.
    pub(super) fn source_code(self, op: Op) -> u32 {
        if op.copies() { self.src.code() } else { NO_SOURCE }
    }

    pub(super) fn text(self, op: Op) -> String {
        case_text(self.n as u64, self.dst.code(), self.source_code(op))
    }
}

/// An announced case in words: `n=65 dst+3 src+0`, with a note where a buffer lies against a
/// guard page.
pub fn case_text(n: u64, dst: u32, src: u32) -> String {
    let place = |name: &str, code: u32| match code {
        START => format!("{name}+0 (from a guard page)"),
        END => format!("{name}+{} (to a guard page)", n.wrapping_neg() % 64),
        offset => format!("{name}+{offset}"),
    };
    let mut text = format!("n={n} {}", place("dst", dst));
    if src != NO_SOURCE {
        text.push(' ');
        text.push_str(&place("src", src));
    }
    text
}

/// Boundaries of code that nobody here has written: powers of two, where libraries change
/// their ways.
pub(super) fn likely_boundaries(check: Check) -> Vec<u64> {
    let top = match check {
        Check::Quick { size } => size.min(LARGEST_SWEPT as u64),
        Check::Full => EVERY_N_TO as u64,
    };
    (0..u64::BITS).map(|power| 1 << power).take_while(|&b| b <= top).collect()
}

/// The one case of a quick check whose size is beyond the swept ones. Against both upper
/// guard pages: for the usual sizes that is aligned, too.
pub(super) fn large(check: Check, only: Option<u64>) -> Option<Case> {
    match only.map_or(check, |size| Check::Quick { size }) {
        Check::Quick { size } if size > LARGEST_SWEPT as u64 => {
            let n = usize::try_from(size).ok()?;
            Some(Case { n, dst: Place::End, src: Place::End })
        }
        Check::Quick { .. } | Check::Full => None,
    }
}

/// Gives every case of a check, up to the first that `each` answers with an error. `only`: the
/// one size of a function that has one.
pub(super) fn swept<E>(
    op: Op,
    check: Check,
    only: Option<u64>,
    boundaries: &[u64],
    each: &mut impl FnMut(Case) -> Result<(), E>,
) -> Result<(), E> {
    if let Some(only) = only {
        let Some(n) = usize::try_from(only).ok().filter(|&n| n <= LARGEST_SWEPT) else {
            return Ok(());
        };
        return one_size(op, n, check, each);
    }
    let boundaries: Vec<usize> = boundaries
        .iter()
        .filter_map(|&b| usize::try_from(b).ok().filter(|&b| b < LARGEST_SWEPT))
        .collect();
    match check {
        Check::Quick { size } => quick(size, &boundaries, each),
        Check::Full => full(op, &boundaries, each),
    }
}

/// n at several places: free ones first, where a byte too many is seen with its offset;
/// against the guard pages last, where it is a fault. `turn` picks the offsets.
fn places<E>(n: usize, turn: usize, each: &mut impl FnMut(Case) -> Result<(), E>) -> Result<(), E> {
    // Steps coprime to 64: after 64 turns every offset has been met.
    let spread = |step: usize, first: usize| Place::At(((turn * step + first) % 64) as u8);
    each(Case { n, dst: spread(13, 1), src: spread(27, 35) })?;
    each(Case { n, dst: spread(43, 32), src: spread(5, 0) })?;
    each(Case { n, dst: Place::Start, src: Place::Start })?;
    each(Case { n, dst: Place::End, src: Place::End })
}

/// Two of those places, since thousands of functions wait: the upper guard page, without
/// which a load past the end goes unseen, and before it by turns one of the others. The free
/// one comes first of all: there a wrong byte is seen with its offset, and is no fault.
fn few_places<E>(
    n: usize,
    turn: usize,
    each: &mut impl FnMut(Case) -> Result<(), E>,
) -> Result<(), E> {
    let spread = |step: usize, first: usize| Place::At(((turn * step + first) % 64) as u8);
    each(match turn % 3 {
        0 => Case { n, dst: spread(13, 1), src: Place::Start },
        1 => Case { n, dst: Place::Start, src: Place::Start },
        _ => Case { n, dst: spread(43, 32), src: spread(5, 0) },
    })?;
    each(Case { n, dst: Place::End, src: Place::End })
}

/// Gives each of these sizes at two places, as far as it is among the swept ones.
pub(super) fn each_size<E>(
    sizes: &[u64],
    each: &mut impl FnMut(Case) -> Result<(), E>,
) -> Result<(), E> {
    let swept = sizes.iter().filter_map(|&n| usize::try_from(n).ok());
    for (turn, n) in swept.filter(|&n| n <= LARGEST_SWEPT).enumerate() {
        few_places(n, turn, each)?;
    }
    Ok(())
}

fn quick<E>(
    size: u64,
    boundaries: &[usize],
    each: &mut impl FnMut(Case) -> Result<(), E>,
) -> Result<(), E> {
    let mut sizes = vec![0, 1];
    for &b in boundaries {
        sizes.extend([b.saturating_sub(1), b, b + 1]);
    }
    let most = boundaries.iter().copied().max().unwrap_or(0);
    sizes.extend([2 * most, 2 * most + 1, (3 * most).saturating_sub(1)]);
    sizes.retain(|&n| n <= LARGEST_SWEPT);
    sizes.sort_unstable();
    sizes.dedup();
    for (turn, n) in sizes.into_iter().enumerate() {
        few_places(n, turn, each)?;
    }
    // Numbers that a register may change come by within so many bytes.
    let run = (most + NUMBERS_RUN).min(LARGEST_SWEPT);
    for src in [0, 1] {
        each(Case { n: run, dst: Place::At(0), src: Place::At(src) })?;
    }
    let Some(own) = usize::try_from(size).ok().filter(|&n| n <= LARGEST_SWEPT) else {
        return Ok(());
    };
    each(Case { n: own, dst: Place::At(0), src: Place::At(0) })?;
    for (dst, src) in [(1, 0), (0, 1), (8, 8), (16, 48), (32, 33)] {
        each(Case { n: own, dst: Place::At(dst), src: Place::At(src) })?;
    }
    places(own, 0, each)
}

fn full<E>(
    op: Op,
    boundaries: &[usize],
    each: &mut impl FnMut(Case) -> Result<(), E>,
) -> Result<(), E> {
    let block = boundaries.iter().copied().filter(|&b| b <= EVERY_N_TO).max().unwrap_or(64);
    for n in 0..=(2 * block + 2).max(AT_LEAST_TO) {
        places(n, n, each)?;
    }
    for (index, &b) in boundaries.iter().enumerate() {
        for n in b.saturating_sub(2)..=(b + 2).min(LARGEST_SWEPT) {
            for turn in 0..8 {
                places(n, n + turn * 8 + 1, each)?;
            }
        }
        let others: &[u8] = if !op.copies() { &[0] } else { &OFFSETS[index % 2] };
        for offset in 0..64 {
            for (turn, &other) in others.iter().enumerate() {
                // b − 1, b and b + 1 by turns.
                let n = (b + (usize::from(offset) + turn) % 3).saturating_sub(1);
                pair(op, n, offset, other, each)?;
                pair(op, n, other, offset, each)?;
            }
        }
    }
    for n in [67, block + block / 2 + 5, 2 * block + 3] {
        for dst in 0..64 {
            for src in 0..64 {
                pair(op, n, dst, src, each)?;
            }
        }
    }
    for n in PAGE_CROSSERS {
        for turn in 0..4 {
            places(n, n + turn * 17, each)?;
        }
    }
    Ok(())
}

/// The cases of a function for one size: the places of a quick check, or all offsets.
fn one_size<E>(
    op: Op,
    n: usize,
    check: Check,
    each: &mut impl FnMut(Case) -> Result<(), E>,
) -> Result<(), E> {
    for turn in 0..if check == Check::Full { 64 } else { 2 } {
        places(n, turn, each)?;
    }
    match check {
        Check::Quick { .. } => {
            // From eight addresses on, a number that a register may change lies where steps of
            // eight bytes meet it whole, however few they are.
            for src in 0..8 {
                pair(op, n, 0, src, each)?;
            }
            for (dst, src) in [(1, 0), (8, 8), (16, 48), (32, 33)] {
                each(Case { n, dst: Place::At(dst), src: Place::At(src) })?;
            }
        }
        Check::Full => {
            for dst in 0..64 {
                for src in 0..64 {
                    pair(op, n, dst, src, each)?;
                }
            }
        }
    }
    Ok(())
}

/// n at one offset each; where there is no source, only once for its aligned place.
fn pair<E>(
    op: Op,
    n: usize,
    dst: u8,
    src: u8,
    each: &mut impl FnMut(Case) -> Result<(), E>,
) -> Result<(), E> {
    if (!op.copies() && src != 0) || n > LARGEST_SWEPT {
        return Ok(());
    }
    each(Case { n, dst: Place::At(dst), src: Place::At(src) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    use super::*;

    fn all(op: Op, check: Check, boundaries: &[u64]) -> Vec<Case> {
        let mut cases = Vec::new();
        let done: Result<(), Infallible> = swept(op, check, None, boundaries, &mut |case| {
            cases.push(case);
            Ok(())
        });
        let Ok(()) = done;
        cases
    }

    #[test]
    fn the_quick_set_meets_every_boundary_from_both_sides() {
        let cases = all(Op::Copy, Check::Quick { size: 300 }, &[1, 16, 64, 1000]);
        for n in [0, 1, 2, 15, 16, 17, 63, 64, 65, 300, 999, 1000, 1001, 2000, 2001, 2999] {
            let of_size: Vec<&Case> = cases.iter().filter(|c| c.n == n).collect();
            let last = of_size.last().map(|c| (c.dst, c.src));
            assert_eq!(last, Some((Place::End, Place::End)), "{n}");
            assert!(of_size.iter().any(|c| c.dst != Place::End), "{n}");
        }
        assert!(cases.contains(&Case { n: 300, dst: Place::At(0), src: Place::At(0) }));
        // Over all sizes: against the lower guard pages, and at odd places.
        let count = |is: fn(&Case) -> bool| cases.iter().filter(|c| is(c)).count();
        assert!(count(|c| c.dst == Place::Start) >= 5);
        assert!(count(|c| c.src == Place::Start) >= 10);
        assert!(count(|c| matches!(c.dst, Place::At(o) if o % 2 == 1)) >= 3);
        // A function that runs wild is first met where that is seen, not where it faults.
        assert!(matches!(cases[0].dst, Place::At(_)));
    }

    #[test]
    fn the_full_set_meets_all_n_all_offsets_and_pages() {
        for op in [Op::Copy, Op::Zero] {
            let cases = all(op, Check::Full, &[1, 64, 512]);
            let sizes: BTreeSet<usize> = cases.iter().map(|c| c.n).collect();
            assert!((0..=1026).all(|n| sizes.contains(&n)));
            assert!([4095, 4097, 8192, 65_537].iter().all(|n| sizes.contains(n)));
            let at = |place| if let Place::At(offset) = place { Some(offset) } else { None };
            let pairs: BTreeSet<_> =
                cases.iter().filter(|c| c.n == 1027).map(|c| (at(c.dst), at(c.src))).collect();
            let wanted = if op == Op::Copy { 64 * 64 } else { 64 };
            assert!(pairs.len() >= wanted, "{}", pairs.len());
        }
    }

    #[test]
    fn every_case_fits_the_buffers() {
        let huge = [1, 70_000, 65_791, u64::MAX];
        for check in [Check::Full, Check::Quick { size: 65_792 }, Check::Quick { size: 1 << 30 }] {
            assert!(all(Op::Copy, check, &huge).iter().all(|c| c.n <= LARGEST_SWEPT));
        }
        assert!(large(Check::Quick { size: LARGEST_SWEPT as u64 }, None).is_none());
        assert_eq!(large(Check::Quick { size: 1 << 20 }, None).map(|c| c.n), Some(1 << 20));
    }

    #[test]
    fn cases_are_told_in_words() {
        let case = |dst, src| Case { n: 65, dst, src };
        assert_eq!(case(Place::At(3), Place::At(0)).text(Op::Copy), "n=65 dst+3 src+0");
        assert_eq!(case(Place::At(3), Place::At(0)).text(Op::Zero), "n=65 dst+3");
        assert_eq!(
            case(Place::End, Place::Start).text(Op::Copy),
            "n=65 dst+63 (to a guard page) src+0 (from a guard page)"
        );
    }
}
