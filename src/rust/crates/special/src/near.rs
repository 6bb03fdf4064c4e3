//! Numbers beside those that are known.

/// Asserts that `got` is `want` up to a relative error.
pub(crate) fn near(error: f64, got: f64, want: f64) {
    assert!((got / want - 1.0).abs() < error, "{got} is not {want}");
}
