//! The map as loops: which variant stands in which cell, and why some cells hold none.

use crate::host::FeatureSet;
use crate::space::{check, supported};
use crate::subject::Variant;
use crate::template::Axis;

/// What stands in a cell of the map.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// A loop that can run here.
    Loop(Variant),
    /// A loop that this host cannot run, with the reason.
    Unsupported(Variant, String),
    /// No such loop, with the reason; the point, where the axes have one.
    Illegal(Option<Variant>, String),
}

impl Place {
    /// The loop, if it can run here.
    pub(super) fn runnable(&self) -> Option<Variant> {
        match self {
            Place::Loop(v) => Some(*v),
            _ => None,
        }
    }

    /// The point of the axes, legal or not.
    pub(super) fn variant(&self) -> Option<Variant> {
        match self {
            Place::Loop(v) | Place::Unsupported(v, _) => Some(*v),
            Place::Illegal(v, _) => *v,
        }
    }

    /// The loop, if it is one on any host.
    pub(super) fn legal(&self) -> Option<Variant> {
        match self {
            Place::Loop(v) | Place::Unsupported(v, _) => Some(*v),
            Place::Illegal(..) => None,
        }
    }

    /// Why it cannot run here.
    pub(super) fn reason(&self) -> Option<&str> {
        match self {
            Place::Loop(_) => None,
            Place::Unsupported(_, why) | Place::Illegal(_, why) => Some(why),
        }
    }

    /// What a variant is on a host with these features. Recorded figures are looked at
    /// wherever they were made: `None` asks for no feature.
    pub(super) fn of(variant: Variant, usable: Option<&FeatureSet>) -> Place {
        if let Err(broken) = check(&variant) {
            return Place::Illegal(Some(variant), broken.to_string());
        }
        match usable.map(|usable| supported(&variant, usable)) {
            Some(Err(why)) => Place::Unsupported(variant, format!("{variant} {why}")),
            _ => Place::Loop(variant),
        }
    }
}

/// Two axes and the values of them that are shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid {
    /// The axis that runs to the right.
    pub(super) x: &'static Axis,
    /// Its values.
    pub(super) xs: Vec<String>,
    /// The axis that runs down.
    pub(super) y: &'static Axis,
    /// Its values.
    pub(super) ys: Vec<String>,
    /// Row by row.
    pub(super) places: Vec<Place>,
}

impl Grid {
    /// The map of two axes around a variant.
    pub(super) fn new(
        base: &Variant,
        (x, xs): (&'static Axis, Vec<String>),
        (y, ys): (&'static Axis, Vec<String>),
        usable: Option<&FeatureSet>,
    ) -> Grid {
        let mut places = Vec::with_capacity(xs.len() * ys.len());
        for row in &ys {
            for column in &xs {
                places.push(match at(base, (x, column), (y, row)) {
                    Ok(variant) => Place::of(variant, usable),
                    Err(why) => Place::Illegal(None, why),
                });
            }
        }
        Grid { x, xs, y, ys, places }
    }

    /// What stands in a column and row; the last ones where there are fewer.
    pub(super) fn place(&self, (column, row): (usize, usize)) -> &Place {
        let column = column.min(self.xs.len().saturating_sub(1));
        let row = row.min(self.ys.len().saturating_sub(1));
        &self.places[row * self.xs.len() + column]
    }

    /// Column and row of a variant.
    pub(super) fn find(&self, variant: &Variant) -> Option<(usize, usize)> {
        let at = self.places.iter().position(|p| p.variant().as_ref() == Some(variant))?;
        Some((at % self.xs.len(), at / self.xs.len()))
    }
}

/// A variant with two axes set. A value can move another axis from its default, and an axis
/// may exist only once the other is set: so each is tried first, and set again last.
fn at(base: &Variant, x: (&Axis, &str), y: (&Axis, &str)) -> Result<Variant, String> {
    let set = |v: Option<Variant>, (axis, word): (&Axis, &str)| (axis.with)(&v?, word);
    let is = |v: &Variant, (axis, word): (&Axis, &str)| (axis.of)(v).as_deref() == Some(word);
    let once = |first, last| set(set(Some(*base), first), last);
    let tries = [once(x, y), set(once(x, y), x), once(y, x), set(once(y, x), y)];
    if let Some(found) = tries.iter().flatten().find(|v| is(v, x) && is(v, y)) {
        return Ok(*found);
    }
    let (axis, _) = if (x.0.with)(base, x.1).is_none() { x } else { y };
    Err(format!(
        "no such loop: with {} {} and {} {}, `{}` ({}) does not apply",
        x.0.key, x.1, y.0.key, y.1, axis.key, axis.about
    ))
}

/// The values of an axis that are shown: the coarse ones or all, and those of some variants.
pub(super) fn shown(axis: &Axis, all: bool, also: &[Variant]) -> Vec<String> {
    let every = (axis.values)();
    let mut values = if all { every.clone() } else { (axis.coarse)() };
    for value in also.iter().filter_map(axis.of) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    // In the order of the axis; what it does not know comes last.
    values.sort_by_key(|v| every.iter().position(|e| e == v).unwrap_or(usize::MAX));
    values
}
