//! Kernels on a machine whose NVRTC is of no use: first the shipped PTX is refused as well, then the
//! driver takes it. A process of its own, since kernels are loaded once.
#![cfg(target_os = "linux")]

mod common;

use common::{fake, handler, start};
use xla_ffi::testing::Frame;

fn kepler() -> Frame {
    let call = start().arg(&[1], &[1.0_f64]).arg(&[1], &[0.0_f64]);
    call.ret::<f64>(&[1]).ret::<f64>(&[1]).build()
}

#[test]
fn kernels_without_nvrtc() {
    the_driver_compiles_ptx();
    batches_go_to_nvidias_routines();
}

fn the_driver_compiles_ptx() {
    let handler = handler("kepler");
    fake::fail("nvrtcCompileProgram", 5);
    fake::fail("cuModuleLoadData", 1);
    let failure = kepler().call(handler).expect_err("no kernels");
    assert_eq!(
        failure.to_string(),
        "INTERNAL: kepler: the kernels can be loaded neither as compiled by NVRTC (NVRTC answered 5 to \
         --gpu-architecture=sm_90: bad source) nor as PTX (cuModuleLoadData answered \
         CUDA_ERROR_INVALID_VALUE (1))"
    );
    fake::fail("nvrtcCompileProgram", 5);
    let mut frame = kepler();
    frame.call(handler).expect("kernels from PTX");
    assert!((frame.ret::<f64>(0)[0] - 1.0_f64.sin()).abs() < 1e-15);
    assert_eq!(fake::calls("cuModuleLoadData"), 2);
    // Loaded once.
    kepler().call(handler).expect("the same kernels");
    assert_eq!(fake::calls("cuModuleLoadData"), 2);
}

/// Kernels for small matrices and for eigenvalues are NVRTC's alone: without it NVIDIA's routines take these, too, and it
/// is not asked again.
fn batches_go_to_nvidias_routines() {
    let handler = handler("eigh");
    let run = |rows: i64| {
        let dims = [2, rows, rows];
        let size = rows as usize;
        let diagonal = (0..2 * size * size).map(|at| {
            let place = at % (size * size);
            f64::from(u8::from(place % (size + 1) == 0)) * (3.0 - place as f64)
        });
        let call = start().arg(&dims, &diagonal.collect::<Vec<_>>());
        let call = call.ret::<f64>(&dims).ret::<f64>(&dims[..2]);
        let mut frame = call.build();
        frame.call(handler).expect("eigenvalues");
        frame.ret::<f64>(1).to_vec()
    };
    for (rows, routine) in [
        (2, "cusolverDnDsyevjBatched"),
        (33, "cusolverDnXsyevBatched"),
    ] {
        let known: Vec<f64> = (0..rows)
            .rev()
            .map(|i| 3.0 - (i * (rows + 1)) as f64)
            .collect();
        let known = known.repeat(2);
        fake::fail("nvrtcCompileProgram", 5);
        assert_eq!(run(rows), known);
        let (asked, called) = (fake::calls("nvrtcCompileProgram"), fake::calls(routine));
        assert_eq!(called, 1);
        assert_eq!(run(rows), known);
        assert_eq!(fake::calls(routine), 2);
        assert_eq!(fake::calls("nvrtcCompileProgram"), asked);
    }
    let lu = |rows: i64| {
        let dims = [2, rows, rows];
        let call = start().arg(&dims, &vec![1.0_f32; 2 * (rows * rows) as usize]);
        let call = call.ret::<f32>(&dims).ret::<i32>(&dims[..2]);
        call.run(common::handler("lu")).expect("factors");
        fake::calls("cublasSgetrfBatched")
    };
    fake::fail("nvrtcCompileProgram", 5);
    assert_eq!((lu(40), lu(50)), (1, 2));
    // Other kernels, which can be compiled.
    for (rows, routine) in [
        (5, "cusolverDnDsyevjBatched"),
        (70, "cusolverDnXsyevBatched"),
    ] {
        let called = fake::calls(routine);
        assert_eq!(run(rows), run(rows));
        assert_eq!(fake::calls(routine), called);
    }
}
