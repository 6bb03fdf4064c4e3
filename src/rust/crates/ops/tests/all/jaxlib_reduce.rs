//! jaxlib's reductions (`geqp3`, `sytrd`, `gehrd`), products with `Q` and tridiagonal systems: what
//! they promise, up to rounding.

use crate::common::{
    abs, assert_small, dims, for_every_dtype, is_nan, orthogonality, ratio, run, same, shapes, Mat,
    Number, Random, C,
};
use xla_ffi::testing::{Call, Frame};

const SIZES: [usize; 8] = [1, 2, 3, 5, 8, 17, 33, 65];

fn done<T: Number>(call: Call, real: &str, complex: &str) -> Frame {
    let routine = if T::COMPLEX { complex } else { real };
    run(call.build(), &format!("lapack_{}{routine}_ffi", T::LETTER))
}

/// `Q` times `c` by `ormqr` is `Q` by `orgqr` times `c`.
fn ormqr<T: Number>() {
    let mut random = Random(51);
    for (m, n) in SIZES.into_iter().flat_map(shapes) {
        let k = m.min(3);
        let call = Call::new().arg(&dims(&[], &[m, k]), &random.matrix::<T>(m * k));
        let call = call.ret_aliasing(0).ret::<T>(&[k as i64]);
        let factored = done::<T>(call, "geqrf", "geqrf");
        let (packed, tau) = (factored.ret::<T>(0), factored.ret::<T>(1));
        let mut padded = packed.to_vec();
        padded.resize(m * m, T::default());
        let call = Call::new().arg(&dims(&[], &[m, m]), &padded);
        let call = call.arg(&[k as i64], tau).ret_aliasing(0);
        let q = Mat::new::<T>(m, m, done::<T>(call, "orgqr", "ungqr").ret(0));
        for (left, transpose) in [(true, true), (true, false), (false, true), (false, false)] {
            let (rows, cols) = if left { (m, n) } else { (n, m) };
            let c = random.matrix::<T>(2 * rows * cols);
            let call = Call::new()
                .arg(&dims(&[2], &[m, k]), &[packed, packed].concat())
                .arg(&dims(&[2], &[k]), &[tau, tau].concat())
                .arg(&dims(&[2], &[rows, cols]), &c)
                .ret_aliasing(2)
                .attr("left", left)
                .attr("transpose", transpose);
            let frame = done::<T>(call, "ormqr", "unmqr");
            assert!(frame.arg::<T>(0) == [packed, packed].concat());
            let factor = if transpose { q.adjoint() } else { q.clone() };
            let products = frame.ret::<T>(0).chunks(rows * cols);
            for (product, c) in products.zip(c.chunks(rows * cols)) {
                let (product, c) = (Mat::new(rows, cols, product), Mat::new(rows, cols, c));
                let expected = if left {
                    factor.times(&c)
                } else {
                    c.times(&factor)
                };
                let residual = product.plus(&expected, -1.0);
                assert_small(ratio::<T>(&residual, m, c.norm1()), &format!("{m} x {n}"));
            }
        }
    }
}

fn geqp3<T: Number>() {
    let mut random = Random(52);
    for (m, n) in SIZES.into_iter().flat_map(shapes) {
        let (k, x) = (m.min(n), random.matrix::<T>(m * n));
        let fixed = n - 1;
        let call = |first: bool| {
            let mut jpvt = vec![0; n];
            jpvt[fixed] = i32::from(first);
            let call = Call::new()
                .arg(&dims(&[], &[m, n]), &x)
                .arg(&[n as i64], &jpvt)
                .ret_aliasing(0)
                .ret_aliasing(1)
                .ret::<T>(&[k as i64]);
            done::<T>(call, "geqp3", "geqp3")
        };
        for first in [false, true] {
            let frame = call(first);
            let (packed, columns) = (frame.ret::<T>(0), frame.ret::<i32>(1));
            let a = Mat::new(m, n, &x);
            let permuted = Mat::make(m, n, |i, j| a.at(i, columns[j] as usize - 1));
            let call = Call::new().arg(&dims(&[], &[m, k]), &packed[..m * k]);
            let call = call.arg(&[k as i64], frame.ret::<T>(2)).ret_aliasing(0);
            let q = Mat::new::<T>(m, k, done::<T>(call, "orgqr", "ungqr").ret(0));
            let r = Mat::new(m, n, packed).upper(k);
            let residual = permuted.plus(&q.times(&r), -1.0);
            assert_small(
                ratio::<T>(&residual, m.max(n), a.norm1()),
                &format!("{m} x {n}"),
            );
            let mut sorted = columns.to_vec();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(1..=n as i32));
            let free = usize::from(first);
            assert!(!first || columns[0] == n as i32);
            let diagonal: Vec<f64> = (free..k).map(|i| abs(r.at(i, i))).collect();
            let slack = 1.0 + 100.0 * T::EPS;
            assert!(diagonal.windows(2).all(|d| d[1] <= d[0] * slack));
        }
    }
}

/// The product of the reflectors whose vectors lie in the columns of `a`: below the first
/// subdiagonal, or above the first superdiagonal, one next to it being 1.
fn q_of<T: Number>(n: usize, a: &Mat, tau: &[T], lower: bool) -> Mat {
    let mut q = Mat::identity(n);
    for (i, tau) in tau.iter().enumerate() {
        let v = Mat::make(n, 1, |row, _| match lower {
            true if row > i + 1 => a.at(row, i),
            true if row == i + 1 => 1.0.into(),
            false if row < i => a.at(row, i + 1),
            false if row == i => 1.0.into(),
            _ => C::default(),
        });
        let update = match lower {
            true => q.times(&v).times(&v.adjoint()),
            false => v.times(&v.adjoint().times(&q)),
        };
        q = q.plus(&update.scaled(&vec![tau.c(); n]), -1.0);
    }
    q
}

fn sytrd<T: Number>() {
    let mut random = Random(53);
    for n in SIZES {
        let x = random.hermitian::<T>(n);
        for uplo in [b'L', b'U'] {
            let call = Call::new()
                .arg(&dims(&[], &[n, n]), &x)
                .ret_aliasing(0)
                .ret::<T::Real>(&[n as i64])
                .ret::<T::Real>(&[n as i64 - 1])
                .ret::<T>(&[n as i64 - 1])
                .ret::<i32>(&[])
                .attr("uplo", uplo);
            let frame = done::<T>(call, "sytrd", "hetrd");
            assert_eq!(frame.ret::<i32>(4), [0]);
            let packed = Mat::new::<T>(n, n, frame.ret(0));
            let q = q_of::<T>(n, &packed, frame.ret(3), uplo == b'L');
            let (d, e) = (frame.ret::<T::Real>(1), frame.ret::<T::Real>(2));
            let t = Mat::make(n, n, |i, j| match i.abs_diff(j) {
                0 => d[i].c(),
                1 => e[i.min(j)].c(),
                _ => C::default(),
            });
            let a = Mat::new(n, n, &x);
            let residual = a.plus(&q.times(&t).times(&q.adjoint()), -1.0);
            assert_small(ratio::<T>(&residual, n, a.norm1()), &format!("sytrd, {n}"));
            assert_small(orthogonality::<T>(&q), &format!("Q of sytrd, {n}"));
        }
    }
}

fn gehrd<T: Number>() {
    let mut random = Random(54);
    for n in SIZES {
        let x = random.matrix::<T>(n * n);
        let call = Call::new()
            .arg(&dims(&[], &[n, n]), &x)
            .ret_aliasing(0)
            .ret::<T>(&[n as i64 - 1])
            .ret::<i32>(&[])
            .attr("low", 1_i32)
            .attr("high", n as i32);
        let frame = done::<T>(call, "gehrd", "gehrd");
        assert_eq!(frame.ret::<i32>(2), [0]);
        let packed = Mat::new::<T>(n, n, frame.ret(0));
        let q = q_of::<T>(n, &packed, frame.ret(1), true);
        let h = Mat::make(n, n, |i, j| match i > j + 1 {
            true => C::default(),
            false => packed.at(i, j),
        });
        let a = Mat::new(n, n, &x);
        let residual = a.plus(&q.times(&h).times(&q.adjoint()), -1.0);
        assert_small(ratio::<T>(&residual, n, a.norm1()), &format!("gehrd, {n}"));
        assert_small(orthogonality::<T>(&q), &format!("Q of gehrd, {n}"));
    }
}

pub(crate) fn gtsv_call<T: Number>(batch: &[i64], [dl, d, du, b]: [&[T]; 4], n: usize) -> Call {
    let k = if n == 0 { 1 } else { b.len() / d.len().max(1) };
    Call::new()
        .arg(&dims(batch, &[n]), dl)
        .arg(&dims(batch, &[n]), d)
        .arg(&dims(batch, &[n]), du)
        .arg(&dims(batch, &[n, k]), b)
        .ret_aliasing(0)
        .ret_aliasing(1)
        .ret_aliasing(2)
        .ret_aliasing(3)
        .ret::<i32>(batch)
}

fn gtsv<T: Number>() {
    let mut random = Random(55);
    for n in SIZES {
        let k = 3;
        let [dl, d, du] = [(); 3].map(|()| random.matrix::<T>(n));
        let b = random.matrix::<T>(n * k);
        let frame = done::<T>(gtsv_call(&[], [&dl, &d, &du, &b], n), "gtsv", "gtsv");
        assert_eq!(frame.ret::<i32>(4), [0]);
        let a = Mat::make(n, n, |i, j| match (i, j) {
            (i, j) if i == j => d[i].c(),
            (i, j) if i == j + 1 => dl[i].c(),
            (i, j) if j == i + 1 => du[i].c(),
            _ => C::default(),
        });
        let s = Mat::new::<T>(n, k, frame.ret(3));
        let residual = Mat::new(n, k, &b).plus(&a.times(&s), -1.0);
        let size = a.norm1() * s.norm1();
        assert_small(ratio::<T>(&residual, n, size), &format!("gtsv, {n}"));
    }
    // Right, singular, and not finite.
    let of = |values: [f64; 6]| values.map(|v| T::of(v.into()));
    let (dl, du) = (of([0.0; 6]), of([0.0; 6]));
    let d = of([2.0, 4.0, 1.0, 0.0, f64::NAN, 1.0]);
    let frame = done::<T>(
        gtsv_call(&[3], [&dl, &d, &du, &of([2.0; 6])], 2),
        "gtsv",
        "gtsv",
    );
    let solution = frame.ret::<T>(3);
    assert!(solution[..2] == of([1.0, 0.5, 0.0, 0.0, 0.0, 0.0])[..2]);
    assert_eq!(frame.ret::<i32>(4), [0, 2, 1]);
    assert!(solution[4..].iter().all(is_nan));
}

/// Batches with a matrix that is not finite: alone and on threads the same, in and out of place.
fn batches_threads_and_nan<T: Number>() {
    let mut random = Random(56);
    for (count, n) in [(3, 5), (120, 4), (2, 33)] {
        let batch = [count as i64];
        let mut x: Vec<T> = (0..count).flat_map(|_| random.hermitian::<T>(n)).collect();
        x[n * n + 1] = T::of(f64::NAN.into());
        let gehrd = |batch: &[i64], x: &[T], threads: usize| {
            let call = Call::new()
                .arg(&dims(batch, &[n, n]), x)
                .ret::<T>(&dims(batch, &[n, n]))
                .ret::<T>(&dims(batch, &[n - 1]))
                .ret::<i32>(batch)
                .attr("low", 1_i32)
                .attr("high", n as i32);
            done::<T>(call.threads(threads), "gehrd", "gehrd")
                .ret::<T>(0)
                .to_vec()
        };
        let geqp3 = |batch: &[i64], x: &[T], threads: usize| {
            let call = Call::new()
                .arg(&dims(batch, &[n, n]), x)
                .arg(&dims(batch, &[n]), &vec![0_i32; x.len() / n])
                .ret::<T>(&dims(batch, &[n, n]))
                .ret::<i32>(&dims(batch, &[n]))
                .ret::<T>(&dims(batch, &[n]));
            done::<T>(call.threads(threads), "geqp3", "geqp3")
                .ret::<T>(0)
                .to_vec()
        };
        let sytrd = |batch: &[i64], x: &[T], threads: usize| {
            let call = Call::new()
                .arg(&dims(batch, &[n, n]), x)
                .ret::<T>(&dims(batch, &[n, n]))
                .ret::<T::Real>(&dims(batch, &[n]))
                .ret::<T::Real>(&dims(batch, &[n - 1]))
                .ret::<T>(&dims(batch, &[n - 1]))
                .ret::<i32>(batch)
                .attr("uplo", b'L');
            done::<T>(call.threads(threads), "sytrd", "hetrd")
                .ret::<T>(0)
                .to_vec()
        };
        type Routine<'a, T> = &'a dyn Fn(&[i64], &[T], usize) -> Vec<T>;
        let routines: [Routine<'_, T>; 3] = [&gehrd, &geqp3, &sytrd];
        for routine in routines {
            let all = routine(&batch, &x, 1);
            assert!(all[n * n..2 * n * n].iter().all(is_nan));
            for (i, one) in x.chunks(n * n).enumerate() {
                assert!(same(&all[i * n * n..][..n * n], &routine(&[], one, 1)));
            }
            assert!(same(&all, &routine(&batch, &x, 2)) && same(&all, &routine(&batch, &x, 5)));
        }
    }
}

for_every_dtype!(ormqr geqp3 sytrd gehrd gtsv batches_threads_and_nan);

#[test]
fn zero_sized_operands_succeed() {
    for (batch, n) in [(&[][..], 0), (&[0], 3), (&[2], 0)] {
        let beside = if n == 0 { 0 } else { n - 1 };
        let x = || {
            Call::new()
                .arg::<f64>(&dims(batch, &[n, n]), &[])
                .ret_aliasing(0)
        };
        let call = x().ret::<f64>(&dims(batch, &[beside])).ret::<i32>(batch);
        let call = call.attr("low", 1_i32).attr("high", n as i32);
        done::<f64>(call, "gehrd", "gehrd");
        let call = x()
            .ret::<f64>(&dims(batch, &[n]))
            .ret::<f64>(&dims(batch, &[beside]))
            .ret::<f64>(&dims(batch, &[beside]))
            .ret::<i32>(batch);
        done::<f64>(call.attr("uplo", b'U'), "sytrd", "hetrd");
        done::<f64>(gtsv_call::<f64>(batch, [&[]; 4], n), "gtsv", "gtsv");
    }
    // Without rows the columns stay where they are.
    let call = Call::new()
        .arg::<f64>(&[2, 0, 3], &[])
        .arg(&[2, 3], &[0_i32; 6])
        .ret_aliasing(0)
        .ret_aliasing(1)
        .ret::<f64>(&[2, 0]);
    assert_eq!(
        done::<f64>(call, "geqp3", "geqp3").ret::<i32>(1),
        [1, 2, 3, 1, 2, 3]
    );
}
