//! What a check has found.

use super::room::Room;
use super::Walk;

/// Operands that come this often, results and scratch arrays take no memory from the heap.
pub(super) const FEW: usize = 12;

/// One call, checked by [`Plan::check`](super::Plan::check): to be used again for the next.
#[derive(Clone, Debug)]
pub struct Bound {
    pub(super) instance: usize,
    pub(super) dims: Room<i64, 8>,
    pub(super) batch: Room<i64, 6>,
    pub(super) batch_len: usize,
    pub(super) operands: usize,
    /// Of the operands, the results and the scratch arrays.
    pub(super) sizes: Room<usize, FEW>,
    /// Of the operands and the results.
    pub(super) steps: Room<usize, FEW>,
    /// Where operands broadcast along some batch dimensions only: for each of these, as many as
    /// there are operands and results. Else empty.
    pub(super) strides: Vec<usize>,
}

impl Default for Bound {
    fn default() -> Self {
        Self::new()
    }
}

impl Bound {
    /// Of no call yet.
    #[must_use]
    pub fn new() -> Self {
        Bound {
            instance: 0,
            dims: Room::new(),
            batch: Room::new(),
            batch_len: 0,
            operands: 0,
            sizes: Room::new(),
            steps: Room::new(),
            strides: Vec::new(),
        }
    }

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

    /// How many batch elements there are: how often the body is to be called. 1 without batch
    /// dimensions.
    #[must_use]
    pub fn batch_len(&self) -> usize {
        self.batch_len
    }

    /// How many operands were given: those that are left out do not count, one that comes several
    /// times counts as often.
    #[must_use]
    pub fn operands(&self) -> usize {
        self.operands
    }

    /// Bytes of a batch element of each operand, then of each result, then of each scratch array.
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// For each operand, then each result, bytes from one batch element to the next: its size, or
    /// 0 for one that is the same for all. `None` where operands broadcast along some batch
    /// dimensions only: take a [`walk`](Self::walk), which serves both.
    #[must_use]
    pub fn steps(&self) -> Option<&[usize]> {
        self.strides.is_empty().then_some(&self.steps)
    }

    /// Where the arrays of each batch element lie, from that one on.
    #[must_use]
    pub fn walk(&self, from: usize) -> Walk<'_> {
        Walk::new(self, from)
    }
}
