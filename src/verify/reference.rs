//! What is right: loops so plain that they cannot be wrong.

use crate::subject::Op;

/// Does the op on the whole destination, byte by byte. Both slices have one length.
pub(super) fn run(op: Op, dst: &mut [u8], src: &[u8]) {
    match op {
        Op::Copy => {
            for (to, from) in dst.iter_mut().zip(src) {
                *to = *from;
            }
        }
        Op::Zero => dst.iter_mut().for_each(|to| *to = 0),
        Op::Write => dst.iter_mut().for_each(|to| *to = Op::WRITTEN),
        Op::Read => {}
    }
}
