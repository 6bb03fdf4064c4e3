//! Elements that are wrong: unwritten, changed, different from run to run, not finite.

use xla_ffi::half::{bf16, f16};
use xla_ffi::registry::{Checks, Kind};
use xla_ffi::testing::Call;
use xla_ffi::Complex;

use crate::*;

#[test]
fn what_is_left_unwritten_is_found() {
    let (kind, text) = only("leaves_holes", leaves_holes, &mut call());
    assert_eq!(kind, Kind::Unwritten);
    assert_eq!(
        text,
        "left 3 elements of result 1 (f64 (2,3)) unwritten, the first [1, 2]"
    );
    let mut frame = Call::new().arg(&[0], &[0f64; 0]).ret::<f64>(&[]).build();
    let (_, text) = only("leaves_holes", leaves_holes, &mut frame);
    assert_eq!(text, "left result 1 (f64 ()) unwritten");
    let x = [Complex::new(1f32, 2.0); 3];
    let mut frame = Call::new().arg(&[3], &x).ret::<Complex<f32>>(&[3]).build();
    let (_, text) = only("leaves_imaginary_part", leaves_imaginary_part, &mut frame);
    assert_eq!(
        text,
        "left 1 element of result 1 (c64 (3)) unwritten, the first [3]"
    );
}

#[test]
fn a_changed_operand_is_found_and_does_not_reach_xla() {
    let mut frame = call();
    let (kind, text) = only("changes_operand", changes_operand, &mut frame);
    assert_eq!(kind, Kind::OperandChanged);
    assert_eq!(
        text,
        "changed 1 element of operand 1 (f64 (2,3)): [2, 1] was 8 and is -1"
    );
    assert_eq!(frame.arg::<f64>(0), X);
}

#[test]
fn an_operand_in_place_of_which_the_result_is_may_change() {
    let mut frame = Call::new().arg(&[6], &X).ret_aliasing(0).build();
    let (outcome, findings) = checked("good in place", good, Checks::default(), &mut frame);
    outcome.expect("no error");
    assert_eq!(findings, []);
    let (kind, text) = only("needs_alias", needs_alias, &mut frame);
    assert_eq!(kind, Kind::Aliasing);
    assert!(
        text.starts_with(
            "result 1 (f64 (6)) differs in 6 elements with memory of its own in place of an \
             operand's: [1] is 2 and "
        ),
        "{text}"
    );
    assert_eq!(frame.ret::<f64>(0), X.map(|x| 2.0 * x));
}

#[test]
fn runs_that_differ_are_told_apart_by_why() {
    let (kind, text) = only("counts", counts, &mut call());
    assert_eq!(kind, Kind::Nondeterministic);
    assert!(
        text.starts_with(
            "result 1 (f64 (2,3)) differs in 1 element between runs on the same operands: [2, 3] is "
        ),
        "{text}"
    );
    let (kind, text) = only("accumulates", accumulates, &mut call());
    assert_eq!(kind, Kind::Uninitialised);
    assert!(
        text.starts_with(
            "result 1 (f64 (2,3)) depends in 6 elements on memory that is no input (such as a result or \
             scratch memory before it is written): [1, 1] is "
        ),
        "{text}"
    );
    let (kind, text) = only("sees_alignment", sees_alignment, &mut call());
    assert_eq!(kind, Kind::Alignment);
    assert_eq!(
        text,
        "result 1 (f64 (2,3)) differs in 1 element with operands aligned to 16 bytes, not 64: \
         [1, 1] is 0 and 16"
    );
    let (outcome, findings) = checked(
        "fails_the_second_time",
        fails_the_second_time,
        Checks::default(),
        &mut call(),
    );
    outcome.expect("the first run");
    assert_eq!(
        findings[0].text(""),
        "failed when run again on the same operands: fails_the_second_time (host): once is enough"
    );
}

#[test]
fn what_is_not_finite_is_found_where_operands_are() {
    let frame = |x: &[f64]| Call::new().arg(&[3], x).ret::<f64>(&[3]).build();
    let (kind, text) = only("divides", divides, &mut frame(&[1.0, 0.0, 2.0]));
    assert_eq!(kind, Kind::NotFinite);
    assert_eq!(
        text,
        "result 1 (f64 (3)) is not finite in 1 element, from finite operands: [2] is Inf"
    );
    let mut of_nan = frame(&[1.0, f64::NAN, 0.0]);
    let (_, findings) = checked("divides", divides, Checks::default(), &mut of_nan);
    assert_eq!(findings, []);
    let x = [f16::ONE, f16::ZERO];
    let mut frame = Call::new().arg(&[2], &x).ret::<f16>(&[2]).build();
    let (_, text) = only("overflows_f16", overflows_f16, &mut frame);
    assert!(text.ends_with("[1] is Inf"), "{text}");
    let mut frame = Call::new()
        .arg(&[1], &[bf16::ONE])
        .ret::<bf16>(&[1])
        .build();
    let (_, text) = only("nan_bf16", nan_bf16, &mut frame);
    assert!(text.ends_with("[1] is NaN"), "{text}");
}

#[test]
fn one_nan_is_as_good_as_another() {
    let x = [Complex::new(f64::NAN, 0.0); 2];
    let call = Call::new().arg(&[2], &x).ret::<Complex<f64>>(&[2]);
    let (_, findings) = checked(
        "nan_of_its_own",
        nan_of_its_own,
        Checks::default(),
        &mut call.build(),
    );
    assert_eq!(findings, []);
}
