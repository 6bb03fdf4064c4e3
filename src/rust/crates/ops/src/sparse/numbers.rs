//! Lists of integers in attributes. The text of a program has each of them once for every call, and what XLA compiles of
//! it twice, so long ones may be shortened: to the differences of neighbours, the first from 0, in Base64 VLQ, as the
//! "mappings" of source maps are written. A digit of 6 bits has 5 of the number, the lowest first, and the highest
//! bit where another one follows; the lowest bit of the number is its sign.

use std::borrow::Cow;
use xla_ffi::{AnyAttr, AttrType, AttrValue, Error, Operand, OperandKind, Result, Scalar};

/// An array of i32, or a text of the same.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'f> {
    /// As they are.
    Array(&'f [i32]),
    /// Shortened.
    Text(&'f str),
}

impl<'f> AttrValue<'f> for Numbers<'f> {
    const TYPE: AttrType = AttrType::Array(i32::DTYPE);

    fn read(attr: AnyAttr<'f>) -> Option<Self> {
        let text = || Some(Numbers::Text(<&str>::read(attr)?));
        attr.array().map(Numbers::Array).or_else(text)
    }
}

impl<'f> Numbers<'f> {
    /// The numbers of the attribute `name`.
    ///
    /// # Errors
    /// The text is no text of numbers.
    pub fn get(self, name: &'static str) -> Result<Cow<'f, [i32]>> {
        match self {
            Numbers::Array(numbers) => Ok(Cow::Borrowed(numbers)),
            Numbers::Text(text) => parse(text).map(Cow::Owned).ok_or_else(|| no_numbers(name)),
        }
    }
}

#[cold]
fn no_numbers(name: &'static str) -> Error {
    let operand = Operand::new(OperandKind::Attribute, name);
    Error::mismatch(
        operand,
        "be an array of i32, or its differences in Base64 VLQ",
        "another text",
    )
}

fn parse(text: &str) -> Option<Vec<i32>> {
    let mut numbers = Vec::with_capacity(text.len());
    let (mut last, mut difference, mut shift) = (0_i32, 0_u64, 0);
    for byte in text.bytes() {
        let digit = u64::from(digit(byte)?);
        // Seven digits have all differences of two i32.
        if shift > 30 {
            return None;
        }
        difference |= (digit & 31) << shift;
        shift += 5;
        if digit & 32 == 0 {
            let size = i64::try_from(difference >> 1).ok()?;
            let signed = if difference & 1 == 0 { size } else { -size };
            last = i32::try_from(i64::from(last) + signed).ok()?;
            numbers.push(last);
            (difference, shift) = (0, 0);
        }
    }
    (shift == 0).then_some(numbers)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn texts_of_numbers() {
        assert_eq!(parse(""), Some(vec![]));
        // From the definition: 0, 1, -1, 15, 16, -16 are A, C, D, e, gB, hB.
        assert_eq!(parse("ACDegBhB"), Some(vec![0, 1, 0, 15, 31, 15]));
        assert_eq!(parse("hgggggE"), Some(vec![i32::MIN]));
        let ends = Some(vec![i32::MAX, i32::MIN]);
        assert_eq!(parse("+/////D//////H"), ends);
        for none in [
            "hgggggEggggggI",
            "ggggggE",
            "hggggg",
            "ggggggggA",
            "A-",
            "\u{c4}",
        ] {
            assert_eq!(parse(none), None, "{none}");
        }
    }
}
