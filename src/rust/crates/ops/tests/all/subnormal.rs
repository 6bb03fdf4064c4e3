//! Matrices with subnormal elements, under an XLA that flushes subnormals to zero: what is computed
//! is finite, and the same alone and anywhere in a batch.

use crate::common::{dims, handler, start, Random};
use xla_ffi::testing::Call;

/// Below the smallest normal number, above the smallest number by enough to be told apart.
const TINY: f64 = 1e-310;

/// `m` x `n`, its first column subnormal.
fn first_column_tiny(m: usize, n: usize) -> Vec<f64> {
    let mut a: Vec<f64> = Random(7).matrix(m * n);
    a[..m].iter_mut().for_each(|x| *x *= TINY);
    a
}

/// The results of one matrix among others: `at` of `batch`.
fn results(
    target: &str,
    shape: (usize, usize),
    rets: impl Fn(Call, &[i64]) -> Call,
    count: usize,
    a: &[f64],
    (at, batch): (usize, usize),
) -> Vec<Vec<f64>> {
    let (m, n) = shape;
    let mut data: Vec<f64> = Random(3).matrix(batch * m * n);
    data[at * m * n..][..m * n].copy_from_slice(a);
    let batch_dims = [batch as i64];
    let call = start().threads(2).arg(&dims(&batch_dims, &[m, n]), &data);
    let mut frame = rets(call, &batch_dims).build();
    frame.call(handler(target)).expect("a result");
    let of = |i| {
        let all = frame.ret::<f64>(i);
        let len = all.len() / batch;
        all[at * len..][..len].to_vec()
    };
    (0..count).map(of).collect()
}

fn check(
    target: &str,
    shape: (usize, usize),
    rets: impl Fn(Call, &[i64]) -> Call,
    count: usize,
    a: &[f64],
) -> Vec<Vec<f64>> {
    let bits =
        |all: &[Vec<f64>]| -> Vec<u64> { all.iter().flatten().map(|x| x.to_bits()).collect() };
    let alone = results(target, shape, &rets, count, a, (0, 1));
    assert!(
        alone.iter().flatten().all(|x| x.is_finite()),
        "{target} {shape:?}: {alone:?}"
    );
    for place in [(0, 8), (3, 8), (8, 9), (100, 101)] {
        let among = results(target, shape, &rets, count, a, place);
        assert_eq!(
            bits(&among),
            bits(&alone),
            "{target} {shape:?} at {place:?}"
        );
    }
    alone
}

const SHAPES: [(usize, usize); 6] = [(3, 2), (3, 3), (8, 8), (20, 5), (33, 33), (70, 70)];

#[test]
fn lu() {
    for (m, n) in SHAPES {
        let rets = |call: Call, batch: &[i64]| {
            call.ret::<f64>(&dims(batch, &[m, n]))
                .ret::<i32>(&dims(batch, &[m.min(n)]))
        };
        let packed = check("lu", (m, n), rets, 1, &first_column_tiny(m, n)).remove(0);
        let pivot = packed[0].abs();
        assert!(pivot > 0.0, "({m}, {n}): the pivot is there");
        assert!(packed[1..m].iter().all(|l| l.abs() <= 1.0), "({m}, {n})");
        assert!(packed[1..m].iter().any(|l| l.abs() > 0.0), "({m}, {n})");
    }
}

#[test]
fn qr() {
    for (m, n) in SHAPES {
        let rets = |call: Call, batch: &[i64]| {
            call.ret::<f64>(&dims(batch, &[m, n]))
                .ret::<f64>(&dims(batch, &[m.min(n)]))
        };
        let a = first_column_tiny(m, n);
        let factors = check("geqrf", (m, n), rets, 2, &a);
        let (found, wanted) = (factors[0][0].abs(), norm(&a[..m]));
        assert!(
            (found / wanted - 1.0).abs() < 1e-10,
            "({m}, {n}): {found} {wanted}"
        );
        assert!(factors[1].iter().all(|tau| (0.0..=2.0).contains(tau)));
    }
}

#[test]
fn svd() {
    for (m, n) in SHAPES {
        let k = m.min(n);
        let rets = |call: Call, batch: &[i64]| {
            call.ret::<f64>(&dims(batch, &[m, k]))
                .ret::<f64>(&dims(batch, &[k]))
                .ret::<f64>(&dims(batch, &[k, n]))
        };
        let a: Vec<f64> = Random(7).matrix(m * n);
        let tiny: Vec<f64> = a.iter().map(|x| x * TINY).collect();
        let values = check("svd", (m, n), rets, 3, &tiny).remove(1);
        let wanted = check("svd", (m, n), rets, 3, &a).remove(1);
        same_up_to_scale(&values, &wanted, &format!("svd ({m}, {n})"));
    }
}

#[test]
fn eigh() {
    for n in [2, 3, 8, 33, 70] {
        let rets = |call: Call, batch: &[i64]| {
            call.ret::<f64>(&dims(batch, &[n, n]))
                .ret::<f64>(&dims(batch, &[n]))
        };
        let a: Vec<f64> = Random(7).hermitian(n);
        let tiny: Vec<f64> = a.iter().map(|x| x * TINY).collect();
        let values = check("eigh", (n, n), rets, 2, &tiny).remove(1);
        let wanted = check("eigh", (n, n), rets, 2, &a).remove(1);
        same_up_to_scale(&values, &wanted, &format!("eigh {n}"));
    }
}

fn norm(x: &[f64]) -> f64 {
    let scaled = x.iter().map(|x| x / TINY);
    scaled.map(|x| x * x).sum::<f64>().sqrt() * TINY
}

/// To the few digits that subnormal numbers have.
fn same_up_to_scale(values: &[f64], wanted: &[f64], what: &str) {
    let largest = wanted.iter().fold(0.0f64, |max, x| max.max(x.abs()));
    for (value, wanted) in values.iter().zip(wanted) {
        let off = (value / TINY - wanted).abs() / largest;
        assert!(off < 1e-9, "{what}: {value} is not {wanted} times {TINY}");
    }
}

/// Two columns that are the same but for rounding: the last pivot is below the smallest number.
#[test]
fn info_of_lu_is_about_the_factor_that_is_given() {
    use xla_ffi::Complex;
    let column = [(-975, 29), (-1230, 1229), (394, -259)].map(|(re, im)| {
        let unit = f64::from_bits(1_000_000);
        Complex::new(f64::from(re) * unit, f64::from(im) * unit)
    });
    let a = [column; 3].concat();
    let square = [3, 3];
    let call = start().arg(&square, &a).ret::<Complex<f64>>(&square);
    let mut frame = call.ret::<i32>(&[3]).ret::<i32>(&[]).build();
    frame.call(handler("lapack_zgetrf_ffi")).expect("factors");
    let mut diagonal = frame.ret::<Complex<f64>>(0).iter().step_by(4);
    let zero = diagonal.position(|u| u.re == 0.0 && u.im == 0.0);
    let first = zero.map_or(0, |at| at as i32 + 1);
    assert_eq!(frame.ret::<i32>(2), [first]);
    assert_ne!(first, 0);
}

#[test]
fn schur_vectors_have_length_one() {
    use xla_ffi::Complex;
    let mut a: Vec<Complex<f64>> = (0..16).map(|_| Complex::new(0.0, 0.0)).collect();
    let tiny = f64::from_bits(7);
    a[4 + 1] = Complex::new(1.3982, -0.95732);
    a[12 + 1] = Complex::new(-0.60865, -1.6519);
    a[2] = Complex::new(0.43241, 0.51543);
    a[4 + 2] = Complex::new(-0.86454, 0.69364);
    a[8 + 2] = Complex::new(-5.0 * tiny, 6.0 * tiny);
    a[8 + 3] = Complex::new(5.0 * tiny, -2.0 * tiny);
    let square = [4, 4];
    let call = start().arg(&square, &a).ret::<Complex<f64>>(&square);
    let call = call.ret::<Complex<f64>>(&square).ret::<Complex<f64>>(&[4]);
    let call = call.ret::<i32>(&[]).ret::<i32>(&[]);
    let mut frame = call.attr("mode", b'V').attr("sort", b'N').build();
    frame.call(handler("lapack_zgees_ffi")).expect("a form");
    for column in frame.ret::<Complex<f64>>(1).chunks(4) {
        let length = column.iter().map(|z| z.norm_sqr()).sum::<f64>();
        assert!((length - 1.0).abs() < 1e-14, "{column:?}: {length}");
    }
}

#[test]
fn eigenvectors_belong_to_their_values() {
    let n = 5;
    let mut a: Vec<f64> = Random(7).matrix(n * n);
    a[2 * n..3 * n].iter_mut().for_each(|x| *x *= TINY);
    let (dims, line) = ([5, 5], [5]);
    let call = start().arg(&dims, &a).ret::<f64>(&line).ret::<f64>(&line);
    let call = call.ret::<xla_ffi::Complex<f64>>(&dims);
    let call = call.ret::<xla_ffi::Complex<f64>>(&dims).ret::<i32>(&[]);
    let call = call.attr("compute_left", b'N').attr("compute_right", b'V');
    let mut frame = call.build();
    frame.call(handler("lapack_dgeev_ffi")).expect("values");
    let vectors = frame.ret::<xla_ffi::Complex<f64>>(3);
    for (j, v) in vectors.chunks(n).enumerate() {
        let w = xla_ffi::Complex::new(frame.ret::<f64>(0)[j], frame.ret::<f64>(1)[j]);
        for i in 0..n {
            let row = (0..n).map(|k| v[k] * a[i + k * n]);
            let product = row.fold(xla_ffi::Complex::new(0.0, 0.0), |sum, x| sum + x);
            assert!((product - w * v[i]).norm_sqr() < 1e-24, "vector {j}");
        }
    }
}
