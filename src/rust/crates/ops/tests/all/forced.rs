//! With `XLAFFI_KERNELS=0` LAPACK computes what otherwise a kernel of the package computes. Seen in processes of their own: a
//! process reads the variable once.

use crate::common::{run, start, Random};
use lapack::routines::{geqrf, getrf, qr_sizes};
use lapack::Workspace;
use std::process::Command;

const N: usize = 20;

/// What both processes compute; alone, as any other test.
#[test]
fn in_a_process() {
    let (n, side, shape) = (N as i32, N as i64, [N as i64; 2]);
    let x = Random(31).matrix::<f64>(N * N);

    let call = start().arg(&shape, &x).ret::<f64>(&shape);
    let frame = run(call.ret::<i32>(&[side]).build(), "lu");
    let (mut a, mut pivots) = (x.clone(), vec![0; N]);
    assert_eq!(getrf((n, n), &mut a, &mut pivots), 0);
    println!("lu: {}", frame.ret::<f64>(0) == a);

    let call = start().arg(&shape, &x).ret::<f64>(&shape);
    let frame = run(call.ret::<f64>(&[side]).build(), "geqrf");
    let (mut a, mut tau) = (x, vec![0.0; N]);
    let sizes = qr_sizes(n).expect("sizes that LAPACK can count");
    let mut work = Workspace::new(sizes).expect("memory to work in");
    assert_eq!(geqrf((n, n), &mut a, &mut tau, &mut work), 0);
    println!("qr: {}", frame.ret::<f64>(0) == a);
}

/// Whether the handlers' results are LAPACK's to the bit.
fn answers(kernels: Option<&str>) -> Vec<bool> {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "--nocapture", "forced::in_a_process"]);
    command.env("OPENBLAS_NUM_THREADS", "1");
    match kernels {
        Some(value) => command.env("XLAFFI_KERNELS", value),
        None => command.env_remove("XLAFFI_KERNELS"),
    };
    let output = command.output().expect("this test can be run again");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    let results = ["lu: ", "qr: "].map(|op| {
        let line = said.lines().find_map(|line| line.split_once(op));
        line.expect("a line for each").1 == "true"
    });
    results.to_vec()
}

#[test]
fn lapack_is_used_where_the_variable_is_0() {
    assert_eq!(answers(Some("0")), [true, true]);
    let kernels = lanes::suits::<f64>(
        matrices::Matrices {
            count: 1,
            rows: N as i32,
            cols: N as i32,
        },
        lanes::qr::MOST,
    );
    if kernels {
        // Other sums give other bits.
        assert!(answers(None).contains(&false));
        assert!(answers(Some("1")).contains(&false));
    }
}
