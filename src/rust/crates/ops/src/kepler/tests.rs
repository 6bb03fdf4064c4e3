//! The numbers, with and without fused multiply-add, against 30 digits.

#[path = "../../tests/kepler/reference.rs"]
mod reference;

use super::block::solve_all;
use super::{dispatch, Point};
use reference::Reference;

type Solve<T> = fn(&[T], &[T], &mut [T], &mut [T]);

/// Every way there is to compute, by name. The one that is chosen may be among the others.
fn ways<T: Point>() -> [(&'static str, Solve<T>); 3] {
    [
        ("fused", solve_all::<T, true>),
        ("not fused", solve_all::<T, false>),
        ("chosen", dispatch::solve),
    ]
}

/// Mean anomalies from 1e-30 to π, near multiples of π and up to 1e6; 1 - e from 1 to 1e-16.
fn grid() -> (Vec<f64>, Vec<f64>) {
    use std::f64::consts::PI;
    let mut mean = vec![0.0, -0.0, PI, -PI, 2.0 * PI, -355.0, 710.0, 1e6, -999_999.7];
    mean.extend((0..40).map(|i| PI * f64::from(i) / 40.0 + 0.003));
    mean.extend((0..30).map(|i| -10f64.powi(-i)));
    let mut eccentricity = vec![0.0, 1e-9, 1.0 - f64::EPSILON / 2.0];
    eccentricity.extend(
        (0..16)
            .map(|i| f64::from(i) / 16.0 + 0.05)
            .filter(|&e| e < 1.0),
    );
    eccentricity.extend((1..16).map(|i| 1.0 - 10f64.powi(-i)));
    let all = mean
        .iter()
        .flat_map(|&m| eccentricity.iter().map(move |&e| (m, e)));
    all.unzip()
}

fn check<T: Point + Into<f64>>(digits: i32, allowed: f64, of: fn(f64) -> T) {
    let (m, e) = grid();
    let points = m.into_iter().zip(e).map(|(m, e)| (of(m), of(e)));
    let (m, e): (Vec<T>, Vec<T>) = points.filter(|&(_, e)| e.into() < 1.0).unzip();
    for (way, solve) in ways::<T>() {
        let (mut sin, mut cos) = (vec![T::default(); m.len()], vec![T::default(); m.len()]);
        solve(&m, &e, &mut sin, &mut cos);
        for i in 0..m.len() {
            let (m, e) = (m[i].into(), e[i].into());
            let (s, c) = (sin[i].into(), cos[i].into());
            let errors = Reference::of(m, e).errors(s, c, digits);
            assert!(
                errors.iter().all(|&error| error <= allowed),
                "{way}, M = {m:e}, e = {e}: sin {s}, cos {c} are off by {errors:?}"
            );
        }
    }
}

#[test]
fn f64_is_accurate() {
    check::<f64>(53, 3.0, |x| x);
}

#[test]
fn f32_is_accurate() {
    check::<f32>(24, 3.0, |x| x as f32);
}

/// The reference against what is known without it.
#[test]
fn the_reference_solves_the_equation() {
    // E = 2: M = 2 - e sin 2.
    let e = 0.5;
    let errors = Reference::of(2.0 - e * 2f64.sin(), e).errors(2f64.sin(), 2f64.cos(), 53);
    assert!(errors.iter().all(|&error| error < 1.0), "{errors:?}");
    // E = M where e = 0; a neighbour of the right number is told from it.
    let sin = 0.5f64.sin();
    let [right, _] = Reference::of(0.5, 0.0).errors(sin, 0.5f64.cos(), 53);
    let [wrong, _] = Reference::of(0.5, 0.0).errors(sin * (1.0 + 1e-15), 0.5f64.cos(), 53);
    assert!(right < 0.5 && wrong > 1.5, "{right} {wrong}");
}

fn far_and_invalid<T: Point + Into<f64>>(of: fn(f64) -> T, close: f64) {
    let far = [1e9, -3e15, 1e22, -1e37, 2.5e7, 1e14];
    let m: Vec<T> = far.iter().map(|&m| of(m)).collect();
    let e = vec![of(0.0); m.len()];
    for (way, solve) in ways::<T>() {
        let (mut sin, mut cos) = (e.clone(), e.clone());
        solve(&m, &e, &mut sin, &mut cos);
        for i in 0..m.len() {
            let (m, s, c): (f64, f64, f64) = (m[i].into(), sin[i].into(), cos[i].into());
            let off = (s - m.sin()).abs().max((c - m.cos()).abs());
            assert!(off <= close, "{way}, M = {m}: {s} {c}");
        }
    }

    let good = (1.0, 0.5);
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let bad = [
        (1.0, 1.0),
        (1.0, -0.1),
        (1.0, 2.5),
        (0.0, 1.0),
        (1.0, nan),
        (1.0, inf),
        (1.0, -inf),
        (nan, 0.5),
        (inf, 0.5),
        (-inf, 0.0),
        (nan, nan),
    ];
    let points = bad.iter().flat_map(|&point| [point, good]);
    let (m, e): (Vec<T>, Vec<T>) = points.map(|(m, e)| (of(m), of(e))).unzip();
    for (way, solve) in ways::<T>() {
        let (mut sin, mut cos) = (e.clone(), e.clone());
        solve(&m, &e, &mut sin, &mut cos);
        let (right_sin, right_cos) = (sin[1].into(), cos[1].into());
        assert!(!right_sin.is_nan());
        for i in 0..m.len() {
            let (s, c): (f64, f64) = (sin[i].into(), cos[i].into());
            let fine = if i % 2 == 0 {
                s.is_nan() && c.is_nan()
            } else {
                (s, c) == (right_sin, right_cos)
            };
            assert!(fine, "{way}, {:?}: {s} {c}", (m[i], e[i]));
        }
    }
}

#[test]
fn f64_far_and_invalid() {
    far_and_invalid::<f64>(|x| x, 1e-15);
}

#[test]
fn f32_far_and_invalid() {
    far_and_invalid::<f32>(|x| x as f32, 2e-7);
}
