//! QR factorisation, a block of threads for each matrix.

use super::common::{
    abs, assert_small, dims, for_every_dtype, is_nan, orthogonality, ratio, same_or_close, start,
    Mat, Number, Random, C,
};
use super::{one_launch, q::product};
use xla_ffi::testing::Call;

/// The call of jaxlib's, in place.
fn call<T: Number>(batch: &[i64], (m, n): (usize, usize), a: &[T]) -> Call {
    let call = start().arg(&dims(batch, &[m, n]), a).ret_aliasing(0);
    call.ret::<T>(&dims(batch, &[m.min(n)]))
}

/// Reflectors and `tau` of our kernel.
fn geqrf<T: Number>(batch: &[i64], shape: (usize, usize), a: &[T]) -> (Vec<T>, Vec<T>) {
    let frame = one_launch(call(batch, shape, a), "cusolver_geqrf_ffi");
    (frame.ret::<T>(0).to_vec(), frame.ret::<T>(1).to_vec())
}

/// Those of the CPU's LAPACK.
fn on_cpu<T: Number>(batch: &[i64], shape: (usize, usize), a: &[T]) -> (Vec<T>, Vec<T>) {
    let target = format!("lapack_{}geqrf_ffi", T::LETTER);
    let handler = ops::find(&target, "host").expect("a target of jaxlib's");
    let mut frame = call(batch, shape, a).build();
    frame.call(handler).expect("good operands");
    (frame.ret::<T>(0).to_vec(), frame.ret::<T>(1).to_vec())
}

/// `A = Q R`; `R` has a real diagonal.
fn check_qr<T: Number>((m, n): (usize, usize), a: &[T], packed: &[T], tau: &[T], what: &str) {
    let k = m.min(n);
    let q = product((m, k), &packed[..m * k], tau);
    assert_small(orthogonality::<T>(&q), what);
    let (a, r) = (Mat::new(m, n, a), Mat::new(m, n, packed).upper(k));
    assert!((0..k).all(|i| r.at(i, i).im == 0.0), "{what}");
    let residual = a.plus(&q.times(&r), -1.0);
    assert_small(ratio::<T>(&residual, m.max(n), a.norm1()), what);
}

/// For every number of groups, with matrices that fit into shared memory and ones that do not; each
/// the same in a batch as without the others, and LAPACK's up to rounding.
fn qr<T: Number>() {
    let mut random = Random(61);
    for (m, n) in [
        (1, 1),
        (1, 3),
        (4, 1),
        (3, 4),
        (5, 4),
        (7, 7),
        (32, 33),
        (33, 20),
        (20, 45),
        (65, 3),
        (3, 65),
        (100, 70),
        (129, 9),
        (256, 40),
    ] {
        let (count, size, k) = (4, m * n, m.min(n));
        let mut a = random.matrix::<T>(count * size);
        let bad = if m % 2 == 0 { f64::NAN } else { f64::INFINITY };
        a[2 * size - 1] = T::of(bad.into());
        let (packed, tau) = geqrf(&[2, 2], (m, n), &a);
        let want = on_cpu(&[2, 2], (m, n), &a);
        for (i, one) in a.chunks(size).enumerate() {
            let what = format!("matrix {i} of {m} x {n}");
            let part = |packed: &[T], tau: &[T]| {
                (
                    packed[i * size..][..size].to_vec(),
                    tau[i * k..][..k].to_vec(),
                )
            };
            let (packed, tau) = part(&packed, &tau);
            if i == 1 {
                assert!(packed.iter().chain(&tau).all(is_nan), "{what}");
                continue;
            }
            let want = part(&want.0, &want.1);
            assert!(same_or_close(&packed, &want.0), "{what}");
            assert!(same_or_close(&tau, &want.1), "{what}");
            let (other, factors) = geqrf(&[2], (m, n), &[one, one].concat());
            assert!(other[size..] == packed && factors[k..] == tau, "{what}");
            if i == 0 {
                check_qr((m, n), one, &packed, &tau, &what);
            }
        }
    }
}

/// Columns of the largest and of the smallest numbers, one beside the other and of both kinds, whose
/// squares are no numbers: every column of `R` is right for its own size.
fn scales<T: Number>() {
    let (m, n) = (9, 5);
    // Powers of two, within some of the largest number's and the smallest normal one's.
    let large = if T::EPS < 1e-10 { 1000 } else { 120 };
    let base = Random(62).matrix::<T>(m * n);
    let scale = |powers: [i32; 5]| -> Vec<T> {
        let scaled = |(i, v): (usize, &T)| T::of(v.c() * 2_f64.powi(powers[i / m]));
        base.iter().enumerate().map(scaled).collect()
    };
    for powers in [
        [large; 5],
        [-large; 5],
        [large, -large, 0, large, -large],
        [0, large / 2, -large / 2, 1 - large, large],
    ] {
        let a = scale(powers);
        let (packed, tau) = geqrf(&[2], (m, n), &[&a[..], &a].concat());
        let back = |packed: &[T]| -> Vec<T> {
            let unscaled = |(at, v): (usize, &T)| {
                let above = at % m <= at / m;
                let power = if above { -powers[at / m] } else { 0 };
                T::of(v.c() * 2_f64.powi(power))
            };
            packed.iter().enumerate().map(unscaled).collect()
        };
        let what = format!("{powers:?}");
        check_qr((m, n), &base, &back(&packed[m * n..]), &tau[n..], &what);
        let want = on_cpu(&[2], (m, n), &[&a[..], &a].concat());
        assert!(same_or_close(
            &back(&packed[..m * n]),
            &back(&want.0[..m * n])
        ));
        assert!(same_or_close(&tau, &want.1), "{what}");
    }
    // Subnormal numbers, and one row of such below a column of others.
    let smallest = if T::EPS < 1e-10 {
        5e-324
    } else {
        2_f64.powi(-149)
    };
    for column in [
        vec![3.0 * smallest, 4.0 * smallest],
        vec![1.0, 8.0 * smallest],
        vec![0.0, 5.0 * smallest],
        vec![2_f64.powi(large), smallest],
    ] {
        let a: Vec<T> = column.iter().map(|&v| T::of(v.into())).collect();
        let (packed, tau) = geqrf(&[2], (2, 1), &[&a[..], &a].concat());
        let norm = column[0].hypot(column[1]);
        let beta = packed[0].c();
        assert!((beta.re + norm).abs() <= 4.0 * T::EPS * norm && beta.im == 0.0);
        let want = 1.0 + column[0] / norm;
        assert!(
            abs(tau[0].c() - C::from(want)) <= 8.0 * T::EPS,
            "{column:?}"
        );
    }
}

/// As LAPACK's larfg: a column that is zero below its first number is left as it is, with a factor of
/// zero; if that is not real, it is made so.
fn nothing_to_reflect<T: Number>() {
    let (m, n) = (6, 6);
    let upper = Mat::make(m, n, |i, j| {
        let one = C::new((i + 2 * j + 1) as f64, 0.0);
        if i < j {
            C::new(1.0, -2.0)
        } else if i == j {
            one
        } else {
            C::default()
        }
    });
    let zeros = vec![T::default(); m * n];
    let a = [upper.to::<T>(), zeros].concat();
    let (packed, tau) = geqrf(&[2], (m, n), &a);
    assert!(packed == a && tau.iter().all(|t| *t == T::default()));
    if !T::COMPLEX {
        // One number by itself is left.
        assert!(geqrf(&[2], (1, 1), &a[..2]) == (a[..2].to_vec(), vec![T::default(); 2]));
        return;
    }
    // 3 + 4i becomes -5.
    let turned: Vec<T> = [
        C::new(3.0, 4.0),
        C::default(),
        C::new(1.0, 1.0),
        C::new(0.0, 2.0),
    ]
    .map(T::of)
    .to_vec();
    let (packed, tau) = geqrf(&[2], (2, 2), &[&turned[..], &turned].concat());
    assert!(abs(packed[0].c() - C::new(-5.0, 0.0)) < 20.0 * T::EPS);
    assert!(abs(tau[0].c() - C::new(1.6, 0.8)) < 4.0 * T::EPS);
    let want = on_cpu(&[2], (2, 2), &[&turned[..], &turned].concat());
    assert!(same_or_close(&packed, &want.0) && same_or_close(&tau, &want.1));
}

for_every_dtype!(qr scales nothing_to_reflect);

#[test]
fn one_matrix_by_itself_while_it_is_small() {
    let a = Random(63).matrix::<f64>(32 * 30);
    let (packed, tau) = geqrf(&[], (32, 30), &a);
    let want = on_cpu(&[], (32, 30), &a);
    assert!(same_or_close(&packed, &want.0) && same_or_close(&tau, &want.1));
}

#[test]
fn a_grid_of_all_blocks_goes_on_to_the_matrices_beyond_it() {
    let count = (1 << 20) + 3; // The most blocks, and three.
    let rows = 17; // Smaller ones are cuBLAS's where there are so many.
    let mut a = vec![0.0_f32; rows * count];
    for (i, column) in a.chunks_mut(rows).enumerate() {
        column[0] = (i % 1000 + 1) as f32;
        column[rows - 1] = (i % 77 + 1) as f32;
    }
    let (packed, tau) = geqrf(&[count as i64], (rows, 1), &a);
    let all = packed.chunks(rows).zip(&tau).zip(a.chunks(rows));
    for ((got, tau), a) in all {
        let (first, last) = (a[0], a[rows - 1]);
        let norm = first.hypot(last);
        assert!((got[0] + norm).abs() <= 1e-6 * norm);
        assert!((tau - (1.0 + first / norm)).abs() <= 1e-6);
        assert!((got[rows - 1] - last / (first + norm)).abs() <= 1e-6);
    }
}
