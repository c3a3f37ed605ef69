//! Attributions one after another, each with the assembled object of its loop.

use super::super::bench::course::PartOf;
use super::super::progress::ProgressLine;
use super::super::session::Session;
use crate::encode;
use crate::export::{Export, Header, Library, default_symbol};
use crate::search::{
    Attribution, Budget, Candidate, Compared, Contest, Entrant, ObjectRow, Study, attribute,
    candidate_entrant, contested,
};
use crate::subject::{Cell, SizeMix, Subject, Variant};
use crate::trial::{Body, EvaluateError, Member, Observer, Role, Without};

/// Seconds that a winner gets in a cell where nothing is asked.
const SECONDS: f64 = 6.0;

/// Part of it for the assembled object.
const OBJECT: f64 = 0.15;

/// What is to be explained.
pub(in crate::cli) struct Studies<'a> {
    /// Winners with their cells.
    pub(in crate::cli) winners: Vec<(Cell, Variant)>,
    /// The loops that they were found among.
    pub(in crate::cli) swept: &'a [Variant],
    /// The mixes that some of the cells are of.
    pub(in crate::cli) mixes: &'a [SizeMix],
    /// What all of it may spend; `None`: a default a winner.
    pub(in crate::cli) budget: Option<Budget>,
    /// Seed of everything drawn.
    pub(in crate::cli) seed: u64,
}

impl Studies<'_> {
    /// A part of what one winner may spend.
    fn share(&self, part: f64) -> Budget {
        match self.budget {
            None => Budget::Seconds(SECONDS * part),
            Some(all) => all.part(part / self.winners.len().max(1) as f64),
        }
    }
}

/// Explains them. After an interruption what is whole is given.
///
/// # Errors
/// As the evaluator.
pub(in crate::cli) fn study_all(
    studies: &Studies<'_>,
    session: &mut Session,
    line: ProgressLine,
) -> anyhow::Result<Vec<Attribution>> {
    let all = studies.winners.len();
    let mut line = PartOf { line, begun: 0, all: all as f64 };
    let mut found: Vec<Attribution> = Vec::new();
    for (cell, winner) in &studies.winners {
        match one(studies, *cell, *winner, session, &mut line) {
            Err(EvaluateError::Interrupted) if !found.is_empty() => {
                line.line.finish();
                eprintln!("looptune: interrupted: {} of {all} winners are here", found.len());
                return Ok(found);
            }
            other => found.push(other?),
        }
        line.begun += 1;
    }
    line.line.finish();
    Ok(found)
}

fn one(
    studies: &Studies<'_>,
    cell: Cell,
    winner: Variant,
    session: &mut Session,
    observer: &mut dyn Observer,
) -> Result<Attribution, EvaluateError> {
    let tick_hz = session.host.tsc.calibrated_hz;
    let mix = studies.mixes.iter().find(|m| Some(m.mix) == cell.mix);
    let study = Study {
        cell,
        mix,
        winner,
        swept: studies.swept,
        usable: session.host.usable,
        budget: studies.share(1.0 - OBJECT),
        seed: studies.seed,
        tick_hz,
    };
    let mut found = attribute(&study, &mut session.client, observer)?;
    let built = match object(&winner) {
        Ok(built) => built,
        Err(why) => {
            found.object = Some(Err(why));
            return Ok(found);
        }
    };
    let contest = Contest {
        cell,
        mix: mix.cloned(),
        entrants: built.entrants,
        budget: studies.share(OBJECT),
        // Other draws than those of the attribution, whose contests count on from the seed.
        seed: studies.seed.wrapping_add(1000),
        without: Without::NOTHING,
    };
    let mut measured = contested(&contest, tick_hz, &mut session.client, observer)?;
    let failure = measured.rows().into_iter().find_map(|r| r.result.err());
    found.object = Some(match measured.pair(1, 0) {
        Some(pair) => {
            Ok(ObjectRow { builder: built.library.builder().into(), compared: Compared::of(&pair) })
        }
        None => Err(failure.map_or("it was not timed".into(), |f| f.to_string())),
    });
    Ok(found)
}

/// The loop in memory and as a function of a shared object.
struct Built {
    entrants: Vec<Entrant>,
    // The file goes away with it.
    library: Library,
}

/// Exports, assembles and links a loop.
///
/// # Errors
/// Why there is no object, for people.
fn object(winner: &Variant) -> Result<Built, String> {
    let code = encode::compile(winner).map_err(|e| e.to_string())?;
    if winner.fixed.is_some() {
        return Err("a function for one size takes no size, and cannot be called as others".into());
    }
    let symbol = default_symbol(winner.op);
    let header = Header::default();
    let export = Export { code: &code, variant: winner, symbol: &symbol, header: &header };
    let text = export.asm().map_err(|e| e.to_string())?;
    let library = Library::build(&text).map_err(|e| e.to_string())?;
    let path = library.path().to_string_lossy().into_owned();
    let candidate = Candidate::new(*winner).map_err(|e| e.to_string())?;
    let foreign = Entrant {
        subject: Subject::Foreign { path: path.clone(), symbol: symbol.clone() },
        member: Member::new(Body::Foreign { path, symbol }),
        role: Role::Candidate,
        code_bytes: None,
        fully_verified: false,
    };
    Ok(Built { entrants: vec![candidate_entrant(&candidate, false), foreign], library })
}
