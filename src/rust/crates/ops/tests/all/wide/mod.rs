//! jaxlib's factorisations, reductions, eigenvalues and solves at the block edges of LAPACK and beyond, over its kinds
//! of test matrices. Products with a few random columns stand for the matrices themselves, so that
//! large ones are checked in little time.

mod eigen;
mod factor;
mod kinds;
mod reduce;
mod solve;

use crate::common::{run, Mat, Number, Random, RATIO};
use xla_ffi::testing::{Call, Frame};

const SIZES: [usize; 5] = [64, 65, 128, 129, 300];

fn done<T: Number>(call: Call, real: &str, complex: &str) -> Frame {
    let routine = if T::COMPLEX { complex } else { real };
    run(call.build(), &format!("lapack_{}{routine}_ffi", T::LETTER))
}

/// Random columns.
fn probe(rows: usize) -> Mat {
    Mat::new(rows, 2, &Random(90).matrix::<crate::common::C>(2 * rows))
}

/// The smallest positive number of a dtype.
fn smallest<T: Number>() -> f64 {
    if T::EPS < 1e-10 {
        f64::from_bits(1)
    } else {
        f32::from_bits(1).into()
    }
}

/// That two products with a probe differ by no more than rounding, where a matrix of that size and
/// norm was computed with; rounding is never less than the smallest number.
#[track_caller]
fn assert_equal<T: Number>(a: &Mat, b: &Mat, size: usize, norm: f64, what: &str) {
    let difference = a.plus(b, -1.0).norm1();
    let unit = size as f64 * (norm * T::EPS + smallest::<T>());
    let ratio = difference / unit;
    assert!(ratio < RATIO, "{what}: ratio {ratio}");
}

/// `Q x` or `Qᴴ x`, `Q` being the product of the reflectors whose vectors lie in the columns of
/// `packed`, `shift` places below the diagonal.
fn reflected<T: Number>(packed: &Mat, tau: &[T], shift: usize, adjoint: bool, x: &Mat) -> Mat {
    let mut x = x.clone();
    let order: Vec<usize> = match adjoint {
        true => (0..tau.len()).collect(),
        false => (0..tau.len()).rev().collect(),
    };
    for i in order {
        let tau = if adjoint {
            tau[i].c().conj()
        } else {
            tau[i].c()
        };
        let head = i + shift;
        let tail = &packed.data[i * packed.m..][head + 1..packed.m];
        for column in x.data.chunks_mut(packed.m) {
            let products = tail.iter().zip(&column[head + 1..]);
            let sum = products.fold(column[head], |sum, (v, x)| sum + v.conj() * x) * tau;
            column[head] -= sum;
            for (x, v) in column[head + 1..].iter_mut().zip(tail) {
                *x -= v * sum;
            }
        }
    }
    x
}

/// That the reflectors make an orthogonal matrix: `Qᴴ (Q x) = x`.
#[track_caller]
fn assert_orthogonal<T: Number>(packed: &Mat, tau: &[T], shift: usize, what: &str) {
    let x = probe(packed.m);
    let there = reflected(packed, tau, shift, false, &x);
    let back = reflected(packed, tau, shift, true, &there);
    assert_equal::<T>(&back, &x, packed.m, 1.0, what);
}
