//! Singular values: `A = U diag(s) Vᴴ`, `s` descending; `info` is 0, or positive where there is no
//! result. `a` is overwritten, but for [`in_blocks`].

mod gesvd;
mod gesvdj;
mod gesvdp;
mod jacobi;

pub use gesvd::gesvd;
pub use gesvdj::{gesvdj, gesvdj_batched};
pub use gesvdp::gesvdp;
pub use jacobi::{in_blocks, Form};

use crate::memory::MutMatrices;
use crate::{DeviceSliceMut, Element};
use matrices::{Matrices, Vectors};
use xla_ffi::Result;

/// The results of a decomposition. `v` is `V` or `Vᴴ`, as the routine says.
pub struct Parts<'m, T: Element> {
    /// Singular values, descending.
    pub s: DeviceSliceMut<'m, T::Real>,
    /// Left singular vectors.
    pub u: DeviceSliceMut<'m, T>,
    /// Right singular vectors.
    pub v: DeviceSliceMut<'m, T>,
}

impl<T: Element> Parts<'_, T> {
    /// The same, for a while.
    #[must_use]
    pub fn reborrow(&mut self) -> Parts<'_, T> {
        Parts {
            s: self.s.reborrow(),
            u: self.u.reborrow(),
            v: self.v.reborrow(),
        }
    }

    fn matrices(&mut self, shape: Matrices, vectors: Vectors) -> Result<Places<'_>> {
        let (m, n, k) = shape.sizes();
        let (columns, rows) = vectors.counts(shape.rows, shape.cols);
        Ok(Places {
            s: self.s.matrices("s", shape.count, k)?,
            u: self.u.matrices("u", shape.count, m * columns as usize)?,
            v: self.v.matrices("v", shape.count, rows as usize * n)?,
        })
    }
}

/// The results' memory, compared with the shape.
struct Places<'m> {
    s: MutMatrices<'m>,
    u: MutMatrices<'m>,
    v: MutMatrices<'m>,
}

/// All singular vectors, or the first ones.
fn kind(full: bool) -> Vectors {
    if full {
        Vectors::Full
    } else {
        Vectors::Thin
    }
}
