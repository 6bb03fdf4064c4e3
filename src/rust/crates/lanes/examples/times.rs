//! What each kernel costs a matrix, alone and in a batch, on one thread:
//! `cargo run --release -p lanes --features examples --example times`. The copy of the operands counts.

use lanes::{cholesky, eigh, lu, qr, svd, triangular, Run, Vectorised, ALONE};
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

/// Batches of `count` matrices of `n` × `n`, positive definite.
struct Batch<T> {
    n: usize,
    count: usize,
    given: Vec<T>,
}

impl<T: Vectorised + Element<Real = T>> Batch<T> {
    fn new(n: usize, count: usize) -> Self {
        let element = |e: usize| {
            let (i, j) = (e % n, e / n % n);
            let beside = 1.0 / (1 + i + j + e / (n * n) % 7) as f64;
            T::ONE.times(if i == j { n as f64 } else { beside })
        };
        let given = (0..n * n * count).map(element).collect();
        Batch { n, count, given }
    }

    /// Times of `getrf`, `potrf` and `trsm`.
    fn solving(&self) -> [f64; 3] {
        let (m, n, count, triangle) = (self.n, self.n, self.count, Triangle::Lower);
        let (mut a, mut pivots, mut info) =
            (self.given.clone(), vec![0; n * count], vec![0; count]);
        let getrf = time(count, || {
            a.copy_from_slice(&self.given);
            let (a, pivots, info) = (&mut a[..], &mut pivots[..], &mut info[..]);
            let kernel = lu::Lu {
                run: Run::in_place((m, n), a, ALONE),
                pivots,
                info,
            };
            T::in_lanes(kernel, count).expect("memory to work in");
        });
        let potrf = time(count, || {
            a.copy_from_slice(&self.given);
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
        let trsm = time(count, || {
            a.copy_from_slice(&self.given);
            let (x, y) = (&self.given[..], &mut a[..]);
            let kernel = triangular::Trsm {
                form,
                m,
                n,
                x,
                y,
                together: ALONE,
            };
            T::in_lanes(kernel, count).expect("memory to work in");
        });
        [getrf, potrf, trsm]
    }

    /// Times of `geqrf` and `orgqr`.
    fn orthogonal(&self) -> [f64; 2] {
        let (m, n, k, count) = (self.n, self.n, self.n, self.count);
        let (mut a, mut rest) = (self.given.clone(), vec![T::ZERO; n * count]);
        let geqrf = time(count, || {
            a.copy_from_slice(&self.given);
            let (a, tau) = (&mut a[..], &mut rest[..]);
            let kernel = qr::Geqrf {
                run: Run::in_place((m, n), a, ALONE),
                tau,
            };
            T::in_lanes(kernel, count).expect("memory to work in");
        });
        let factored = a.clone();
        let orgqr = time(count, || {
            a.copy_from_slice(&factored);
            let (a, tau) = (&mut a[..], &rest[..]);
            let kernel = qr::Orgqr {
                run: Run::in_place((m, n), a, ALONE),
                k,
                tau,
            };
            T::in_lanes(kernel, count).expect("memory to work in");
        });
        [geqrf, orgqr]
    }

    /// Times of `syevd` and `gesdd`.
    fn spectral(&self) -> [f64; 2] {
        let (m, n, count, triangle) = (self.n, self.n, self.count, Triangle::Lower);
        let [mut a, mut u, mut vt] = [(); 3].map(|()| self.given.clone());
        let (mut rest, mut info) = (vec![T::ZERO; n * count], vec![0; count]);
        let syevd = time(count, || {
            a.copy_from_slice(&self.given);
            let (a, w, info) = (&mut a[..], &mut rest[..], &mut info[..]);
            let vectors = true;
            let kernel = eigh::Syevd {
                n,
                vectors,
                triangle,
                a,
                w,
                info,
                together: ALONE,
            };
            T::in_lanes(kernel, count).expect("memory to work in");
        });
        let gesdd = time(count, || {
            let (a, s, info) = (&self.given[..], &mut rest[..], &mut info[..]);
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
                together: ALONE,
            };
            T::in_lanes(kernel, count).expect("memory to work in");
        });
        [syevd, gesdd]
    }
}

/// A line for batches of `count` matrices of `n` × `n`.
fn line<T: Vectorised + Element<Real = T>>(dtype: &str, n: usize, count: usize) {
    let batch = Batch::<T>::new(n, count);
    let ([getrf, potrf, trsm], [geqrf, orgqr]) = (batch.solving(), batch.orthogonal());
    let [syevd, gesdd] = batch.spectral();
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
