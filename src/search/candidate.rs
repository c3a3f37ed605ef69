//! Candidates: variants as code, merged where the code is the same.

use std::collections::HashMap;

use crate::encode::{CompileError, Encoder};
use crate::ir::{Function, lower};
use crate::subject::Variant;
use crate::trial::Body;

/// A variant with its code, ready to be sent to a worker.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The variant; of several with the same bytes the smallest id.
    pub variant: Variant,
    /// Its code.
    pub body: Body,
    /// Length of its code.
    pub code_bytes: u32,
}

impl Candidate {
    /// Whether its main loop stores past the caches.
    pub fn non_temporal(&self) -> bool {
        self.variant.leaves_cache()
    }

    /// Compiles one variant.
    ///
    /// # Errors
    /// As the encoder.
    pub fn new(variant: Variant) -> Result<Candidate, CompileError> {
        compile_all([variant]).map(|mut list| list.remove(0))
    }
}

/// Compiles variants and merges those whose bytes are equal. The entry always stands at a
/// multiple of 64, so equal bytes have the same loop address modulo 64. Keeps the order of
/// first appearance.
///
/// # Errors
/// The first variant that cannot be lowered or encoded; `space` lets none of those through.
pub fn compile_all(
    variants: impl IntoIterator<Item = Variant>,
) -> Result<Vec<Candidate>, CompileError> {
    let mut encoder = Encoder::new();
    let mut function = Function::default();
    let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut list: Vec<Candidate> = Vec::new();
    for variant in variants {
        lower(&variant, &mut function)?;
        let machine = encoder.machine(&function)?;
        match seen.get(&machine.bytes) {
            Some(index) => {
                let kept = &mut list[*index].variant;
                if variant.to_string() < kept.to_string() {
                    *kept = variant;
                }
            }
            None => {
                seen.insert(machine.bytes.clone(), list.len());
                let code_bytes = machine.bytes.len() as u32;
                list.push(Candidate { variant, body: Body::Machine(machine), code_bytes });
            }
        }
    }
    Ok(list)
}

/// How many of the axes two variants differ in.
pub(super) fn axes_apart(a: &Variant, b: &Variant) -> u32 {
    [
        a.class != b.class,
        a.encoding != b.encoding && a.class == b.class,
        a.unroll != b.unroll,
        a.order != b.order,
        a.align != b.align,
        a.store != b.store,
        a.prefetch != b.prefetch,
        a.count != b.count,
        // The head follows the store: moving both is one step.
        a.head != b.head && a.store == b.store,
        a.tail != b.tail,
        a.touch != b.touch,
        a.bounce != b.bounce,
        a.streams != b.streams,
        a.direction != b.direction,
        a.fixed != b.fixed,
    ]
    .into_iter()
    .map(u32::from)
    .sum()
}
