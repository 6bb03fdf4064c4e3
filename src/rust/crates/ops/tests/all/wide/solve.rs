//! `trsm` and `gtsv`.

use super::{assert_equal, done, SIZES};
use crate::common::{dims, for_every_dtype, Mat, Number, Random, C};
use xla_ffi::testing::Call;

fn trsm<T: Number>() {
    let mut random = Random(94);
    for (at, n) in SIZES.into_iter().enumerate() {
        let whole = Mat::new(n, n, &random.matrix::<T>(n * n));
        let x = whole.plus(&Mat::identity(n), n as f64).to::<T>();
        let read = Mat::new(n, n, &x);
        for (left, lower) in [(true, true), (true, false), (false, true), (false, false)] {
            let trans = [b'N', b'T', b'C'][(at + usize::from(left)) % 3];
            let (m, k) = if left { (n, 3) } else { (3, n) };
            let y = random.matrix::<T>(m * k);
            let call = Call::new()
                .arg(&dims(&[], &[n, n]), &x)
                .arg(&dims(&[], &[m, k]), &y)
                .ret_aliasing(1)
                .attr("side", if left { b'L' } else { b'R' })
                .attr("uplo", if lower { b'L' } else { b'U' })
                .attr("trans_x", trans)
                .attr("diag", b'N');
            let frame = done::<T>(call, "trsm", "trsm");
            let solution = Mat::new::<T>(m, k, frame.ret(0));
            let triangle = Mat::make(n, n, |i, j| {
                let outside = if lower { i < j } else { i > j };
                if outside {
                    C::default()
                } else {
                    read.at(i, j)
                }
            });
            let op = match trans {
                b'N' => triangle,
                b'C' => triangle.adjoint(),
                _ => Mat::make(n, n, |i, j| triangle.at(j, i)),
            };
            let product = if left {
                op.times(&solution)
            } else {
                solution.times(&op)
            };
            let norm = op.norm1() * solution.norm1();
            let what = format!("trsm {n}, {left}, {lower}, {}", trans as char);
            assert_equal::<T>(&product, &Mat::new(m, k, &y), n, norm, &what);
        }
    }
}

/// Graded, tiny and huge diagonals too.
fn gtsv<T: Number>() {
    let mut random = Random(95);
    let span = if T::EPS < 1e-10 { 150.0 } else { 18.0 };
    for n in SIZES {
        for (name, low, high) in [
            ("even", 0.0, 0.0),
            ("graded", -span, span),
            ("large", span, span),
            ("small", -span, -span),
        ] {
            let scale = |i: usize| 10_f64.powf(low + (high - low) * i as f64 / (n - 1) as f64);
            let [dl, d, du] = [0.0, 3.0, 0.0].map(|center| -> Vec<T> {
                let parts = Mat::new(n, 1, &random.matrix::<C>(n)).data;
                parts
                    .iter()
                    .enumerate()
                    .map(|(i, v)| T::of((v + center) * scale(i)))
                    .collect()
            });
            let b = random.matrix::<T>(n);
            let call = [&dl, &d, &du]
                .into_iter()
                .fold(Call::new(), |call, v| call.arg(&[n as i64], v));
            let call = (0..4).fold(call.arg(&dims(&[], &[n, 1]), &b), Call::ret_aliasing);
            let frame = done::<T>(call.ret::<i32>(&[]), "gtsv", "gtsv");
            assert_eq!(frame.ret::<i32>(4), [0]);
            let s = Mat::new::<T>(n, 1, frame.ret(3));
            for i in 0..n {
                // Row by row, since the rows are of different sizes.
                let terms = [
                    (i > 0).then(|| dl[i].c() * s.data[i - 1]),
                    Some(d[i].c() * s.data[i]),
                    (i + 1 < n).then(|| du[i].c() * s.data[i + 1]),
                ];
                let terms: Vec<C> = terms.into_iter().flatten().collect();
                let sum: C = terms.iter().sum();
                let norm = terms.iter().map(|t| t.norm_sqr().sqrt()).sum::<f64>()
                    + b[i].c().norm_sqr().sqrt();
                let (found, wanted) = (
                    Mat::make(1, 1, |_, _| sum),
                    Mat::make(1, 1, |_, _| b[i].c()),
                );
                assert_equal::<T>(
                    &found,
                    &wanted,
                    10,
                    norm,
                    &format!("gtsv {n}, {name}, row {i}"),
                );
            }
        }
    }
}

for_every_dtype!(trsm gtsv);
