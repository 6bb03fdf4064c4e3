//! Sizes of arrays in StableHLO's types.

/// How many elements an array has of whose type this is what stands between the brackets, `2x3xf64`, and its dtype;
/// `None` where that is not known before the program runs.
pub fn counted(inner: &str) -> Option<(u64, &str)> {
    let mut parts = inner.split('x').rev();
    let dtype = parts.next()?;
    let mut dims = parts.map(|dim| dim.parse::<u64>().ok());
    let count = dims.try_fold(1, |count: u64, dim| Some(count.saturating_mul(dim?)))?;
    Some((count, dtype))
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn elements_are_counted() {
        assert_eq!(counted("f64"), Some((1, "f64")));
        assert_eq!(counted("2x3xui8"), Some((6, "ui8")));
        assert_eq!(counted("0x99999999999x99999999999xi1"), Some((0, "i1")));
        assert_eq!(
            counted("99999999999x99999999999xi1"),
            Some((u64::MAX, "i1"))
        );
        assert_eq!(counted("2x?xf32"), None);
    }
}
