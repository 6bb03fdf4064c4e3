//! What is wrong with a signature, and where.

use core::fmt;
use core::ops::Range;

/// A signature that cannot be read. [`Display`](fmt::Display) shows the message, the text and,
/// under the place, carets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureError {
    /// What is wrong, in one line.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Where in the text: bytes, on boundaries of characters. Empty behind the last character.
    pub at: Range<usize>,
    /// The signature.
    pub text: String,
}

/// What the parts of the parser return: the text is added at the end.
pub(super) type Result<T> = core::result::Result<T, Fault>;

/// A [`SignatureError`] before the text is known. Boxed: most calls succeed.
#[derive(Debug)]
pub(super) struct Fault(pub(super) Box<(String, Option<String>, Range<usize>)>);

impl Fault {
    pub(super) fn new(at: &Range<usize>, message: impl Into<String>) -> Self {
        Fault(Box::new((message.into(), None, at.clone())))
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0 .1 = Some(hint.into());
        self
    }

    pub(super) fn in_text(self, text: &str) -> SignatureError {
        let (message, hint, at) = *self.0;
        SignatureError {
            message,
            hint,
            at,
            text: text.to_string(),
        }
    }
}

/// Columns of text that are shown around the place.
const WIDTH: usize = 72;

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.trim().is_empty() {
            return f.write_str(&self.message);
        }
        let (line, column, count) = self.excerpt();
        writeln!(f, "{}", self.message)?;
        writeln!(f, "  {line}")?;
        write!(f, "  {:column$}{:^<count$}", "", "^")
    }
}

impl SignatureError {
    /// The line of the place, cut where it is long, the place's column in it, and how many
    /// characters it has.
    fn excerpt(&self) -> (String, usize, usize) {
        let before = &self.text[..self.at.start];
        let first = before.rfind('\n').map_or(0, |at| at + 1);
        let last = self.text[first..].find('\n');
        let last = last.map_or(self.text.len(), |length| first + length);
        // What has no width of its own, or changes that of others, is a space here.
        let line: Vec<char> = self.text[first..last].chars().map(visible).collect();
        let column = self.text[first..self.at.start].chars().count();
        let end = self.at.end.clamp(self.at.start, last);
        let count = self.text[self.at.start..end].chars().count().max(1);
        // A window that shows the place, more of what comes before than of what follows.
        let from = match line.len() > WIDTH {
            true => column.saturating_sub(WIDTH * 2 / 3).min(line.len() - WIDTH),
            false => 0,
        };
        let to = line.len().min(from + WIDTH);
        let mut shown: Vec<char> = line[from..to].to_vec();
        if from > 0 {
            shown[0] = '…';
        }
        if to < line.len() {
            shown[to - from - 1] = '…';
        }
        let shown: String = shown.into_iter().collect();
        let shown = shown.trim_end().to_string();
        let column = column - from;
        let count = count
            .min(shown.chars().count().saturating_sub(column))
            .max(1);
        (shown, column, count)
    }
}

fn visible(character: char) -> char {
    match character.is_control() || character == '\u{feff}' {
        true => ' ',
        false => character,
    }
}

impl std::error::Error for SignatureError {}
