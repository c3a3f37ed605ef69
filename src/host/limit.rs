//! How many bytes a core cycle the load and store ports can move to and from L1.
//!
//! The counts are from the vendors' optimisation manuals and from published measurements of
//! single instructions; those of Zen 3 were measured with straight runs of stores and loads.

use serde::{Deserialize, Serialize};

use super::march::Microarch;

/// What the ports allow, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortLimit {
    /// Bytes a core cycle.
    pub bytes_per_cycle: f64,
    /// One clause for people, such as "Zen 3: one vector store a cycle".
    pub why: String,
    /// Whether the core's design is known; otherwise one access a cycle is assumed.
    pub known: bool,
}

/// Accesses a cycle, by width: at most 8 bytes (general registers), 16, 32, 64.
type PerCycle = [f64; 4];

/// What one design can do in a cycle.
struct Ports {
    store: PerCycle,
    store_says: &'static str,
    load: PerCycle,
    load_says: &'static str,
    /// Loads and stores together, of whatever mix.
    both: f64,
}

fn ports(march: Microarch) -> Option<Ports> {
    use Microarch as M;
    let row = |store, store_says, load, load_says, both| {
        Some(Ports { store, store_says, load, load_says, both })
    };
    const ONE_16: PerCycle = [1.0, 1.0, 0.5, 0.25];
    const TWO_16: PerCycle = [2.0, 2.0, 1.0, 0.5];
    const ONE_32: PerCycle = [1.0, 1.0, 1.0, 0.5];
    const TWO_32: PerCycle = [2.0, 2.0, 2.0, 1.0];
    const ONE_64: PerCycle = [1.0; 4];
    const TWO_64: PerCycle = [2.0; 4];
    const ONE_STORE: &str = "one store a cycle";
    const HALVES: &str = "one 16-byte store a cycle, wider ones in parts";
    const TWO_LOADS: &str = "two loads a cycle";
    const LOAD_HALVES: &str = "two 16-byte loads a cycle, wider ones in parts";
    match march {
        M::Core2 | M::Nehalem | M::Silvermont | M::Goldmont | M::Jaguar => row(
            ONE_16,
            HALVES,
            ONE_16,
            "one 16-byte load a cycle, wider ones in parts",
            if march == M::Silvermont { 1.0 } else { 2.0 },
        ),
        M::SandyBridge | M::K10 | M::Bulldozer | M::Zen1 => {
            row(ONE_16, HALVES, TWO_16, LOAD_HALVES, 2.0)
        }
        M::Haswell | M::Skylake | M::Zen2 => row(ONE_32, ONE_STORE, TWO_32, TWO_LOADS, 3.0),
        M::SkylakeServer => row(ONE_64, ONE_STORE, TWO_64, TWO_LOADS, 3.0),
        M::KnightsLanding => row(ONE_64, ONE_STORE, TWO_64, TWO_LOADS, 2.0),
        M::SunnyCove => row(
            [2.0, 2.0, 2.0, 1.0],
            "two stores of up to 32 bytes to one line, or one of 64, a cycle",
            TWO_64,
            TWO_LOADS,
            4.0,
        ),
        M::GoldenCove | M::RedwoodCove | M::LionCove => row(
            [2.0, 2.0, 2.0, 1.0],
            "two stores of up to 32 bytes to one line, or one of 64, a cycle",
            [3.0, 3.0, 3.0, 2.0],
            "three loads of up to 32 bytes, or two of 64, a cycle",
            5.0,
        ),
        M::Gracemont | M::Crestmont => {
            row(TWO_16, "two 16-byte stores a cycle, wider ones in parts", TWO_16, LOAD_HALVES, 4.0)
        }
        M::Zen3 | M::Zen4 => row(
            [2.0, 1.0, 1.0, 0.5],
            "one vector store of up to 32 bytes, or two of general registers, a cycle",
            [3.0, 2.0, 2.0, 1.0],
            "two vector loads of up to 32 bytes, or three into general registers, a cycle",
            3.0,
        ),
        M::Zen5 => row(
            [2.0, 2.0, 2.0, 1.0],
            "two stores of up to 32 bytes, or one of 64, a cycle",
            [4.0, 2.0, 2.0, 2.0],
            "two vector loads, or four into general registers, a cycle",
            4.0,
        ),
        M::Tremont | M::Skymont | M::Unknown => None,
    }
}

/// Widest access reckoned with, bytes.
const WIDEST: u32 = 64;

/// The column of a width; widths between the columns count as the next one.
fn column(width: u32) -> usize {
    match width {
        0..=8 => 0,
        9..=16 => 1,
        17..=32 => 2,
        _ => 3,
    }
}

fn limit(march: Microarch, width: u32, per_cycle: Option<(f64, &str)>, access: &str) -> PortLimit {
    let width = width.clamp(1, WIDEST);
    match per_cycle {
        Some((count, says)) => PortLimit {
            bytes_per_cycle: count * f64::from(width),
            why: format!("{march}: {says}"),
            known: true,
        },
        None => PortLimit {
            bytes_per_cycle: f64::from(width),
            why: format!("ports of this core are not known: one {access} a cycle is assumed"),
            known: false,
        },
    }
}

/// See `Host::store_limit`.
pub(crate) fn store(march: Microarch, width: u32) -> PortLimit {
    let ports = ports(march);
    let per_cycle = ports.as_ref().map(|p| (p.store[column(width)], p.store_says));
    limit(march, width, per_cycle, "store")
}

/// See `Host::load_limit`.
pub(crate) fn load(march: Microarch, width: u32) -> PortLimit {
    let ports = ports(march);
    let per_cycle = ports.as_ref().map(|p| (p.load[column(width)], p.load_says));
    limit(march, width, per_cycle, "load")
}

/// See `Host::copy_limit`.
pub(crate) fn copy(march: Microarch, width: u32) -> PortLimit {
    let (store, load) = (store(march, width), load(march, width));
    let together = ports(march).map(|p| {
        // an access that is done in parts takes an address only once, so the pairs of
        // addresses bound the copy only where loads and stores do not
        let says = format!("{} loads and stores together a cycle", p.both);
        limit(march, width, Some((p.both / 2.0, &says)), "move")
    });
    let least = |a: PortLimit, b: PortLimit| {
        if b.bytes_per_cycle < a.bytes_per_cycle { b } else { a }
    };
    let both = least(store, load);
    match together {
        Some(together) => least(both, together),
        None => both,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_of_known_cores() {
        let cases = [
            (Microarch::Haswell, 32, 32.0),
            (Microarch::Haswell, 8, 8.0),
            (Microarch::SandyBridge, 32, 16.0),
            (Microarch::SkylakeServer, 64, 64.0),
            (Microarch::GoldenCove, 32, 64.0),
            (Microarch::GoldenCove, 64, 64.0),
            (Microarch::Zen1, 32, 16.0),
            (Microarch::Zen3, 8, 16.0),
            (Microarch::Zen3, 4, 8.0),
            (Microarch::Zen3, 16, 16.0),
            (Microarch::Zen3, 32, 32.0),
            (Microarch::Zen4, 64, 32.0),
            (Microarch::Zen5, 64, 64.0),
        ];
        for (march, width, wanted) in cases {
            let limit = store(march, width);
            assert_eq!(limit.bytes_per_cycle, wanted, "{march} {width}");
            assert!(limit.known && limit.why.starts_with(march.word()), "{}", limit.why);
        }
    }

    #[test]
    fn a_copy_is_bound_by_the_scarcest() {
        assert_eq!(copy(Microarch::Zen3, 32).bytes_per_cycle, 32.0);
        // three addresses a cycle, two a moved register
        let scalar = copy(Microarch::Zen3, 8);
        assert_eq!(scalar.bytes_per_cycle, 12.0);
        assert!(scalar.why.contains("together"), "{}", scalar.why);
        assert_eq!(copy(Microarch::Nehalem, 16).bytes_per_cycle, 16.0);
        assert_eq!(copy(Microarch::GoldenCove, 64).bytes_per_cycle, 64.0);
    }

    #[test]
    fn an_unknown_core_is_said_to_be_one() {
        for limit in [store, load, copy].map(|limit| limit(Microarch::Unknown, 32)) {
            assert_eq!(limit.bytes_per_cycle, 32.0);
            assert!(!limit.known && limit.why.contains("not known"), "{}", limit.why);
        }
        assert_eq!(store(Microarch::Unknown, 0).bytes_per_cycle, 1.0);
        assert_eq!(store(Microarch::Unknown, 4096).bytes_per_cycle, 64.0);
    }

    #[test]
    fn a_wider_vector_never_moves_less() {
        for march in Microarch::ALL {
            for limit in [store, load, copy] {
                let of = |width| limit(*march, width).bytes_per_cycle;
                assert!(of(16) <= of(32) && of(32) <= of(64), "{march}");
            }
        }
    }
}
