//! Everything that is drawn: orders, distances, slots. Each draw hangs on the request's
//! seed and its own place (layout, block), never on how often noise made a block repeat,
//! so that one seed gives one sequence.

use rand::RngExt;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::subject::Placement;
use crate::trial::MemberOrder;

/// Streams of one seed, so that draws for different purposes are independent.
#[derive(Clone, Copy)]
enum Stream {
    Ring = 0,
    Layout = 1,
    Block = 2,
    Sequence = 3,
}

fn rng(seed: u64, stream: Stream, layout: u32, block: u32) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..12].copy_from_slice(&(stream as u32).to_le_bytes());
    key[12..16].copy_from_slice(&layout.to_le_bytes());
    key[16..20].copy_from_slice(&block.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// In which order a block visits its members.
pub fn member_order(
    seed: u64,
    layout: u32,
    block: u32,
    members: usize,
    order: MemberOrder,
) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..members).collect();
    if order == MemberOrder::Shuffled {
        positions.shuffle(&mut rng(seed, Stream::Block, layout, block));
    }
    positions
}

/// In which order the pairs of a ring are visited; one order a run.
pub fn visit_order(seed: u64, pairs: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..pairs as u32).collect();
    order.shuffle(&mut rng(seed, Stream::Ring, 0, 0));
    order
}

/// The generator of the calls of a mix.
pub(super) fn sequence(seed: u64) -> ChaCha8Rng {
    rng(seed, Stream::Sequence, 0, 0)
}

/// The generator of a layout (it goes on to draw the code's slots) and the layout's
/// (dst − src) mod 4096, before the placement's offsets: a multiple of 64.
pub fn layout(seed: u64, layout: u32, placement: &Placement) -> (ChaCha8Rng, u16) {
    let mut rng = rng(seed, Stream::Layout, layout, 0);
    let drawn = rng.random_range(0..64u16) * 64;
    (rng, placement.delta.unwrap_or(drawn) % 4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_is_one_sequence_and_places_differ() {
        let of = |seed, layout, block| member_order(seed, layout, block, 12, MemberOrder::Shuffled);
        assert_eq!(of(7, 0, 0), of(7, 0, 0));
        let all = [of(7, 0, 0), of(7, 0, 1), of(7, 1, 0), of(8, 0, 0)];
        for (i, a) in all.iter().enumerate() {
            let mut sorted = a.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..12).collect::<Vec<_>>(), "a permutation");
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
        assert_eq!(member_order(7, 3, 3, 4, MemberOrder::AsGiven), [0, 1, 2, 3]);
        assert_eq!(visit_order(7, 100), visit_order(7, 100));
        assert_ne!(visit_order(7, 100), visit_order(8, 100));
    }

    #[test]
    fn each_member_is_first_about_as_often_as_the_others() {
        let mut first = [0u32; 4];
        for block in 0..4000 {
            first[member_order(1, 0, block, 4, MemberOrder::Shuffled)[0]] += 1;
        }
        assert!(first.iter().all(|n| (850..1150).contains(n)), "{first:?}");
    }

    #[test]
    fn distances_are_lines_and_all_of_them() {
        let mut seen = std::collections::BTreeSet::new();
        for i in 0..2000 {
            let (_, delta) = layout(3, i, &Placement::ALIGNED);
            assert!(delta < 4096 && delta.is_multiple_of(64));
            seen.insert(delta);
        }
        assert_eq!(seen.len(), 64);
        let fixed = Placement { delta: Some(64), ..Placement::ALIGNED };
        assert_eq!(layout(3, 0, &fixed).1, 64);
    }
}
