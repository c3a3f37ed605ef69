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
use crate::stats::Verdict;
use crate::subject::{Cell, SizeMix, Subject, Variant};
use crate::trial::{Body, EvaluateError, Member, Observer, Role, Without};

/// Seconds that a winner gets in a cell where nothing is asked.
const SECONDS: f64 = 6.0;

/// Part of it for the assembled object.
const OBJECT: f64 = 0.15;

/// Lines of 64 bytes before the function, in each of the objects.
const PLACES: [u32; 4] = [0, 13, 30, 47];

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
    let objects: Vec<usize> = (1..=built.libraries.len()).collect();
    let mut failed = std::iter::once(0).chain(objects.iter().copied());
    let failure = failed.find_map(|row| measured.failure(row).map(ToString::to_string));
    found.object = Some(match measured.pair_with(0, &objects) {
        // What the pair says of the winner, the row says of the object.
        Some(pair) => Ok(ObjectRow {
            builder: built.libraries.first().map_or("", Library::builder).into(),
            compared: Compared {
                ratio: pair.ratio,
                ratio_ci: pair.ratio_ci,
                verdict: turned(pair.verdict),
            },
        }),
        None => Err(failure.unwrap_or_else(|| "it was not timed".into())),
    });
    Ok(found)
}

/// The verdict of the second against the first, from that of the first against the second.
fn turned(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Faster => Verdict::Slower,
        Verdict::Slower => Verdict::Faster,
        same => same,
    }
}

/// The loop in memory and as a function of shared objects.
struct Built {
    entrants: Vec<Entrant>,
    // The files go away with them.
    libraries: Vec<Library>,
}

/// Exports, assembles and links a loop, at several places: the code in memory moves from layout
/// to layout, and what stands at one place has the luck of that place.
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
    let candidate = Candidate::new(*winner).map_err(|e| e.to_string())?;
    let mut built =
        Built { entrants: vec![candidate_entrant(&candidate, false)], libraries: Vec::new() };
    for lines in PLACES {
        let placed = format!("\t.text\n\t.skip {}\n{text}", 64 * lines);
        let library = Library::build(&placed).map_err(|e| e.to_string())?;
        let path = library.path().to_string_lossy().into_owned();
        built.entrants.push(Entrant {
            subject: Subject::Foreign { path: path.clone(), symbol: symbol.clone() },
            member: Member::new(Body::Foreign { path, symbol: symbol.clone() }),
            role: Role::Candidate,
            code_bytes: None,
            fully_verified: false,
        });
        built.libraries.push(library);
    }
    Ok(built)
}
