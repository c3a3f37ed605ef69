//! CPUID: reading leaves safely, and what the processor says it is.

use raw_cpuid::{CpuId, CpuIdReader, CpuIdResult};
use serde::{Deserialize, Serialize};

use super::march::Microarch;

/// What QEMU's instruction emulator is called here.
pub(crate) const EMULATOR: &str = "QEMU, which emulates every instruction";

const ZERO: CpuIdResult = CpuIdResult { eax: 0, ebx: 0, ecx: 0, edx: 0 };

/// The CPUID leaves of one CPU. Processors answer a leaf beyond their last with the content
/// of another one, so every read is checked against the range's own maximum first.
#[derive(Clone, Copy)]
pub(crate) struct Leaves<R: CpuIdReader> {
    reader: R,
    max_basic: u32,
    max_extended: u32,
    max_hypervisor: u32,
}

impl Leaves<raw_cpuid::CpuIdReaderNative> {
    /// Of the CPU the thread runs on.
    pub(crate) fn native() -> Self {
        Leaves::with(raw_cpuid::CpuIdReaderNative)
    }
}

impl<R: CpuIdReader> Leaves<R> {
    /// Of any source, so that tests can tell of machines that are not here.
    pub(crate) fn with(reader: R) -> Self {
        let within = |base: u32| {
            let max = reader.cpuid1(base).eax;
            // a range has at most a few hundred leaves; anything else is no range at all
            if (base..base + 0x1000).contains(&max) { max } else { base }
        };
        let max_basic = within(0);
        let max_extended = within(0x8000_0000);
        let guest = max_basic >= 1 && reader.cpuid1(1).ecx >> 31 & 1 == 1;
        let max_hypervisor = if guest { within(0x4000_0000) } else { 0 };
        Leaves { reader, max_basic, max_extended, max_hypervisor }
    }

    /// A leaf; zeros where the processor does not have it.
    pub(crate) fn leaf(&self, leaf: u32, subleaf: u32) -> CpuIdResult {
        let max = match leaf {
            0x8000_0000.. => self.max_extended,
            0x4000_0000.. => self.max_hypervisor,
            _ => self.max_basic,
        };
        if leaf <= max { self.reader.cpuid2(leaf, subleaf) } else { ZERO }
    }

    /// A subleaf of leaf 7; zeros beyond the last.
    pub(crate) fn leaf7(&self, subleaf: u32) -> CpuIdResult {
        if subleaf == 0 || subleaf <= self.leaf(7, 0).eax { self.leaf(7, subleaf) } else { ZERO }
    }

    /// The library's view, for what it has an accessor for; of the same checked leaves.
    pub(crate) fn library(&self) -> CpuId<impl CpuIdReader> {
        CpuId::with_cpuid_reader(|leaf, subleaf| self.leaf(leaf, subleaf))
    }

    /// Name of the hypervisor, `None` on bare metal.
    pub(crate) fn hypervisor(&self) -> Option<String> {
        if self.max_hypervisor == 0 {
            return None;
        }
        let r = self.leaf(0x4000_0000, 0);
        let name = text(&[r.ebx, r.ecx, r.edx]);
        Some(match name.as_str() {
            "KVMKVMKVM" => "KVM".to_string(),
            "TCGTCGTCGTCG" => EMULATOR.to_string(),
            "Microsoft Hv" => "Hyper-V".to_string(),
            "VMwareVMware" => "VMware".to_string(),
            "XenVMMXenVMM" => "Xen".to_string(),
            "bhyve bhyve" => "bhyve".to_string(),
            "" => "unnamed".to_string(),
            _ => name,
        })
    }
}

/// Registers as text: printable ASCII only, trimmed.
fn text(registers: &[u32]) -> String {
    let bytes = registers.iter().flat_map(|r| r.to_le_bytes());
    let printable = bytes.filter(|b| (0x20..0x7f).contains(b)).map(char::from);
    printable.collect::<String>().trim().to_string()
}

/// What the processor says it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The vendor's twelve letters, such as `AuthenticAMD`; "unknown" where there are none.
    pub vendor: String,
    /// The marketing name; "unknown" where there is none.
    pub brand: String,
    /// Display family: base and extended together.
    pub family: u32,
    /// Display model: base and extended together.
    pub model: u32,
    /// Stepping.
    pub stepping: u32,
    /// The core's design, guessed from the numbers above.
    pub microarch: Microarch,
    /// Whether cores of unlike designs share this machine, so that the answer depends on the
    /// CPU that was asked.
    pub hybrid: bool,
}

impl Cpu {
    pub(crate) fn read<R: CpuIdReader>(cpuid: &Leaves<R>) -> Cpu {
        let r = cpuid.leaf(0, 0);
        let known = |name: String| if name.is_empty() { "unknown".to_string() } else { name };
        let vendor = known(text(&[r.ebx, r.edx, r.ecx]));

        let signature = cpuid.leaf(1, 0).eax;
        let field = |shift: u32, mask: u32| signature >> shift & mask;
        let base_family = field(8, 0xf);
        let family = base_family + if base_family == 0xf { field(20, 0xff) } else { 0 };
        let wide_model = base_family == 0xf || base_family == 6;
        let model = field(4, 0xf) | if wide_model { field(16, 0xf) << 4 } else { 0 };

        let parts: Vec<u32> = (0x8000_0002..=0x8000_0004)
            .map(|leaf| cpuid.leaf(leaf, 0))
            .flat_map(|r| [r.eax, r.ebx, r.ecx, r.edx])
            .collect();
        let brand = text(&parts).split_whitespace().collect::<Vec<_>>().join(" ");

        let hybrid = vendor == "GenuineIntel" && cpuid.leaf7(0).edx >> 15 & 1 == 1;
        let small = hybrid && cpuid.leaf(0x1a, 0).eax >> 24 == 0x20;
        let microarch = Microarch::guess(&vendor, family, model, small);
        let stepping = field(0, 0xf);
        Cpu { vendor, brand: known(brand), family, model, stepping, microarch, hybrid }
    }
}

#[cfg(test)]
pub(crate) mod script {
    //! Machines that are not here, as tables of leaves.

    use super::*;

    /// Registers in the order eax, ebx, ecx, edx.
    pub(crate) type Row = ((u32, u32), [u32; 4]);

    /// A reader that answers from a table, and with garbage for what is not in it: real
    /// processors do not answer unknown leaves with zeros either.
    pub(crate) fn machine(rows: &[Row]) -> Leaves<impl CpuIdReader + use<>> {
        let rows = rows.to_vec();
        Leaves::with(move |leaf, subleaf| {
            let row = rows.iter().find(|(at, _)| *at == (leaf, subleaf));
            let [eax, ebx, ecx, edx] = row.map_or([0xffff_ffff; 4], |(_, r)| *r);
            CpuIdResult { eax, ebx, ecx, edx }
        })
    }

    /// Leaf 0 of a vendor with the given last leaf.
    pub(crate) fn vendor(name: &str, max: u32) -> Row {
        let word = |at: usize| {
            let b = name.as_bytes();
            u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
        };
        ((0, 0), [max, word(0), word(8), word(4)])
    }
}

#[cfg(test)]
mod tests {
    use super::script::{machine, vendor};
    use super::*;

    #[test]
    fn family_and_model_join_their_extended_parts() {
        let rows = [
            vendor("AuthenticAMD", 1),
            ((1, 0), [0x00a0_0f11, 0, 0, 0]),
            ((0x8000_0000, 0), [0x8000_0001, 0, 0, 0]),
        ];
        let cpu = Cpu::read(&machine(&rows));
        assert_eq!((cpu.family, cpu.model, cpu.stepping), (0x19, 1, 1));
        assert_eq!(cpu.vendor, "AuthenticAMD");
        assert_eq!(cpu.microarch, Microarch::Zen3);
        assert_eq!(cpu.brand, "unknown", "leaves beyond the last must not be believed");
    }

    #[test]
    fn a_processor_that_answers_nonsense_is_unknown() {
        let cpuid = machine(&[]);
        let cpu = Cpu::read(&cpuid);
        assert_eq!(cpu.brand, "unknown");
        assert_eq!(cpuid.hypervisor(), None);
        let silent = Leaves::with(|_, _| ZERO);
        assert_eq!(Cpu::read(&silent).vendor, "unknown");
    }

    #[test]
    fn the_small_core_of_a_hybrid_is_told_apart() {
        let hybrid = |core: u32| {
            machine(&[
                vendor("GenuineIntel", 0x1a),
                ((1, 0), [0x0009_0672, 0, 0, 0]),
                ((7, 0), [0, 0, 0, 1 << 15]),
                ((0x1a, 0), [core << 24, 0, 0, 0]),
            ])
        };
        assert_eq!(Cpu::read(&hybrid(0x40)).microarch, Microarch::GoldenCove);
        assert_eq!(Cpu::read(&hybrid(0x20)).microarch, Microarch::Gracemont);
    }

    #[test]
    fn hypervisors_are_named_only_in_guests() {
        let leaf = ((0x4000_0000, 0), [0x4000_0001, 0x4b4d_564b, 0x564b_4d56, 0x4d]);
        let guest = machine(&[vendor("AuthenticAMD", 1), ((1, 0), [0, 0, 1 << 31, 0]), leaf]);
        assert_eq!(guest.hypervisor().as_deref(), Some("KVM"));
        let metal = machine(&[vendor("AuthenticAMD", 1), ((1, 0), [0, 0, 0, 0]), leaf]);
        assert_eq!(metal.hypervisor(), None);
    }
}
