//! What a report says of the host and the command.

use crate::host::{Feature, Host};
use crate::subject::Op;
use crate::units::human_size;

/// The host and the command, for headings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The command line.
    pub command: String,
    /// Key of the host, the name of its folder.
    pub host_key: String,
    /// The processor, as it names itself.
    pub cpu: String,
    /// Usable features, in canonical order.
    pub features: Vec<String>,
    /// Release of the C library behind `libc`, as in `glibc 2.36`; `None` where unknown.
    pub libc: Option<String>,
    /// What bytes a cycle are compared with; `None` where no limit is known.
    pub limit: Option<Limit>,
}

/// The most bytes a core can store in a cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Bytes a core cycle.
    pub bytes_per_cycle: f64,
    /// Which limit this is and where it is from, for people.
    pub why: String,
}

impl Facts {
    /// What is told of a host for an op.
    pub fn of(host: &Host, op: Op, command: String) -> Facts {
        // The limit of the widest store that this host has, whatever a loop uses: the share
        // of it is what a better loop could still gain.
        let widest = [(Feature::Avx512f, 64), (Feature::Avx, 32), (Feature::Sse2, 16)];
        let widest = widest.iter().find(|(f, _)| host.usable.contains(*f)).map_or(8, |w| w.1);
        let port = match op {
            Op::Zero | Op::Write => host.store_limit(widest),
            Op::Read => host.load_limit(widest),
            Op::Copy => host.copy_limit(widest),
        };
        Facts {
            command,
            host_key: host.key.clone(),
            cpu: host.cpu.brand.clone(),
            features: host.usable.iter().map(|f| f.word().to_string()).collect(),
            libc: host.conditions.clib.glibc.as_ref().map(|v| {
                match host.conditions.clib.nt_threshold {
                    Some(bytes) => format!("glibc {v} (non-temporal from {})", human_size(bytes)),
                    None => format!("glibc {v}"),
                }
            }),
            limit: Some(Limit { bytes_per_cycle: port.bytes_per_cycle, why: port.why }),
        }
    }
}
