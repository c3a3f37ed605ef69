//! Exit status.

/// A refusal with a meaning for the exit status.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// The arguments are wrong.
    #[error("{0}")]
    Usage(String),
    /// This host cannot do what was asked.
    #[error("{0}")]
    Unsupported(String),
}

/// A usage error as a result.
pub(super) fn usage<T>(text: impl Into<String>) -> anyhow::Result<T> {
    Err(Refusal::Usage(text.into()).into())
}

/// A refusal of this host as a result.
pub(super) fn unsupported<T>(text: impl Into<String>) -> anyhow::Result<T> {
    Err(Refusal::Unsupported(text.into()).into())
}

/// The exit status of an error: 2 wrong arguments, 3 this host cannot, else 1.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    match error.chain().find_map(|e| e.downcast_ref::<Refusal>()) {
        Some(Refusal::Usage(_)) => 2,
        Some(Refusal::Unsupported(_)) => 3,
        None => 1,
    }
}
