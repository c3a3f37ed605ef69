//! One axis alone, or the size.

use super::face::scale;
use super::{Mode, Model, shown};
use crate::explore::grid::Place;
use crate::explore::ledger::Known;
use crate::explore::screen::{Curve, CurvePoint, Series};
use crate::search::Coordinate;
use crate::subject::{Baseline, Cell, Conditions, Placement, Subject, Variant};
use crate::units::human_size;

/// The largest size of a size curve, bytes: beyond, each point takes seconds.
const LARGEST: u64 = 4 << 20;

/// Numbers that span more than this factor are drawn by factors.
const SPAN: f64 = 32.0;

/// What runs to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CurveOf {
    /// An axis of the model.
    Axis(usize),
    /// A coordinate of the placement of the buffers.
    Placed(Coordinate),
    /// Bytes a call.
    Size,
}

/// Offsets modulo 64 of a placement curve: single bytes at both ends, steps of 8 between.
const OFFSETS: [u8; 13] = [0, 1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 60, 63];

/// Distances modulo 4096 of a placement curve: lines near both ends, steps between.
const DELTAS: [u16; 11] = [0, 64, 128, 256, 512, 1024, 2048, 3072, 3584, 3968, 4032];

/// The placements of a curve, with their labels.
fn placements(of: Coordinate) -> Vec<(Placement, String)> {
    let aligned = Placement::ALIGNED;
    match of {
        Coordinate::Dst => {
            let at = |dst: u8| (Placement { dst, ..aligned }, dst.to_string());
            OFFSETS.map(at).to_vec()
        }
        Coordinate::Src => {
            let at = |src: u8| (Placement { src, ..aligned }, src.to_string());
            OFFSETS.map(at).to_vec()
        }
        Coordinate::Delta => {
            let at = |delta: u16| (Placement { delta: Some(delta), ..aligned }, delta.to_string());
            let redrawn = std::iter::once((aligned, "any".to_string()));
            redrawn.chain(DELTAS.map(at)).collect()
        }
    }
}

/// A point that the curve has or could have.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) cell: Cell,
    pub(super) variant: Variant,
    pub(super) label: String,
}

impl Model {
    pub(super) fn toggle_curve(&mut self) {
        self.placement = Placement::ALIGNED;
        self.curve = match self.curve {
            Some(_) => None,
            None => Some(CurveOf::Axis(self.x)),
        };
        self.mode = Mode::Plain;
    }

    /// Every curve that there is: the axes, where the buffers of the op lie, the size.
    pub(super) fn curves(&self) -> Vec<CurveOf> {
        let axes = (0..self.world.axes.len()).map(CurveOf::Axis);
        let copies = self.question.op.copies();
        let placed = Coordinate::ALL.iter().filter(move |c| copies || **c == Coordinate::Dst);
        let placed = placed.map(|c| CurveOf::Placed(*c));
        axes.chain(placed).chain([CurveOf::Size]).collect()
    }

    /// The next axis, placement, or the size.
    pub(super) fn next_curve(&mut self, by: i32) {
        let curves = self.curves();
        let Some(at) = curves.iter().position(|c| Some(*c) == self.curve) else { return };
        let next = (at as i32 + by).rem_euclid(curves.len() as i32) as usize;
        self.show_curve(curves[next]);
    }

    /// Shows a curve. A placement counts as long as a curve of its coordinate is shown.
    pub(super) fn show_curve(&mut self, of: CurveOf) {
        self.placement = Placement::ALIGNED;
        self.curve = Some(of);
    }

    /// Every point of a curve that can run here, in order.
    pub(super) fn curve_points(&self, of: &CurveOf) -> Vec<Spot> {
        let (cell, variant) = (self.cell(), self.variant());
        match of {
            CurveOf::Axis(axis) => {
                let axis = &self.world.axes[*axis];
                let spot = |label: String| {
                    let variant = (axis.with)(&variant, &label)?;
                    Place::of(variant, self.world.usable.as_ref()).runnable()?;
                    Some(Spot { cell, variant, label })
                };
                shown(axis, true, &[variant]).into_iter().filter_map(spot).collect()
            }
            CurveOf::Placed(coordinate) => {
                if self.place().runnable().is_none() {
                    return Vec::new();
                }
                let spot = |(placement, label): (Placement, String)| {
                    let conditions = Conditions { placement, ..cell.conditions };
                    Spot { cell: Cell { conditions, ..cell }, variant, label }
                };
                let offered = self.curves().contains(of);
                placements(*coordinate).into_iter().filter(|_| offered).map(spot).collect()
            }
            CurveOf::Size => {
                if self.place().runnable().is_none() {
                    return Vec::new();
                }
                let most = LARGEST.max(cell.size);
                let mut sizes = self.world.sizes.clone();
                sizes.push(cell.size);
                sizes.sort_unstable();
                sizes.dedup();
                let cells =
                    sizes.into_iter().filter(|s| *s <= most).map(|size| Cell { size, ..cell });
                let exists = |cell: &Cell| (self.world.exists)(cell).is_ok();
                let spot = |cell: Cell| Spot { cell, variant, label: human_size(cell.size) };
                cells.filter(exists).map(spot).collect()
            }
        }
    }

    fn curve_at(&self, spots: &[Spot]) -> Option<usize> {
        let here = (self.cell(), self.variant());
        spots.iter().position(|s| (s.cell, s.variant) == here)
    }

    pub(super) fn step_on_curve(&mut self, by: i32) {
        let Some(of) = self.curve else { return };
        let spots = self.curve_points(&of);
        let Some(last) = spots.len().checked_sub(1) else { return };
        let at = self.curve_at(&spots).map_or(0, |at| at.saturating_add_signed(by as isize));
        self.go_to_spot(&spots[at.min(last)]);
    }

    /// Goes to a drawn point.
    pub(super) fn go_on_curve(&mut self, point: usize) {
        let Some(of) = self.curve else { return };
        let timed = |s: &Spot| self.known_at(s).is_some();
        let spot = self.curve_points(&of).into_iter().filter(timed).nth(point);
        if let Some(spot) = spot {
            self.go_to_spot(&spot);
        }
    }

    fn go_to_spot(&mut self, spot: &Spot) {
        self.question.size = spot.cell.size;
        self.placement = spot.cell.conditions.placement;
        self.center(spot.variant);
    }

    fn known_at(&self, spot: &Spot) -> Option<&Known> {
        self.world.ledger.known(&spot.cell, &Subject::Variant(spot.variant))
    }

    pub(super) fn curve_screen(&self) -> Option<Curve> {
        let of = self.curve?;
        let spots = self.curve_points(&of);
        let places = places(&spots, of);
        let by_rate = of == CurveOf::Size;
        let figure = |known: &Known, cell: &Cell| match by_rate {
            false => known.ns,
            // Bytes a cycle fall as the time grows.
            true => {
                let (ns, low, high) = known.ns;
                let rate = known.bytes_per_cycle;
                debug_assert!(cell.size > 0);
                (rate, rate * ns / high, rate * ns / low)
            }
        };
        let series = |name: String, known: &dyn Fn(&Spot) -> Option<Known>| {
            let points = spots.iter().zip(&places).filter_map(|(spot, x)| {
                let y = figure(&known(spot)?, &spot.cell);
                Some(CurvePoint { x: *x, label: spot.label.clone(), y })
            });
            Series { name, points: points.collect() }
        };
        let mut all = vec![series(self.variant().to_string(), &|s| self.known_at(s).copied())];
        let beside = match of {
            CurveOf::Size => self.baselines(),
            CurveOf::Axis(_) | CurveOf::Placed(_) => vec![self.baseline],
        };
        for baseline in beside {
            let subject = Subject::Baseline(baseline);
            let known = |s: &Spot| self.world.ledger.known(&s.cell, &subject).copied();
            all.push(series(name(baseline), &known));
        }
        let at = self.curve_at(&spots).filter(|at| self.known_at(&spots[*at]).is_some());
        let cursor = at.map(|at| spots[..at].iter().filter(|s| self.known_at(s).is_some()).count());
        let (title, x) = match of {
            CurveOf::Axis(axis) => {
                let axis = &self.world.axes[axis];
                (format!("{}: {}", axis.key, axis.about), axis.key.to_string())
            }
            CurveOf::Placed(coordinate) => {
                (format!("placement: {coordinate} alone"), coordinate.to_string())
            }
            CurveOf::Size => ("size: bytes a call".into(), "size (bytes)".into()),
        };
        let y = if by_rate { "bytes/cycle" } else { "ns a call" }.to_string();
        let logarithmic = by_rate || scale(&places) > SPAN;
        Some(Curve { title, x, y, logarithmic, series: all, cursor })
    }
}

fn name(baseline: Baseline) -> String {
    baseline.word().to_string()
}

/// Where points stand: at their number, or at their place where one is no number.
fn places(spots: &[Spot], of: CurveOf) -> Vec<f64> {
    if of == CurveOf::Size {
        return spots.iter().map(|s| s.cell.size as f64).collect();
    }
    let numbers: Option<Vec<f64>> = spots.iter().map(|s| s.label.parse().ok()).collect();
    numbers.unwrap_or_else(|| (0..spots.len()).map(|i| i as f64).collect())
}
