//! What can go wrong with an export.

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ExportError {
    #[error(
        "`{symbol}` is no symbol name: {why}; write a C identifier such as looptune_zero, with --symbol"
    )]
    Symbol { symbol: String, why: String },
    #[error("the export template does not render: {0}")]
    Template(#[from] minijinja::Error),
}

/// Why an exported text is not what was tuned.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum CheckError {
    #[error("the export cannot be checked: {what}: {source}")]
    Io { what: String, source: std::io::Error },
    #[error("{assembler} does not assemble the export: {message}")]
    Assembler { assembler: String, message: String },
    #[error("{assembler} wrote an object that cannot be read: {why}")]
    Object { assembler: String, why: String },
    #[error(
        "{assembler} gives other bytes than were tuned: at offset {offset:#x} {got}, tuned {wanted}"
    )]
    Bytes { assembler: String, offset: usize, got: String, wanted: String },
    #[error("{assembler} places the code where it was not tuned: {why}")]
    Place { assembler: String, why: String },
}
