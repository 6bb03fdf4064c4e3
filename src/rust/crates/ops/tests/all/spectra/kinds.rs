//! The kinds of matrices that LAPACK's own tests of eigenvalues and singular values use: by their
//! spectrum, from small to large scale.

use crate::common::{Mat, Number, Random, C};

/// Spectra of `k` values, the largest being 1.
pub fn spectra(k: usize, eps: f64) -> Vec<(&'static str, Vec<f64>)> {
    let part = |i: usize| i as f64 / (k.max(2) - 1) as f64;
    let make = |f: &dyn Fn(usize) -> f64| (0..k).map(f).collect::<Vec<f64>>();
    vec![
        ("zero", make(&|_| 0.0)),
        ("identity", make(&|_| 1.0)),
        ("arithmetic", make(&|i| 1.0 - part(i) * (1.0 - eps))),
        ("geometric", make(&|i| eps.powf(part(i)))),
        ("steep", make(&|i| 1e-30_f64.powf(part(i)))),
        ("one large", make(&|i| if i == 0 { 1.0 } else { eps })),
        ("one small", make(&|i| if i + 1 == k { eps } else { 1.0 })),
        (
            "half rank",
            make(&|i| if i <= k / 2 { 1.0 + part(i) } else { 0.0 }),
        ),
        ("pairs", make(&|i| 1.0 / (1 + i / 2) as f64)),
    ]
}

/// Powers of 2 that take a matrix near the largest number, to the smallest that has all its digits,
/// and where it has lost most of them; with how much it may lose.
pub fn scales<T: Number>() -> [(&'static str, f64, f64); 4] {
    let (up, down, below) = if T::EPS < 1e-10 {
        (1010, -965, -1060)
    } else {
        (120, -100, -137)
    };
    // powi takes the reciprocal of what may be infinite.
    let power = |e: i32| 2_f64.powi(e / 2) * 2_f64.powi(e - e / 2);
    [
        ("", 1.0, 0.0),
        ("near overflow", power(up), 0.0),
        ("near underflow", power(down), 0.0),
        // Steps are of 2⁻¹⁰⁷⁴ and 2⁻¹⁴⁹.
        ("subnormal", power(below), power(-12)),
    ]
}

/// All of them, or every fourth of large matrices, whose products take their time.
pub fn some_if_large<T>(size: usize, all: Vec<T>) -> impl Iterator<Item = T> {
    all.into_iter().step_by(if size > 64 { 4 } else { 1 })
}

/// `m` × `n` with these singular values.
pub fn general<T: Number>(random: &mut Random, m: usize, n: usize, values: &[f64]) -> Mat {
    let mut a = diagonal(m, n, values);
    for _ in 0..2 {
        a = reflected::<T>(random, &a);
        a = reflected::<T>(random, &a.adjoint()).adjoint();
    }
    a
}

/// Hermitian with these eigenvalues, every other one negative.
pub fn hermitian<T: Number>(random: &mut Random, values: &[f64]) -> Mat {
    let signed = values.iter().enumerate();
    let signed: Vec<f64> = signed
        .map(|(i, v)| if i % 2 == 1 { -v } else { *v })
        .collect();
    let mut a = diagonal(values.len(), values.len(), &signed);
    for _ in 0..2 {
        let seed = random.0;
        a = reflected::<T>(random, &a).adjoint();
        a = reflected::<T>(&mut Random(seed), &a);
    }
    a
}

fn diagonal(m: usize, n: usize, values: &[f64]) -> Mat {
    let element = |i: usize, j: usize| {
        let value = if i == j { values[i] } else { 0.0 };
        value.into()
    };
    Mat::make(m, n, element)
}

/// `H A` with a random reflection.
fn reflected<T: Number>(random: &mut Random, a: &Mat) -> Mat {
    let v: Vec<f64> = (0..2 * a.m).map(|_| random.real()).collect();
    let imaginary = f64::from(u8::from(T::COMPLEX));
    let v = Mat::make(a.m, 1, |i, _| C::new(v[2 * i], imaginary * v[2 * i + 1]));
    let square: f64 = v.data.iter().map(|v| v.norm_sqr()).sum();
    a.plus(&v.times(&v.adjoint().times(a)), -2.0 / square)
}

/// What a matrix with a scale was, and a matrix of results.
pub fn unscaled(a: &Mat, scale: f64) -> Mat {
    // In two steps, as 1 / scale may be beyond the largest number.
    let half = 2_f64.powi(scale.log2() as i32 / 2);
    let by = |v: f64| v / half / (scale / half);
    Mat::make(a.m, a.n, |i, j| {
        let v = a.at(i, j);
        C::new(by(v.re), by(v.im))
    })
}

/// Matrices one after the other, of very different kinds; the second and the third are not finite.
pub fn mixed<T: Number>(random: &mut Random, count: usize, m: usize, n: usize) -> Vec<T> {
    let matrix = |i: usize| match i % 8 {
        3 => Mat::make(m, n, |_, _| C::default()).to(),
        4 => diagonal(m, n, &vec![1.0; m.min(n)]).to(),
        5 => Mat::make(m, n, |i, j| ((i + 1) as f64 * (j + 2) as f64).into()).to(),
        6 => Mat::make(m, n, |i, j| 10_f64.powi(-((i + 2 * j) as i32)).into()).to(),
        _ => random.matrix::<T>(m * n),
    };
    let mut a: Vec<T> = (0..count).flat_map(matrix).collect();
    if count > 2 {
        a[m * n + 1] = T::of(f64::NAN.into());
        a[3 * m * n - 1] = T::of(f64::INFINITY.into());
    }
    a
}
