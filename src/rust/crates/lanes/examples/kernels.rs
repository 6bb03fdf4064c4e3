//! Every kernel once in each precision: `tests/machine_code/` reads what became of it.

use lanes::{cholesky, eigh, lu, qr, svd, triangular, Run, Vectorised, ALONE};
use matrices::{Complex, Element, Form, Transpose, Triangle, Vectors};

const N: usize = 3;
const COUNT: usize = 40;

/// For one dtype.
fn all<T: Vectorised>() {
    let x = vec![T::ONE; N * N * COUNT];
    let mut a = x.clone();
    let (mut pivots, mut info) = ([0; N * COUNT], [0; COUNT]);
    let mut tau = vec![T::ONE; N * COUNT];
    let (m, n, k) = (N, N, N);
    let triangle = Triangle::Lower;
    T::in_lanes(
        lu::Lu {
            run: Run::in_place((m, n), &mut a, ALONE),
            pivots: &mut pivots,
            info: &mut info,
        },
        COUNT,
    )
    .expect("memory to work in");
    T::in_lanes(
        qr::Geqrf {
            run: Run::in_place((m, n), &mut a, ALONE),
            tau: &mut tau,
        },
        COUNT,
    )
    .expect("memory to work in");
    T::in_lanes(
        qr::Orgqr {
            run: Run::in_place((m, n), &mut a, ALONE),
            k,
            tau: &tau,
        },
        COUNT,
    )
    .expect("memory to work in");
    T::in_lanes(
        cholesky::Potrf {
            n,
            triangle,
            a: &mut a,
            info: &mut info,
            together: ALONE,
        },
        COUNT,
    )
    .expect("memory to work in");
    let form = Form {
        left: true,
        triangle,
        transpose: Transpose::Conjugate,
        unit: false,
    };
    T::in_lanes(
        triangular::Trsm {
            form,
            m,
            n,
            x: &x,
            y: &mut a,
            together: ALONE,
        },
        COUNT,
    )
    .expect("memory to work in");
    std::hint::black_box((&a, pivots, info));
    spectra::<T>(x, a);
}

fn spectra<T: Vectorised>(x: Vec<T>, mut a: Vec<T>) {
    let [mut u, mut vt] = [x.clone(), x];
    let mut rest = vec![T::Real::ZERO; N * COUNT];
    let (m, n, triangle) = (N, N, Triangle::Lower);
    let mut info = [0; COUNT];
    T::in_lanes(
        eigh::Syevd {
            n,
            vectors: true,
            triangle,
            a: &mut a,
            w: &mut rest,
            info: &mut info,
            together: ALONE,
        },
        COUNT,
    )
    .expect("memory to work in");
    T::in_lanes(
        svd::Gesdd {
            m,
            n,
            vectors: Vectors::Thin,
            a: &a,
            s: &mut rest,
            u: &mut u,
            vt: &mut vt,
            info: &mut info,
            together: ALONE,
        },
        COUNT,
    )
    .expect("memory to work in");
    std::hint::black_box((a, u, vt, rest, info));
}

fn main() {
    all::<f32>();
    all::<f64>();
    all::<Complex<f32>>();
    all::<Complex<f64>>();
}
