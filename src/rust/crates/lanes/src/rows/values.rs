//! Eigenvalues alone of a symmetric tridiagonal matrix, by the QL algorithm without square roots of Pal, Walker and Kahan
//! (Parlett, The Symmetric Eigenvalue Problem, 8.15), in f64.

use super::deflate::MOST;
use crate::lanes::Float;

/// Sweeps, per column, before it is given up.
const SWEEPS: usize = 30;

/// Squares below this are nothing beside matrices that are brought near 1.
const NOTHING: f64 = 1e-270;

/// The eigenvalues, ascending, become `d`. False where they were not found.
#[inline(always)]
pub(super) fn values<T: Float>(d: &mut [T], e: &[T]) -> bool {
    let n = d.len();
    let mut a = [0.0; MOST];
    let mut squares = [0.0; MOST];
    for ((to, square), (d, e)) in a.iter_mut().zip(&mut squares).zip(d.iter().zip(e)) {
        *to = d.f64();
        *square = e.f64() * e.f64();
    }
    let (a, squares) = (&mut a[..n], &mut squares[..n]);
    let (mut first, mut end, mut sweeps) = (0, 0, SWEEPS * n);
    while first < n {
        if first >= end {
            end = block(a, squares, first, n);
            // The end with the small eigenvalues comes first.
            if a[end - 1].abs() < a[first].abs() {
                a[first..end].reverse();
                squares[first..end - 1].reverse();
            }
        }
        let last = block(a, squares, first, end) - 1;
        if last == first {
            first += 1;
        } else if sweeps == 0 {
            return false;
        } else {
            sweep(&mut a[first..=last], &mut squares[first..last]);
            sweeps -= 1;
        }
    }
    a.sort_unstable_by(f64::total_cmp);
    for (d, a) in d.iter_mut().zip(a) {
        *d = T::of(*a);
    }
    true
}

/// The row, up to `end`, before which something beside the diagonal from row `first` on is negligible.
#[inline(always)]
fn block(a: &[f64], squares: &[f64], first: usize, end: usize) -> usize {
    let eps = f64::EPSILON / 2.0;
    for i in first..end - 1 {
        if squares[i] <= eps * eps * (a[i] * a[i + 1]).abs() + NOTHING {
            return i + 1;
        }
    }
    end
}

/// One step with Wilkinson's shift.
#[inline(always)]
fn sweep(a: &mut [f64], squares: &mut [f64]) {
    let last = squares.len();
    let beside = squares[0].sqrt();
    let half = (a[1] - a[0]) / (2.0 * beside);
    let shift = a[0] - beside / (half + half.hypot(1.0).copysign(half));
    let (mut c, mut s, mut g) = (1.0, 0.0, a[last] - shift);
    let mut p = g * g;
    for i in (0..last).rev() {
        let square = squares[i];
        let r = p + square;
        if i + 1 < last {
            squares[i + 1] = s * r;
        }
        let before = (c, g);
        (c, s) = (p / r, square / r);
        g = c * (a[i] - shift) - s * g;
        a[i + 1] = before.1 + (a[i] - g);
        p = if c == 0.0 {
            before.0 * square
        } else {
            g * g / c
        };
    }
    squares[0] = s * p;
    a[0] = shift + g;
}
