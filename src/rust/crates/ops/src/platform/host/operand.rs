//! Matrices that a routine changes in place.

use lanes::{Run, Together};
use matrices::Matrices;
use xla_ffi::{AnyBuffer, AnyBufferMut, Result, Scalar};

/// Matrices to be changed in place, and where they are until someone works on them: each thread
/// copies its own just before, while they are in its cache anyway.
#[derive(Debug)]
pub struct Changed<'a, T> {
    from: Option<&'a [T]>,
    to: &'a mut [T],
}

impl<'a, T: Scalar> Changed<'a, T> {
    /// The argument `from`, to be changed in `to`, which may be the same memory.
    ///
    /// # Errors
    /// The shapes differ; XLA gave the argument the memory of another result.
    pub fn new(from: &AnyBuffer<'a>, to: &'a mut AnyBufferMut<'_>) -> Result<Self> {
        to.expect_dims(from.dims())?;
        if from.as_ptr() != to.as_mut_ptr().cast_const() {
            if let Ok(from) = from.as_slice() {
                let from = Some(from);
                return Ok(Changed {
                    from,
                    to: to.as_mut_slice()?,
                });
            }
            // It shares memory with a result, perhaps with this one.
            to.copy_from(from)?;
        }
        Ok(Changed::in_place(to.as_mut_slice()?))
    }

    /// Matrices that are there already.
    pub fn in_place(to: &'a mut [T]) -> Self {
        Changed { from: None, to }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.to.is_empty()
    }

    /// As kernels take them: matrices of that shape, and who helps with a large one.
    pub fn run<'b>(self, shape: Matrices, together: Together<'b>) -> Run<'b, T>
    where
        'a: 'b,
    {
        let (m, n, _) = shape.sizes();
        Run {
            m,
            n,
            from: self.from,
            a: self.to,
            together,
        }
    }

    /// All of them, ready to be changed.
    pub fn ready(self) -> &'a mut [T] {
        if let Some(from) = self.from {
            self.to.copy_from_slice(from);
        }
        self.to
    }

    /// In parts of `len` elements, which is not 0; the last one may be shorter.
    pub fn parts(self, len: usize) -> impl ExactSizeIterator<Item = Changed<'a, T>> {
        let mut from = self.from.map(|from| from.chunks(len));
        self.to.chunks_mut(len).map(move |to| Changed {
            from: from.as_mut().and_then(Iterator::next),
            to,
        })
    }
}
