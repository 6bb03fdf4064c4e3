//! Cholesky factorisation.

pub(crate) mod cuda;
pub(crate) mod cusolver;
pub(crate) mod host;
pub(crate) mod jaxlib;
mod operands;

use crate::letter;
use crate::op::op;
use crate::platform::host::{Changed, HostScalar, UnwantedInfo};
use crate::shape;
use matrices::Triangle;
use xla_ffi::{AnyAttr, Arg, Attr, Cx, Host, Kernel, MinRank, Result, Ret};

op! {
    /// `cholesky`: the Cholesky factor, `A = L Lᴴ` or `A = Uᴴ U`, of each matrix of a batch, of which one
    /// triangle is read. NaN where the matrix is not positive definite, or has NaN or an infinity in that triangle.
    Cholesky: CholeskyIo = "cholesky" of RealAndComplex {
        /// `(..., n, n)`, column-major Hermitian matrices, positive definite
        a: Arg<'f, T, MinRank<2>>,
        /// `(..., n, n)`: the factor, with zeros in the other triangle
        factor: Ret<'f, T>,
        /// the triangle that is read and written: "L" (default) or "U", as text or as one ui8 letter
        uplo: Attr<Option<AnyAttr<'f>>>,
    }
}

impl<T: HostScalar> Kernel<Host, T> for Cholesky {
    type Io<'f> = CholeskyIo<'f, T>;

    fn run(mut io: CholeskyIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let (shape, _) = shape::square(&io.a)?;
        let triangle = letter::triangle_or_lower("uplo", *io.uplo)?;
        let factor: Changed<T> = Changed::new(&io.a, &mut io.factor)?;
        let mut info = UnwantedInfo::new(shape)?;
        host::potrf(
            (cx, shape),
            triangle,
            factor,
            info.as_mut_slice(),
            |a, &info| match info {
                0 => clear_other(triangle, shape.rows as usize, a),
                _ => a.fill(T::NAN),
            },
        )
    }
}

/// Zeros outside the triangle of an `n` x `n` matrix.
fn clear_other<T: HostScalar>(triangle: Triangle, n: usize, a: &mut [T]) {
    for (j, column) in a.chunks_exact_mut(n).enumerate() {
        let other = match triangle {
            Triangle::Lower => &mut column[..j],
            Triangle::Upper => &mut column[j + 1..],
        };
        other.fill(T::ZERO);
    }
}
