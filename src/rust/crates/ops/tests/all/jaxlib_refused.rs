//! What jaxlib's targets refuse: messages name the operand or the attribute.

use crate::common::{handler, C};
use crate::jaxlib_eig::{gees_call, geev_call};
use crate::jaxlib_factor::in_place;
use crate::jaxlib_reduce::gtsv_call;
use xla_ffi::testing::Call;

fn message(target: &str, call: Call) -> String {
    let failure = call.run(handler(target)).expect_err("bad input");
    failure.to_string()
}

#[test]
fn eigenvalues_and_schur_forms() {
    let x = [1.0_f64; 6];
    assert_eq!(
        message("lapack_dgeev_ffi", geev_call(&[], 2, &x[..4], *b"XV")),
        "INVALID_ARGUMENT: lapack_dgeev_ffi: attribute `compute_left` must be 'V' or 'N', got 'X'"
    );
    let vectors = Call::new()
        .arg(&[2, 2], &x[..4])
        .ret::<f64>(&[2])
        .ret::<f64>(&[2])
        .ret::<f64>(&[2, 2])
        .ret::<C>(&[2, 2])
        .ret::<i32>(&[])
        .attr("compute_left", b'V')
        .attr("compute_right", b'V');
    assert_eq!(
        message("lapack_dgeev_ffi", vectors),
        "INVALID_ARGUMENT: lapack_dgeev_ffi: result `vl` must be c128, got f64"
    );
    assert_eq!(
        message("lapack_dgees_ffi", gees_call(&[], 2, &x[..4], *b"VS")),
        "INVALID_ARGUMENT: lapack_dgees_ffi: attribute `sort` must be 'N', got 'S'"
    );
    let flat = Call::new()
        .arg(&[2, 3], &x)
        .ret_aliasing(0)
        .ret::<f64>(&[2, 3])
        .ret::<f64>(&[2])
        .ret::<f64>(&[2])
        .ret::<i32>(&[])
        .ret::<i32>(&[])
        .attr("mode", b'V')
        .attr("sort", b'N');
    assert_eq!(
        message("lapack_dgees_ffi", flat),
        "INVALID_ARGUMENT: lapack_dgees_ffi: argument `x` must be square, got 2 x 3"
    );
    let short = Call::new()
        .arg(&[2, 2], &[C::default(); 4])
        .ret_aliasing(0)
        .ret::<C>(&[2, 2])
        .ret::<C>(&[3])
        .ret::<i32>(&[])
        .ret::<i32>(&[])
        .attr("mode", b'V')
        .attr("sort", b'N');
    assert_eq!(
        message("lapack_zgees_ffi", short),
        "INVALID_ARGUMENT: lapack_zgees_ffi: result `w` must have shape (2), got (3)"
    );
    let vast = 100_000_000;
    for (target, call) in [
        (
            "lapack_dgeev_ffi",
            geev_call::<f64>(&[0], vast, &[], *b"VV"),
        ),
        (
            "lapack_dgees_ffi",
            gees_call::<f64>(&[0], vast, &[], *b"VN"),
        ),
    ] {
        assert_eq!(
            message(target, call),
            format!(
                "INVALID_ARGUMENT: {target}: a matrix of 100000000 x 100000000 needs more \
                 workspace than LAPACK's integers can count"
            )
        );
    }
}

#[test]
fn factorisations() {
    let square = || in_place(&[], 2, 2, &[1_f64; 4]);
    assert_eq!(
        message(
            "lapack_sgetrf_ffi",
            square().ret::<i32>(&[2]).ret::<i32>(&[])
        ),
        "INVALID_ARGUMENT: lapack_sgetrf_ffi: argument `x` must be f32, got f64"
    );
    assert_eq!(
        message(
            "lapack_dgetrf_ffi",
            square().ret::<i32>(&[2]).ret::<i32>(&[1])
        ),
        "INVALID_ARGUMENT: lapack_dgetrf_ffi: result `info` must have shape (), got (1)"
    );
    assert_eq!(
        message(
            "lapack_dpotrf_ffi",
            square().ret::<i32>(&[]).attr("uplo", b'l')
        ),
        "INVALID_ARGUMENT: lapack_dpotrf_ffi: attribute `uplo` must be 'L' or 'U', got 'l'"
    );
    let svd = || {
        square()
            .ret::<f64>(&[2])
            .ret::<f64>(&[2, 2])
            .ret::<f64>(&[2, 2])
            .ret::<i32>(&[])
    };
    assert_eq!(
        message("lapack_dgesdd_ffi", svd().attr("mode", b'O')),
        "INVALID_ARGUMENT: lapack_dgesdd_ffi: attribute `mode` must be 'A', 'S' or 'N', got 'O'"
    );
    assert_eq!(
        message("lapack_dgesdd_ffi", svd()),
        "INVALID_ARGUMENT: lapack_dgesdd_ffi: attribute `mode` must be a scalar ui8, \
         got none"
    );
    let wide = in_place(&[], 2, 3, &[1_f64; 6]).arg(&[2], &[1_f64; 2]);
    assert_eq!(
        message("lapack_dorgqr_ffi", wide),
        "INVALID_ARGUMENT: lapack_dorgqr_ffi: argument `x` must have at least as many rows as \
         columns, got 2 x 3"
    );
    let system = |side: u8| {
        Call::new()
            .arg(&[2, 2], &[1_f64; 4])
            .arg(&[2, 3], &[1_f64; 6])
            .ret_aliasing(1)
            .attr("side", side)
            .attr("uplo", b'L')
            .attr("trans_x", b'N')
            .attr("diag", b'N')
    };
    assert_eq!(
        message("lapack_dtrsm_ffi", system(b'R')),
        "INVALID_ARGUMENT: lapack_dtrsm_ffi: argument `x` must be 3 x 3 to fit `y`, got 2 x 2"
    );
}

#[test]
fn reductions_and_tridiagonal_systems() {
    let gehrd = |low: i32, high: i32| {
        Call::new()
            .arg(&[2, 2], &[1_f64; 4])
            .ret_aliasing(0)
            .ret::<f64>(&[1])
            .ret::<i32>(&[])
            .attr("low", low)
            .attr("high", high)
    };
    assert_eq!(
        message("lapack_dgehrd_ffi", gehrd(0, 2)),
        "INVALID_ARGUMENT: lapack_dgehrd_ffi: attribute `low` must be from 1 to 2, got 0"
    );
    assert_eq!(
        message("lapack_dgehrd_ffi", gehrd(2, 1)),
        "INVALID_ARGUMENT: lapack_dgehrd_ffi: attribute `high` must be from 2 to 2, got 1"
    );
    let product = Call::new()
        .arg(&[2, 1], &[1_f64; 2])
        .arg(&[1], &[1_f64])
        .arg(&[3, 3], &[1_f64; 9])
        .ret_aliasing(2)
        .attr("left", true)
        .attr("transpose", false);
    assert_eq!(
        message("lapack_dormqr_ffi", product),
        "INVALID_ARGUMENT: lapack_dormqr_ffi: argument `a` must have shape (3,1), got (2,1)"
    );
    let system = gtsv_call(&[], [&[1_f64; 3][..], &[1.0; 2], &[1.0; 2], &[1.0; 2]], 2);
    assert_eq!(
        message("lapack_sgtsv_ffi", system),
        "INVALID_ARGUMENT: lapack_sgtsv_ffi: argument `dl` must be f32, got f64"
    );
}
