//! Attributes that are one letter, as LAPACK's options are: jaxlib passes its ASCII code.

use matrices::{Transpose, Triangle, Vectors};
use xla_ffi::{AnyAttr, Error, Operand, OperandKind, Result};

/// The letter that an attribute holds as text or as a ui8.
///
/// # Errors
/// It holds something else.
pub fn of(name: &'static str, attr: AnyAttr<'_>) -> Result<u8> {
    match (attr.scalar::<u8>(), attr.bytes()) {
        (Some(letter), _) | (None, Some(&[letter])) => Ok(letter),
        (None, Some(text)) => Err(Error::mismatch(
            Operand::new(OperandKind::Attribute, name),
            "be one letter",
            format_args!("\"{}\"", text.escape_ascii()),
        )),
        (None, None) => Err(Error::mismatch(
            Operand::new(OperandKind::Attribute, name),
            "be a string or a scalar ui8",
            attr.type_(),
        )),
    }
}

/// What the letter stands for.
///
/// # Errors
/// ``attribute `uplo` must be 'L' or 'U', got 'X'``.
fn choose<V: Copy>(name: &'static str, letter: u8, choices: &[(u8, V)]) -> Result<V> {
    let found = choices.iter().find(|(choice, _)| *choice == letter);
    found.map(|&(_, value)| value).ok_or_else(|| {
        let quoted: Vec<String> = choices
            .iter()
            .map(|&(choice, _)| format!("'{}'", choice as char))
            .collect();
        let expected = match quoted.as_slice() {
            [only] => only.clone(),
            [before @ .., last] => format!("{} or {last}", before.join(", ")),
            [] => String::new(),
        };
        Error::mismatch(
            Operand::new(OperandKind::Attribute, name),
            format_args!("be {expected}"),
            format_args!("'{}'", letter.escape_ascii()),
        )
    })
}

/// `L` or `U`.
///
/// # Errors
/// It is neither.
pub fn triangle(name: &'static str, letter: u8) -> Result<Triangle> {
    let kinds = [Triangle::Lower, Triangle::Upper];
    choose(name, letter, &kinds.map(|kind| (kind as u8, kind)))
}

/// `L`, also where there is no attribute, or `U`.
///
/// # Errors
/// It is something else.
pub fn triangle_or_lower(name: &'static str, attr: Option<AnyAttr<'_>>) -> Result<Triangle> {
    attr.map_or(Ok(Triangle::Lower), |attr| triangle(name, of(name, attr)?))
}

/// `A`, `S` or `N`: which singular vectors.
///
/// # Errors
/// It is none of them.
pub fn vectors(name: &'static str, letter: u8) -> Result<Vectors> {
    let kinds = [Vectors::Full, Vectors::Thin, Vectors::No];
    choose(name, letter, &kinds.map(|kind| (kind as u8, kind)))
}

/// `V` (with vectors) or `N` (without).
///
/// # Errors
/// It is neither.
pub fn with_vectors(name: &'static str, letter: u8) -> Result<bool> {
    choose(name, letter, &[(b'V', true), (b'N', false)])
}

/// `N`: eigenvalues stay in the order in which they were found.
///
/// # Errors
/// It is something else.
pub fn unsorted(name: &'static str, letter: u8) -> Result<()> {
    choose(name, letter, &[(b'N', ())])
}

/// `L` (true) or `R`: the side of a factor.
///
/// # Errors
/// It is neither.
pub fn left(name: &'static str, letter: u8) -> Result<bool> {
    choose(name, letter, &[(b'L', true), (b'R', false)])
}

/// `U` (true) or `N`: whether a diagonal is taken to be of ones.
///
/// # Errors
/// It is neither.
pub fn unit(name: &'static str, letter: u8) -> Result<bool> {
    choose(name, letter, &[(b'U', true), (b'N', false)])
}

/// `N`, `T` or `C`: as it is, transposed, or conjugated as well.
///
/// # Errors
/// It is none of them.
pub fn transpose(name: &'static str, letter: u8) -> Result<Transpose> {
    let kinds = [Transpose::No, Transpose::Plain, Transpose::Conjugate];
    choose(name, letter, &kinds.map(|kind| (kind as u8, kind)))
}
