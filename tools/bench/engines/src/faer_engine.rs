//! faer, in memory that is kept.

use crate::number::Number;
use crate::{Batch, Op};
use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::householder;
use faer::linalg::lu::partial_pivoting::factor as lu;
use faer::linalg::qr::no_pivoting::factor as qr;
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::{Conj, MatMut, MatRef, Par};

const PAR: Par = Par::Seq;

pub fn engine<'a, T: Number>(batch: &'a Batch<T>) -> impl FnMut() + 'a {
    let (n, op) = (batch.n, batch.op);
    let width = qr::recommended_block_size::<T>(n, n);
    let thin = ComputeSvdVectors::Thin;
    let memory = StackReq::any_of(&[
        lu::lu_in_place_scratch::<usize, T>(n, n, PAR, Default::default()),
        llt::cholesky_in_place_scratch::<T>(n, PAR, Default::default()),
        qr::qr_in_place_scratch::<T>(n, n, width, PAR, Default::default()),
        householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(
            n, width, n,
        ),
        evd::self_adjoint_evd_scratch::<T>(n, ComputeEigenvectors::Yes, PAR, Default::default()),
        svd::svd_scratch::<T>(n, n, thin, thin, PAR, Default::default()),
    ]);
    let mut memory = MemBuffer::new(memory);
    let (mut results, mut seconds) = (batch.x.clone(), batch.x.clone());
    let mut thirds = batch.x.clone();
    let (mut values, mut factors) = (vec![T::new(0.0, 0.0); n], vec![T::new(0.0, 0.0); n * width]);
    let (mut forward, mut backward) = (vec![0_usize; n], vec![0_usize; n]);
    move || {
        let others = seconds
            .chunks_exact_mut(n * n)
            .zip(thirds.chunks_exact_mut(n * n));
        let outs = results.chunks_exact_mut(n * n).zip(others);
        for (x, (out, (second, third))) in batch.x.chunks_exact(n * n).zip(outs) {
            let stack = MemStack::new(&mut memory);
            if matches!(op, Op::Lu | Op::Cholesky | Op::Qr) {
                out.copy_from_slice(x);
            }
            let x = MatRef::from_column_major_slice(x, n, n);
            let mut out = MatMut::from_column_major_slice_mut(out, n, n);
            let mut second = MatMut::from_column_major_slice_mut(second, n, n);
            let third = MatMut::from_column_major_slice_mut(third, n, n);
            let values = DiagMut::from_slice_mut(&mut values);
            match op {
                Op::Lu => {
                    lu::lu_in_place(
                        out,
                        &mut forward,
                        &mut backward,
                        PAR,
                        stack,
                        Default::default(),
                    );
                }
                Op::Cholesky => {
                    llt::cholesky_in_place(out, Default::default(), PAR, stack, Default::default())
                        .expect("positive definite");
                }
                Op::Qr => {
                    let mut factors = MatMut::from_column_major_slice_mut(&mut factors, width, n);
                    qr::qr_in_place(
                        out.as_mut(),
                        factors.as_mut(),
                        PAR,
                        stack,
                        Default::default(),
                    );
                    second.fill(T::new(0.0, 0.0));
                    second.as_mut().diagonal_mut().fill(T::new(1.0, 0.0));
                    householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
                        out.as_ref(),
                        factors.as_ref(),
                        Conj::No,
                        second,
                        PAR,
                        stack,
                    );
                }
                Op::Eigh => {
                    evd::self_adjoint_evd(x, values, Some(out), PAR, stack, Default::default())
                        .expect("convergence");
                }
                Op::Svd => {
                    svd::svd(
                        x,
                        values,
                        Some(second),
                        Some(third),
                        PAR,
                        stack,
                        Default::default(),
                    )
                    .expect("convergence");
                }
            }
        }
    }
}
