//! The columns of Q from reflectors that are long.

use super::common::{
    assert_small, dims, fake, for_every_dtype, is_nan, orthogonality, ratio, run, start, Mat,
    Number, Random, C,
};

/// Reflectors below the diagonal of random numbers, and the factors that make them unitary.
fn reflectors<T: Number>(
    random: &mut Random,
    (m, n, k): (usize, usize, usize),
) -> (Vec<T>, Vec<T>) {
    let packed = random.matrix::<T>(m * n);
    let below = |j: usize| packed[j * m + j + 1..(j + 1) * m].iter();
    let square = |v: &T| v.c().re.powi(2) + v.c().im.powi(2);
    let tau = (0..k).map(|j| 2.0 / (1.0 + below(j).map(square).sum::<f64>()));
    let tau = tau.map(|t| T::of(t.into())).collect();
    (packed, tau)
}

/// The product of the reflectors, from its definition.
pub fn product<T: Number>((m, n): (usize, usize), packed: &[T], tau: &[T]) -> Mat {
    let mut q = Mat::make(m, n, |i, j| f64::from(u8::from(i == j)).into());
    for (k, tau) in tau.iter().enumerate().rev() {
        let v: Vec<C> = (k..m)
            .map(|i| {
                if i == k {
                    1.0.into()
                } else {
                    packed[i + k * m].c()
                }
            })
            .collect();
        for column in q.data.chunks_mut(m) {
            let inner: C = v.iter().zip(&column[k..]).map(|(v, c)| v.conj() * c).sum();
            let factor = tau.c() * inner;
            column[k..]
                .iter_mut()
                .zip(&v)
                .for_each(|(c, v)| *c -= v * factor);
        }
    }
    q
}

/// One row more than a thread goes through, more than a warp has in registers, and the numbers in between where it takes
/// more of them; fewer reflectors than columns; one matrix by itself.
fn columns_of_q<T: Number>() {
    let mut random = Random(54);
    for (count, m, n, k) in [
        (3, 33, 33, 33),
        (3, 40, 20, 20),
        (3, 33, 1, 1),
        (1, 64, 64, 64),
        (3, 65, 4, 4),
        (3, 100, 7, 3),
        (1, 129, 5, 4),
        (1, 256, 3, 3),
        (3, 257, 9, 9),
    ] {
        let all: Vec<_> = (0..count)
            .map(|_| reflectors::<T>(&mut random, (m, n, k)))
            .collect();
        let mut packed: Vec<T> = all.iter().flat_map(|(packed, _)| packed.clone()).collect();
        let tau: Vec<T> = all.iter().flat_map(|(_, tau)| tau.clone()).collect();
        if count > 1 {
            packed[m * n + m - 1] = T::of(f64::NAN.into());
        }
        let batch = [count as i64];
        let call = start().arg(&dims(&batch, &[m, n]), &packed);
        let call = call.arg(&dims(&batch, &[k]), &tau).ret_aliasing(0);
        let frame = run(call.build(), "cusolver_orgqr_ffi");
        assert_eq!(fake::calls("cusolverDnCreate"), 0, "cuSOLVER has none");
        for (i, got) in frame.ret::<T>(0).chunks(m * n).enumerate() {
            if i == 1 {
                assert!(got.iter().all(is_nan));
                continue;
            }
            let (what, got) = (format!("matrix {i} of {m} x {n}"), Mat::new(m, n, got));
            assert_small(orthogonality::<T>(&got), &what);
            let want = product((m, n), &all[i].0, &all[i].1);
            assert_small(ratio::<T>(&got.plus(&want, -1.0), m, 1.0), &what);
        }
    }
}

for_every_dtype!(columns_of_q);
