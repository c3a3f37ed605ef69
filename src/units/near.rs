//! What a mistyped word may have meant.

/// Up to three of `words` that a person may have meant by `text`, nearest first.
pub fn near(text: &str, words: impl IntoIterator<Item = String>) -> Vec<String> {
    // A third of the letters may be wrong; one may always, and two swapped letters count as
    // one mistake.
    let mut scored: Vec<(usize, String)> = words
        .into_iter()
        .map(|word| (strsim::osa_distance(text, &word), word))
        .filter(|(distance, word)| *distance <= 1 + text.len().min(word.len()) / 3)
        .collect();
    scored.sort();
    scored.dedup();
    scored.into_iter().take(3).map(|(_, word)| word).collect()
}

/// The near words as the end of a message, ` (did you mean a or b?)`; empty where there are
/// none.
pub fn offer(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(" or ")) }
}

/// [`offer`] of the words [`near`] to a text.
pub fn did_you_mean(text: &str, words: impl IntoIterator<Item = String>) -> String {
    offer(&near(text, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_the_far_not_at_all() {
        let words = || ["l1", "l2", "llc", "dram"].map(String::from);
        assert_eq!(did_you_mean("drma", words()), " (did you mean dram?)");
        assert_eq!(near("l4", words()), ["l1", "l2"]);
        assert_eq!(did_you_mean("quick", words()), "");
        assert_eq!(near("lbic", ["libc".to_string(), "rep".to_string()]), ["libc"]);
    }
}
