//! Who else was on the core.

use super::block::BlockResult;

/// How much of the core was somebody else's, over many requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Company {
    samples: f64,
    shared: f64,
    additions: f64,
}

impl Company {
    /// Takes an answer.
    pub fn take(&mut self, result: &BlockResult) {
        let samples = result.samples.len() as f64;
        self.samples += samples;
        self.shared += samples * result.clock.shared;
        self.additions += samples * result.clock.additions_per_cycle;
    }

    /// What came since an earlier moment.
    #[must_use]
    pub fn since(self, before: Company) -> Company {
        Company {
            samples: self.samples - before.samples,
            shared: self.shared - before.shared,
            additions: self.additions - before.additions,
        }
    }

    /// Part of the samples that were made while another thread had much of the core, 0 to 1;
    /// `None` where there are none.
    pub fn shared(self) -> Option<f64> {
        (self.samples > 0.0).then(|| self.shared / self.samples)
    }

    /// Independent additions that the core made in a cycle, in the mean.
    pub fn additions_per_cycle(self) -> Option<f64> {
        (self.samples > 0.0).then(|| self.additions / self.samples)
    }
}

/// With more than this part of the samples made so, a search and a self-test say so.
const MUCH: f64 = 0.1;

impl std::fmt::Display for Company {
    /// A clause, empty where there is nothing to say.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Some(shared), Some(additions)) = (self.shared(), self.additions_per_cycle()) else {
            return Ok(());
        };
        if shared < MUCH {
            return Ok(());
        }
        write!(
            f,
            "during {:.0} % of the samples another thread had part of the core, which made {additions:.1} \
             additions a cycle in the mean",
            shared * 100.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Clock, Disturbance, Sample};

    fn answer(samples: u32, shared: f64, additions_per_cycle: f64) -> BlockResult {
        let sample = |member| Sample {
            member,
            layout: 0,
            block: 0,
            thread: 0,
            ticks: 1000,
            calls: 1,
            disturbance: Disturbance::default(),
        };
        BlockResult {
            samples: (0..samples).map(sample).collect(),
            failures: Vec::new(),
            clock: Clock { shared, additions_per_cycle, ..Clock::default() },
            disturbed: 0,
        }
    }

    #[test]
    fn a_neighbour_is_told_of_by_how_many_samples_it_was_in() {
        let mut company = Company::default();
        assert_eq!((company.shared(), company.to_string().as_str()), (None, ""));
        company.take(&answer(30, 0.0, 4.0));
        let before = company;
        assert_eq!(company.to_string(), "");
        company.take(&answer(10, 1.0, 2.0));
        assert_eq!(company.shared(), Some(0.25));
        let told = company.to_string();
        assert!(told.starts_with("during 25 % of the samples"), "{told}");
        assert!(told.contains("made 3.5 additions"), "{told}");
        assert_eq!(company.since(before).shared(), Some(1.0));
    }
}
