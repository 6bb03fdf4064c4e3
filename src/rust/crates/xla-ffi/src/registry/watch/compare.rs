//! Where two arrays differ.

use core::ops::Range;

use super::bytes::part_size;
use crate::DataType;

/// Elements that differ.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// The first.
    pub(super) first: usize,
    /// How many.
    pub(super) count: usize,
}

/// The elements of which a part (of a complex number: real or imaginary part) differs bit by bit and
/// is asked for by the bytes' range.
pub(super) fn different(
    dtype: DataType,
    a: &[u8],
    b: &[u8],
    asked: impl Fn(Range<usize>) -> bool,
) -> Option<Difference> {
    if a == b {
        return None;
    }
    let (element, part) = (dtype.size().unwrap_or(1).max(1), part_size(dtype));
    let differs = |start: usize| {
        let parts = (start..start + element)
            .step_by(part)
            .map(|at| at..at + part);
        parts
            .clone()
            .any(|part| a[part.clone()] != b[part.clone()] && asked(part))
    };
    let mut elements = (0..a.len().min(b.len())).step_by(element);
    let first = elements.find(|&start| differs(start))?;
    let count = 1 + elements.filter(|&start| differs(start)).count();
    Some(Difference {
        first: first / element,
        count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_counted_once() {
        let a = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]
            .map(f32::to_ne_bytes)
            .concat();
        let b = [1.0f32, 2.0, 0.0, 0.0, 5.0, 0.0]
            .map(f32::to_ne_bytes)
            .concat();
        let found = |dtype| different(dtype, &a, &b, |_| true).map(|it| (it.first, it.count));
        assert_eq!(found(DataType::F32), Some((2, 3)));
        assert_eq!(found(DataType::C64), Some((1, 2)));
        assert_eq!(different(DataType::F32, &a, &a, |_| true), None);
        assert_eq!(different(DataType::F32, &a, &b, |_| false), None);
        let late = |part: Range<usize>| part.start >= 16;
        let found = different(DataType::C64, &a, &b, late).map(|it| (it.first, it.count));
        assert_eq!(found, Some((2, 1)));
    }
}
