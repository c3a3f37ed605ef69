//! What is a loop's own in a record, and what a moment of the machine did to all that ran in it.

use crate::stats::median;

/// One recorded time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Whose.
    pub(super) subject: usize,
    /// In which block.
    pub(super) block: usize,
    /// Log of its ticks a call.
    pub(super) log: f64,
}

/// The parts of recorded times: log = own + moment + rest.
#[derive(Clone, Debug)]
pub(super) struct Polished {
    /// Of each subject, its log time in a moment of 0.
    pub(super) own: Vec<f64>,
    /// Of each block, how much longer all took in it than usual, as a log.
    pub(super) moments: Vec<f64>,
    /// Of each block, the median size of its members' rests.
    pub(super) rests: Vec<f64>,
}

/// Rounds after which nothing moves any more.
const ROUNDS: usize = 6;

/// Tells the parts apart by medians, in turn over the blocks of each subject and over the
/// subjects of each block (Tukey's median polish). Everybody meets everybody else sooner or
/// later, so the parts are comparable over all blocks; and a block of fifty tells its moment far
/// better than the two samples of the baseline in it.
pub(super) fn polish(entries: &[Entry], subjects: usize, blocks: usize) -> Polished {
    let by_subject = Groups::of(entries.iter().map(|e| e.subject), subjects);
    let by_block = Groups::of(entries.iter().map(|e| e.block), blocks);
    let mut own = vec![0.0; subjects];
    let mut moments = vec![0.0; blocks];
    let mut values = Vec::new();
    let mut middle = |group: &[u32], value: &dyn Fn(&Entry) -> f64| {
        values.clear();
        values.extend(group.iter().map(|i| value(&entries[*i as usize])));
        if values.is_empty() { 0.0 } else { median(&mut values) }
    };
    for _ in 0..ROUNDS {
        for (subject, own) in own.iter_mut().enumerate() {
            *own = middle(by_subject.group(subject), &|e| e.log - moments[e.block]);
        }
        for (block, moment) in moments.iter_mut().enumerate() {
            *moment = middle(by_block.group(block), &|e| e.log - own[e.subject]);
        }
    }
    let usual = if blocks == 0 { 0.0 } else { median(&mut moments.clone()) };
    moments.iter_mut().for_each(|moment| *moment -= usual);
    own.iter_mut().for_each(|own| *own += usual);
    let rest = |e: &Entry| (e.log - own[e.subject] - moments[e.block]).abs();
    let rests = (0..blocks).map(|block| middle(by_block.group(block), &rest)).collect();
    Polished { own, moments, rests }
}

/// Which entries are of which group.
struct Groups {
    order: Vec<u32>,
    begins: Vec<usize>,
}

impl Groups {
    fn of(groups: impl Iterator<Item = usize> + Clone, count: usize) -> Groups {
        let mut begins = vec![0; count + 1];
        groups.clone().for_each(|group| begins[group + 1] += 1);
        for i in 0..count {
            begins[i + 1] += begins[i];
        }
        let mut next = begins.clone();
        let mut order = vec![0; begins[count]];
        for (i, group) in groups.enumerate() {
            order[next[group]] = i as u32;
            next[group] += 1;
        }
        Groups { order, begins }
    }

    fn group(&self, group: usize) -> &[u32] {
        &self.order[self.begins[group]..self.begins[group + 1]]
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    #[test]
    fn moments_and_loops_are_told_apart_where_blocks_have_other_members() {
        // Forty loops, blocks of eight of them and of loop 0; every tenth time is wild.
        let mut rng = SmallRng::seed_from_u64(7);
        let own = |subject: usize| subject as f64 * 0.01;
        let moment = |block: usize| (block % 7) as f64 * 0.1;
        let mut entries = Vec::new();
        for block in 0..200 {
            let members: Vec<usize> = (0..8).map(|_| rng.random_range(1..40)).collect();
            for subject in std::iter::once(0).chain(members) {
                let wild = if rng.random_range(0..10) == 0 { 0.4 } else { 0.0 };
                let log = own(subject) + moment(block) + rng.random_range(-0.001..0.001) + wild;
                entries.push(Entry { subject, block, log });
            }
        }
        let found = polish(&entries, 40, 200);
        for subject in 0..40 {
            let difference = found.own[subject] - found.own[0] - own(subject);
            assert!(difference.abs() < 0.003, "{subject}: {difference}");
        }
        let difference = found.moments[1] - found.moments[0] - 0.1;
        assert!(difference.abs() < 0.003, "{difference}");
        assert!(found.rests.iter().all(|r| *r < 0.01), "{:?}", found.rests);
    }

    #[test]
    fn nothing_is_polished_to_nothing() {
        let found = polish(&[], 0, 0);
        assert!(found.own.is_empty() && found.moments.is_empty() && found.rests.is_empty());
        let found = polish(&[], 2, 1);
        assert_eq!((found.own, found.moments), (vec![0.0, 0.0], vec![0.0]));
    }
}
