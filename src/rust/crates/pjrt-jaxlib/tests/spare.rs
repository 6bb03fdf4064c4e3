//! Arrays that are filled again: nobody sees it but by the clock.

mod common;
use common::*;
use pjrt_api::PJRT_Buffer_Type as T;

const MULTIPLY: &str =
    "func.func @main(%x: tensor<2x3xf64>, %y: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %0 = stablehlo.multiply %x, %y : tensor<2x3xf64>
  return %0 : tensor<2x3xf64>
}";

#[test]
fn memory_that_no_run_reads_is_filled_again() {
    let client = client();
    let program = compile(client, MULTIPLY);
    let up = |value: f64| upload(client, T::F64, &[2, 3], &[value; 6]);
    let (x, y) = (up(1.0), up(2.0));
    let memory = address(x).unwrap();
    let out = execute(program, &[x, y]).unwrap()[0];
    assert_eq!(read::<f64>(out).unwrap(), [2.0; 6]);
    destroy(x);
    let again = up(3.0);
    assert_eq!(address(again).unwrap(), memory, "the run is through");
    assert_eq!(read::<f64>(again).unwrap(), [3.0; 6]);
    assert_eq!(read::<f64>(out).unwrap(), [2.0; 6]);
    // In another order and of another type it is another array.
    let other = upload(client, T::F64, &[3, 2], &[4.0f64; 6]);
    assert_ne!(address(other).unwrap(), memory);
    [y, out, other, again].into_iter().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn what_a_program_passes_through_stays() {
    let client = client();
    let program = compile(
        client,
        "func.func @main(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
           return %x, %x : tensor<4xf64>, tensor<4xf64>
         }",
    );
    let x = upload(client, T::F64, &[4], &[1.0, 2.0, 3.0, 4.0]);
    let out = execute(program, &[x]).unwrap();
    for &result in &out {
        assert_eq!(read::<f64>(result).unwrap(), [1.0, 2.0, 3.0, 4.0]);
    }
    destroy(x);
    let other = upload(client, T::F64, &[4], &[9.0f64; 4]);
    for &result in &out {
        assert_eq!(read::<f64>(result).unwrap(), [1.0, 2.0, 3.0, 4.0]);
    }
    out.into_iter().chain([other]).for_each(destroy);
    destroy_executable(program);
}

#[test]
fn many_shapes_and_arrays_are_bounded_and_right() {
    let client = client();
    for round in 0..3 {
        for n in 1..60i64 {
            let arrays: Vec<_> = (0..9i64)
                .map(|i| {
                    let value = (round * 1000 + 10 * n + i) as f64;
                    (
                        upload(client, T::F64, &[n], &vec![value; n as usize]),
                        value,
                    )
                })
                .collect();
            for (array, value) in arrays {
                assert_eq!(read::<f64>(array).unwrap(), vec![value; n as usize]);
                destroy(array);
            }
        }
    }
}

#[test]
fn threads_do_not_share_what_is_filled_again() {
    let client = client() as usize;
    let program = compile(client as *mut _, MULTIPLY) as usize;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for step in 0..300 {
                    let value = f64::from(thread * 1000 + step);
                    let up = |value: f64| upload(client as *mut _, T::F64, &[2, 3], &[value; 6]);
                    let (x, y) = (up(value), up(2.0));
                    let out = execute(program as *mut _, &[x, y]).unwrap()[0];
                    destroy(x);
                    assert_eq!(read::<f64>(out).unwrap(), [2.0 * value; 6]);
                    [y, out].into_iter().for_each(destroy);
                }
            });
        }
    });
    destroy_executable(program as *mut _);
}
