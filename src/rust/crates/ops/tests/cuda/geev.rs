//! jaxlib's target for eigenvalues of general matrices, on CUDA.

use super::common::{
    abs, assert_small, dims, handler, is_nan, ratio, run, start, Mat, Number, Random, C,
};
use xla_ffi::Complex;

fn eigenvalues<T: Number, W: Number>() {
    let (count, n) = (3, 6);
    let batch = [count as i64];
    let mut all = Random(35).matrix::<T>(count * n * n);
    all[n * n + 7] = T::of(f64::NAN.into());
    let square = dims(&batch, &[n, n]);
    let call = |left: bool| {
        let call = start().arg(&square, &all).ret::<T>(&square);
        let call = call
            .ret::<W>(&dims(&batch, &[n]))
            .ret::<T>(&square)
            .ret::<T>(&square);
        let call = call.ret::<i32>(&batch).attr("left", left);
        call.attr("right", true)
    };
    let frame = run(call(false).build(), "cusolver_geev_ffi");
    for i in 0..count {
        let w = &frame.ret::<W>(1)[i * n..][..n];
        let vr = &frame.ret::<T>(3)[i * n * n..][..n * n];
        assert_eq!(frame.ret::<i32>(4)[i] > 0, i == 1);
        if i == 1 {
            assert!(w.iter().all(is_nan) && vr.iter().all(is_nan));
            continue;
        }
        let a = Mat::new(n, n, &all[i * n * n..][..n * n]);
        let trace: C = (0..n).map(|j| a.at(j, j)).sum();
        let sum: C = w.iter().map(|w| w.c()).sum();
        assert!(abs(trace - sum) <= 1000.0 * T::EPS);
        if T::COMPLEX {
            let v = Mat::new(n, n, vr);
            let residual = a.times(&v).plus(&v.scaled(w), -1.0);
            assert_small(ratio::<T>(&residual, n, a.norm1()), "eigenvectors");
        }
    }
    let failure = call(true).run(handler("cusolver_geev_ffi"));
    assert_eq!(
        failure.expect_err("left eigenvectors").to_string(),
        "INVALID_ARGUMENT: cusolver_geev_ffi: attribute `left` must be false: cuSOLVER has right \
         eigenvectors only, got true"
    );
}

#[test]
fn eigenvalues_of_general_matrices() {
    eigenvalues::<f32, Complex<f32>>();
    eigenvalues::<f64, Complex<f64>>();
    eigenvalues::<Complex<f32>, Complex<f32>>();
    eigenvalues::<Complex<f64>, Complex<f64>>();
}

/// As cuSOLVER before CUDA 13.0 Update 1, the stand-in refuses a thread while it works for another.
#[test]
fn threads_take_turns_in_xgeev() {
    let identity = [1.0_f32, 0.0, 0.0, 1.0];
    let eigenvalues = || {
        let call = start().arg(&[2, 2], &identity).ret::<f32>(&[2, 2]);
        let call = call.ret::<Complex<f32>>(&[2]).ret::<f32>(&[2, 2]);
        let call = call.ret::<f32>(&[2, 2]).ret::<i32>(&[]);
        let frame = run(
            call.attr("left", false).attr("right", true).build(),
            "cusolver_geev_ffi",
        );
        assert_eq!(frame.ret::<Complex<f32>>(1), [Complex::new(1.0, 0.0); 2]);
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..10).for_each(|_| eigenvalues()));
        }
    });
}
