//! A short name for many bytes.

/// Tells byte sequences apart (FNV-1a, 64 bits); the same in every build, so it may be recorded.
/// No defence against who wants two to be alike.
pub fn digest(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn digests_are_those_of_the_published_function() {
        assert_eq!(digest(*b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(digest(*b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(digest(*b"foobar"), 0x8594_4171_f739_67e8);
    }
}
