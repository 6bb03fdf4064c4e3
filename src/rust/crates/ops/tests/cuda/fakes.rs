//! What the stand-ins saw: errors of the libraries, handles, waiting, kernels.

use super::common::{fake, handler, start};
use xla_ffi::testing::{metadata, Call};
use xla_ffi::{Code, Traits};

fn eigh(n: usize) -> Call {
    let (dims, data) = ([n as i64, n as i64], vec![1.0_f64; n * n]);
    start()
        .arg(&dims, &data)
        .ret_aliasing(0)
        .ret::<f64>(&dims[..1])
}

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
    let several = || {
        let call = start().arg(&[2, 40, 40], &[1.0_f64; 3200]).ret_aliasing(0);
        let call = call.ret::<f64>(&[2, 40]).ret::<i32>(&[2]);
        let by_jacobi = call.attr("lower", true).attr("algorithm", 2_u8);
        by_jacobi.run(handler("cusolver_syevd_ffi"))
    };
    fake::fail("cusolverDnDsyevjBatched", 6);
    assert_eq!(
        several().expect_err("a failure").to_string(),
        "INTERNAL: cusolver_syevd_ffi: cusolverDnsyevjBatched answered CUSOLVER_STATUS_EXECUTION_FAILED (6)"
    );
    assert_eq!(run(), Ok(()));
    // Other tests may have all handles at the same time, but not always.
    for _ in 0..100 {
        assert_eq!(run(), Ok(()));
    }
    assert!(fake::calls("cusolverDnCreate") - before < 50);

    let lu = || {
        // More rows than a kernel of ours has threads.
        let call = start().arg(&[5, 520, 520], &vec![1.0_f32; 5 * 520 * 520]);
        let call = call.ret::<f32>(&[5, 520, 520]).ret::<i32>(&[5, 520]);
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
fn scratch_memory_is_given_back_and_its_lack_is_reported() {
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
    let compatible = Traits::COMMAND_BUFFER_COMPATIBLE;
    assert_eq!(traits("kepler"), compatible);
    assert_eq!(traits("cu_lu_pivots_to_permutation"), compatible);
    assert_eq!(traits("lu"), Traits::NONE);
}

/// Past a block of threads, past the second dimension of a grid.
#[test]
fn every_matrix_of_a_large_batch_is_reached() {
    for n in [1_i64, 300, 70_000] {
        let data = vec![0.25_f64; n as usize];
        let call = start().arg(&[n, 1, 1], &data);
        let mut frame = call.ret::<f64>(&[n, 1, 1]).ret::<i32>(&[n, 1]).build();
        frame.call(handler("lu")).expect("lu");
        assert!(frame.ret::<f64>(0) == data && frame.ret::<i32>(1).iter().all(|&p| p == 1));
    }
}

#[test]
fn print_tensor_waits_for_its_operand_and_linear_algebra_for_nothing() {
    let waits = || fake::calls("cuStreamSynchronize") + fake::calls("cuMemcpyDtoHAsync_v2");
    for (count, n) in [(1, 5), (3, 5), (1, 40), (2, 40)] {
        let (matrices, vectors) = ([count, n, n], [count, n]);
        let call = || start().arg(&matrices, &vec![1.0_f64; (count * n * n) as usize]);
        let square = || call().ret::<f64>(&matrices);
        let calls = [
            ("lu", square().ret::<i32>(&vectors)),
            ("geqrf", square().ret::<f64>(&vectors)),
            ("eigh", square().ret::<f64>(&vectors)),
            ("svd", square().ret::<f64>(&vectors).ret::<f64>(&matrices)),
        ];
        for (target, call) in calls {
            assert_eq!(call.run(handler(target)), Ok(()), "{target}");
        }
    }
    assert_eq!(waits(), 0);
    ops::print::queue_output(true);
    let matrix = start().arg(&[2, 3], &[1_f32, 3., 5., 2., 4., 6.]);
    assert_eq!(matrix.run(handler("print_tensor")), Ok(()));
    assert_eq!(
        ops::print::drain().concat(),
        "PJRTBuffer\n 1 3 5\n 2 4 6\n[ f32{2,3} ]\n"
    );
    assert_eq!(waits(), 2);
}
