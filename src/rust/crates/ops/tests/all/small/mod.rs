//! Factorisations and triangular systems where own kernels and LAPACK meet: every size around the
//! blocks of both, LAPACK's kinds of matrices at every scale, and results that are the same to the
//! last bit whatever the neighbours, the place in the batch and the number of threads.

mod batches;
mod ratios;

use crate::common::{dims, run, Number};
use xla_ffi::testing::{Call, Frame};

/// What is called: jaxlib's names without the dtype.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Routine {
    Getrf,
    Geqrf,
    /// Of what `geqrf` gives.
    Orgqr,
    /// `uplo`.
    Potrf(u8),
    /// `side`, `uplo`, `trans_x`, `diag`; as many columns as the matrices have.
    Trsm([u8; 4]),
}
use Routine::{Geqrf, Getrf, Orgqr, Potrf, Trsm};

/// The bits of all results, one matrix after the other.
#[derive(Clone, Debug, PartialEq)]
struct Results<T> {
    /// Matrices.
    a: Vec<T>,
    /// `tau`.
    tau: Vec<T>,
    /// Pivots, and `info`.
    pivots: Vec<i32>,
    info: Vec<i32>,
}

/// A call on a batch of `m` × `n`; `y` are right-hand sides, or `tau`.
struct Batch<'a, T> {
    routine: Routine,
    shape: (usize, usize),
    x: &'a [T],
    y: &'a [T],
}

impl<T: Number> Batch<'_, T> {
    fn count(&self) -> usize {
        self.x.len() / (self.shape.0 * self.shape.1)
    }

    /// The same of some of the matrices.
    fn part(&self, range: std::ops::Range<usize>) -> Batch<'_, T> {
        let (count, size) = (self.count(), self.shape.0 * self.shape.1);
        let side = self.y.len() / count;
        Batch {
            x: &self.x[range.start * size..range.end * size],
            y: &self.y[range.start * side..range.end * side],
            ..*self
        }
    }

    /// In place or not, which must give the same.
    fn call(&self, in_place: bool) -> Call {
        let (m, n) = self.shape;
        let batch = [self.count() as i64];
        let matrices = dims(&batch, &[m, n]);
        let call = Call::new().arg(&matrices, self.x);
        let (call, operand) = match self.routine {
            Orgqr => (call.arg(&dims(&batch, &[m.min(n)]), self.y), 0),
            Trsm(_) => (call.arg(&matrices, self.y), 1),
            _ => (call, 0),
        };
        let call = if in_place {
            call.ret_aliasing(operand)
        } else {
            call.ret::<T>(&matrices)
        };
        match self.routine {
            Getrf => call
                .ret::<i32>(&dims(&batch, &[m.min(n)]))
                .ret::<i32>(&batch),
            Geqrf => call.ret::<T>(&dims(&batch, &[m.min(n)])),
            Orgqr => call,
            Potrf(uplo) => call.ret::<i32>(&batch).attr("uplo", uplo),
            Trsm([side, uplo, trans, diag]) => call
                .attr("side", side)
                .attr("uplo", uplo)
                .attr("trans_x", trans)
                .attr("diag", diag),
        }
    }

    fn results(&self, in_place: bool, threads: usize) -> Results<T> {
        let routine = match self.routine {
            Getrf => "getrf",
            Geqrf => "geqrf",
            Orgqr if T::COMPLEX => "ungqr",
            Orgqr => "orgqr",
            Potrf(_) => "potrf",
            Trsm(_) => "trsm",
        };
        let call = self.call(in_place).threads(threads);
        let frame = run(call.build(), &format!("lapack_{}{routine}_ffi", T::LETTER));
        let ints = |frame: &Frame, at| frame.ret::<i32>(at).to_vec();
        Results {
            a: frame.ret::<T>(0).to_vec(),
            tau: match self.routine {
                Geqrf => frame.ret::<T>(1).to_vec(),
                _ => Vec::new(),
            },
            pivots: match self.routine {
                Getrf => ints(&frame, 1),
                _ => Vec::new(),
            },
            info: match self.routine {
                Getrf => ints(&frame, 2),
                Potrf(_) => ints(&frame, 1),
                _ => Vec::new(),
            },
        }
    }
}

/// The results of one call.
fn results<T: Number>(routine: Routine, shape: (usize, usize), x: &[T], y: &[T]) -> Results<T> {
    let batch = Batch {
        routine,
        shape,
        x,
        y,
    };
    batch.results(false, 1)
}
