//! Core designs, by the numbers that CPUID gives.

use crate::units::words;

words! {
    /// A core design, as far as its load and store ports differ from others'.
    Microarch {
        /// Not in the table.
        Unknown = "unknown",
        /// Intel Core 2 (Merom, Penryn).
        Core2 = "Core 2",
        /// Intel Nehalem and Westmere.
        Nehalem = "Nehalem",
        /// Intel Sandy Bridge and Ivy Bridge.
        SandyBridge = "Sandy Bridge",
        /// Intel Haswell and Broadwell.
        Haswell = "Haswell",
        /// Intel Skylake client, Kaby Lake, Coffee Lake, Comet Lake.
        Skylake = "Skylake",
        /// Intel Skylake server, Cascade Lake, Cooper Lake.
        SkylakeServer = "Skylake server",
        /// Intel Cannon Lake, Ice Lake, Tiger Lake, Rocket Lake.
        SunnyCove = "Sunny Cove",
        /// Intel Alder Lake, Raptor Lake, Sapphire Rapids, Emerald Rapids (big cores).
        GoldenCove = "Golden Cove",
        /// Intel Meteor Lake, Granite Rapids (big cores).
        RedwoodCove = "Redwood Cove",
        /// Intel Lunar Lake, Arrow Lake (big cores).
        LionCove = "Lion Cove",
        /// Intel Knights Landing, Knights Mill.
        KnightsLanding = "Knights Landing",
        /// Intel Silvermont, Airmont.
        Silvermont = "Silvermont",
        /// Intel Goldmont, Goldmont Plus.
        Goldmont = "Goldmont",
        /// Intel Tremont.
        Tremont = "Tremont",
        /// Small cores of Intel Alder Lake, Raptor Lake; Alder Lake-N.
        Gracemont = "Gracemont",
        /// Small cores of Intel Meteor Lake; Sierra Forest.
        Crestmont = "Crestmont",
        /// Small cores of Intel Lunar Lake, Arrow Lake.
        Skymont = "Skymont",
        /// AMD family 10h.
        K10 = "K10",
        /// AMD family 15h.
        Bulldozer = "Bulldozer",
        /// AMD family 16h.
        Jaguar = "Jaguar",
        /// AMD Zen, Zen+; Hygon Dhyana.
        Zen1 = "Zen 1",
        /// AMD Zen 2.
        Zen2 = "Zen 2",
        /// AMD Zen 3.
        Zen3 = "Zen 3",
        /// AMD Zen 4.
        Zen4 = "Zen 4",
        /// AMD Zen 5.
        Zen5 = "Zen 5",
    }
}

impl Microarch {
    /// From the vendor's letters and the display family and model; `small` is whether the
    /// CPU is a small core of a hybrid machine.
    pub(crate) fn guess(vendor: &str, family: u32, model: u32, small: bool) -> Microarch {
        match (vendor, family) {
            ("GenuineIntel", 6) => intel6(model, small),
            ("AuthenticAMD", 0x10) => Microarch::K10,
            ("AuthenticAMD", 0x15) => Microarch::Bulldozer,
            ("AuthenticAMD", 0x16) => Microarch::Jaguar,
            ("AuthenticAMD", 0x17) if model < 0x30 => Microarch::Zen1,
            ("AuthenticAMD", 0x17) => Microarch::Zen2,
            ("HygonGenuine", 0x18) => Microarch::Zen1,
            ("AuthenticAMD", 0x19) => match model {
                0x10..=0x1f | 0x60..=0x7f | 0xa0..=0xaf => Microarch::Zen4,
                _ => Microarch::Zen3,
            },
            ("AuthenticAMD", 0x1a) => match model {
                0x00..=0x4f | 0x60..=0x7f => Microarch::Zen5,
                _ => Microarch::Unknown,
            },
            _ => Microarch::Unknown,
        }
    }
}

impl Microarch {
    /// Independent additions that a core makes in a cycle when it is nobody else's: its integer
    /// units for them. `None` where the design is not in the table.
    pub fn additions_per_cycle(self) -> Option<u32> {
        use Microarch::*;
        Some(match self {
            Unknown => return None,
            KnightsLanding | Silvermont | Bulldozer | Jaguar => 2,
            Core2 | Nehalem | SandyBridge | Goldmont | Tremont | K10 => 3,
            Haswell | Skylake | SkylakeServer | SunnyCove | Gracemont | Crestmont | Zen1 | Zen2
            | Zen3 | Zen4 => 4,
            GoldenCove | RedwoodCove => 5,
            LionCove | Zen5 => 6,
            Skymont => 8,
        })
    }
}

fn intel6(model: u32, small: bool) -> Microarch {
    match model {
        0x0f | 0x16 | 0x17 | 0x1d => Microarch::Core2,
        0x1a | 0x1e | 0x1f | 0x2e | 0x25 | 0x2c | 0x2f => Microarch::Nehalem,
        0x2a | 0x2d | 0x3a | 0x3e => Microarch::SandyBridge,
        0x3c | 0x3f | 0x45 | 0x46 | 0x3d | 0x47 | 0x4f | 0x56 => Microarch::Haswell,
        0x4e | 0x5e | 0x8e | 0x9e | 0xa5 | 0xa6 => Microarch::Skylake,
        0x55 => Microarch::SkylakeServer,
        0x66 | 0x6a | 0x6c | 0x7d | 0x7e | 0x8c | 0x8d | 0x9d | 0xa7 => Microarch::SunnyCove,
        0x97 | 0x9a | 0xb7 | 0xba | 0xbf if small => Microarch::Gracemont,
        0x97 | 0x9a | 0xb7 | 0xba | 0xbf | 0x8f | 0xcf => Microarch::GoldenCove,
        0xaa | 0xac if small => Microarch::Crestmont,
        0xaa | 0xac | 0xad | 0xae => Microarch::RedwoodCove,
        0xbd | 0xb5 | 0xc5 | 0xc6 if small => Microarch::Skymont,
        0xbd | 0xb5 | 0xc5 | 0xc6 => Microarch::LionCove,
        0x57 | 0x85 => Microarch::KnightsLanding,
        0x37 | 0x4a | 0x4c | 0x4d | 0x5a | 0x5d => Microarch::Silvermont,
        0x5c | 0x5f | 0x7a => Microarch::Goldmont,
        0x86 | 0x8a | 0x96 | 0x9c => Microarch::Tremont,
        0xbe => Microarch::Gracemont,
        0xaf | 0xb6 => Microarch::Crestmont,
        _ => Microarch::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_processors_have_their_design() {
        let cases = [
            ("GenuineIntel", 6, 0x3c, Microarch::Haswell),
            ("GenuineIntel", 6, 0x55, Microarch::SkylakeServer),
            ("GenuineIntel", 6, 0xcf, Microarch::GoldenCove),
            ("AuthenticAMD", 0x17, 0x01, Microarch::Zen1),
            ("AuthenticAMD", 0x17, 0x31, Microarch::Zen2),
            ("AuthenticAMD", 0x19, 0x01, Microarch::Zen3),
            ("AuthenticAMD", 0x19, 0x21, Microarch::Zen3),
            ("AuthenticAMD", 0x19, 0x11, Microarch::Zen4),
            ("AuthenticAMD", 0x1a, 0x02, Microarch::Zen5),
            ("GenuineIntel", 15, 4, Microarch::Unknown),
            ("VIA VIA VIA ", 6, 0x0f, Microarch::Unknown),
        ];
        for (vendor, family, model, wanted) in cases {
            assert_eq!(Microarch::guess(vendor, family, model, false), wanted, "{vendor} {model}");
        }
    }
}
