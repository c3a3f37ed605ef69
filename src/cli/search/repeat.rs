//! `looptune search --repeat N`
use std::time::Instant;

use super::{Ended, Ready, SearchArgs};

pub(super) fn run(
    args: &SearchArgs,
    ready: &mut Ready,
    times: u32,
    earlier: Vec<String>,
    started: Instant,
) -> anyhow::Result<()> {
    todo!()
}

pub(super) fn resumed(
    args: &SearchArgs,
    ready: &mut Ready,
    times: u32,
    earlier: Vec<String>,
    ended: Ended,
) -> anyhow::Result<()> {
    todo!()
}
