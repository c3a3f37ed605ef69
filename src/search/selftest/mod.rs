//! How far times made on this host, now, can be believed.
//!
//! In each state contests are held whose outcome is known: a loop against itself, emitted at
//! other places, and against itself with planted extra work. Each has what a search by default
//! gives to the confirmation of a winner. How often equals have a winner, how often a plant is
//! found, and how wide the intervals are, gives the difference that can be believed. Whether
//! the protocol holds is looked at besides: a time must not hang on who ran before, nor on the
//! place in the block.
//!
//! [`traps`] shows the traps of measuring one by one, with their countermeasures and without.

mod bias;
mod busy;
mod desk;
mod judge;
mod loud;
mod noise;
mod run;
pub mod traps;

pub use bias::Bias;
pub use busy::{Busy, Neighbour};
pub use desk::SelftestError;
pub use judge::{Drift, believable};
pub use loud::{Loudness, loudness};
pub use noise::{PLANTS, Power, StateNoise, wanted};
pub use run::{Noise, NoiseTest, noise};
