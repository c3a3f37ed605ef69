//! Subjects measured together: the samples of one cell, arranged by block.

use crate::stats::Paired;
use crate::subject::{Cell, Subject};
use crate::trial::{
    BlockRequest, Check, Clock, Countermeasure, EvaluateError, Evaluator, Failure, Member,
    MemberOrder, Observer, Phase, Role, Sample, Summary, Trial, Without,
};
use crate::units::Picos;

/// One who takes part.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// What it is called.
    pub subject: Subject,
    /// What runs.
    pub member: Member,
    /// What it is here.
    pub role: Role,
    /// Length of its code, where it is ours.
    pub code_bytes: Option<u32>,
    /// Whether the full verification has passed.
    pub fully_verified: bool,
}

/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Layouts to make.
    pub layouts: u32,
    /// Blocks a layout.
    pub blocks: u32,
    /// Length of a pass, nanoseconds.
    pub pass_ns: u32,
    /// Stop after so many nanoseconds; 0 for no limit.
    pub limit_ns: u64,
}

/// One block: a sample of every entrant, NaN where one is missing.
#[derive(Clone, Debug)]
struct Row {
    layout: u64,
    /// ln of gross ticks a call.
    gross: Vec<f64>,
    /// ln of net nanoseconds a call.
    net: Vec<f64>,
    /// The latter of each thread; empty where there is one.
    threads: Vec<Vec<f64>>,
}

/// Subjects measured together in one cell, with all their samples.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Where.
    pub cell: Cell,
    /// Sizes of its mix with their probabilities; empty where it has one size.
    pub weights: Vec<(u32, f64)>,
    /// Who.
    pub entrants: Vec<Entrant>,
    /// Countermeasures that are left off.
    pub without: Without,
    /// Why an entrant has no times.
    pub failures: Vec<Option<Failure>>,
    /// Samples made.
    pub samples: u64,
    /// Blocks that stayed disturbed.
    pub disturbed: u64,
    /// The clock of the last request.
    pub clock: Clock,
    /// Time spent, by the evaluator's clock.
    pub seconds: f64,
    /// The visit of the whole field that its requests belong to, where it is visited again and
    /// again.
    pub epoch: Option<u32>,
    tick_hz: f64,
    rows: Vec<Row>,
    layouts: u64,
}

impl Panel {
    /// A panel without samples. `tick_hz`: time-stamp ticks a second.
    pub fn new(cell: Cell, entrants: Vec<Entrant>, tick_hz: f64) -> Panel {
        Panel {
            cell,
            weights: Vec::new(),
            failures: vec![None; entrants.len()],
            entrants,
            without: Without::NOTHING,
            samples: 0,
            disturbed: 0,
            clock: Clock::default(),
            seconds: 0.0,
            epoch: None,
            tick_hz,
            rows: Vec::new(),
            layouts: 0,
        }
    }

    /// The same, of a cell whose calls' sizes are drawn from these.
    #[must_use]
    pub fn with_weights(self, weights: Vec<(u32, f64)>) -> Panel {
        Panel { weights, ..self }
    }

    /// Measures the entrants that have not failed, and tells the observer.
    ///
    /// # Errors
    /// As the evaluator.
    pub fn measure(
        &mut self,
        evaluator: &mut dyn Evaluator,
        observer: &mut dyn Observer,
        phase: Phase,
        effort: Effort,
        seed: u64,
    ) -> Result<(), EvaluateError> {
        let alive: Vec<usize> =
            (0..self.entrants.len()).filter(|i| self.failures[*i].is_none()).collect();
        if alive.is_empty() {
            return Ok(());
        }
        let request = BlockRequest {
            cell: self.cell,
            weights: self.weights.clone(),
            members: alive.iter().map(|i| self.entrants[*i].member.clone()).collect(),
            seed,
            layouts: effort.layouts,
            blocks: effort.blocks,
            order: match self.without.leaves_off(Countermeasure::Shuffle) {
                true => MemberOrder::AsGiven,
                false => MemberOrder::Shuffled,
            },
            check: Check::Quick { size: self.cell.size },
            pass_ns: effort.pass_ns,
            limit_ns: effort.limit_ns,
            without: self.without,
        };
        let started = evaluator.clock();
        let result = evaluator.evaluate(&request)?;
        self.seconds += evaluator.clock().saturating_sub(started).as_secs_f64();
        self.clock = result.clock;
        self.samples += result.samples.len() as u64;
        self.disturbed += u64::from(result.disturbed);
        for (member, failure) in &result.failures {
            self.failures[alive[*member as usize]] = Some(failure.clone());
        }
        let first_new = self.rows.len();
        self.take(&alive, &result.samples);
        observer.request(seed, self.epoch);
        self.tell(observer, phase, &alive, &result.samples, first_new);
        Ok(())
    }

    /// Arranges samples into rows.
    fn take(&mut self, alive: &[usize], samples: &[Sample]) {
        let n = self.entrants.len();
        let base = self.layouts;
        let mut current: Option<(u32, u32)> = None;
        for pass in samples.chunk_by(same_pass) {
            let sample = &pass[0];
            let layout = base + u64::from(sample.layout);
            if current != Some((sample.layout, sample.block)) {
                current = Some((sample.layout, sample.block));
                self.rows.push(Row {
                    layout,
                    gross: vec![f64::NAN; n],
                    net: vec![f64::NAN; n],
                    threads: vec![Vec::new(); n],
                });
            }
            self.layouts = self.layouts.max(layout + 1);
            let index = alive[sample.member as usize];
            let (gross, net) = times(pass, &self.clock, self.tick_hz);
            let Some(row) = self.rows.last_mut() else { continue };
            row.gross[index] = gross.ln();
            row.net[index] = net.ln();
            if pass.len() > 1 {
                let each = pass.iter().map(|s| net_ns(s, &self.clock, self.tick_hz).ln());
                row.threads[index] = each.collect();
            }
        }
    }

    fn tell(
        &self,
        observer: &mut dyn Observer,
        phase: Phase,
        alive: &[usize],
        samples: &[Sample],
        first_new: usize,
    ) {
        let reference = self.references();
        let mut own = vec![Vec::new(); alive.len()];
        let keep = observer.wants_samples(phase);
        for sample in samples.iter().filter(|_| keep) {
            own[sample.member as usize].push(*sample);
        }
        for (member, index) in alive.iter().enumerate() {
            let entrant = &self.entrants[*index];
            let outcome = match &self.failures[*index] {
                Some(failure) => Err(failure.clone()),
                None => match self.summary(*index, &reference, first_new) {
                    Some(summary) => Ok(summary),
                    None => continue,
                },
            };
            observer.trial(&Trial {
                phase,
                role: entrant.role,
                cell: self.cell,
                subject: &entrant.subject,
                code_bytes: entrant.code_bytes,
                fully_verified: entrant.fully_verified,
                outcome,
                samples: &own[member],
                clock: self.clock,
            });
        }
    }

    /// Order statistics of the rows from `first` on; `None` without samples.
    fn summary(&self, index: usize, reference: &[usize], first: usize) -> Option<Summary> {
        let rows = &self.rows[first..];
        let mut net: Vec<f64> =
            rows.iter().map(|r| r.net[index]).filter(|v| !v.is_nan()).map(f64::exp).collect();
        if net.is_empty() {
            return None;
        }
        net.sort_unstable_by(f64::total_cmp);
        let n = net.len();
        // Order statistics around the median: 0.98·√n ranks are the 95 % interval.
        let half = 0.98 * (n as f64).sqrt();
        let low = ((n as f64 / 2.0 - half).floor().max(0.0)) as usize;
        let high = ((n as f64 / 2.0 + half).ceil() as usize).min(n - 1);
        let median = crate::stats::median(&mut net.clone());
        let mut logs: Vec<f64> =
            rows.iter().filter_map(|row| relative(row, index, reference)).collect();
        let ratio = (!logs.is_empty()).then(|| (-crate::stats::median(&mut logs)).exp());
        Some(Summary {
            samples: n as u32,
            median: Picos::from_ns(median),
            ci: (Picos::from_ns(net[low]), Picos::from_ns(net[high])),
            ratio,
            bytes_per_cycle: self.bytes_per_cycle(median),
        })
    }

    /// Bytes of the op a nanosecond of all threads together at so many nanoseconds a call.
    pub fn bytes_per_ns(&self, ns: f64) -> f64 {
        f64::from(self.cell.conditions.threads) * self.cell.extent().mean() / ns
    }

    /// Core cycles a nanosecond, by the last request's ruler.
    pub fn cycles_per_ns(&self) -> f64 {
        self.clock.cycles_per_tick * self.tick_hz / 1e9
    }

    /// What a call of an empty function takes, nanoseconds: the least there is.
    pub fn driver_ns(&self) -> f64 {
        self.clock.call_ticks / self.tick_hz * 1e9
    }

    /// Bytes of the op a core cycle at so many nanoseconds a call.
    pub fn bytes_per_cycle(&self, ns: f64) -> f64 {
        self.cell.extent().mean() / (ns * self.cycles_per_ns())
    }

    /// Indices of what others are compared with: the baseline `libc` where it runs, else any
    /// other baseline.
    pub fn references(&self) -> Vec<usize> {
        let running =
            |i: &usize| self.entrants[*i].role == Role::Baseline && self.failures[*i].is_none();
        let first = (0..self.entrants.len()).find(running);
        let Some(first) = first else { return Vec::new() };
        (0..self.entrants.len())
            .filter(|i| running(i) && self.entrants[*i].subject == self.entrants[first].subject)
            .collect()
    }

    /// Log time of an entrant relative to the references, block by block.
    pub fn against(&self, index: usize, reference: &[usize]) -> Paired {
        let mut paired = Paired::new();
        for row in &self.rows {
            if let Some(value) = relative(row, index, reference) {
                paired.push(row.layout, value);
            }
        }
        paired
    }

    /// Of each block the entrants' logs of gross ticks a call, NaN where one is missing.
    pub fn blocks(&self) -> impl Iterator<Item = &[f64]> {
        self.rows.iter().map(|row| row.gross.as_slice())
    }

    /// Log time of an entrant over the fastest of the references of the block (what disturbs one
    /// of them only ever adds); the median of each layout, in their order.
    pub fn by_layout(&self, index: usize, reference: &[usize]) -> Vec<f64> {
        let values = self.rows.iter().filter_map(|row| {
            let all = reference.iter().map(|r| row.gross[*r]).filter(|v| !v.is_nan());
            let fastest = all.min_by(f64::total_cmp)?;
            (!row.gross[index].is_nan()).then(|| (row.layout, row.gross[index] - fastest))
        });
        let mut layouts: Vec<(u64, Vec<f64>)> = Vec::new();
        for (layout, value) in values {
            match layouts.last_mut() {
                Some((last, values)) if *last == layout => values.push(value),
                _ => layouts.push((layout, vec![value])),
            }
        }
        layouts.into_iter().map(|(_, mut values)| crate::stats::median(&mut values)).collect()
    }

    /// Log of net nanoseconds a call, block by block.
    pub fn nanoseconds(&self, index: usize) -> Paired {
        let mut paired = Paired::new();
        for row in self.rows.iter().filter(|r| !r.net[index].is_nan()) {
            paired.push(row.layout, row.net[index]);
        }
        paired
    }

    /// Median nanoseconds a call of the fastest and of the slowest thread; `None` where there is
    /// one.
    pub fn thread_ns(&self, index: usize) -> Option<(f64, f64)> {
        let threads = self.rows.iter().map(|r| r.threads[index].len()).max()?;
        let median = |thread: usize| {
            let own = self.rows.iter().filter_map(|r| r.threads[index].get(thread).copied());
            crate::stats::median(&mut own.collect::<Vec<_>>()).exp()
        };
        let each: Vec<f64> = (0..threads).map(median).collect();
        let fastest = each.iter().copied().min_by(f64::total_cmp)?;
        Some((fastest, each.into_iter().max_by(f64::total_cmp)?))
    }

    /// Mean wall time of a sample, nanoseconds; `None` before the first.
    pub fn cost_ns(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.seconds * 1e9 / self.samples as f64)
    }
}

/// Nanoseconds a call of a sample, without what fences and clock take of the pass; a tick at
/// least, so that its logarithm is one. The call itself stays in: the core overlaps it with the
/// work, and subtracting what an empty call takes would leave less than the stores need.
/// `tick_hz`: time-stamp ticks a second.
pub fn net_ns(sample: &Sample, clock: &Clock, tick_hz: f64) -> f64 {
    let calls = f64::from(sample.calls);
    let ticks = (sample.ticks as f64 - clock.pass_ticks) / calls;
    ticks.max(1.0 / calls) / tick_hz * 1e9
}

/// Whether two samples are of one pass: of threads that ran at once.
fn same_pass(a: &Sample, b: &Sample) -> bool {
    (a.member, a.layout, a.block) == (b.member, b.layout, b.block) && b.thread > 0
}

/// Ticks and net nanoseconds a call of a pass: of threads at once the harmonic mean, so that as
/// many times the bytes of a call in this time are what they move together.
fn times(pass: &[Sample], clock: &Clock, tick_hz: f64) -> (f64, f64) {
    let gross = |sample: &Sample| sample.ticks as f64 / f64::from(sample.calls);
    let mean = |of: &dyn Fn(&Sample) -> f64| match pass {
        [alone] => of(alone),
        _ => pass.len() as f64 / pass.iter().map(|sample| 1.0 / of(sample)).sum::<f64>(),
    };
    (mean(&gross), mean(&|sample| net_ns(sample, clock, tick_hz)))
}

/// ln time of one entrant over the mean of the references in the same block.
fn relative(row: &Row, index: usize, reference: &[usize]) -> Option<f64> {
    let mut sum = 0.0;
    let mut count = 0.0;
    for r in reference {
        if !row.gross[*r].is_nan() {
            sum += row.gross[*r];
            count += 1.0;
        }
    }
    (count > 0.0 && !row.gross[index].is_nan()).then(|| row.gross[index] - sum / count)
}
