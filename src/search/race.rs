//! The final race: leaders of every cell of a size, on fresh data, in every cell.

use super::candidate::Candidate;
use super::context::{Context, candidate_entrant};
use super::decide::{regrets, simplicity};
use super::panel::Panel;
use super::screen::Screened;
use crate::subject::{Cell, Contract, Op};
use crate::trial::{Check, EvaluateError, Phase};

/// Leaders that each cell sends into the race of all cells.
const LEADERS: usize = 5;

/// Simplest candidates among the near ties of each cell, and how near those are: what one
/// sample in l1 is worth.
const SIMPLEST: usize = 3;
const NEAR: f64 = 0.03;

/// What a heat cannot tell apart.
const HEAT_NEAR: f64 = 0.015;

/// Worst regrets that the choice of least regret will take for equal, as a heat sees them.
const HEAT_EQUAL: f64 = 0.025;

/// Layouts of the heat that picks finalists.
const HEAT_LAYOUTS: (u32, u32) = (2, 24);

/// Layouts of the final: as many as the budget gives, five at least for an interval; past
/// 160 the bootstrap costs more than a layout tells.
const FINAL_LAYOUTS: (u32, u32) = (5, 160);

/// Whether a candidate is of a kind that gets a choice of its own.
type Kind = fn(&Candidate) -> bool;

/// The kinds: plain stores, non-temporal ones, and what a kernel may use.
const KINDS: [Kind; 3] =
    [|c| !c.non_temporal(), Candidate::non_temporal, |c| c.variant.keeps(Contract::Kernel)];

/// Who races: the leaders of every cell, of each cell the best of each kind, and one
/// representative of each class and store type.
pub(super) fn pool(candidates: &[Candidate], screened: &[&Screened]) -> Vec<usize> {
    let mut pool: Vec<usize> = Vec::new();
    let mut add = |index: usize| {
        if !pool.contains(&index) {
            pool.push(index);
        }
    };
    for cell in screened {
        cell.order.iter().take(LEADERS).for_each(|(i, _)| add(*i));
        for kind in KINDS {
            cell.order
                .iter()
                .filter(|(i, _)| kind(&candidates[*i]))
                .take(2)
                .for_each(|(i, _)| add(*i));
        }
        simplest(candidates, cell).into_iter().for_each(&mut add);
    }
    // The fastest of each class and store in any cell represents it.
    let mut kinds: Vec<((_, _), usize, f64)> = Vec::new();
    for (index, score) in screened.iter().flat_map(|s| &s.order) {
        let variant = &candidates[*index].variant;
        let kind = (variant.class, variant.store);
        match kinds.iter_mut().find(|(k, _, _)| *k == kind) {
            Some(best) if best.2 <= *score => {}
            Some(best) => *best = (kind, *index, *score),
            None => kinds.push((kind, *index, *score)),
        }
    }
    kinds.iter().for_each(|(_, index, _)| add(*index));
    pool
}

/// The simplest of those that screening cannot tell from its leader. Where thousands of
/// candidates take the same path (below the sizes that their loops are for), the leaders are
/// luck, and what a person wants is the shortest of all that are as good.
fn simplest(candidates: &[Candidate], cell: &Screened) -> Vec<usize> {
    let Some((_, best)) = cell.order.first() else { return Vec::new() };
    let mut near: Vec<usize> =
        cell.order.iter().filter(|(_, s)| *s <= best + NEAR).map(|(i, _)| *i).collect();
    near.sort_by_cached_key(|i| simplicity(&candidates[*i].variant, candidates[*i].code_bytes));
    near.truncate(SIMPLEST);
    near
}

/// Races `field` in each cell; one panel a cell, entrants in the order of `field`, baselines
/// after them; past the heat all are fully verified. `share` is the part of what is left of the budget that all cells together
/// may use, of `parts` equal ones a cell.
fn race(
    context: &mut Context<'_>,
    candidates: &[Candidate],
    cells: &[Cell],
    field: &[usize],
    phase: Phase,
    parts: f64,
    (least, most): (u32, u32),
) -> Result<Vec<Panel>, EvaluateError> {
    let mut panels = Vec::new();
    for (done, cell) in cells.iter().enumerate() {
        let mut entrants: Vec<_> = field
            .iter()
            .map(|i| candidate_entrant(&candidates[*i], phase == Phase::Race))
            .collect();
        entrants.extend(context.baseline_entrants(cell.op));
        let mut panel = context.panel(*cell, entrants);
        let mut share = context.meter.share(parts - done as f64);
        context.fill(&mut panel, phase, &mut share, least, most)?;
        panels.push(panel);
    }
    Ok(panels)
}

/// The heat: everyone of the pool in every cell. Gives the finalists.
pub(super) fn heat(
    context: &mut Context<'_>,
    candidates: &[Candidate],
    cells: &[Cell],
    pool: &[usize],
    parts: f64,
) -> Result<Vec<usize>, EvaluateError> {
    let panels = race(context, candidates, cells, pool, Phase::Heat, parts, HEAT_LAYOUTS)?;
    let mut rows: Vec<Vec<f64>> = vec![Vec::new(); pool.len()];
    let mut orders: Vec<Vec<usize>> = Vec::new();
    for panel in &panels {
        let places = regrets(panel, pool.len());
        let mut order: Vec<(usize, f64)> =
            places.iter().enumerate().filter_map(|(i, r)| Some((i, (*r)?))).collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1));
        orders.push(order.into_iter().map(|(place, _)| place).collect());
        for (row, regret) in rows.iter_mut().zip(&places) {
            row.extend(*regret);
        }
    }
    let worst = |place: usize| rows[place].iter().copied().fold(0.0, f64::max);
    let mut whole: Vec<usize> =
        (0..pool.len()).filter(|p| rows[*p].len() == panels.len()).collect();
    whole.sort_by(|a, b| worst(*a).total_cmp(&worst(*b)));
    // Among equals the simplest wins, so it has to be there.
    let simple = |place: &usize| {
        let candidate = &candidates[pool[*place]];
        simplicity(&candidate.variant, candidate.code_bytes)
    };
    let simplest = |mut near: Vec<usize>| {
        near.sort_by_cached_key(simple);
        near
    };
    orders.extend((0..panels.len()).map(|cell| {
        let near = |p: &usize| rows[*p][cell] <= HEAT_NEAR;
        simplest(whole.iter().copied().filter(near).collect())
    }));
    let least = whole.first().map_or(0.0, |p| worst(*p));
    let equal = |p: &usize| worst(*p) <= least + HEAT_EQUAL;
    orders.push(simplest(whole.iter().copied().filter(equal).collect()));
    let of_kind = |kind: Kind| {
        let is_of = |p: &usize| kind(&candidates[pool[*p]]);
        whole.iter().copied().filter(is_of).collect::<Vec<_>>()
    };
    // The fastest of each cell and the least regretted of each kind are there in any case;
    // then seconds, thirds and so on, until there are enough.
    orders.push(whole.clone());
    orders.extend(KINDS.map(of_kind));
    let most = (context.strategy.finalists as usize).max(orders.len());
    let mut places: Vec<usize> = Vec::new();
    for rank in 0..pool.len() {
        for place in orders.iter().filter_map(|o| o.get(rank)) {
            if places.len() < most && !places.contains(place) {
                places.push(*place);
            }
        }
    }
    let finalists = places.into_iter().map(|p| pool[p]).collect();
    Ok(finalists)
}

/// What a final gives.
pub(super) struct Final {
    /// Who ran in it; the first entrants of each panel, in this order.
    pub(super) field: Vec<usize>,
    /// A panel a cell.
    pub(super) panels: Vec<Panel>,
    /// Who was not let in, and why.
    pub(super) warnings: Vec<String>,
}

/// The final: finalists that pass the full verification, on fresh data, in every cell.
pub(super) fn last(
    context: &mut Context<'_>,
    candidates: &[Candidate],
    op: Op,
    cells: &[Cell],
    finalists: &[usize],
    parts: f64,
) -> Result<Final, EvaluateError> {
    let bodies: Vec<_> = finalists.iter().map(|i| candidates[*i].body.clone()).collect();
    let checked = context.evaluator.verify(op, &bodies, Check::Full)?;
    context.tick();
    let mut field = Vec::new();
    let mut warnings = Vec::new();
    for (index, outcome) in finalists.iter().zip(checked) {
        match outcome {
            Ok(()) => field.push(*index),
            Err(failure) => warnings.push(format!(
                "{} was fast but failed the full verification and is out: {failure}",
                candidates[*index].variant
            )),
        }
    }
    let panels = race(context, candidates, cells, &field, Phase::Race, parts, FINAL_LAYOUTS)?;
    Ok(Final { field, panels, warnings })
}
