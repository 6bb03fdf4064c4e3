//! Small arrays, which stay in the plugin's memory: nobody sees it but by the clock.

mod common;
use common::*;
use pjrt_api::{PJRT_Buffer_Type as T, *};

const MULTIPLY: &str =
    "func.func @main(%x: tensor<2x3xf64>, %y: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %0 = stablehlo.multiply %x, %y : tensor<2x3xf64>
  return %0 : tensor<2x3xf64>
}";

/// One run after the other fills the same arrays of the program: what was there before must not show.
#[test]
fn every_run_reads_its_own_arguments() {
    let client = client();
    let program = compile(client, MULTIPLY);
    let up = |value: f64| upload(client, T::F64, &[2, 3], &[value; 6]);
    let (x, y) = (up(1.0), up(2.0));
    let first = execute(program, &[x, y]).unwrap()[0];
    let square = execute(program, &[y, y]).unwrap()[0];
    let chained = execute(program, &[square, first]).unwrap()[0];
    [x, y].into_iter().for_each(destroy);
    assert_eq!(read::<f64>(first).unwrap(), [2.0; 6]);
    assert_eq!(read::<f64>(square).unwrap(), [4.0; 6]);
    assert_eq!(read::<f64>(chained).unwrap(), [8.0; 6]);
    [first, square, chained].into_iter().for_each(destroy);
    destroy_executable(program);
}

/// The same parameter gets a small array, memory of the caller's, and a small one again. The program does not hold on to
/// the caller's memory.
#[test]
fn arguments_of_all_kinds_take_turns() {
    let client = client();
    let program = compile(
        client,
        "func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
           %0 = stablehlo.add %x, %y : tensor<4xf32>
           return %0 : tensor<4xf32>
         }",
    );
    let data = Aligned([1.0, 2.0, 3.0, 4.0]);
    for step in 0..3u8 {
        let step = f32::from(step);
        let small = f32s(client, &[4], &[10.0 * step; 4]);
        let args = PJRT_Client_BufferFromHostBuffer_Args {
            host_buffer_semantics: PJRT_HostBufferSemantics::kImmutableZeroCopy,
            ..upload_args(client, T::F32, &[4], data.0.as_ptr().cast())
        };
        let (theirs, done) = upload_with(args).unwrap();
        for arguments in [[small, theirs], [theirs, small], [small, small]] {
            let out = execute(program, &arguments).unwrap()[0];
            let expected: Vec<f32> = (0..4)
                .map(|i| {
                    let value = |a| if a == small { 10.0 * step } else { data.0[i] };
                    value(arguments[0]) + value(arguments[1])
                })
                .collect();
            assert_eq!(read::<f32>(out).unwrap(), expected);
            destroy(out);
        }
        [small, theirs].into_iter().for_each(destroy);
        wait(done).unwrap();
        destroy_event(done);
    }
    destroy_executable(program);
}

/// Whoever holds on to the address of a small array finds it there whatever programs do with the array.
#[test]
fn an_address_stays() {
    let client = client();
    let donating = compile(
        client,
        "func.func @main(%x: tensor<4xf64> {tf.aliasing_output = 0 : i32}) -> tensor<4xf64> {
           %0 = stablehlo.add %x, %x : tensor<4xf64>
           return %0 : tensor<4xf64>
         }",
    );
    let x = upload(client, T::F64, &[4], &[1.0f64, 2.0, 3.0, 4.0]);
    call!(
        PJRT_Buffer_IncreaseExternalReferenceCount,
        PJRT_Buffer_IncreaseExternalReferenceCount_Args { buffer: x }
    )
    .unwrap();
    let at = address(x).unwrap();
    for _ in 0..2 {
        let out = execute(donating, &[x]).unwrap()[0];
        assert_eq!(read::<f64>(out).unwrap(), [2.0, 4.0, 6.0, 8.0]);
        assert!(!is_deleted(x));
        assert_eq!(address(x).unwrap(), at);
        assert_eq!(read::<f64>(x).unwrap(), [1.0, 2.0, 3.0, 4.0]);
        destroy(out);
    }
    call!(
        PJRT_Buffer_DecreaseExternalReferenceCount,
        PJRT_Buffer_DecreaseExternalReferenceCount_Args { buffer: x }
    )
    .unwrap();
    let out = execute(donating, &[x]).unwrap()[0];
    assert!(is_deleted(x));
    assert!(execute(donating, &[x]).is_err());
    assert_eq!(read::<f64>(out).unwrap(), [2.0, 4.0, 6.0, 8.0]);
    [x, out].into_iter().for_each(destroy);
    destroy_executable(donating);
}

/// Also when it is deleted, until they let go.
#[test]
fn what_is_deleted_stays_for_those_who_hold_on_to_it() {
    let client = client();
    let x = upload(client, T::F64, &[4], &[1.0f64, 2.0, 3.0, 4.0]);
    call!(
        PJRT_Buffer_IncreaseExternalReferenceCount,
        PJRT_Buffer_IncreaseExternalReferenceCount_Args { buffer: x }
    )
    .unwrap();
    let at = address(x).unwrap() as *const f64;
    call!(PJRT_Buffer_Delete, PJRT_Buffer_Delete_Args { buffer: x }).unwrap();
    assert!(is_deleted(x));
    let others = [(); 8].map(|()| upload(client, T::F64, &[4], &[9.0f64; 4]));
    // SAFETY: the memory of four numbers that is held.
    let there = unsafe { std::slice::from_raw_parts(at, 4) };
    assert_eq!(there, [1.0, 2.0, 3.0, 4.0]);
    call!(
        PJRT_Buffer_DecreaseExternalReferenceCount,
        PJRT_Buffer_DecreaseExternalReferenceCount_Args { buffer: x }
    )
    .unwrap();
    others.into_iter().chain([x]).for_each(destroy);
}

#[test]
fn arrays_without_elements_are_passed_again_and_again() {
    let client = client();
    let program = compile(
        client,
        "func.func @main(%x: tensor<0x3xf64>, %y: tensor<3xf64>) -> (tensor<0x3xf64>, tensor<3xf64>) {
           %0 = stablehlo.add %y, %y : tensor<3xf64>
           return %x, %0 : tensor<0x3xf64>, tensor<3xf64>
         }",
    );
    for step in 0..3u8 {
        let value = f64::from(step);
        let x = upload::<f64>(client, T::F64, &[0, 3], &[]);
        let y = upload(client, T::F64, &[3], &[value; 3]);
        let out = execute(program, &[x, y]).unwrap();
        assert_eq!(dims(out[0]), [0, 3]);
        assert_eq!(read::<f64>(out[1]).unwrap(), [2.0 * value; 3]);
        out.into_iter().chain([x, y]).for_each(destroy);
    }
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

/// XLA goes on with the first run on its own threads while the next ones are launched, and reads the argument last.
#[test]
fn runs_under_way_keep_their_arguments() {
    let client = client();
    let t = "tensor<600x600xf64>";
    let program = compile(
        client,
        &format!(
            "func.func @main(%x: tensor<f64>) -> tensor<f64> {{
               %i = stablehlo.iota dim = 0 : {t}
               %a = stablehlo.dot_general %i, %i, contracting_dims = [1] x [0] : ({t}, {t}) -> {t}
               %b = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f64>) -> {t}
               %c = stablehlo.multiply %a, %b : {t}
               %z = stablehlo.constant dense<0.0> : tensor<f64>
               %0 = stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [0, 1]
                 : ({t}, tensor<f64>) -> tensor<f64>
               return %0 : tensor<f64>
             }}"
        ),
    );
    let runs: Vec<_> = (1..=8u8)
        .map(|step| {
            let x = upload(client, T::F64, &[], &[f64::from(step)]);
            let (out, event) = execute_with(program, &[x], How::default()).unwrap();
            destroy_event(event);
            destroy(x);
            (out[0], f64::from(step))
        })
        .collect();
    for (out, value) in runs {
        // Whole numbers below 2^53.
        let numbers = 600.0 * 599.0 / 2.0;
        assert_eq!(
            read::<f64>(out).unwrap(),
            [600.0 * numbers * numbers * value]
        );
        destroy(out);
    }
    destroy_executable(program);
}

#[test]
fn threads_do_not_share_what_programs_fill() {
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
