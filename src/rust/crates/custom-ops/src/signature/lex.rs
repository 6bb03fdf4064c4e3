//! The words and signs of a signature.

use core::ops::Range;

use super::error::{Fault, Result};

/// A word or sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A C identifier.
    Name(String),
    /// Digits only: 2^63 at most, which is a number with a minus before it only.
    Integer(u64),
    /// A number with a point or an exponent.
    Float(f64),
    /// Between quotes, escapes resolved.
    Text(String),
    /// Punctuation.
    Sign(&'static str),
    /// Behind the last one.
    End,
}

/// The greatest integer, as it is told.
pub(super) const GREATEST: &str = "2^63 - 1";

/// The longer ones first.
const SIGNS: [&str; 15] = [
    "->", "...", ":", ";", ",", "[", "]", "(", ")", "?", "*", "+", "-", "/", "=",
];

/// All tokens and their places, [`Token::End`] last.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        let Some(first) = trimmed.chars().next() else {
            let end = text.trim_end().len();
            tokens.push((Token::End, end..end));
            return Ok(tokens);
        };
        let (token, length) = match first {
            'a'..='z' | 'A'..='Z' | '_' => {
                let length = prefix(trimmed, |c| c.is_ascii_alphanumeric() || c == '_');
                (Token::Name(trimmed[..length].to_string()), length)
            }
            '0'..='9' => number(trimmed, at)?,
            '"' | '\'' => quoted(trimmed, at, first)?,
            _ => match SIGNS.iter().find(|sign| trimmed.starts_with(**sign)) {
                Some(sign) => (Token::Sign(sign), sign.len()),
                None => return Err(unknown(first, at)),
            },
        };
        tokens.push((token, at..at + length));
        at += length;
    }
}

fn unknown(character: char, at: usize) -> Fault {
    let at = at..at + character.len_utf8();
    let fault = Fault::new(&at, format!("a signature has no {character:?}"));
    match character {
        '→' | '>' => fault.hint("Write `->`."),
        '…' => fault.hint("Write `...`, three points."),
        '“' | '”' | '„' | '‘' | '’' => fault.hint("Write plain quotes."),
        '<' => fault.hint("Write dimensions in brackets, `T[n]`."),
        '{' => fault.hint("Write dimensions and arrays in brackets, `[2, 3]`."),
        c if c.is_alphabetic() => {
            fault.hint("Names are identifiers of C: letters of ASCII, digits and `_`.")
        }
        _ => fault,
    }
}

/// Bytes of the characters from the start that are as told.
fn prefix(text: &str, like: impl Fn(char) -> bool) -> usize {
    text.find(|c| !like(c)).unwrap_or(text.len())
}

fn number(text: &str, at: usize) -> Result<(Token, usize)> {
    let digits = |text: &str| prefix(text, |c| c.is_ascii_digit());
    let whole = digits(text);
    let mut length = whole;
    // Not the `...` behind a number.
    if text[length..].starts_with('.') && !text[length..].starts_with("..") {
        length += 1 + digits(&text[length + 1..]);
    }
    if text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = digits(&text[length + 1 + sign..]);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    // `2n`: a name cannot begin here.
    let tail = prefix(&text[length..], |c| c.is_ascii_alphanumeric() || c == '_');
    let place = at..at + length + tail;
    if tail > 0 {
        let (number, name) = (&text[..length], &text[length..length + tail]);
        let fault = Fault::new(
            &place,
            format!(
                "`{}` is neither a number nor a name",
                &text[..length + tail]
            ),
        );
        return Err(match length == whole {
            true => fault.hint(format!("A product is `{number}*{name}`.")),
            false => fault,
        });
    }
    let digits = &text[..length];
    let (token, limit) = match length == whole {
        true => {
            let value: Option<u64> = digits.parse().ok();
            let value = value.filter(|value| *value <= i64::MIN.unsigned_abs());
            (value.map(Token::Integer), GREATEST)
        }
        false => {
            let value: Option<f64> = digits.parse().ok();
            (
                value.filter(|value| value.is_finite()).map(Token::Float),
                "what f64 holds",
            )
        }
    };
    let token = token.ok_or_else(|| Fault::new(&place, format!("{digits} is above {limit}")))?;
    Ok((token, length))
}

fn quoted(text: &str, at: usize, quote: char) -> Result<(Token, usize)> {
    let mut value = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((index, character)) = characters.next() {
        match character {
            c if c == quote => return Ok((Token::Text(value), index + 1)),
            '\\' => match characters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, c @ ('\\' | '"' | '\''))) => value.push(c),
                Some((end, c)) => {
                    let place = at + index..at + end + c.len_utf8();
                    let fault = Fault::new(
                        &place,
                        format!("a text has no escape `\\{}`", c.escape_debug()),
                    );
                    return Err(fault.hint("There are `\\n`, `\\t`, `\\\\`, `\\\"` and `\\'`."));
                }
                None => break,
            },
            '\0' => {
                let place = at + index..at + index + 1;
                return Err(Fault::new(&place, "a text cannot hold NUL"));
            }
            c => value.push(c),
        }
    }
    Err(Fault::new(
        &(at..at + text.len()),
        format!("the text has no closing {quote}"),
    ))
}
