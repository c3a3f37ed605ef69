//! What a report says of the host and the command.

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
