//! What a check has found.

/// A call, checked by [`Plan::check`](super::Plan::check). Used again for the next call, it needs no
/// memory.
#[derive(Clone, Debug, Default)]
pub struct Bound {
    pub(super) instance: usize,
    pub(super) dims: Vec<i64>,
    pub(super) batch: Vec<i64>,
    pub(super) sizes: Vec<usize>,
}

impl Bound {
    /// The instance that has the operands' element types: see [`Sets`](super::Sets).
    #[must_use]
    pub fn instance(&self) -> usize {
        self.instance
    }

    /// The value of each named dimension of the signature.
    #[must_use]
    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// The batch dimensions of the results.
    #[must_use]
    pub fn batch(&self) -> &[i64] {
        &self.batch
    }

    /// Bytes of a batch element of each operand that was given, then of each result, then of each
    /// scratch array.
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }
}
