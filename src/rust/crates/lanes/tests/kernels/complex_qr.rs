//! QR of complex matrices: what the factors make, by loops over the reflections as LAPACK defines them.

use crate::complex::{absolute, batch, numbers, part, Part, Results, C};
use crate::{in_both, on, Random, SLACK, THREADS};
use lanes::qr::{Geqrf, Orgqr, COMPLEX_BLOCKS};
use lanes::{Run, Together, Unit, ALONE};

const BLOCKS: usize = COMPLEX_BLOCKS.long;

/// Of matrices in blocks.
const SMALL: [usize; 6] = [1, 2, 5, 9, 17, BLOCKS];

/// Of those with their rows in lanes, around the edges of blocks of reflections (8), of two of these, and of vectors.
const LARGE: [usize; 9] = [BLOCKS + 1, 40, 47, 48, 64, 65, 97, 131, 200];

/// The matrix and the factors of its reflections, one after the other for each matrix.
fn run<T: Part>(
    (m, n): (usize, usize),
    together: Together<'_>,
) -> impl Fn(Unit, &[T::Number], usize) -> Results<T::Number> + '_ {
    move |unit, x, count| {
        let zero = T::number(C::new(0.0, 0.0));
        let (mut a, mut tau) = (x.to_vec(), vec![zero; m.min(n) * count]);
        let kernel = Geqrf {
            run: Run::in_place((m, n), &mut a, together),
            tau: &mut tau,
        };
        on(unit, kernel, count);
        let each = |at| [part(&a, at, count), part(&tau, at, count)].concat();
        ((0..count).flat_map(each).collect(), Vec::new())
    }
}

/// The first columns of `Q`; operands are as results of [`run`], with `k` factors.
fn columns<T: Part>(
    (m, n, k): (usize, usize, usize),
    together: Together<'_>,
) -> impl Fn(Unit, &[T::Number], usize) -> Results<T::Number> + '_ {
    move |unit, packed, count| {
        let each = || packed.chunks_exact(m * n + k);
        let mut a: Vec<_> = each().flat_map(|one| &one[..m * n]).copied().collect();
        let tau: Vec<_> = each().flat_map(|one| &one[m * n..]).copied().collect();
        let kernel = Orgqr {
            run: Run::in_place((m, n), &mut a, together),
            k,
            tau: &tau,
        };
        on(unit, kernel, count);
        (a, Vec::new())
    }
}

fn all<T: Part>(x: &[T::Number]) -> Vec<C> {
    x.iter().map(|&x| T::c(x)).collect()
}

fn all_nan(x: &[C]) -> bool {
    x.iter().all(|x| x.re.is_nan() && x.im.is_nan())
}

/// `H₁ H₂ ⋯ C` of `H = I - tau v vᴴ`, for the columns of `c`.
fn naive(m: usize, reflections: &[C], tau: &[C], c: &mut [C]) {
    for (k, &tau) in tau.iter().enumerate().rev() {
        let v = &reflections[k * m + k + 1..(k + 1) * m];
        for c in c.chunks_exact_mut(m) {
            let (head, tail) = c[k..].split_at_mut(1);
            let inner = head[0] + v.iter().zip(&*tail).map(|(v, c)| v.conj() * c).sum::<C>();
            head[0] -= tau * inner;
            for (c, v) in tail.iter_mut().zip(v) {
                *c -= tau * inner * v;
            }
        }
    }
}

#[track_caller]
fn expect_close<T: Part>(what: &str, is: &[C], should: &[C], terms: usize, size: f64) {
    let most = SLACK * T::ROUNDING.f64() * terms as f64 * size;
    assert_eq!(is.len(), should.len());
    for (e, (is, should)) in is.iter().zip(should).enumerate() {
        let off = absolute(is - should);
        assert!(off <= most, "{what}: {e}: {is} for {should}, within {most}");
    }
}

fn size(x: &[C]) -> f64 {
    x.iter().fold(0.0, |size, &x| size.max(absolute(x)))
}

/// That the factors of `given` are those of LAPACK's kind: unitary reflections, a real diagonal of `R`, and `Q R` what
/// was given, up to what is rounded of numbers of a size of `least`.
#[track_caller]
fn expect_factors<T: Part>((m, n): (usize, usize), given: &[C], factored: &[C], least: f64) {
    let what = format!("{m} x {n}");
    let (a, tau) = factored.split_at(m * n);
    for (k, &tau) in tau.iter().enumerate() {
        let v = &a[k * m + k + 1..(k + 1) * m];
        let square = 1.0 + v.iter().map(C::norm_sqr).sum::<f64>();
        let off = (2.0 * tau.re - tau.norm_sqr() * square).abs();
        assert!(off <= 60.0 * T::ROUNDING.f64(), "{what}: {k}: {tau}, {off}");
        assert!(tau == C::new(0.0, 0.0) || tau.re > 0.99, "{what}: {tau}");
        assert!(a[k * m + k].im == 0.0, "{what}: {k}");
    }
    let upper = |e: usize| {
        if e % m > e / m {
            C::new(0.0, 0.0)
        } else {
            a[e]
        }
    };
    let mut product: Vec<C> = (0..m * n).map(upper).collect();
    naive(m, a, tau, &mut product);
    let size = size(given).max(least) * (m as f64).sqrt();
    expect_close::<T>(&what, &product, given, m, size);
}

fn factors_of<T: Part>(shape: (usize, usize), count: usize, random: &mut Random) {
    let x = numbers::<T>(random, shape.0 * shape.1 * count);
    let (results, _) = batch::<T>(&x, count, run::<T>(shape, THREADS));
    for at in 0..count {
        let given = all::<T>(part(&x, at, count));
        expect_factors::<T>(shape, &given, part(&results, at, count), 0.0);
    }
}

fn factors<T: Part>() {
    let mut random = Random(21);
    for n in SMALL {
        for m in [n, n / 2 + 1, BLOCKS - n / 2] {
            factors_of::<T>((m, n), 7, &mut random);
        }
    }
    for n in LARGE {
        let count = if n < 50 { 7 } else { 1 };
        for shape in [(n, n), (n / 2 + 1, n), (n + 35, n), (5, n)] {
            factors_of::<T>(shape, count, &mut random);
        }
        for few in [1, 3, 8, 9] {
            factors_of::<T>((n, few), count, &mut random);
        }
    }
}

fn columns_of<T: Part>((m, n, k): (usize, usize, usize), count: usize, random: &mut Random) {
    let x = numbers::<T>(random, m * n * count);
    let (factored, _) = run::<T>((m, n), THREADS)(Unit::all()[0], &x, count);
    let pack = |at| {
        let (a, tau) = part(&factored, at, count).split_at(m * n);
        [a, &tau[..k]].concat()
    };
    let packed: Vec<_> = (0..count).flat_map(pack).collect();
    let (results, _) = batch::<T>(&packed, count, columns::<T>((m, n, k), THREADS));
    for at in 0..count {
        let one = all::<T>(part(&packed, at, count));
        let unit = |e: usize| C::new(f64::from(u8::from(e % m == e / m)), 0.0);
        let mut q: Vec<C> = (0..m * n).map(unit).collect();
        naive(m, &one[..m * n], &one[m * n..], &mut q);
        let what = format!("{n} columns of {k} reflections of {m} rows");
        let result = part(&results, at, count);
        expect_close::<T>(&what, result, &q, m, 1.0);
        for i in 0..n {
            for j in 0..=i {
                let (x, y) = (&result[i * m..][..m], &result[j * m..][..m]);
                let inner: C = x.iter().zip(y).map(|(x, y)| x.conj() * y).sum();
                let should = C::new(f64::from(u8::from(i == j)), 0.0);
                expect_close::<T>(&what, &[inner], &[should], m, 1.0);
            }
        }
    }
}

fn columns_of_q<T: Part>() {
    let mut random = Random(22);
    for n in SMALL {
        for k in [n, n.div_ceil(2)] {
            columns_of::<T>((BLOCKS, n, k), 7, &mut random);
        }
    }
    for n in LARGE {
        let count = if n < 50 { 7 } else { 1 };
        for (m, k) in [(n, n), (n + 35, n), (n, n - 7), (n + 1, 16), (n, 3)] {
            columns_of::<T>((m, n, k), count, &mut random);
        }
        // Around the number up to which reflections act one by one.
        for k in [1, 2, 8, 15, 16, 17] {
            columns_of::<T>((n, k, k), count, &mut random);
            columns_of::<T>((n, k, k.div_ceil(2)), count, &mut random);
        }
    }
}

/// Several threads give the bits of one.
fn threads<T: Part>() {
    let n = 230;
    let unit = Unit::all()[0];
    let x = numbers::<T>(&mut Random(23), n * n);
    let several = run::<T>((n, n), THREADS)(unit, &x, 1).0;
    let alone = run::<T>((n, n), ALONE)(unit, &x, 1).0;
    assert!(all::<T>(&several) == all::<T>(&alone));
    let [q, alone] = [THREADS, ALONE].map(|by| columns::<T>((n, n, n), by)(unit, &several, 1).0);
    assert!(all::<T>(&q) == all::<T>(&alone));
}

/// Ends of the range, zeros, and columns in which all of that stands side by side.
fn at_every_scale<T: Part>() {
    let smallest = T::SMALLEST.f64();
    let huge = T::ROUNDING.f64() / smallest;
    let (m, n) = (83, 45);
    let ordinary = all::<T>(&numbers::<T>(&mut Random(24), m * n));
    for scales in [
        [0.0; 3],
        [smallest; 3],
        [smallest / 64.0; 3],
        [huge; 3],
        [1.0, 0.0, smallest / 64.0],
        [1.0, smallest, huge],
    ] {
        for by_rows in [false, true] {
            let scale = |e: usize| scales[if by_rows { e % m } else { e / m } % 3];
            let x: Vec<_> = (0..m * n)
                .map(|e| T::number(ordinary[e] * scale(e)))
                .collect();
            let (results, _) = batch::<T>(&x, 1, run::<T>((m, n), THREADS));
            // Below the smallest normal number nothing is rounded to so many digits.
            expect_factors::<T>((m, n), &all::<T>(&x), &results, smallest);
        }
    }
}

/// Where nothing is left below the diagonal a real element stays as it is, with a factor of 0; a complex one is made
/// real, however small its imaginary part is.
fn triangles<T: Part>() {
    let n = 41;
    let mut x = all::<T>(&numbers::<T>(&mut Random(25), n * n));
    for (e, x) in x.iter_mut().enumerate() {
        let (i, j) = (e % n, e / n);
        if i > j {
            *x = C::new(0.0, 0.0);
        } else if i == j {
            x.im = [0.0, x.im, T::SMALLEST.f64()][i % 3];
        }
    }
    let given: Vec<_> = x.iter().map(|&x| T::number(x)).collect();
    let (results, _) = batch::<T>(&given, 1, run::<T>((n, n), THREADS));
    expect_factors::<T>((n, n), &x, &results, 0.0);
    let (a, tau) = results.split_at(n * n);
    for (k, tau) in tau.iter().enumerate() {
        let (is, was) = (a[k * n + k].re, x[k * n + k]);
        if k % 3 == 0 {
            assert!(*tau == C::new(0.0, 0.0) && is == was.re, "{k}: {tau}");
        } else {
            let off = (is.abs() - absolute(was)).abs();
            assert!(off <= 4.0 * T::ROUNDING.f64() && is * was.re < 0.0, "{k}");
            assert!(
                tau.re >= 1.0
                    && a[k * n + k + 1..(k + 1) * n]
                        .iter()
                        .all(|v| size(&[*v]) == 0.0)
            );
        }
    }
}

/// One bad part spoils its matrix and no other.
fn not_finite<T: Part>() {
    let kernels = |n: usize, bad: C, place: usize| {
        let each = n * n + n;
        let mut x = numbers::<T>(&mut Random(26), each * 7);
        x[2 * each + place] = T::number(bad);
        let (q, _) = batch::<T>(&x, 7, columns::<T>((n, n, n), THREADS));
        let only: Vec<_> = x
            .chunks_exact(each)
            .flat_map(|one| &one[..n * n])
            .copied()
            .collect();
        let (factors, _) = batch::<T>(&only, 7, run::<T>((n, n), THREADS));
        for at in 0..7 {
            assert_eq!(all_nan(part(&q, at, 7)), at == 2, "{n}: {place}");
            if place < n * n {
                assert_eq!(all_nan(part(&factors, at, 7)), at == 2, "{n}: {place}");
            }
        }
    };
    for n in [3, BLOCKS + 3] {
        for place in [0, n * n - 1, n * n, n * n + n - 1] {
            kernels(n, C::new(f64::NAN, 0.0), place);
            kernels(n, C::new(0.0, f64::INFINITY), place);
        }
    }
}

in_both! { factors columns_of_q threads at_every_scale triangles not_finite }
