//! LU factorisation by panels.

use super::common::{
    abs, assert_small, dims, for_every_dtype, is_nan, ratio, start, Mat, Number, Random, C,
};
use super::one_launch;

/// The factors, pivots and `info`.
fn getrf<T: Number>(
    batch: &[i64],
    (m, n): (usize, usize),
    a: &[T],
) -> (Vec<T>, Vec<i32>, Vec<i32>) {
    let call = start().arg(&dims(batch, &[m, n]), a).ret_aliasing(0);
    let call = call.ret::<i32>(&dims(batch, &[m.min(n)])).ret::<i32>(batch);
    let frame = one_launch(call, "cusolver_getrf_ffi");
    (
        frame.ret::<T>(0).to_vec(),
        frame.ret::<i32>(1).to_vec(),
        frame.ret::<i32>(2).to_vec(),
    )
}

/// `P A = L U`; the pivots are the largest.
fn check_lu<T: Number>((m, n): (usize, usize), a: &[T], packed: &[T], pivots: &[i32], what: &str) {
    let k = m.min(n);
    let (mut permuted, packed) = (Mat::new(m, n, a), Mat::new(m, n, packed));
    for (i, &p) in pivots.iter().enumerate() {
        let p = usize::try_from(p - 1).expect("pivots count from 1");
        assert!((i..m).contains(&p), "{what}: pivot {p} of row {i}");
        (0..n).for_each(|j| permuted.data.swap(i + j * m, p + j * m));
    }
    let lower = Mat::make(m, k, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => C::default(),
        std::cmp::Ordering::Equal => 1.0.into(),
        std::cmp::Ordering::Greater => packed.at(i, j),
    });
    let largest = lower.data.iter().map(|&v| abs(v)).fold(0.0, f64::max);
    assert!(
        largest <= 2_f64.sqrt() + 8.0 * T::EPS,
        "{what}: {largest} in L"
    );
    let residual = permuted.plus(&lower.times(&packed.upper(k)), -1.0);
    assert_small(ratio::<T>(&residual, m.max(n), permuted.norm1()), what);
}

/// One panel and several, the last one whole or not, with few warps and with many, of more rows or more columns; each the
/// same in a batch as without the others.
fn lu<T: Number>() {
    let mut random = Random(51);
    for (m, n) in [
        (1, 2),
        (5, 1),
        (7, 5),
        (33, 32),
        (20, 40),
        (65, 3),
        (3, 65),
        (40, 40),
        (96, 96),
        (70, 100),
        (128, 128),
        (100, 131),
        (256, 40),
    ] {
        let (count, size, k) = (4, m * n, m.min(n));
        let mut a = random.matrix::<T>(count * size);
        a[2 * size - 1] = T::of(f64::NAN.into());
        let (packed, pivots, info) = getrf(&[2, 2], (m, n), &a);
        for (i, one) in a.chunks(size).enumerate() {
            let what = format!("matrix {i} of {m} x {n}");
            let (packed, pivots) = (&packed[i * size..][..size], &pivots[i * k..][..k]);
            assert_eq!(info[i], 0, "{what}");
            if i == 1 {
                assert!(packed.iter().all(is_nan), "{what}");
                assert!(pivots.iter().zip(1..).all(|(&p, i)| p == i), "{what}");
                continue;
            }
            check_lu((m, n), one, packed, pivots, &what);
            let (other, swaps, _) = getrf(&[2], (m, n), &[one, one].concat());
            assert!(other[size..] == *packed && swaps[k..] == *pivots, "{what}");
        }
    }
}

/// The first of the largest is the pivot; the first column without one is told, and passed over.
fn ties_and_zeros<T: Number>() {
    let made = |element: fn(usize, usize) -> f64| {
        let a = Mat::make(5, 4, |i, j| element(i, j).into()).to::<T>();
        let (packed, pivots, info) = getrf(&[2], (5, 4), &[a.clone(), a.clone()].concat());
        check_lu((5, 4), &a, &packed[20..], &pivots[4..], "exact numbers");
        (pivots[4..].to_vec(), info[1])
    };
    // Rows 2 and 4 begin with the largest; then rows 4 and 5 do, once the second is subtracted.
    assert_eq!(
        made(|i, j| [
            [1., 0., 0., 0.],
            [-2., 0., 0., 1.],
            [0., 1., 1., 0.],
            [2., 4., 0., 0.],
            [0., -4., 2., 0.]
        ][i][j]),
        (vec![2, 4, 5, 5], 0)
    );
    assert_eq!(made(|_, _| 0.0), (vec![1, 2, 3, 4], 1));
    // Of rank one.
    assert_eq!(made(|i, j| f64::from(1 << (i + j))), (vec![5, 2, 3, 4], 2));
    assert_eq!(made(|i, j| f64::from(u8::from(i == j && j != 2))).1, 3);
}

/// By panels, too: a column without a pivot in the second one, which is passed over.
fn zeros_in_panels<T: Number>() {
    let n = 110;
    let mut random = Random(52);
    let mut a = random.matrix::<T>(n * n);
    a[40 * n..41 * n].fill(T::of(C::default()));
    let (packed, pivots, info) = getrf(&[2], (n, n), &[a.clone(), a.clone()].concat());
    assert_eq!(info, [41, 41]);
    check_lu(
        (n, n),
        &a,
        &packed[n * n..],
        &pivots[n..],
        "a column of zeros",
    );
}

for_every_dtype!(lu ties_and_zeros zeros_in_panels);

#[test]
fn one_matrix_by_itself_while_it_is_small() {
    let (n, mut random) = (128, Random(53));
    let a = random.matrix::<f32>(n * n);
    let (packed, pivots, info) = getrf(&[], (n, n), &a);
    assert_eq!(info, [0]);
    check_lu((n, n), &a, &packed, &pivots, "one of 128");
}

#[test]
fn a_grid_of_all_blocks_goes_on_to_the_matrices_beyond_it() {
    let count = (1 << 20) + 3; // The most blocks, and three.
    let a: Vec<f32> = (0..2 * count).map(|i| i as f32).collect();
    let (packed, pivots, info) = getrf(&[count as i64], (2, 1), &a);
    assert!(pivots.iter().all(|&p| p == 2) && info.iter().all(|&i| i == 0));
    let mut pairs = packed.chunks(2).zip(a.chunks(2));
    assert!(pairs.all(|(got, a)| got == [a[1], a[0] / a[1]]));
}
