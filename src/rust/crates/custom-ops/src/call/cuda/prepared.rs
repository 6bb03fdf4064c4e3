//! A call on CUDA, checked and laid out.

use cuda::{raw, Cuda};
use xla_ffi::{Context, Result};

use super::super::arrays::{Flat, Pair};
use super::super::attributes::Decoded;
use super::super::layout::Layout;
use crate::body::cuda::Kernels;
use crate::signature::Signature;

/// A call, checked and laid out.
pub(crate) struct Call<'a> {
    pub(crate) signature: &'a Signature,
    pub(crate) kernels: &'a Kernels,
    pub(crate) attributes: &'a Decoded,
    pub(crate) layout: &'a Layout,
    /// Operands, results, scratch arrays, and in the order of `copies` operands that are copied to
    /// their results first.
    pub(crate) flats: &'a [Flat<'a>],
    pub(crate) copies: &'a [Pair],
    pub(crate) context: &'a Context<'a>,
}

impl Call<'_> {
    /// Puts operands where their results are.
    pub(super) fn copy(&self, cuda: &Cuda, count: usize) -> Result<()> {
        let first = self.flats.len() - self.copies.len();
        for (from, &Pair { to, .. }) in (first..).zip(self.copies) {
            let (source, result) = (&self.flats[from], &self.flats[to]);
            let (source_at, result_at) = (source.base as u64, result.base as u64);
            if source.size == result.size {
                // SAFETY: an operand and a result of one type, which do not overlap.
                unsafe { raw::copy(cuda, result_at, source_at, result.size) }?;
                continue;
            }
            for element in 0..count {
                let from = source_at.wrapping_add_signed(self.offset(from, element));
                let to = result_at.wrapping_add_signed(self.offset(to, element));
                // SAFETY: this element of an operand and a result of one type.
                unsafe { raw::copy(cuda, to, from, result.bytes) }?;
            }
        }
        Ok(())
    }

    /// Bytes from an array's beginning to an element of the batch.
    fn offset(&self, array: usize, element: usize) -> i64 {
        let (mut rest, mut offset) = (element, 0);
        for (axis, &size) in self.layout.sizes.iter().enumerate().rev() {
            let stride = self.layout.strides[axis * self.flats.len() + array];
            offset += (rest % size) as i64 * stride as i64;
            rest /= size;
        }
        offset
    }
}
