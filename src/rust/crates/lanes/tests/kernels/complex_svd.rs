//! Singular values of complex matrices, with those of the real matrix of twice the size as reference.

use crate::complex::{absolute, batch, numbers, part, polar, Part, Results, C};
use crate::{in_both, on, Random, SLACK, THREADS};
use lanes::svd::{Gesdd, COMPLEX_BLOCKS, NOT_FINITE};
use lanes::{Together, Unit, ALONE};
use matrices::Vectors;

const LARGEST: usize = COMPLEX_BLOCKS.long;
const SIZES: [(usize, usize); 16] = [
    (1, 1),
    (1, 2),
    (2, 1),
    (2, 2),
    (3, 3),
    (5, 4),
    (4, 5),
    (8, 8),
    (9, 5),
    (3, 17),
    (17, 17),
    (40, 7),
    (33, 34),
    (LARGEST, 20),
    (LARGEST, LARGEST),
    (50, LARGEST),
];
/// Of matrices whose rows are in lanes, around the edges of panels and lines.
const LARGE: [(usize, usize); 8] = [
    (LARGEST + 1, 1),
    (LARGEST + 1, 16),
    (LARGEST + 1, LARGEST + 1),
    (LARGEST + 3, LARGEST - 1),
    (33, 80),
    (80, 49),
    (200, 31),
    (97, 95),
];
const ALL: [Vectors; 3] = [Vectors::Full, Vectors::Thin, Vectors::No];
const COUNTS: [usize; 2] = [7, 17];

/// Numbers of each result: singular values, left and right singular vectors.
fn lengths((m, n): (usize, usize), vectors: Vectors) -> [usize; 3] {
    let (columns, rows) = vectors.counts(m as i32, n as i32);
    [m.min(n), m * columns as usize, rows as usize * n]
}

/// The results of each matrix, one after the other; singular values as complex numbers.
fn run<T: Part>(
    (m, n): (usize, usize),
    vectors: Vectors,
) -> impl Fn(Unit, &[T::Number], usize) -> Results<T::Number> {
    run_by::<T>((m, n), vectors, THREADS)
}

fn run_by<T: Part>(
    (m, n): (usize, usize),
    vectors: Vectors,
    together: Together<'static>,
) -> impl Fn(Unit, &[T::Number], usize) -> Results<T::Number> {
    move |unit, x, count| {
        let zero = T::number(C::new(0.0, 0.0));
        let [of_s, of_u, of_vt] = lengths((m, n), vectors);
        let (mut s, mut info) = (vec![T::ZERO; of_s * count], vec![-1; count]);
        let [mut u, mut vt] = [of_u, of_vt].map(|each| vec![zero; each * count]);
        let kernel = Gesdd {
            m,
            n,
            vectors,
            a: x,
            s: &mut s,
            u: &mut u,
            vt: &mut vt,
            info: &mut info,
            together,
        };
        on(unit, kernel, count);
        let s: Vec<T::Number> = s.iter().map(|s| T::number(C::new(s.f64(), 0.0))).collect();
        let each = |at| {
            [
                part(&s, at, count),
                part(&u, at, count),
                part(&vt, at, count),
            ]
            .concat()
        };
        ((0..count).flat_map(each).collect(), info)
    }
}

/// The singular values by the kernel of real matrices, from `[re, -im; im, re]`, which has each of them twice.
fn reference((m, n): (usize, usize), a: &[C]) -> Vec<f64> {
    let both = |e: usize| {
        let (i, j) = (e % (2 * m), e / (2 * m));
        let value = a[j % n * m + i % m];
        match (i < m, j < n) {
            (true, false) => -value.im,
            (false, true) => value.im,
            _ => value.re,
        }
    };
    let a: Vec<f64> = (0..4 * m * n).map(both).collect();
    let (mut s, mut info) = (vec![0.0; 2 * m.min(n)], [-1]);
    let kernel = Gesdd {
        m: 2 * m,
        n: 2 * n,
        vectors: Vectors::No,
        a: &a,
        s: &mut s,
        u: &mut [],
        vt: &mut [],
        info: &mut info,
        together: THREADS,
    };
    on(Unit::all()[0], kernel, 1);
    assert_eq!(info, [0]);
    s.into_iter().step_by(2).collect()
}

/// That the columns, which are so many, are orthonormal.
#[track_caller]
fn expect_orthonormal(count: usize, rows: usize, most: f64, at: impl Fn(usize, usize) -> C) {
    for (i, j) in (0..count).flat_map(|j| (0..count).map(move |i| (i, j))) {
        let inner = (0..rows).map(|k| at(k, i).conj() * at(k, j)).sum::<C>();
        let off = absolute(inner - f64::from(u8::from(i == j)));
        assert!(off <= most, "inner product ({i}, {j}) of {rows}: {off}");
    }
}

/// LAPACK's ratios of residual and orthogonality, and that singular values are those of the reference.
#[track_caller]
fn check<T: Part>((m, n): (usize, usize), vectors: Vectors, a: &[C], result: &[C]) {
    let (rank, size) = (m.min(n), a.iter().map(C::norm_sqr).sum::<f64>().sqrt());
    let most = SLACK * T::ROUNDING.f64() * (m.max(n) as f64 + 1.0);
    let [of_s, of_u, of_vt] = lengths((m, n), vectors);
    let (s, factors) = result.split_at(of_s);
    let (u, vt) = factors.split_at(of_u);
    assert!(s.windows(2).all(|pair| pair[0].re >= pair[1].re), "{s:?}");
    for (s, known) in s.iter().zip(reference((m, n), a)) {
        let off = (s.re - known).abs();
        assert!(s.re >= 0.0 && off <= most * size, "{} for {known}", s.re);
    }
    if vectors == Vectors::No {
        return;
    }
    let (columns, rows) = (of_u / m, of_vt / n);
    expect_orthonormal(columns, m, most, |k, i| u[i * m + k]);
    expect_orthonormal(rows, n, most, |k, i| vt[k * rows + i]);
    for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
        let product: C = (0..rank)
            .map(|k| u[k * m + i] * s[k] * vt[j * rows + k])
            .sum();
        let off = absolute(product - a[j * m + i]);
        assert!(off <= most * size, "({i}, {j}) of {m} x {n}: {off}, {most}");
    }
}

fn decomposes<T: Part>() {
    let mut random = Random(31);
    let cases = SIZES
        .into_iter()
        .flat_map(|size| COUNTS.map(|count| (size, count)));
    let large = LARGE.map(|size| (size, 2));
    for ((m, n), count) in cases.chain(large) {
        for vectors in ALL {
            let x = numbers::<T>(&mut random, m * n * count);
            let (results, info) = batch::<T>(&x, count, run::<T>((m, n), vectors));
            assert_eq!(info, vec![0; count]);
            let at = count / 2;
            let a: Vec<C> = part(&x, at, count).iter().map(|&x| T::c(x)).collect();
            check::<T>((m, n), vectors, &a, part(&results, at, count));
        }
    }
}

/// Of rank 0 and 1, and graded ones; of large and of small numbers.
fn special<T: Part>() {
    for (m, n) in [
        (1, 1),
        (5, 3),
        (3, 5),
        (17, 17),
        (LARGEST, 9),
        (LARGEST + 1, 20),
        (20, 80),
    ] {
        let kinds: [&dyn Fn(usize, usize) -> f64; 3] = [
            &|_, _| 1.0,
            &|i, _| 10_f64.powf(-6.0 * i as f64 / m as f64),
            &|_, j| 10_f64.powf(6.0 * j as f64 / n as f64 - 6.0),
        ];
        for kind in kinds {
            // Products of large matrices take their time.
            let scales = [1.0, 0.0, 1e-38, 1e-30, 1e30];
            for &scale in &scales[..if m.min(n) < 33 { 5 } else { 1 }] {
                let number = |e: usize| {
                    let (i, j) = (e % m, e / m);
                    T::number(polar(scale * kind(i, j), (i + 2 * j) as f64))
                };
                let a: Vec<T::Number> = (0..m * n).map(number).collect();
                let run = run::<T>((m, n), Vectors::Full);
                let (results, info) = batch::<T>(&a.repeat(7), 7, run);
                assert_eq!(info, [0; 7]);
                let a: Vec<C> = a.into_iter().map(T::c).collect();
                check::<T>((m, n), Vectors::Full, &a, part(&results, 3, 7));
            }
        }
    }
}

fn not_finite<T: Part>() {
    for n in [1, 4, 9, LARGEST, LARGEST + 1] {
        for vectors in ALL {
            let clean = numbers::<T>(&mut Random(33), n * n * 7);
            let run = run::<T>((n, n), vectors);
            let (good, _) = batch::<T>(&clean, 7, &run);
            let mut x = clean.clone();
            x[2 * n * n] = T::number(C::new(f64::NAN, 0.0));
            x[6 * n * n - 1] = T::number(C::new(0.0, f64::INFINITY));
            let (results, info) = batch::<T>(&x, 7, &run);
            for (at, &info) in info.iter().enumerate() {
                let (result, good) = (part(&results, at, 7), part(&good, at, 7));
                let bad = at == 2 || at == 5;
                assert_eq!(info, if bad { NOT_FINITE } else { 0 });
                assert!(bad || result == good, "a neighbour changed matrix {at}");
                assert!(!bad || result.iter().all(|x| x.re.is_nan()));
            }
        }
    }
}

/// Of which several threads read parts for each product: the squares of the singular values are those of the matrix, and
/// some elements are those of the product.
#[test]
fn a_matrix_by_several_threads() {
    let (m, n) = (560, 531);
    let x = numbers::<f32>(&mut Random(34), m * n);
    let by = |by| run_by::<f32>((m, n), Vectors::Thin, by)(Unit::all()[0], &x, 1).0;
    let (alone, together) = (by(ALONE), by(THREADS));
    assert!(alone == together);
    let results: Vec<C> = alone.into_iter().map(f32::c).collect();
    let (s, factors) = results.split_at(n);
    let (u, vt) = factors.split_at(m * n);
    let squares: f64 = x.iter().map(|&x| f32::c(x).norm_sqr()).sum();
    let sum_of_squares: f64 = s.iter().map(C::norm_sqr).sum();
    let most = SLACK * f64::from(f32::EPSILON);
    assert!(
        (sum_of_squares / squares - 1.0).abs() < most,
        "{sum_of_squares}, {squares}"
    );
    for (i, j) in (0..40).map(|k| (k * 13, n - 1 - k * 11)) {
        let product: C = (0..n).map(|k| u[k * m + i] * s[k] * vt[j * n + k]).sum();
        let off = absolute(product - f32::c(x[j * m + i]));
        assert!(off <= most * squares.sqrt(), "({i}, {j}): {off}");
    }
}

in_both! { decomposes special not_finite }
