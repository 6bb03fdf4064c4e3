//! `print_tensor`: what a call writes, and where it goes.

use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use xla_ffi::testing::Call;
use xla_ffi::{half, Complex, DataType, HandlerFn, Pred, Scalar};

fn print_tensor() -> HandlerFn {
    ops::find("print_tensor", "host").expect("the table has print_tensor on the host")
}

/// The queue is the process's, so tests that use it take turns.
fn queued() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    ops::print::queue_output(true);
    ops::print::drain();
    turn
}

fn printed(call: Call) -> String {
    call.run(print_tensor()).expect("a printable tensor");
    ops::print::drain().concat()
}

fn matrix() -> Call {
    // Row-major: 1 3 5 in the first row.
    Call::new().arg(&[2, 3], &[1_f32, 3., 5., 2., 4., 6.])
}

#[test]
fn header_values_and_footer() {
    let _turn = queued();
    assert_eq!(
        printed(matrix()),
        "PJRTBuffer\n 1 3 5\n 2 4 6\n[ f32{2,3} ]\n"
    );
    let named = matrix()
        .attr("print_header", "my matrix")
        .attr("print_footer", "----");
    assert_eq!(printed(named), "my matrix\n 1 3 5\n 2 4 6\n----\n");
    let bare = matrix().attr("print_header", "").attr("print_footer", "");
    assert_eq!(printed(bare), " 1 3 5\n 2 4 6\n");
    let empty = Call::new().arg::<f32>(&[0, 3], &[]);
    assert_eq!(printed(empty), "PJRTBuffer\n[ f32{0,3} ]\n");
}

#[test]
fn every_dtype_and_its_footer() {
    let _turn = queued();
    fn show<T: Scalar>(value: T) -> String {
        printed(Call::new().arg(&[], &[value]).attr("print_header", ""))
    }
    assert_eq!(show(Pred::from(true)), " 1\n[ bool{} ]\n");
    assert_eq!(show(-1_i8), " -1\n[ i8{} ]\n");
    assert_eq!(show(-1_i16), " -1\n[ i16{} ]\n");
    assert_eq!(show(-1_i32), " -1\n[ i32{} ]\n");
    assert_eq!(show(-1_i64), " -1\n[ i64{} ]\n");
    assert_eq!(show(1_u8), " 1\n[ ui8{} ]\n");
    assert_eq!(show(1_u16), " 1\n[ ui16{} ]\n");
    assert_eq!(show(1_u32), " 1\n[ ui32{} ]\n");
    assert_eq!(show(1_u64), " 1\n[ ui64{} ]\n");
    assert_eq!(show(half::f16::from_f32(0.5)), " 0.5000\n[ f16{} ]\n");
    assert_eq!(show(half::bf16::from_f32(0.5)), " 0.5000\n[ bf16{} ]\n");
    assert_eq!(show(0.5_f32), " 0.5000\n[ f32{} ]\n");
    assert_eq!(show(0.5_f64), " 0.5000\n[ f64{} ]\n");
    assert_eq!(show(Complex::new(1_f32, -2.)), " 1-2i\n[ c64{} ]\n");
    assert_eq!(
        show(Complex::new(1_f64, 0.5)),
        " 1.0000+0.5000i\n[ c128{} ]\n"
    );
}

#[test]
fn the_row_limit_is_an_attribute_of_either_width() {
    let _turn = queued();
    let cut = "PJRTBuffer\n 1 3 5\n ... [output was truncated, set max_rows = -1 to see all]\n\
               [ f32{2,3} ]\n";
    assert_eq!(printed(matrix().attr("max_rows", 1_i32)), cut);
    assert_eq!(printed(matrix().attr("max_rows", 1_i64)), cut);
    let long = Call::new()
        .arg(&[100], &[0_i8; 100])
        .attr("max_rows", -1_i64);
    assert_eq!(printed(long).lines().count(), 102);
}

#[test]
fn tokens_are_taken_and_given() {
    let _turn = queued();
    let ordered = matrix()
        .arg_of(DataType::TOKEN, &[], &[])
        .ret_of(DataType::TOKEN, &[]);
    let plain = printed(matrix());
    assert_eq!(printed(ordered), plain);
}

#[test]
fn bad_operands_are_named_and_print_nothing() {
    let _turn = queued();
    let message = |call: Call| {
        let failure = call.run(print_tensor()).expect_err("bad input");
        assert!(ops::print::drain().is_empty());
        failure.to_string()
    };
    assert_eq!(
        message(Call::new()),
        "INVALID_ARGUMENT: print_tensor: expected at least 1 argument (`x`), got 0"
    );
    assert_eq!(
        message(Call::new().arg_of(DataType::S4, &[1], &[0])),
        "INVALID_ARGUMENT: print_tensor: argument `x` must be pred, i8, i16, i32, i64, ui8, ui16, \
         ui32, ui64, f16, bf16, f32, f64, c64 or c128, got i4"
    );
    assert_eq!(
        message(matrix().arg(&[], &[1_i32])),
        "INVALID_ARGUMENT: print_tensor: argument `after[0]` must be token, got i32"
    );
    assert_eq!(
        message(matrix().ret::<f32>(&[2, 3])),
        "INVALID_ARGUMENT: print_tensor: result `then[0]` must be token, got f32"
    );
    assert_eq!(
        message(matrix().attr("print_header", 1_i32)),
        "INVALID_ARGUMENT: print_tensor: attribute `print_header` must be a string, \
         got a scalar i32"
    );
    assert_eq!(
        message(matrix().attr("max_rows", 1_f32)),
        "INVALID_ARGUMENT: print_tensor: attribute `max_rows` must be a scalar i32 or i64, \
         got a scalar f32"
    );
}

#[test]
fn queued_texts_are_whole_complete_and_in_each_threads_order() {
    let _turn = queued();
    std::thread::scope(|scope| {
        for thread in 0..4_i32 {
            scope.spawn(move || {
                for call in 0..50_i32 {
                    let call = Call::new().arg(&[1, 2], &[thread, call]);
                    call.run(print_tensor()).expect("a printable tensor");
                }
            });
        }
    });
    let texts = ops::print::drain();
    assert_eq!(texts.len(), 200);
    for thread in 0..4 {
        let calls: Vec<i32> = texts
            .iter()
            .filter_map(|text| {
                let row = text.lines().nth(1)?;
                let (of, call) = row.trim_start().split_once(char::is_whitespace)?;
                (of.parse() == Ok(thread)).then(|| call.trim().parse().ok())?
            })
            .collect();
        assert_eq!(calls, (0..50).collect::<Vec<_>>());
    }
    assert!(ops::print::drain().is_empty());
}

#[test]
fn text_that_nobody_takes_is_kept_whole_and_comes_in_slices() {
    let _turn = queued();
    let row: Vec<i32> = (0..20_000).collect();
    for _ in 0..40 {
        let call = Call::new().arg(&[20_000, 1], &row).attr("max_rows", -1_i32);
        call.run(print_tensor()).expect("a printable tensor");
    }
    let (mut slices, mut texts) = (0, Vec::new());
    loop {
        let slice = ops::print::drain();
        if slice.is_empty() {
            break;
        }
        let bytes: usize = slice.iter().map(String::len).sum();
        assert!(bytes < 2 << 20, "{bytes} bytes at once");
        slices += 1;
        texts.extend(slice);
    }
    assert!(slices > 2);
    assert_eq!(texts.len(), 40);
    assert!(texts
        .iter()
        .all(|text| text == &texts[0] && text.lines().count() == 20_002));
    assert!(!ops::print::is_waiting());
}

#[test]
fn where_the_host_can_show_text_it_comes_at_once_behind_what_waits() {
    static SHOWN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    thread_local!(static HERE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    let show = |text: &str| {
        SHOWN.lock().unwrap().push(text.to_string());
        // Whoever shows text may look, and run handlers.
        assert!(!ops::print::is_waiting());
        true
    };
    let _turn = queued();
    ops::print::show_on(Some(ops::print::Console {
        is_here: || HERE.get(),
        show,
    }));
    let print = |x: i32| {
        let call = Call::new().arg(&[1], &[x]);
        call.run(print_tensor()).expect("a printable tensor");
    };
    print(1);
    assert!(SHOWN.lock().unwrap().is_empty());
    HERE.set(true);
    print(2);
    ops::print::show_on(None);
    let rows: Vec<String> = SHOWN
        .lock()
        .unwrap()
        .iter()
        .map(|t| t.lines().nth(1).unwrap().trim().into())
        .collect();
    assert_eq!(rows, ["1", "2"]);
    print(3);
    assert_eq!(ops::print::drain().len(), 1);
}

#[test]
fn texts_survive_the_end_of_queuing_until_they_are_drained() {
    let _turn = queued();
    matrix().run(print_tensor()).expect("a printable tensor");
    ops::print::queue_output(false);
    assert_eq!(ops::print::drain().len(), 1);
}

const CHILD: &str = "XLAFFI_TEST_PRINTS";

#[test]
fn unqueued_text_goes_to_standard_output_unmixed() {
    if std::env::var_os(CHILD).is_some() {
        return print_from_four_threads();
    }
    let exe = std::env::current_exe().expect("the path of this test");
    let name = "print_tensor::unqueued_text_goes_to_standard_output_unmixed";
    let output = Command::new(exe)
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("the child runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let one = "PJRTBuffer\n 1 3 5\n 2 4 6\n[ f32{2,3} ]\n";
    assert_eq!(text.matches(one).count(), 100);
}

/// What the test above does in a process of its own.
fn print_from_four_threads() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    matrix().run(print_tensor()).expect("a printable tensor");
                }
            });
        }
    });
}
