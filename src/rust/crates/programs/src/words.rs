//! Words in programs, however these are written.

/// Whether a program has that word.
pub fn contains(code: &[u8], word: &[u8]) -> bool {
    code.windows(word.len()).any(|part| part == word)
}
