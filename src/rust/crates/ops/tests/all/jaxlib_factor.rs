//! jaxlib's factorisations: those that have a shorter name too give the same, and what they add
//! (`info`, modes, triangles) is right.

use crate::common::{
    assert_small, dims, for_every_dtype, is_nan, orthogonality, ratio, run, same, Mat, Number,
    Random,
};
use xla_ffi::testing::{Call, Frame};

fn target<T: Number>(real: &str, complex: &str) -> String {
    let routine = if T::COMPLEX { complex } else { real };
    format!("lapack_{}{routine}_ffi", T::LETTER)
}

pub(crate) fn in_place<T: Number>(batch: &[i64], m: usize, n: usize, x: &[T]) -> Call {
    Call::new().arg(&dims(batch, &[m, n]), x).ret_aliasing(0)
}

fn done<T: Number>(call: Call, real: &str, complex: &str) -> Frame {
    run(call.build(), &target::<T>(real, complex))
}

/// Batches with a matrix that is not finite, each shape small and large.
const BATCHES: [(&[i64], usize, usize); 4] = [
    (&[3], 5, 4),
    (&[2, 3], 4, 5),
    (&[200], 3, 3),
    (&[2], 33, 33),
];

fn batch_with_nan<T: Number>(batch: &[i64], size: usize) -> Vec<T> {
    let mut x = Random(41).matrix::<T>(crate::common::count(batch) * size);
    x[size] = T::of(f64::NAN.into());
    x
}

fn same_as_the_short_names<T: Number>() {
    for (batch, m, n) in BATCHES {
        let k = m.min(n);
        let x = batch_with_nan::<T>(batch, m * n);
        let plain = |target: &str, rest: &dyn Fn(Call) -> Call| {
            let call = Call::new().arg(&dims(batch, &[m, n]), &x);
            run(rest(call).build(), target)
        };

        let call = in_place(batch, m, n, &x).ret::<i32>(&dims(batch, &[k]));
        let ours = done::<T>(call.ret::<i32>(batch).threads(3), "getrf", "getrf");
        let lu = plain("lu", &|call| {
            call.ret::<T>(&dims(batch, &[m, n]))
                .ret::<i32>(&dims(batch, &[k]))
        });
        assert!(same::<T>(ours.ret(0), lu.ret(0)) && ours.ret::<i32>(1) == lu.ret::<i32>(1));
        assert!(ours.ret::<i32>(2).iter().all(|&info| info == 0));

        let call = in_place(batch, m, n, &x).ret::<T>(&dims(batch, &[k]));
        let ours = done::<T>(call.threads(3), "geqrf", "geqrf");
        let qr = plain("geqrf", &|call| {
            call.ret::<T>(&dims(batch, &[m, n]))
                .ret::<T>(&dims(batch, &[k]))
        });
        assert!(same::<T>(ours.ret(0), qr.ret(0)) && same::<T>(ours.ret(1), qr.ret(1)));

        let call = in_place(batch, m, n, &x)
            .ret::<T::Real>(&dims(batch, &[k]))
            .ret::<T>(&dims(batch, &[m, k]))
            .ret::<T>(&dims(batch, &[k, n]))
            .ret::<i32>(batch);
        let ours = done::<T>(call.attr("mode", b'S').threads(3), "gesdd", "gesdd");
        let svd = plain("svd", &|call| {
            call.ret::<T>(&dims(batch, &[m, k]))
                .ret::<T::Real>(&dims(batch, &[k]))
                .ret::<T>(&dims(batch, &[k, n]))
        });
        assert!(same::<T::Real>(ours.ret(1), svd.ret(1)));
        assert!(same::<T>(ours.ret(2), svd.ret(0)) && same::<T>(ours.ret(3), svd.ret(2)));
        let failed = ours.ret::<i32>(4).iter().enumerate();
        assert!(failed.into_iter().all(|(i, &info)| (info != 0) == (i == 1)));

        if m != n {
            continue;
        }
        for uplo in [b'L', b'U'] {
            let call = in_place(batch, n, n, &x)
                .ret::<T::Real>(&dims(batch, &[n]))
                .ret::<i32>(batch)
                .attr("mode", b'V')
                .attr("uplo", uplo);
            let ours = done::<T>(call.threads(3), "syevd", "heevd");
            let eigh = plain("eigh", &|call| {
                call.ret::<T>(&dims(batch, &[n, n]))
                    .ret::<T::Real>(&dims(batch, &[n]))
                    .attr("uplo", uplo)
            });
            assert!(same::<T>(ours.ret(0), eigh.ret(0)));
            assert!(same::<T::Real>(ours.ret(1), eigh.ret(1)));
            let failed = ours.ret::<i32>(2).iter().enumerate();
            assert!(failed.into_iter().all(|(i, &info)| (info != 0) == (i == 1)));
        }
    }
}

fn singular_matrices_have_an_info<T: Number>() {
    let x = [[1.0, 2.0, 2.0, 4.0], [1.0, 0.0, 0.0, 1.0]].concat();
    let x: Vec<T> = x.into_iter().map(|v| T::of(v.into())).collect();
    let call = in_place(&[2], 2, 2, &x)
        .ret::<i32>(&[2, 2])
        .ret::<i32>(&[2]);
    assert_eq!(done::<T>(call, "getrf", "getrf").ret::<i32>(2), [2, 0]);
}

/// Ordinary ones, one that begins with zero, and one that is not finite.
fn rows_are_their_own_factors<T: Number>() {
    let x = [
        [2.0, 3.0, 5.0],
        [0.0, 3.0, 5.0],
        [7.0, 3.0, f64::NAN],
        [7.0, 0.0, 1.0],
    ]
    .concat();
    let x: Vec<T> = x.into_iter().map(|v| T::of(v.into())).collect();
    for n in [3, 1] {
        let rows = x.len() / n;
        let batch = [rows as i64];
        let call = in_place(&batch, 1, n, &x).ret::<i32>(&[rows as i64, 1]);
        let frame = done::<T>(call.ret::<i32>(&batch), "getrf", "getrf");
        assert!(frame.ret::<i32>(1).iter().all(|&pivot| pivot == 1));
        let results = frame.ret::<T>(0).chunks(n).zip(frame.ret::<i32>(2));
        for (row, (u, &info)) in x.chunks(n).zip(results) {
            let finite = !row.iter().any(is_nan);
            assert!(if finite {
                u == row
            } else {
                u.iter().all(is_nan)
            });
            assert_eq!(info, i32::from(finite && row[0] == T::of(0.0.into())));
        }
    }
}

/// All columns of `Q`, from fewer reflectors.
fn orgqr_makes_any_number_of_columns<T: Number>() {
    let mut random = Random(42);
    for (m, n, k) in [(5, 5, 3), (17, 9, 9), (3, 3, 0), (65, 65, 40)] {
        let call = in_place(&[], m, k, &random.matrix::<T>(m * k)).ret::<T>(&[k as i64]);
        let factored = done::<T>(call, "geqrf", "geqrf");
        let mut x = factored.ret::<T>(0).to_vec();
        x.resize(m * n, T::default());
        let call = Call::new()
            .arg(&dims(&[], &[m, n]), &x)
            .arg(&[k as i64], factored.ret::<T>(1))
            .ret_aliasing(0);
        let q = Mat::new(m, n, done::<T>(call, "orgqr", "ungqr").ret::<T>(0));
        assert_small(orthogonality::<T>(&q), &format!("{m} x {n} of {k}"));
    }
}

fn gesdd_modes<T: Number>() {
    let mut random = Random(43);
    for (m, n) in [(7, 4), (4, 7), (5, 5), (40, 3)] {
        let (k, x) = (m.min(n), random.matrix::<T>(m * n));
        let call = |mode: u8, columns: usize, rows: usize| {
            let call = in_place(&[], m, n, &x)
                .ret::<T::Real>(&[k as i64])
                .ret::<T>(&dims(&[], &[m, columns]))
                .ret::<T>(&dims(&[], &[rows, n]))
                .ret::<i32>(&[])
                .attr("mode", mode);
            done::<T>(call, "gesdd", "gesdd")
        };
        let full = call(b'A', m, n);
        let (u, vt) = (
            Mat::new::<T>(m, m, full.ret(2)),
            Mat::new::<T>(n, n, full.ret(3)),
        );
        let thin = u.columns(k).scaled::<T::Real>(full.ret(1));
        let rows = vt.adjoint().columns(k).adjoint();
        let a = Mat::new(m, n, &x);
        let residual = a.plus(&thin.times(&rows), -1.0);
        assert_small(ratio::<T>(&residual, m.max(n), a.norm1()), "A - USV");
        assert_small(orthogonality::<T>(&u), "U");
        assert_small(orthogonality::<T>(&vt), "V");
        // The values alone; jaxlib gives the other results the shapes of mode A or S all the same.
        for (columns, rows) in [(m, n), (k, k)] {
            let values = call(b'N', columns, rows);
            for (s, t) in values.ret::<T::Real>(1).iter().zip(full.ret::<T::Real>(1)) {
                let tolerance = 30.0 * T::EPS * full.ret::<T::Real>(1)[0].c().re;
                assert!((s.c().re - t.c().re).abs() <= tolerance);
            }
        }
    }
}

fn potrf<T: Number>() {
    let mut random = Random(44);
    for n in [1, 2, 3, 5, 8, 17, 33, 65, 129] {
        let b = Mat::new(n, n, &random.matrix::<T>(n * n));
        let x = b.times(&b.adjoint()).plus(&Mat::identity(n), n as f64);
        let x = x.to::<T>();
        let a = Mat::new(n, n, &x);
        for uplo in [b'L', b'U'] {
            let call = in_place(&[], n, n, &x).ret::<i32>(&[]).attr("uplo", uplo);
            let frame = done::<T>(call, "potrf", "potrf");
            assert_eq!(frame.ret::<i32>(1), [0]);
            let factor = Mat::new::<T>(n, n, frame.ret(0));
            // The other triangle is as it was.
            for (i, j) in (0..n * n).map(|at| (at % n, at / n)) {
                let other = if uplo == b'L' { i < j } else { i > j };
                assert!(!other || factor.at(i, j) == a.at(i, j));
            }
            let u = match uplo {
                b'L' => factor.adjoint().upper(n),
                _ => factor.upper(n),
            };
            let residual = a.plus(&u.adjoint().times(&u), -1.0);
            assert_small(ratio::<T>(&residual, n, a.norm1()), &format!("potrf, {n}"));
        }
    }
    // Not positive definite, not finite, and all right.
    let x = [
        [1.0, 2.0, 2.0, 1.0],
        [1.0, f64::NAN, 0.0, 1.0],
        [4.0, 0.0, 0.0, 9.0],
    ]
    .concat();
    let x: Vec<T> = x.into_iter().map(|v| T::of(v.into())).collect();
    let call = in_place(&[3], 2, 2, &x).ret::<i32>(&[3]).attr("uplo", b'L');
    let frame = done::<T>(call, "potrf", "potrf");
    assert_eq!(frame.ret::<i32>(1), [2, 1, 0]);
    assert!(frame.ret::<T>(0)[4..8].iter().all(is_nan));
    assert!(frame.ret::<T>(0)[8].c().re == 2.0 && frame.ret::<T>(0)[11].c().re == 3.0);
}

fn trsm<T: Number>() {
    let mut random = Random(45);
    for (m, n) in [(1, 1), (3, 2), (5, 7), (33, 17)] {
        for choice in 0..24 {
            let side = [b'L', b'R'][choice % 2];
            let uplo = [b'L', b'U'][choice / 2 % 2];
            let diag = [b'N', b'U'][choice / 4 % 2];
            let trans = [b'N', b'T', b'C'][choice / 8];
            let order = if side == b'L' { m } else { n };
            let whole = Mat::new(order, order, &random.matrix::<T>(order * order));
            let whole = whole.plus(&Mat::identity(order), 2.0 * order as f64);
            let x = whole.to::<T>();
            let read = Mat::new(order, order, &x);
            let op = Mat::make(order, order, |i, j| {
                let (i, j) = if trans == b'N' { (i, j) } else { (j, i) };
                let outside = if uplo == b'L' { i < j } else { i > j };
                match () {
                    () if outside => 0.0.into(),
                    () if i == j && diag == b'U' => 1.0.into(),
                    () if trans == b'C' => read.at(i, j).conj(),
                    () => read.at(i, j),
                }
            });
            let y = random.matrix::<T>(2 * m * n);
            let call = Call::new()
                .arg(
                    &dims(&[2], &[order, order]),
                    &[x.clone(), x.clone()].concat(),
                )
                .arg(&dims(&[2], &[m, n]), &y)
                .ret_aliasing(1)
                .attr("side", side)
                .attr("uplo", uplo)
                .attr("trans_x", trans)
                .attr("diag", diag);
            let frame = done::<T>(call, "trsm", "trsm");
            for (solution, y) in frame.ret::<T>(0).chunks(m * n).zip(y.chunks(m * n)) {
                let (s, y) = (Mat::new(m, n, solution), Mat::new(m, n, y));
                let product = if side == b'L' {
                    op.times(&s)
                } else {
                    s.times(&op)
                };
                let size = op.norm1() * s.norm1();
                let what = format!("{}{} {m} x {n}", side as char, trans as char);
                assert_small(ratio::<T>(&y.plus(&product, -1.0), order, size), &what);
            }
        }
    }
}

for_every_dtype!(
    rows_are_their_own_factors
    same_as_the_short_names singular_matrices_have_an_info orgqr_makes_any_number_of_columns
    gesdd_modes potrf trsm
);

#[test]
fn zero_sized_operands_succeed() {
    for (batch, n) in [(&[][..], 0), (&[0], 3), (&[2], 0)] {
        let call = || in_place::<f64>(batch, n, n, &[]);
        let info = done::<f64>(
            call().ret::<i32>(batch).attr("uplo", b'L'),
            "potrf",
            "potrf",
        );
        assert!(info.ret::<i32>(1).iter().all(|&info| info == 0));
        let call = call().ret::<i32>(&dims(batch, &[n])).ret::<i32>(batch);
        done::<f64>(call, "getrf", "getrf");
    }
    // Without columns all singular vectors are unit vectors.
    let call = in_place::<f64>(&[2], 3, 0, &[])
        .ret::<f64>(&[2, 0])
        .ret::<f64>(&[2, 3, 3])
        .ret::<f64>(&[2, 0, 0])
        .ret::<i32>(&[2]);
    let frame = done::<f64>(call.attr("mode", b'A'), "gesdd", "gesdd");
    let identity = Mat::identity(3).to::<f64>();
    assert_eq!(frame.ret::<f64>(2), [identity.clone(), identity].concat());
}
