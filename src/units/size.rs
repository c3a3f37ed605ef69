//! Sizes in bytes, as people write them.

/// The largest size of a call, bytes: two buffers of it and their guard pages must fit the
/// memory of an ordinary machine.
pub const MAX_SIZE: u64 = 1 << 30;

/// The largest size of a call within a mix of sizes, bytes. A sample of a mix makes many calls,
/// and its driver keeps a size in 25 bits so that the list of calls leaves the first cache to
/// the data.
pub const MAX_MIX_SIZE: u64 = 16 << 20;

/// Why a text is no size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum SizeError {
    #[error("`{0}` is no size; write bytes with an optional k, M or G, as in 4096, 4k, 1M")]
    Malformed(String),
    #[error("a size of 0 bytes has nothing to measure; sizes go from 1 to 1G")]
    Zero,
    #[error("`{0}` is too large; sizes go from 1 to 1G")]
    TooLarge(String),
    #[error("the range `{0}` runs backwards; write the smaller size first")]
    Backwards(String),
    #[error("`{text}`: the step of a range is a whole factor from 2, as in 32..4M..*4")]
    Factor { text: String },
    #[error("no size given; write one, a list such as 64,100,4k or a range such as 32..4M")]
    Empty,
}

/// Reads one size: decimal digits with an optional `k`, `M` or `G` (powers of 1024).
///
/// # Errors
/// Names the text and what would be right.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let text = text.trim();
    let malformed = || SizeError::Malformed(text.to_string());
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(split);
    if digits.is_empty() {
        return Err(malformed());
    }
    let unit: u64 = match suffix.trim_end_matches("iB").trim_end_matches('B') {
        "" => 1,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        _ => return Err(malformed()),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|d| d.checked_mul(unit));
    match bytes {
        Some(0) => Err(SizeError::Zero),
        Some(bytes) if bytes <= MAX_SIZE => Ok(bytes),
        _ => Err(SizeError::TooLarge(text.to_string())),
    }
}

/// Reads sizes: a list whose items are sizes or ranges `a..b` (powers of two from `a`) or
/// `a..b..*f` (another factor). Ascending, without repetition; a range always holds its end.
///
/// # Errors
/// Names the item and what would be right.
pub fn parse_sizes(text: &str) -> Result<Vec<u64>, SizeError> {
    let mut sizes = Vec::new();
    if text.trim().is_empty() {
        return Err(SizeError::Empty);
    }
    for item in text.split(',') {
        let mut parts = item.split("..");
        let first = parse_size(parts.next().unwrap_or_default())?;
        let Some(last) = parts.next() else {
            sizes.push(first);
            continue;
        };
        let last = parse_size(last)?;
        let factor = match parts.next() {
            None => 2,
            Some(step) => step
                .strip_prefix('*')
                .and_then(|f| f.parse::<u64>().ok())
                .filter(|f| *f >= 2)
                .ok_or_else(|| SizeError::Factor { text: item.to_string() })?,
        };
        if parts.next().is_some() {
            return Err(SizeError::Malformed(item.to_string()));
        }
        if first > last {
            return Err(SizeError::Backwards(item.to_string()));
        }
        let mut size = first;
        while size < last {
            sizes.push(size);
            size = size.saturating_mul(factor);
        }
        sizes.push(last);
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

/// A size for people: exact, with the largest unit that divides it.
pub fn human_size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")];
    UNITS
        .iter()
        .find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit))
        .map_or_else(|| bytes.to_string(), |(unit, name)| format!("{}{name}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_lists_and_ranges() {
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("4k"), Ok(4096));
        assert_eq!(parse_size("1MiB"), Ok(1 << 20));
        assert_eq!(parse_sizes("32..256").unwrap(), [32, 64, 128, 256]);
        assert_eq!(parse_sizes("32..300").unwrap(), [32, 64, 128, 256, 300]);
        assert_eq!(parse_sizes("32..4k..*4").unwrap(), [32, 128, 512, 2048, 4096]);
        assert_eq!(parse_sizes("4k,64,100,64").unwrap(), [64, 100, 4096]);
    }

    #[test]
    fn what_is_no_size_is_named() {
        for bad in ["-5", "4q", "", "k", "4.5k", "0x10", "4kk", "1..2..*2..3"] {
            let e = parse_sizes(bad).unwrap_err();
            assert!(matches!(e, SizeError::Malformed(_) | SizeError::Empty), "{bad}: {e}");
        }
        assert_eq!(parse_size("0"), Err(SizeError::Zero));
        assert!(matches!(parse_size("99999999999999999999"), Err(SizeError::TooLarge(_))));
        assert!(matches!(parse_size("2G"), Err(SizeError::TooLarge(_))));
        assert!(matches!(parse_sizes("64..32"), Err(SizeError::Backwards(_))));
        assert!(matches!(parse_sizes("32..64..*1"), Err(SizeError::Factor { .. })));
    }

    #[test]
    fn human_sizes_are_exact() {
        assert_eq!(human_size(4096), "4k");
        assert_eq!(human_size(4097), "4097");
        assert_eq!(human_size(3 << 20), "3M");
        assert_eq!(human_size(100), "100");
    }
}
