//! `getrf`, `geqrf`, `orgqr` and `potrf`: matrices alone, and the same in a batch.

use super::{assert_equal, assert_orthogonal, done, probe, reflected};
use crate::common::{count, dims, for_every_dtype, same_or_close, Mat, Number, Random, C};
use std::cmp::Ordering;
use xla_ffi::testing::{Call, Frame};

const SHAPES: [(usize, usize); 5] = [(64, 65), (128, 128), (129, 40), (40, 129), (300, 300)];

/// Calls with the first of two matrices, and with both.
fn alone_and_batched<T: Number>(
    (real, complex): (&str, &str),
    x: &[T],
    call: impl Fn(&[i64], &[T]) -> Call,
) -> Frame {
    let alone = done::<T>(call(&[], &x[..x.len() / 2]), real, complex);
    let batch = done::<T>(call(&[2], x).threads(2), real, complex);
    let first = alone.ret::<T>(0);
    assert!(same_or_close(&batch.ret::<T>(0)[..first.len()], first));
    batch
}

fn in_place<T: Number>(batch: &[i64], m: usize, n: usize, x: &[T]) -> Call {
    Call::new().arg(&dims(batch, &[m, n]), x).ret_aliasing(0)
}

fn getrf<T: Number>() {
    let mut random = Random(97);
    for (m, n) in SHAPES {
        let (k, x) = (m.min(n), random.matrix::<T>(2 * m * n));
        let frame = alone_and_batched::<T>(("getrf", "getrf"), &x, |batch, x| {
            let call = in_place(batch, m, n, x).ret::<i32>(&dims(batch, &[k]));
            call.ret::<i32>(batch)
        });
        assert_eq!(frame.ret::<i32>(2), [0; 2]);
        let factors = frame.ret::<T>(0).chunks(m * n).zip(x.chunks(m * n));
        for ((packed, a), pivots) in factors.zip(frame.ret::<i32>(1).chunks(k)) {
            let (a, packed, x) = (Mat::new(m, n, a), Mat::new(m, n, packed), probe(n));
            let mut wanted = a.times(&x);
            for (i, &pivot) in pivots.iter().enumerate() {
                for column in wanted.data.chunks_mut(m) {
                    column.swap(i, pivot as usize - 1);
                }
            }
            let lower = Mat::make(m, k, |i, j| match i.cmp(&j) {
                Ordering::Less => C::default(),
                Ordering::Equal => 1.0.into(),
                Ordering::Greater => packed.at(i, j),
            });
            let product = lower.times(&packed.upper(k).times(&x));
            let norm = a.norm1() * x.norm1();
            assert_equal::<T>(&product, &wanted, m.max(n), norm, &format!("lu {m} x {n}"));
        }
    }
}

fn geqrf_and_orgqr<T: Number>() {
    let mut random = Random(98);
    for (m, n) in SHAPES {
        let (k, x) = (m.min(n), random.matrix::<T>(2 * m * n));
        let frame = alone_and_batched::<T>(("geqrf", "geqrf"), &x, |batch, x| {
            in_place(batch, m, n, x).ret::<T>(&dims(batch, &[k]))
        });
        let (packed, tau) = (frame.ret::<T>(0), frame.ret::<T>(1));
        // As many columns of `Q` as fit.
        let first: Vec<T> = packed
            .chunks(m * n)
            .flat_map(|a| &a[..m * k])
            .copied()
            .collect();
        let columns = alone_and_batched::<T>(("orgqr", "ungqr"), &first, |batch, x| {
            let tau = &tau[..count(batch) * k];
            Call::new()
                .arg(&dims(batch, &[m, k]), x)
                .arg(&dims(batch, &[k]), tau)
                .ret_aliasing(0)
        });
        let factors = packed.chunks(m * n).zip(tau.chunks(k));
        let q = columns.ret::<T>(0).chunks(m * k);
        for (((packed, tau), a), q) in factors.zip(x.chunks(m * n)).zip(q) {
            let (a, packed, x) = (Mat::new(m, n, a), Mat::new(m, n, packed), probe(n));
            let what = format!("qr {m} x {n}");
            assert_orthogonal(&packed.columns(k), tau, 0, &what);
            let product = reflected(
                &packed.columns(k),
                tau,
                0,
                false,
                &padded(&packed.upper(k).times(&x), m),
            );
            let norm = a.norm1() * x.norm1();
            assert_equal::<T>(&product, &a.times(&x), m.max(n), norm, &what);
            let x = probe(k);
            let wanted = reflected(&packed.columns(k), tau, 0, false, &padded(&x, m));
            assert_equal::<T>(&Mat::new(m, k, q).times(&x), &wanted, m, x.norm1(), &what);
        }
    }
}

/// With rows of zeros, `m` in all.
fn padded(x: &Mat, m: usize) -> Mat {
    let value = |i, j| if i < x.m { x.at(i, j) } else { C::default() };
    Mat::make(m, x.data.len() / x.m, value)
}

fn potrf<T: Number>() {
    let mut random = Random(99);
    for n in [65, 128, 129, 300] {
        // Diagonally dominant, so positive definite.
        let x: Vec<T> = (0..2)
            .flat_map(|_| {
                let a = Mat::new(n, n, &random.hermitian::<T>(n));
                a.plus(&Mat::identity(n), 2.0 * n as f64).to::<T>()
            })
            .collect();
        for uplo in [b'L', b'U'] {
            let frame = alone_and_batched::<T>(("potrf", "potrf"), &x, |batch, x| {
                in_place(batch, n, n, x)
                    .ret::<i32>(batch)
                    .attr("uplo", uplo)
            });
            assert_eq!(frame.ret::<i32>(1), [0; 2]);
            for (factor, a) in frame.ret::<T>(0).chunks(n * n).zip(x.chunks(n * n)) {
                let (factor, a, x) = (Mat::new(n, n, factor), Mat::new(n, n, a), probe(n));
                let upper = match uplo {
                    b'L' => factor.adjoint().upper(n),
                    _ => factor.upper(n),
                };
                let product = upper.adjoint().times(&upper.times(&x));
                let norm = a.norm1() * x.norm1();
                let what = format!("potrf {n}, {}", uplo as char);
                assert_equal::<T>(&product, &a.times(&x), n, norm, &what);
            }
        }
    }
}

for_every_dtype!(getrf geqrf_and_orgqr potrf);
