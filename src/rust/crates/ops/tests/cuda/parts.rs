//! Batches of more matrices than NVIDIA's routines take at once.

use super::common::{fake, handler, start};

/// Matrices of one element, their own eigenvalues.
fn ones(count: usize) -> Vec<f64> {
    (0..count).map(|i| i as f64 + 1.0).collect()
}

#[test]
fn divide_and_conquer_has_as_many_as_it_takes_and_clean_memory() {
    let (count, n) = (40_000_usize, 2_usize);
    let dims = [count as i64, n as i64, n as i64];
    let (one, two) = (ones(count), ones(count));
    let diagonals = one.iter().zip(&two);
    let matrices: Vec<f64> = diagonals.flat_map(|(&x, &y)| [x, 0.0, 0.0, -y]).collect();
    let call = start().arg(&dims, &matrices).ret_aliasing(0);
    let call = call.ret::<f64>(&dims[..2]).ret::<i32>(&dims[..1]);
    let call = call.attr("lower", true).attr("algorithm", 1_u8);
    let before = fake::calls("cusolverDnXsyevBatched");
    let mut frame = call.build();
    assert_eq!(frame.call(handler("cusolver_syevd_ffi")), Ok(()));
    assert_eq!(fake::calls("cusolverDnXsyevBatched") - before, 3);
    let values: Vec<f64> = one.iter().flat_map(|&x| [-x, x]).collect();
    assert!(frame.ret::<f64>(1) == values);
    assert!(frame.ret::<i32>(2).iter().all(|&info| info == 0));
}

#[test]
fn jacobis_method_has_as_many_as_it_takes() {
    let count = 2_100_000;
    let dims = [count as i64, 1, 1];
    let numbers = ones(count);
    let before = fake::calls("cusolverDnDsyevjBatched");
    let call = start().arg(&dims, &numbers).ret_aliasing(0);
    let call = call.ret::<f64>(&dims[..2]).ret::<i32>(&dims[..1]);
    let call = call.attr("lower", true).attr("algorithm", 2_u8);
    let mut frame = call.build();
    assert_eq!(frame.call(handler("cusolver_syevd_ffi")), Ok(()));
    assert!(fake::calls("cusolverDnDsyevjBatched") - before > 1);
    assert!(frame.ret::<f64>(1) == numbers);
    assert!(frame.ret::<f64>(0).iter().all(|&v| v == 1.0));
}
