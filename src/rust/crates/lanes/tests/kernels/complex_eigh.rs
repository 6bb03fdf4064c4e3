//! Eigenvalues of complex Hermitian matrices, with those of the real symmetric matrix of twice the size as reference.

use crate::complex::{absolute, batch, numbers, part, polar, Part, Results, C};
use crate::{in_both, on, Random, SLACK, THREADS};
use lanes::eigh::{Syevd, COMPLEX_BLOCKS, NOT_FINITE};
use lanes::{Together, Unit, ALONE};
use matrices::Triangle;

const BLOCKS: usize = COMPLEX_BLOCKS.long;
const SIZES: [usize; 13] = [1, 2, 3, 4, 5, 8, 9, 17, BLOCKS, BLOCKS + 1, 48, 64, 97];
const COUNTS: [usize; 3] = [1, 7, 17];

/// Of each matrix its eigenvalues, as complex numbers, and what it became.
fn run<T: Part>(
    n: usize,
    vectors: bool,
    triangle: Triangle,
) -> impl Fn(Unit, &[T::Number], usize) -> Results<T::Number> {
    run_by::<T>(n, vectors, triangle, THREADS)
}

fn run_by<T: Part>(
    n: usize,
    vectors: bool,
    triangle: Triangle,
    together: Together<'static>,
) -> impl Fn(Unit, &[T::Number], usize) -> Results<T::Number> {
    move |unit, x, count| {
        let (mut a, mut w, mut info) = (x.to_vec(), vec![T::ZERO; n * count], vec![-1; count]);
        let kernel = Syevd {
            n,
            vectors,
            triangle,
            a: &mut a,
            w: &mut w,
            info: &mut info,
            together,
        };
        on(unit, kernel, count);
        let each = w.chunks(n).zip(a.chunks(n * n)).flat_map(|(w, a)| {
            let w = w.iter().map(|w| T::number(C::new(w.f64(), 0.0)));
            w.chain(a.iter().copied()).collect::<Vec<_>>()
        });
        (each.collect(), info)
    }
}

/// The element that a triangle stands for.
fn element<T: Part>(n: usize, triangle: Triangle, a: &[T::Number], i: usize, j: usize) -> C {
    let read = match triangle {
        Triangle::Lower => i >= j,
        Triangle::Upper => i <= j,
    };
    match () {
        () if i == j => C::new(T::c(a[j * n + i]).re, 0.0),
        () if read => T::c(a[j * n + i]),
        () => T::c(a[i * n + j]).conj(),
    }
}

/// The eigenvalues by the kernel of real matrices, from `[re, -im; im, re]`, which has each of them twice.
fn reference(n: usize, a: impl Fn(usize, usize) -> C) -> Vec<f64> {
    let both = |e: usize| {
        let (i, j) = (e % (2 * n), e / (2 * n));
        let value = a(i % n, j % n);
        match (i < n, j < n) {
            (true, false) => -value.im,
            (false, true) => value.im,
            _ => value.re,
        }
    };
    let mut a: Vec<f64> = (0..4 * n * n).map(both).collect();
    let (mut w, mut info) = (vec![0.0; 2 * n], [-1]);
    let kernel = Syevd {
        n: 2 * n,
        vectors: false,
        triangle: Triangle::Lower,
        a: &mut a,
        w: &mut w,
        info: &mut info,
        together: THREADS,
    };
    on(Unit::all()[0], kernel, 1);
    assert_eq!(info, [0]);
    w.into_iter().step_by(2).collect()
}

/// LAPACK's ratios of residual and orthogonality, and that eigenvalues are those of the reference, of numbers of a
/// `size`.
#[track_caller]
fn check<T: Part>(n: usize, a: &dyn Fn(usize, usize) -> C, result: &[C], size: f64) {
    let (w, v) = result.split_at(n);
    let most = SLACK * T::ROUNDING.f64() * (n as f64 + 1.0);
    let known = reference(n, a);
    assert!(w.windows(2).all(|pair| pair[0].re <= pair[1].re), "{w:?}");
    for (w, known) in w.iter().zip(known) {
        assert!((w.re - known).abs() <= most * size, "{} for {known}", w.re);
    }
    for j in 0..n {
        let column = &v[j * n..][..n];
        for i in 0..n {
            let product = (0..n).map(|k| a(i, k) * column[k]).sum::<C>();
            let off = absolute(product - column[i] * w[j].re);
            assert!(off <= most * size, "residual ({i}, {j}) of {n}: {off}");
            let inner = (0..n).map(|k| v[i * n + k].conj() * column[k]).sum::<C>();
            let off = absolute(inner - f64::from(u8::from(i == j)));
            assert!(off <= most, "inner product ({i}, {j}) of {n}: {off}");
        }
    }
}

fn decomposes<T: Part>() {
    let mut random = Random(21);
    for n in SIZES {
        for count in COUNTS {
            let triangle = [Triangle::Lower, Triangle::Upper][(n + count) % 2];
            let mut x = numbers::<T>(&mut random, n * n * count);
            if n > 1 {
                let unread = match triangle {
                    Triangle::Lower => (n - 1) * n,
                    Triangle::Upper => n - 1,
                };
                for a in x.chunks_mut(n * n) {
                    a[unread] = T::number(C::new(f64::NAN, 1.0));
                }
            }
            let (results, info) = batch::<T>(&x, count, run::<T>(n, true, triangle));
            let (values, infos) = batch::<T>(&x, count, run::<T>(n, false, triangle));
            assert_eq!((&info, &infos), (&vec![0; count], &vec![0; count]));
            for at in [0, count / 2, count - 1] {
                let matrix = part(&x, at, count);
                let a = |i, j| element::<T>(n, triangle, matrix, i, j);
                let (result, alone) = (part(&results, at, count), part(&values, at, count));
                check::<T>(n, &a, result, 2.0 * (n as f64).sqrt());
                for (w, alone) in result[..n].iter().zip(alone) {
                    let most = SLACK * T::ROUNDING.f64() * 2.0 * n as f64;
                    assert!((w.re - alone.re).abs() <= most, "{w} and {alone}");
                }
            }
        }
    }
}

/// Matrices without anything to do; of one number everywhere; graded ones; of large and of small numbers.
fn special<T: Part>() {
    for n in [1, 2, 5, 17, BLOCKS, 40, 101] {
        let grade = |i: usize| 10_f64.powf(-6.0 * i as f64 / n as f64);
        let turned = |i: usize, j: usize| polar(1.0, 0.7 * i as f64 - 0.7 * j as f64);
        let kinds: [&dyn Fn(usize, usize) -> C; 4] = [
            &|i, j| C::from(f64::from(u8::from(i == j))),
            // Of rank 1.
            &turned,
            &|i, j| turned(i, j) * grade(i.max(j)),
            &|i, j| turned(i, j) * grade(n - 1 - i.min(j)),
        ];
        for kind in kinds {
            // Products of large matrices take their time.
            let scales = [1.0, 0.0, 1e-38, 1e-30, 1e30];
            for &scale in &scales[..if n < 33 { 5 } else { 1 }] {
                let number = |e: usize| T::number(kind(e % n, e / n) * scale);
                let a: Vec<T::Number> = (0..n * n).map(number).collect();
                let given = |i, j| element::<T>(n, Triangle::Lower, &a, i, j);
                let (results, info) =
                    batch::<T>(&a.repeat(7), 7, run::<T>(n, true, Triangle::Lower));
                assert_eq!(info, [0; 7]);
                check::<T>(n, &given, part(&results, 4, 7), scale * n as f64);
            }
        }
    }
}

fn not_finite<T: Part>() {
    for n in [1, 4, 9, BLOCKS, 49] {
        let clean = numbers::<T>(&mut Random(23), n * n * 7);
        let run = run::<T>(n, true, Triangle::Lower);
        let (good, _) = batch::<T>(&clean, 7, &run);
        for place in [0, n - 1, n * n - 1] {
            let mut x = clean.clone();
            x[2 * n * n + place] = T::number(C::new(f64::NAN, 0.0));
            x[5 * n * n + place] = T::number(C::new(0.0, f64::INFINITY));
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

/// Sizes around the edges of lines, blocks and panels: the same bits on every vector unit and with any threads.
fn large<T: Part>() {
    let mut random = Random(22);
    for n in [112, 128, 129, 257] {
        let x = numbers::<T>(&mut random, n * n);
        let lower = Triangle::Lower;
        let units = Unit::all().into_iter().filter(|&unit| unit.has_vectors());
        let results = units.flat_map(|unit| {
            [ALONE, THREADS].map(|by| run_by::<T>(n, true, lower, by)(unit, &x, 1))
        });
        let results: Vec<_> = results.collect();
        let first: Vec<C> = results[0].0.iter().map(|&x| T::c(x)).collect();
        for (other, info) in &results {
            assert_eq!(info, &[0]);
            assert!(first.iter().zip(other).all(|(x, &y)| *x == T::c(y)));
        }
        let a = |i, j| element::<T>(n, lower, &x, i, j);
        check::<T>(n, &a, &first, 2.0 * (n as f64).sqrt());
        let (values, _) = run::<T>(n, false, lower)(Unit::all()[0], &x, 1);
        let most = SLACK * T::ROUNDING.f64() * 2.0 * n as f64;
        for (w, alone) in first[..n].iter().zip(values) {
            let off = absolute(*w - T::c(alone));
            assert!(off <= most, "{w} of {n}: {off}");
        }
    }
}

/// Of which several threads read parts for each product: the trace and the sum of squares are those of the matrix.
#[test]
fn a_matrix_by_several_threads() {
    let n = 801;
    let x = numbers::<f32>(&mut Random(24), n * n);
    let by = |by| run_by::<f32>(n, false, Triangle::Upper, by)(Unit::all()[0], &x, 1).0;
    let (alone, together) = (by(ALONE), by(THREADS));
    assert!(alone[..n] == together[..n]);
    let w: Vec<f64> = alone[..n].iter().map(|w| w.re.into()).collect();
    let a = |i, j| element::<f32>(n, Triangle::Upper, &x, i, j);
    let trace: f64 = (0..n).map(|i| a(i, i).re).sum();
    let all = (0..n).flat_map(|j| (0..n).map(move |i| (i, j)));
    let squares: f64 = all.map(|(i, j)| a(i, j).norm_sqr()).sum();
    let (sum, sum_of_squares) = (w.iter().sum::<f64>(), w.iter().map(|w| w * w).sum::<f64>());
    let most = SLACK * f64::from(f32::EPSILON);
    assert!(
        (sum - trace).abs() < most * squares.sqrt(),
        "{sum}, {trace}"
    );
    assert!(
        (sum_of_squares / squares - 1.0).abs() < most,
        "{sum_of_squares}, {squares}"
    );
}

in_both! { decomposes special not_finite large }
