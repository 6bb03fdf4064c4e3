//! Programs as bytes.

/// Whether a program has that word.
pub(crate) fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}
