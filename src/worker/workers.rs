//! Several workers as one evaluator: the one that nearly all runs in, and one whose C library
//! was started with other settings.
//!
//! A process reads its settings once, so `libc` and `libc-tuned` are never in one process, and
//! their times never in one block. What links them is a loop of ours that runs in both: the two
//! workers make each layout in turn, on the same CPU, the other idle, and a time of the second
//! is scaled by what the link took in the first over what it took in the second. So against the
//! link itself `libc-tuned` is compared within its own blocks.

use super::client::{Client, ClientOptions};
use super::tuning::Tuning;
use crate::measure::{Edges, Levels, Thoroughness};
use crate::stats::median;
use crate::subject::{Cell, Op};
use crate::trial::{
    BlockRequest, BlockResult, Body, Check, Clock, Company, EvaluateError, Evaluator, Failure,
    FailureKind, Member, Sample,
};

/// Layouts that a worker makes before the other has its turn: few, so that both see the same
/// machine.
const TURN: u32 = 2;

/// The workers of a command.
pub struct Workers {
    main: Client,
    options: ClientOptions,
    levels: Option<Levels>,
    tuned: Option<(Tuning, Client)>,
    /// Why there is no C library with other settings.
    untuned: String,
    company: Company,
    /// What runs in both workers where a request has no loop of ours, by op.
    link: Vec<(Op, Body)>,
}

impl Workers {
    /// Workers whose C library nobody has tuned yet.
    pub fn new(options: ClientOptions) -> Workers {
        Workers {
            main: Client::new(options.clone()),
            options,
            levels: None,
            tuned: None,
            untuned: "no thresholds were measured for it".into(),
            company: Company::default(),
            link: Vec::new(),
        }
    }

    /// The worker that nearly all runs in.
    pub fn main(&mut self) -> &mut Client {
        &mut self.main
    }

    /// Who else was on the core in all that was measured so far.
    pub fn company(&self) -> Company {
        self.company
    }

    /// Workers lost so far.
    pub fn lost(&self) -> u64 {
        self.main.lost() + self.tuned.as_ref().map_or(0, |(_, client)| client.lost())
    }

    /// As [`Client::edges`].
    ///
    /// # Errors
    /// As [`Client::edges`].
    pub fn edges(&mut self, how: Thoroughness) -> Result<Result<Edges, String>, EvaluateError> {
        self.main.edges(how)
    }

    /// As [`Client::reckon_with`], for all workers.
    pub fn reckon_with(&mut self, levels: Option<Levels>) {
        self.levels = levels;
        self.main.reckon_with(levels);
        if let Some((_, client)) = &mut self.tuned {
            client.reckon_with(levels);
        }
    }

    /// Says how the other C library is set, or why there is none; `link`: a loop of ours for
    /// each op, for requests that have none.
    pub fn tune(&mut self, tuning: Result<Tuning, String>, link: Vec<(Op, Body)>) {
        self.link = link;
        self.tuned = None;
        match tuning {
            Err(why) => self.untuned = why,
            Ok(tuning) => {
                let mut options = self.options.clone();
                let setting = (super::TUNABLES.to_string(), tuning.tunables.clone());
                options.environment.push(setting);
                let mut client = Client::new(options);
                client.reckon_with(self.levels);
                self.tuned = Some((tuning, client));
            }
        }
    }

    /// How the other C library is set.
    ///
    /// # Errors
    /// Why there is none, for people.
    pub fn tuning(&self) -> Result<&Tuning, &str> {
        self.tuned.as_ref().map(|(tuning, _)| tuning).ok_or(&self.untuned)
    }

    fn evaluate_both(
        &mut self,
        request: &BlockRequest,
        tuned: usize,
    ) -> Result<BlockResult, EvaluateError> {
        let op = request.cell.op;
        let Some((_, client)) = &mut self.tuned else {
            return without(request, tuned, &self.untuned, &mut self.main);
        };
        let own = request.members.iter().position(|m| is_link(&m.body));
        let other = self.link.iter().find(|(of, _)| *of == op).map(|(_, body)| body);
        let Some(link) =
            own.map(|i| request.members[i].clone()).or(other.cloned().map(Member::new))
        else {
            return without(request, tuned, "there is no loop that links it", &mut self.main);
        };
        // Member by member of the first worker's requests: its place in what was asked. A link
        // that was not asked for comes last.
        let mut places: Vec<usize> = (0..request.members.len()).filter(|i| *i != tuned).collect();
        let mut members: Vec<Member> = places.iter().map(|i| request.members[*i].clone()).collect();
        let link_at = places.iter().position(|i| Some(*i) == own).unwrap_or_else(|| {
            members.push(link.clone());
            places.push(usize::MAX);
            members.len() - 1
        });
        let libc = Member { body: Body::Libc, ..request.members[tuned].clone() };
        let first = BlockRequest { members, ..request.clone() };
        let second = BlockRequest { members: vec![link, libc], ..request.clone() };
        let mut whole = Whole::default();
        let began = std::time::Instant::now();
        let mut done = 0;
        while done < request.layouts {
            let spent = began.elapsed().as_nanos() as u64;
            if done > 0 && request.limit_ns > 0 && spent >= request.limit_ns {
                break;
            }
            let turn = |of: &BlockRequest| BlockRequest {
                layouts: TURN.min(request.layouts - done),
                seed: request.seed.wrapping_add(u64::from(done)),
                // Half of what is left for each.
                limit_ns: match request.limit_ns {
                    0 => 0,
                    limit => (limit.saturating_sub(spent) / 2).max(1),
                },
                ..of.clone()
            };
            let ours = self.main.evaluate(&turn(&first))?;
            let theirs = match client.evaluate(&turn(&second)) {
                Err(e @ EvaluateError::Interrupted) => return Err(e),
                // What this host cannot have is no failure of the rest.
                Err(e) => failed(1, unsupported(e.to_string())),
                Ok(theirs) => theirs,
            };
            whole.take(done, ours, theirs, &Seats { places: &places, link_at, tuned });
            done += TURN;
        }
        Ok(whole.result())
    }
}

/// Who sits where: of the first worker's members their places in the request, and the link
/// among them; the tuned C library's place.
struct Seats<'a> {
    places: &'a [usize],
    link_at: usize,
    tuned: usize,
}

/// What is put together from turns.
#[derive(Default)]
struct Whole {
    samples: Vec<Sample>,
    failures: Vec<(u32, Failure)>,
    clocks: Vec<Clock>,
    disturbed: u32,
}

impl Whole {
    fn take(&mut self, layouts: u32, ours: BlockResult, theirs: BlockResult, seats: &Seats<'_>) {
        let scaled = linked(&ours.samples, seats.link_at as u32, &theirs.samples);
        let mut all: Vec<Sample> = ours
            .samples
            .into_iter()
            .filter_map(|s| {
                let member = *seats.places.get(s.member as usize)?;
                (member != usize::MAX).then_some(Sample { member: member as u32, ..s })
            })
            .chain(scaled.into_iter().map(|s| Sample { member: seats.tuned as u32, ..s }))
            .collect();
        // Readers take a block's samples for those that stand together.
        all.sort_by_key(|s| (s.layout, s.block));
        self.samples.extend(all.into_iter().map(|s| Sample { layout: s.layout + layouts, ..s }));
        let of_ours = ours.failures.into_iter().filter_map(|(member, failure)| {
            let place = *seats.places.get(member as usize)?;
            (place != usize::MAX).then_some((place as u32, failure))
        });
        let of_theirs = theirs.failures.into_iter().filter(|(member, _)| *member == 1);
        let of_theirs = of_theirs.map(|(_, failure)| (seats.tuned as u32, failure));
        for (member, failure) in of_ours.chain(of_theirs) {
            if self.failures.iter().all(|(known, _)| *known != member) {
                self.failures.push((member, failure));
            }
        }
        self.clocks.push(ours.clock);
        self.disturbed += ours.disturbed + theirs.disturbed;
    }

    fn result(mut self) -> BlockResult {
        self.failures.sort_by_key(|(member, _)| *member);
        // Who failed in one turn has no samples of the others either.
        let failures = &self.failures;
        self.samples.retain(|s| failures.iter().all(|(member, _)| *member != s.member));
        let of = |field: fn(&Clock) -> f64| {
            median(&mut self.clocks.iter().map(field).collect::<Vec<f64>>())
        };
        let ends = self.clocks.iter().map(|c| c.range);
        let range = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default();
        let clock = match self.clocks.is_empty() {
            true => Clock::default(),
            false => Clock {
                cycles_per_tick: of(|c| c.cycles_per_tick),
                range,
                add_cycles_per_tick: of(|c| c.add_cycles_per_tick),
                additions_per_cycle: of(|c| c.additions_per_cycle),
                shared: self.clocks.iter().map(|c| c.shared).sum::<f64>()
                    / self.clocks.len() as f64,
                pass_ticks: of(|c| c.pass_ticks),
                call_ticks: of(|c| c.call_ticks),
            },
        };
        let disturbed = self.disturbed;
        BlockResult { samples: self.samples, failures: self.failures, clock, disturbed }
    }
}

/// The tuned C library's samples (member 1, their link is member 0), as they would have been
/// where the link took what it took among `ours`: block by block.
fn linked(ours: &[Sample], link: u32, theirs: &[Sample]) -> Vec<Sample> {
    let per_call = |s: &Sample| s.ticks as f64 / f64::from(s.calls.max(1));
    let find = |samples: &[Sample], member: u32, of: &Sample| {
        let mut same = samples.iter().filter(|s| s.member == member);
        same.find(|s| (s.layout, s.block, s.thread) == (of.layout, of.block, of.thread))
            .map(per_call)
    };
    let scale = |sample: &Sample| {
        let factor = find(ours, link, sample)? / find(theirs, 0, sample)?;
        let ticks = (sample.ticks as f64 * factor).round();
        ticks.is_finite().then_some(Sample { ticks: (ticks as u64).max(1), ..*sample })
    };
    theirs.iter().filter(|s| s.member == 1).filter_map(scale).collect()
}

fn is_link(body: &Body) -> bool {
    matches!(body, Body::Machine(machine) if machine.fixed.is_none())
}

fn unsupported(why: String) -> Failure {
    Failure { kind: FailureKind::Unsupported(why), case: String::new() }
}

fn failed(member: u32, failure: Failure) -> BlockResult {
    BlockResult {
        samples: Vec::new(),
        failures: vec![(member, failure)],
        clock: Clock::default(),
        disturbed: 0,
    }
}

/// A request without the member that cannot be had.
fn without(
    request: &BlockRequest,
    member: usize,
    why: &str,
    main: &mut Client,
) -> Result<BlockResult, EvaluateError> {
    let mut members = request.members.clone();
    members.remove(member);
    let mut result = main.evaluate(&BlockRequest { members, ..request.clone() })?;
    let place = |at: u32| if at as usize >= member { at + 1 } else { at };
    result.samples.iter_mut().for_each(|s| s.member = place(s.member));
    result.failures.iter_mut().for_each(|(at, _)| *at = place(*at));
    result.failures.push((member as u32, unsupported(why.into())));
    result.failures.sort_by_key(|(at, _)| *at);
    Ok(result)
}

impl Evaluator for Workers {
    fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
        let result = match request.members.iter().position(|m| m.body == Body::LibcTuned) {
            None => self.main.evaluate(request),
            Some(tuned) => self.evaluate_both(request, tuned),
        }?;
        self.company.take(&result);
        Ok(result)
    }

    fn verify(
        &mut self,
        op: Op,
        bodies: &[Body],
        check: Check,
    ) -> Result<Vec<Result<(), Failure>>, EvaluateError> {
        let mut outcomes = self.main.verify(op, bodies, check)?;
        for (body, outcome) in bodies.iter().zip(&mut outcomes) {
            if *body == Body::LibcTuned {
                *outcome = match &mut self.tuned {
                    Some((_, client)) => client.verify(op, &[Body::Libc], check)?.remove(0),
                    None => Err(unsupported(self.untuned.clone())),
                };
            }
        }
        Ok(outcomes)
    }

    fn tells_apart(&self, body: &Body, cell: &Cell) -> bool {
        match (body, &self.tuned) {
            (Body::LibcTuned, Some((tuning, _))) => tuning.differs(cell.op, cell.size),
            (Body::LibcTuned, None) => false,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Disturbance;

    fn sample(member: u32, layout: u32, block: u32, ticks: u64, calls: u32) -> Sample {
        Sample {
            member,
            layout,
            block,
            thread: 0,
            ticks,
            calls,
            disturbance: Disturbance::default(),
        }
    }

    #[test]
    fn times_of_the_other_worker_are_brought_to_the_first_ones_by_the_link() {
        let ours = [sample(2, 0, 0, 1000, 10), sample(2, 0, 1, 4000, 10)];
        let theirs = [
            sample(0, 0, 0, 1500, 10),
            sample(1, 0, 0, 600, 5),
            sample(1, 0, 1, 700, 5),
            sample(0, 0, 1, 2000, 10),
            sample(1, 1, 0, 9, 1),
        ];
        let scaled: Vec<(u32, u64)> =
            linked(&ours, 2, &theirs).iter().map(|s| (s.block, s.ticks)).collect();
        // A block without the link in both is no sample.
        assert_eq!(scaled, [(0, 400), (1, 1400)]);
    }

    #[test]
    fn a_link_that_was_not_asked_for_leaves_no_sample() {
        let mut whole = Whole::default();
        let seats = Seats { places: &[0, usize::MAX], link_at: 1, tuned: 1 };
        let ours = BlockResult {
            samples: vec![sample(1, 0, 0, 100, 1), sample(0, 0, 0, 300, 1)],
            ..failed(1, unsupported("not asked".into()))
        };
        let theirs = BlockResult {
            samples: vec![sample(1, 0, 0, 240, 1), sample(0, 0, 0, 200, 1)],
            ..failed(0, unsupported("not theirs".into()))
        };
        whole.take(4, ours, theirs, &seats);
        let result = whole.result();
        let found: Vec<(u32, u32, u64)> =
            result.samples.iter().map(|s| (s.member, s.layout, s.ticks)).collect();
        assert_eq!(found, [(0, 4, 300), (1, 4, 120)]);
        assert!(result.failures.is_empty());
    }
}
