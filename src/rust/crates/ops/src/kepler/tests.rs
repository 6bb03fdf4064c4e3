//! The numbers, with and without fused multiply-add, against 30 digits.

#[path = "../../tests/all/kepler/reference.rs"]
mod reference;

use super::block::solve_all;
use super::wrap::{wrap, wrap_far, wrap_limit};
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

/// Mean anomalies from the smallest numbers to π, near multiples of π and up to 1e6, and where little
/// is left of a large one; 1 - e from 1 to 1e-16.
fn grid() -> (Vec<f64>, Vec<f64>) {
    use std::f64::consts::PI;
    let mut mean = vec![0.0, -0.0, PI, -PI, 2.0 * PI, -355.0, 710.0, 1e6, -999_999.7];
    mean.extend((0..40).map(|i| PI * f64::from(i) / 40.0 + 0.003));
    mean.extend((0..45).chain(300..324).map(|i| -10f64.powi(-i)));
    mean.extend([2_253_666_990_800.898_4, 182.212_373_908_208, 2.3367e-38]);
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

/// XLA may call handlers while the processor takes subnormal numbers for zero. What is normal has to be
/// right then, too, however near.
#[cfg(target_arch = "x86_64")]
#[test]
fn f32_is_accurate_without_subnormal_numbers() {
    fn control(new: u32) -> u32 {
        let mut old = 0u32;
        // SAFETY: both operands are memory of this frame. The bits set by this test only make
        // subnormal numbers zeros, and are taken back before floating-point code of others runs.
        unsafe {
            std::arch::asm!("stmxcsr [{old}]", "ldmxcsr [{new}]", old = in(reg) &mut old, new = in(reg) &new);
        }
        old
    }
    let e = [0.5f32, 0.99, 1.0 - f32::EPSILON / 2.0];
    let m = [
        2.3367e-38f32,
        1.2e-37,
        3e-36,
        1e-34,
        7.7e-33,
        2e-31,
        0.9e-30,
        1.1e-30,
    ];
    let (m, e): (Vec<f32>, Vec<f32>) = m.iter().flat_map(|&m| e.map(|e| (m, e))).unzip();
    for (way, solve) in ways::<f32>() {
        let (mut sin, mut cos) = (vec![0.0; m.len()], vec![0.0; m.len()]);
        let usual = control(0x9fc0);
        solve(&m, &e, &mut sin, &mut cos);
        control(usual);
        for i in 0..m.len() {
            let errors =
                Reference::of(m[i].into(), e[i].into()).errors(sin[i].into(), cos[i].into(), 24);
            assert!(
                errors[0] <= 3.0,
                "{way}, M = {:e}, e = {}: {:e} is off by {errors:?}",
                m[i],
                e[i],
                sin[i]
            );
        }
    }
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

/// Angles of any size and what is left of them, as `tests/all/kepler/digits.py` computed them.
fn far() -> Vec<(f64, f64)> {
    let lines = include_str!("../../tests/all/kepler/far.csv")
        .lines()
        .skip(1);
    let number = |text| f64::from_bits(u64::from_str_radix(text, 16).expect("sixteen digits"));
    let pairs = lines.map(|line| line.split_once(',').expect("two numbers"));
    pairs.map(|(m, left)| (number(m), number(left))).collect()
}

#[test]
fn angles_are_wrapped_to_their_last_bit() {
    for (m, left) in far() {
        let ulp = f64::from_bits(left.abs().to_bits() + 1) - left.abs();
        let close = |found: f64| (found - left).abs() <= ulp;
        for (fma, wrap) in [
            (true, wrap::<true> as fn(f64) -> f64),
            (false, wrap::<false>),
        ] {
            let found = if m.abs() <= wrap_limit(fma) {
                wrap(m)
            } else {
                left
            };
            assert!(close(found), "{m:e}: {found:e}, not {left:e} (fma: {fma})");
        }
        if m.abs() >= 1.0 {
            assert!(close(wrap_far(m)), "{m:e}: {:e}, not {left:e}", wrap_far(m));
            assert_eq!(wrap_far(-m), -wrap_far(m));
        }
    }
    assert!(wrap_far(f64::INFINITY).is_nan() && wrap_far(f64::NAN).is_nan());
}

fn far_and_invalid<T: Point + Into<f64>>(of: fn(f64) -> T, close: f64) {
    let whole = |m: f64| of(m).into() == m;
    let points: Vec<(f64, f64)> = far().into_iter().filter(|&(m, _)| whole(m)).collect();
    assert!(points.len() > 80);
    let m: Vec<T> = points.iter().map(|&(m, _)| of(m)).collect();
    let e = vec![of(0.0); m.len()];
    for (way, solve) in ways::<T>() {
        let (mut sin, mut cos) = (e.clone(), e.clone());
        solve(&m, &e, &mut sin, &mut cos);
        for (i, (m, left)) in points.iter().enumerate() {
            let (s, c): (f64, f64) = (sin[i].into(), cos[i].into());
            let off = (s / left.sin() - 1.0).abs().max((c - left.cos()).abs());
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
