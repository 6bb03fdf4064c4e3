use crate::*;
use lanes::crossprod::{Crossprod, Product};

/// A matrix by rows of so many numbers.
type Side<'a, T> = (&'a [T], usize);

/// `x`, `y` and `w` of a product.
type Operands<'a, T> = (Side<'a, T>, Side<'a, T>, Option<&'a [T]>);

/// Products `xᵀ diag(w) y` of row-major matrices, on a unit, in one pass.
fn run_all<T: Real>(unit: Unit, all: &[Operands<'_, T>]) -> Vec<Vec<T>> {
    let mut results: Vec<_> = all
        .iter()
        .map(|((_, p), (_, q), _)| vec![T::of(f64::NAN); p * q])
        .collect();
    let products = all.iter().zip(&mut results);
    let products = products.map(|(&((x, p), (y, q), w), z)| Product {
        x,
        p,
        y,
        q,
        w,
        symmetric: std::ptr::eq(x, y),
        z,
    });
    on(unit, Crossprod(products.collect()), 1);
    results
}

fn run<T: Real>(unit: Unit, x: Side<'_, T>, y: Side<'_, T>, w: Option<&[T]>) -> Vec<T> {
    run_all(unit, &[(x, y, w)]).remove(0)
}

/// That this is the product by its definition, up to rounding of as many terms, to the same bits on every unit.
fn check<T: Real>(x: (&[T], usize), y: (&[T], usize), w: Option<&[T]>) {
    let units = Unit::all();
    let z = run(units[0], x, y, w);
    for &unit in &units[1..] {
        assert_eq!(run(unit, x, y, w), z, "{unit:?} {} x {}", x.1, y.1);
    }
    let n = y.0.len() / y.1;
    for (i, z) in z.chunks_exact(y.1).enumerate() {
        for (j, z) in z.iter().enumerate() {
            let term = |r: usize| {
                let weight = w.map_or(1.0, |w| w[r].f64());
                x.0[r * x.1 + i].f64() * weight * y.0[r * y.1 + j].f64()
            };
            let want: f64 = (0..n).map(term).sum();
            let size: f64 = (0..n).map(|r| term(r).abs()).sum();
            let most = SLACK * T::ROUNDING.f64() * n as f64 * size;
            assert!(
                (z.f64() - want).abs() <= most,
                "{n}: ({i}, {j}) {} for {want}",
                z.f64()
            );
        }
    }
}

fn products<T: Real>() {
    let mut random = Random(3);
    for n in [1, 2, 63, 64, 65, 511, 1030] {
        let w = random.numbers::<T>(n);
        for (p, q) in [
            (1, 1),
            (1, 3),
            (2, 2),
            (3, 17),
            (4, 9),
            (6, 6),
            (10, 10),
            (16, 16),
            (17, 33),
            (9, 129),
        ] {
            let (x, y) = (random.numbers::<T>(n * p), random.numbers::<T>(n * q));
            for w in [None, Some(&w[..])] {
                check((&x, p), (&y, q), w);
                check((&y, q), (&y, q), w);
            }
        }
    }
}

/// Products that are computed together are those that each would be alone, but for the order of sums.
fn together<T: Real>() {
    let mut random = Random(11);
    for n in [1, 3, 64, 700, 1031] {
        let x = random.numbers::<T>(n * 7);
        let y = random.numbers::<T>(n * 21);
        let one = random.numbers::<T>(n);
        let w = random.numbers::<T>(n);
        let (x, y, one, w) = ((&x[..], 7), (&y[..], 21), (&one[..], 1), Some(&w[..]));
        let all = [
            (x, x, w),
            (one, x, None),
            (x, y, None),
            (one, y, w),
            (y, y, w),
        ];
        let units = Unit::all();
        let results = run_all(units[0], &all);
        for &unit in &units[1..] {
            assert_eq!(run_all(unit, &all), results, "{unit:?} {n}");
        }
        for (&(x, y, w), z) in all.iter().zip(&results) {
            let alone = run(units[0], x, y, w);
            let slack = SLACK * n as f64;
            Matrix::of(y.1, z).expect::<T>(&Matrix::of(y.1, &alone), n, slack);
        }
    }
}

/// Of a symmetric product both triangles are equal, and as without saying so.
fn symmetric_ones<T: Real>() {
    let y = Random(5).numbers::<T>(300 * 19);
    let unit = Unit::all()[0];
    let z = run(unit, (&y, 19), (&y, 19), None);
    let again = y.clone();
    assert_eq!(z, run(unit, (&y, 19), (&again, 19), None));
    for e in 0..19 * 19 {
        assert_eq!(z[e], z[e % 19 * 19 + e / 19]);
    }
}

/// A number that is none spoils its own row and column of the result alone.
fn spoilt_ones<T: Real>() {
    let mut x = Random(7).numbers::<T>(100 * 5);
    x[99 * 5 + 4] = T::of(f64::NAN);
    x[98 * 5] = T::of(f64::INFINITY);
    let z = run(Unit::all()[0], (&x, 5), (&x, 5), None);
    for (e, z) in z.iter().enumerate() {
        let (i, j) = (e / 5, e % 5);
        assert_eq!(z.f64().is_nan(), i == 4 || j == 4, "({i}, {j})");
        assert_eq!(z.f64().is_finite(), i % 4 > 0 && j % 4 > 0, "({i}, {j})");
    }
}

fn without_vectors<T: Real>() {
    let (x, w) = (Random(9).numbers::<T>(70 * 3), Random(2).numbers::<T>(70));
    let want = run(Unit::all()[0], (&x, 3), (&x, 3), Some(&w));
    let mut z = vec![T::of(1.0); 9];
    let kernel = Product {
        x: &x,
        p: 3,
        y: &x,
        q: 3,
        w: Some(&w),
        symmetric: true,
        z: &mut z,
    };
    kernel.one_by_one();
    let of = |z: &[T]| Matrix::of(3, z);
    of(&z).expect::<T>(&of(&want), 70, 70.0);
}

in_both!(products together symmetric_ones spoilt_ones without_vectors);
