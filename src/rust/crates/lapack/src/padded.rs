//! Space behind operands that lie in XLA's memory.
//!
//! The product of a complex matrix and a vector in OpenBLAS up to 0.3.21 (`cgemv` and `zgemv`, not
//! transposed, Haswell's kernel) reads one element of the vector too many, without using it. Where the
//! vector is a row of a matrix, the element lies in the column behind the last one: up to as many
//! elements past the matrix's end as it has rows, which may be memory that is not mapped. The
//! reductions of general matrices and of upper triangles call it so, for `gesdd`, `gesvd`, `heevd` and
//! `hetrd` (<https://github.com/OpenMathLib/OpenBLAS/issues/4013>). All else is read within its
//! matrix or our workspace.

use crate::error::Result;
use crate::workspace::filled;
use matrices::Element;
use std::ops::{Deref, DerefMut};

/// A matrix behind which a column more may be read: complex ones are a copy, which is written back
/// when it goes.
pub struct Padded<'a, W: Element> {
    origin: &'a mut [W],
    copy: Option<Vec<W>>,
}

impl<'a, W: Element> Padded<'a, W> {
    /// The matrix `origin`, of that many rows.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn new(origin: &'a mut [W], rows: i32) -> Result<Self> {
        let copy = if W::COMPLEX {
            let mut copy = filled(origin.len() + rows.unsigned_abs() as usize, W::ZERO)?;
            copy.truncate(origin.len());
            copy.copy_from_slice(origin);
            Some(copy)
        } else {
            None
        };
        Ok(Padded { origin, copy })
    }
}

impl<W: Element> Deref for Padded<'_, W> {
    type Target = [W];

    fn deref(&self) -> &[W] {
        self.copy.as_deref().unwrap_or(self.origin)
    }
}

impl<W: Element> DerefMut for Padded<'_, W> {
    fn deref_mut(&mut self) -> &mut [W] {
        self.copy.as_deref_mut().unwrap_or(self.origin)
    }
}

impl<W: Element> Drop for Padded<'_, W> {
    fn drop(&mut self) {
        if let Some(copy) = &self.copy {
            self.origin.copy_from_slice(copy);
        }
    }
}
