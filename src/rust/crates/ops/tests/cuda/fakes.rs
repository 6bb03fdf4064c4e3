//! What the stand-ins saw: errors of the libraries, handles, waiting, kernels.

use super::common::{fake, handler, start};
use xla_ffi::testing::{metadata, Call};
use xla_ffi::{sys, Code};

fn eigh(n: usize) -> Call {
    let (dims, data) = ([n as i64, n as i64], vec![1.0_f64; n * n]);
    start()
        .arg(&dims, &data)
        .ret_aliasing(0)
        .ret::<f64>(&dims[..1])
}

/// The only test that makes the stand-ins fail, so that no other meets the failure.
#[test]
fn a_librarys_error_names_the_function_and_the_handle_comes_back() {
    let run = || eigh(40).run(handler("eigh"));
    assert_eq!(run(), Ok(()));
    let before = fake::calls("cusolverDnCreate");
    fake::fail("cusolverDnXsyevd", 7);
    assert_eq!(
        run().expect_err("a failure").to_string(),
        "INTERNAL: eigh: cusolverDnXsyevd answered CUSOLVER_STATUS_INTERNAL_ERROR (7)"
    );
    fake::fail("cusolverDnXsyevd", 99);
    assert_eq!(
        run().expect_err("a failure").to_string(),
        "INTERNAL: eigh: cusolverDnXsyevd answered an unknown status (99)"
    );
    assert_eq!(run(), Ok(()));
    // Other tests may make handles at the same time, but not as many as there are calls here.
    for _ in 0..100 {
        assert_eq!(run(), Ok(()));
    }
    assert!(fake::calls("cusolverDnCreate") - before < 50);

    let lu = || {
        let call = start().arg(&[2, 2, 2], &[1.0_f32; 8]);
        let call = call.ret::<f32>(&[2, 2, 2]).ret::<i32>(&[2, 2]);
        call.run(handler("lu"))
    };
    fake::fail("cublasSgetrfBatched", 3);
    assert_eq!(
        lu().expect_err("a failure").to_string(),
        "RESOURCE_EXHAUSTED: lu: cublasgetrfBatched answered CUBLAS_STATUS_ALLOC_FAILED (3)"
    );
    assert_eq!(lu(), Ok(()));
}

#[test]
fn a_call_without_a_stream_is_refused() {
    let call = Call::new().arg(&[1], &[1.0_f32]).arg(&[1], &[0.5_f32]);
    let failure = call
        .ret::<f32>(&[1])
        .ret::<f32>(&[1])
        .run(handler("kepler"))
        .expect_err("no stream");
    assert_eq!(failure.code, Code::Unimplemented);
    assert_eq!(
        failure.message,
        "kepler: XLA_FFI_Stream_Get failed: no stream"
    );
}

#[test]
fn scratch_memory_is_given_back_and_its_lack_is_told() {
    let mut frame = eigh(40).build();
    frame.call(handler("eigh")).expect("enough memory");
    let (live, requests) = frame.scratch();
    assert_eq!(live, 0);
    assert!(requests > 0);
    let failure = eigh(40).scratch_limit(16).run(handler("eigh"));
    let failure = failure.expect_err("too little memory");
    assert_eq!(failure.code, Code::ResourceExhausted);
    // Nothing is asked for where there is nothing to do.
    let mut frame = eigh(0).build();
    frame.call(handler("eigh")).expect("nothing to do");
    assert_eq!(frame.scratch(), (0, 0));
}

#[test]
fn kernels_without_scratch_memory_may_be_recorded_in_a_graph() {
    let traits = |target| metadata(handler(target)).expect("an answer").traits;
    let compatible = sys::XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE;
    assert_eq!(traits("kepler"), compatible);
    assert_eq!(traits("cu_lu_pivots_to_permutation"), compatible);
    assert_eq!(traits("lu"), 0);
}

/// The order of fields in a block's grid, sizes past a block and a grid's second dimension.
#[test]
fn nothing_but_print_tensor_waits() {
    let (mut total, mut frame) = (0, eigh(5).build());
    frame.call(handler("eigh")).expect("eigh");
    for n in [1_i64, 300, 70_000] {
        let data = vec![0.25_f64; n as usize];
        let call = start().arg(&[n, 1, 1], &data);
        let mut frame = call.ret::<f64>(&[n, 1, 1]).ret::<i32>(&[n, 1]).build();
        frame.call(handler("lu")).expect("lu");
        assert!(frame.ret::<f64>(0) == data && frame.ret::<i32>(1).iter().all(|&p| p == 1));
        total += n;
    }
    assert!(total > 0);
    assert_eq!(fake::calls("cuStreamSynchronize"), 0);
}
