//! From one batch element to the next.

use super::bound::FEW;
use super::room::Room;
use super::Bound;

/// Where the operands and results of a batch element lie.
#[derive(Debug)]
pub struct Walk<'b> {
    bound: &'b Bound,
    /// The position along each batch dimension; not used where all have one step.
    index: Room<i64, 6>,
    offsets: Room<usize, FEW>,
}

impl<'b> Walk<'b> {
    pub(super) fn new(bound: &'b Bound, from: usize) -> Self {
        let mut walk = Walk {
            bound,
            index: Room::new(),
            offsets: Room::new(),
        };
        let arrays = bound.steps.len();
        if bound.strides.is_empty() {
            walk.offsets
                .extend(bound.steps.iter().map(|step| step * from));
            return walk;
        }
        walk.offsets.extend((0..arrays).map(|_| 0));
        walk.index.extend(bound.batch.iter().map(|_| 0));
        let mut rest = from;
        for (axis, dim) in bound.batch.iter().enumerate().rev() {
            let length = usize::try_from(*dim).unwrap_or(0).max(1);
            let at = rest % length;
            rest /= length;
            walk.index[axis] = at as i64;
            let strides = &bound.strides[axis * arrays..][..arrays];
            let pairs = walk.offsets.iter_mut().zip(strides);
            pairs.for_each(|(offset, stride)| *offset += stride * at);
        }
        walk
    }

    /// Bytes from the start of each operand, then of each result.
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Goes to the next batch element; behind the last one, offsets are of no use.
    #[inline]
    pub fn advance(&mut self) {
        if self.bound.strides.is_empty() {
            let pairs = self.offsets.iter_mut().zip(self.bound.steps.iter());
            pairs.for_each(|(offset, step)| *offset += step);
            return;
        }
        let arrays = self.offsets.len();
        for axis in (0..self.index.len()).rev() {
            let strides = &self.bound.strides[axis * arrays..][..arrays];
            let pairs = self.offsets.iter_mut().zip(strides);
            self.index[axis] += 1;
            if self.index[axis] < self.bound.batch[axis] {
                pairs.for_each(|(offset, stride)| *offset += stride);
                return;
            }
            // Back to the start of this dimension, and on along the one before.
            let steps = self.bound.batch[axis] as usize - 1;
            pairs.for_each(|(offset, stride)| *offset -= stride * steps);
            self.index[axis] = 0;
        }
    }
}
