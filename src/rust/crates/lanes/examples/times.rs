//! What each kernel costs a matrix, alone and in a batch, on one thread:
//! `cargo run --release -p lanes --features examples --example times`. The copy of the operands counts.

use lanes::{cholesky, eigh, lu, qr, svd, triangular, Vectorised, ALONE};
use matrices::{Element, Form, Transpose, Triangle, Vectors};
use std::time::Instant;

const SIZES: [usize; 4] = [4, 16, 32, 64];
const COUNTS: [usize; 2] = [1, 256];
/// Seconds for each figure.
const BUDGET: f64 = 0.05;

/// Nanoseconds a matrix, of the run that had the processor to itself.
fn time(count: usize, mut work: impl FnMut()) -> f64 {
    let (start, mut best) = (Instant::now(), f64::INFINITY);
    while start.elapsed().as_secs_f64() < BUDGET {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e9 / count as f64
}

/// A line for batches of `count` matrices of `n` × `n`.
fn line<T: Vectorised + Element<Real = T>>(dtype: &str, n: usize, count: usize) {
    let (m, k, triangle) = (n, n, Triangle::Lower);
    let run = |kernel: &mut dyn FnMut()| time(count, kernel);
    // Positive definite, and good for everything else.
    let element = |e: usize| {
        let (i, j) = (e % n, e / n % n);
        let beside = 1.0 / (1 + i + j + e / (n * n) % 7) as f64;
        T::ONE.times(if i == j { n as f64 } else { beside })
    };
    let given: Vec<T> = (0..n * n * count).map(element).collect();
    let [mut a, mut u, mut vt] = [given.clone(), given.clone(), given.clone()];
    let mut rest = vec![T::ZERO; n * count];
    let (mut pivots, mut info) = (vec![0; n * count], vec![0; count]);
    let again = |a: &mut Vec<T>| a.copy_from_slice(&given);

    let getrf = run(&mut || {
        again(&mut a);
        let (a, pivots, info) = (&mut a[..], &mut pivots[..], &mut info[..]);
        let kernel = lu::Lu {
            from: None,
            m,
            n,
            a,
            pivots,
            info,
            together: ALONE,
        };
        T::in_lanes(kernel, count).expect("memory to work in");
    });
    let potrf = run(&mut || {
        again(&mut a);
        let (a, info) = (&mut a[..], &mut info[..]);
        let kernel = cholesky::Potrf {
            n,
            triangle,
            a,
            info,
            together: ALONE,
        };
        T::in_lanes(kernel, count).expect("memory to work in");
    });
    let form = Form {
        left: true,
        triangle,
        transpose: Transpose::No,
        unit: false,
    };
    let trsm = run(&mut || {
        again(&mut a);
        let (x, y) = (&given[..], &mut a[..]);
        let kernel = triangular::Trsm { form, m, n, x, y };
        T::in_lanes(kernel, count).expect("memory to work in");
    });
    let syevd = run(&mut || {
        again(&mut a);
        let (a, w, info) = (&mut a[..], &mut rest[..], &mut info[..]);
        let vectors = true;
        let kernel = eigh::Syevd {
            n,
            vectors,
            triangle,
            a,
            w,
            info,
        };
        T::in_lanes(kernel, count).expect("memory to work in");
    });
    let gesdd = run(&mut || {
        let (a, s, info) = (&given[..], &mut rest[..], &mut info[..]);
        let (vectors, u, vt) = (Vectors::Thin, &mut u[..], &mut vt[..]);
        let kernel = svd::Gesdd {
            m,
            n,
            vectors,
            a,
            s,
            u,
            vt,
            info,
        };
        T::in_lanes(kernel, count).expect("memory to work in");
    });
    let geqrf = run(&mut || {
        again(&mut a);
        let (a, tau) = (&mut a[..], &mut rest[..]);
        let kernel = qr::Geqrf {
            from: None,
            m,
            n,
            a,
            tau,
            together: ALONE,
        };
        T::in_lanes(kernel, count).expect("memory to work in");
    });
    let factored = a.clone();
    let orgqr = run(&mut || {
        a.copy_from_slice(&factored);
        let (a, tau) = (&mut a[..], &rest[..]);
        let kernel = qr::Orgqr {
            m,
            n,
            k,
            a,
            tau,
            together: ALONE,
        };
        T::in_lanes(kernel, count).expect("memory to work in");
    });
    print!("{dtype} {n:>2} x {n:<2} {count:>3}:");
    for ns in [getrf, geqrf, orgqr, potrf, trsm, syevd, gesdd] {
        print!(" {ns:>9.0}");
    }
    println!();
}

fn main() {
    println!("ns a matrix      getrf     geqrf     orgqr     potrf      trsm     syevd     gesdd");
    for n in SIZES {
        for count in COUNTS {
            line::<f32>("f32", n, count);
            line::<f64>("f64", n, count);
        }
    }
}
