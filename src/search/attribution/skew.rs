//! The skew curve: the same loop with its top at each of the 64 addresses of a line.

use super::Compared;
use super::study::Outcome;
use crate::encode::{self, CompileError};
use crate::space;
use crate::stats::Verdict;
use crate::subject::{Align, Variant};

/// Addresses of a line, which code can feel.
const LINE: u8 = 64;

/// A loop at an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkewPoint {
    /// Address of the loop top modulo 64.
    pub skew: u8,
    /// Its time against the winner's.
    pub compared: Compared,
}

/// A loop at all addresses modulo 64.
#[derive(Clone, Debug, PartialEq)]
pub struct SkewCurve {
    /// Address of the winner's own loop top modulo 64.
    pub own: u8,
    /// The addresses that could be timed, ascending.
    pub points: Vec<SkewPoint>,
}

impl SkewCurve {
    /// The point with the least time.
    pub fn best(&self) -> Option<&SkewPoint> {
        self.points.iter().min_by(|a, b| a.compared.ratio.total_cmp(&b.compared.ratio))
    }

    /// The point with the most time.
    pub fn worst(&self) -> Option<&SkewPoint> {
        self.points.iter().max_by(|a, b| a.compared.ratio.total_cmp(&b.compared.ratio))
    }

    /// How many addresses have this verdict against the winner.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.points.iter().filter(|p| p.compared.verdict == verdict).count()
    }
}

/// The loops of a curve, before they are measured.
pub(super) struct SkewLine {
    own: u8,
    loops: Vec<(u8, Variant)>,
}

/// The same loop at each address.
///
/// # Errors
/// Why the loop has no top that could be moved.
pub(super) fn line(winner: &Variant) -> Result<SkewLine, String> {
    let own = own_skew(winner).map_err(|e| e.to_string())?;
    let Some(own) = own else {
        return Err("it has no main loop whose top could be moved".into());
    };
    let at = |skew: u8| {
        let align = Align { modulus: LINE, skew };
        let variant = Variant { align, ..*winner };
        space::check(&variant).map(|()| (skew, variant))
    };
    let loops = (0..LINE).map(at).collect::<Result<Vec<_>, _>>();
    match loops {
        Ok(loops) => Ok(SkewLine { own, loops }),
        Err(broken) => Err(format!("its top cannot be moved: {broken}")),
    }
}

/// Where the top of a loop stands modulo 64: entries are 64-aligned.
fn own_skew(winner: &Variant) -> Result<Option<u8>, CompileError> {
    let machine = encode::compile(winner)?.machine();
    Ok(machine.loop_top.map(|top| (top % u32::from(LINE)) as u8))
}

impl SkewLine {
    /// The loops, by address.
    pub(super) fn loops(&self) -> Vec<Variant> {
        self.loops.iter().map(|(_, variant)| *variant).collect()
    }

    /// The curve of what was measured of them.
    ///
    /// # Errors
    /// Why there is none: the first reason, where no address could be timed.
    pub(super) fn curve(&self, outcomes: Vec<Outcome>) -> Result<SkewCurve, String> {
        let mut reason = None;
        let mut points = Vec::new();
        for ((skew, _), outcome) in self.loops.iter().zip(outcomes) {
            match outcome {
                Ok(compared) => points.push(SkewPoint { skew: *skew, compared }),
                Err(why) => {
                    reason.get_or_insert(why);
                }
            }
        }
        match (points.is_empty(), reason) {
            (true, why) => Err(why.unwrap_or_else(|| "nothing was timed".into())),
            (false, _) => Ok(SkewCurve { own: self.own, points }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_has_a_loop_and_a_string_instruction_none() {
        let line_of = |id: &str| line(&id.parse().unwrap());
        let found = line_of("zero/ymm/u4/a64+16").unwrap();
        assert_eq!((found.own, found.loops.len()), (16, 64));
        for (skew, variant) in &found.loops {
            assert_eq!(own_skew(variant).unwrap(), Some(*skew), "{variant}");
        }
        // It falls somewhere, and that address is on the curve too.
        let natural = line_of("copy/ymm/u2").unwrap();
        assert!(natural.own < 64);
        assert!(line_of("zero/rep8").is_err());
    }
}
