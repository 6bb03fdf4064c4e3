//! Devices after a sticky error of CUDA's.

use crate::behaviour::{program, read, run, upload};
use crate::fake::*;
use pjrt::*;

/// XLA would end the process in some of these calls.
#[test]
fn a_lost_device_is_asked_for_nothing() {
    let _s = session();
    let (lost, other) = (client("cuda"), client("cuda"));
    let (before, executable) = (upload(&lost, &[1.0], &[1]), program(&lost, "none"));
    let first = run(&lost, "loses the device").unwrap_err();
    assert_eq!(first.code(), Code::INTERNAL);
    let host = HostData {
        source: Source::F64(&[1.0]),
        dims: &[1],
        order: Order::RowMajor,
        dtype: DType::F32,
    };
    let text = Program::new("none", ProgramFormat::Mlir);
    let refused = [
        executable.execute(&[], &ExecuteOptions::default()).err(),
        lost.compile(&text, &compile_options(None)).err(),
        lost.upload(host, None).err(),
        read(&before, Order::RowMajor).err(),
    ];
    for error in refused {
        assert_eq!(
            error.expect("refused").to_string(),
            "FAILED_PRECONDITION: the devices of this plugin are lost: CUDA answered CUDA_ERROR_ILLEGAL_ADDRESS before, \
             after which it does nothing more in this process; a new one can use them"
        );
    }
    assert_eq!(before.dims(), [1]);
    drop((before, executable));
    // Another plugin has devices of its own.
    assert_eq!(
        read(&upload(&other, &[2.0], &[1]), Order::RowMajor).unwrap(),
        [2.0]
    );
}
