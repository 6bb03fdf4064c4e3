//! The look, compared with {pjrt}'s: what it prints for the same values, and ours where it
//! prints nothing (half precision, complex) or something wrong (the sign of a scale factor).

use super::{format_buffer, Options};
use xla_ffi::half::{bf16, f16};
use xla_ffi::{Code, DataType};

macro_rules! bytes {
    ($values:expr) => {
        $values
            .iter()
            .flat_map(|v| v.to_ne_bytes())
            .collect::<Vec<u8>>()
    };
}

fn show(dtype: DataType, dims: &[i64], bytes: &[u8]) -> String {
    show_with(dtype, dims, bytes, Options::default())
}

fn show_with(dtype: DataType, dims: &[i64], bytes: &[u8], options: Options) -> String {
    format_buffer(dtype, dims, bytes, &options)
        .expect("a printable buffer")
        .join("\n")
}

fn f32s(dims: &[i64], values: &[f32]) -> String {
    show(DataType::F32, dims, &bytes!(values))
}

fn i32s(dims: &[i64], values: &[i32]) -> String {
    show(DataType::S32, dims, &bytes!(values))
}

#[test]
fn a_matrix_of_whole_numbers_has_no_decimals() {
    assert_eq!(f32s(&[2, 3], &[1., 3., 5., 2., 4., 6.]), " 1 3 5\n 2 4 6");
    assert_eq!(
        i32s(&[2, 5], &[1, 3, 5, 7, 9, 2, 4, 6, 8, 10]),
        "  1  3  5  7  9\n  2  4  6  8 10"
    );
    assert_eq!(i32s(&[1, 4], &[1000, 1, 10, 100]), " 1000    1   10  100");
}

#[test]
fn scalars_and_vectors_are_columns() {
    assert_eq!(f32s(&[], &[1.0]), " 1");
    assert_eq!(f32s(&[], &[1e6]), " 1.0000e+06");
    assert_eq!(f32s(&[], &[-1e5]), " -100000");
    assert_eq!(f32s(&[2], &[1.0, 2.5]), " 1.0000\n 2.5000");
    assert_eq!(f32s(&[1], &[1e-10]), " 1.0000e-10");
    assert_eq!(f32s(&[2], &[1e10, 1e-10]), " 1.0000e+10\n 1.0000e-10");
}

#[test]
fn integers_turn_scientific_one_by_one() {
    assert_eq!(
        i32s(&[2, 2], &[10_000_000, 30_000_000, 20_000_000, 1]),
        " 1.0000e+07 3.0000e+07\n 2.0000e+07          1"
    );
    assert_eq!(
        f32s(&[3, 2], &[1e9, f32::INFINITY, 3., -2., 123., f32::NAN]),
        " 1.0000e+09        inf\n          3         -2\n        123        nan"
    );
}

#[test]
fn infinities_and_nan_are_aligned() {
    let inf = f32::INFINITY;
    assert_eq!(
        f32s(&[4], &[inf, -inf, f32::NAN, 1.0]),
        "  inf\n -inf\n  nan\n    1"
    );
    assert_eq!(
        f32s(&[1, 4], &[inf, inf, f32::NAN, 100_011.234]),
        "         inf         inf         nan 100011.2344"
    );
}

#[test]
fn every_dtype_has_a_text() {
    assert_eq!(show(DataType::PRED, &[4], &[1, 0, 1, 0]), " 1\n 0\n 1\n 0");
    assert_eq!(
        show(DataType::S8, &[2], &bytes!([-128_i8, 127])),
        " -128\n  127"
    );
    assert_eq!(show(DataType::S16, &[], &bytes!([-12_i16])), " -12");
    assert_eq!(
        show(DataType::S64, &[], &bytes!([i64::MIN])),
        " -9.2234e+18"
    );
    assert_eq!(show(DataType::U8, &[], &[250]), " 250");
    assert_eq!(show(DataType::U16, &[], &bytes!([12_u16])), " 12");
    assert_eq!(show(DataType::U32, &[], &bytes!([u32::MAX])), " 4.2950e+09");
    assert_eq!(show(DataType::U64, &[], &bytes!([998_u64])), " 998");
    assert_eq!(
        show(DataType::F64, &[], &bytes!([-10.1213_f64])),
        " -10.1213"
    );
    let half = [f16::from_f32(1.5), f16::from_f32(-2.0)];
    assert_eq!(
        show(DataType::F16, &[2], &bytes!(half)),
        "  1.5000\n -2.0000"
    );
    let brain = [bf16::from_f32(3.0), bf16::NAN];
    assert_eq!(show(DataType::BF16, &[2], &bytes!(brain)), "   3\n nan");
    assert_eq!(
        show(DataType::C64, &[1, 2], &bytes!([1_f32, 2., -3., -4.])),
        "  1+2i -3-4i"
    );
    assert_eq!(
        show(DataType::C128, &[], &bytes!([0.5_f64, -1.0])),
        " 0.5000-1.0000i"
    );
}

#[test]
fn slices_have_headings_and_widths_of_their_own() {
    let values: Vec<f32> = (0..24).map(|i| (i % 12 * 2 + i / 12 + 1) as f32).collect();
    assert_eq!(
        f32s(&[2, 3, 4], &values),
        "(1,.,.) =\n  1  3  5  7\n  9 11 13 15\n 17 19 21 23\n\n\
         (2,.,.) =\n  2  4  6  8\n 10 12 14 16\n 18 20 22 24"
    );
    assert_eq!(
        f32s(&[2, 2, 2], &[1., 3., 2., 4., 100., 300., 200., 400.]),
        "(1,.,.) =\n 1 3\n 2 4\n\n(2,.,.) =\n 100 300\n 200 400"
    );
    let headings: Vec<String> = i32s(&[2, 1, 3, 1, 1], &[0; 6])
        .lines()
        .filter(|l| l.starts_with('('))
        .map(str::to_owned)
        .collect();
    let expected: Vec<String> = (0..6)
        .map(|i| format!("({},1,{},.,.) =", i / 3 + 1, i % 3 + 1))
        .collect();
    assert_eq!(headings, expected);
}

#[test]
fn a_common_exponent_becomes_a_factor_per_slice() {
    assert_eq!(
        f32s(&[2, 1, 2], &[2e-6, 2.5e-6, 3e-9, 3.5e-9]),
        "(1,.,.) =\n1e-06 *\n 2.0000 2.5000\n\n(2,.,.) =\n1e-09 *\n 3.0000 3.5000"
    );
}

#[test]
fn wide_matrices_are_broken_into_blocks() {
    let values: Vec<i32> = (0..100).map(|i| i % 50 * 2 + i / 50 + 1).collect();
    let text = i32s(&[2, 50], &values);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "Columns 1 to 28");
    assert!(lines[1].starts_with("  1  3  5") && lines[1].ends_with(" 53 55"));
    assert_eq!(lines[1].len(), 84);
    assert_eq!(lines[3], "Columns 29 to 49");
    assert_eq!(lines[4].len(), 63);
    assert_eq!(&lines[6..], ["Columns 50 to 50", "  99", " 100"]);
}

#[test]
fn the_width_is_a_limit_but_one_column_is_always_shown() {
    let print = |max_width| {
        let options = Options {
            max_width,
            max_rows: 1,
            ..Options::default()
        };
        show_with(
            DataType::S32,
            &[1, 3],
            &bytes!([100_i32, 100, 100]),
            options,
        )
    };
    let cut = " ... [output was truncated, set max_rows = -1 to see all]";
    assert_eq!(print(7), format!("Columns 1 to 1\n 100\n{cut}"));
    assert_eq!(print(8), format!("Columns 1 to 2\n 100 100\n{cut}"));
    assert_eq!(print(2), format!("Columns 1 to 1\n 100\n{cut}"));
    assert_eq!(print(-1), " 100 100 100");
}

#[test]
fn long_buffers_are_cut_and_say_so() {
    let values: Vec<i32> = (1..=50).collect();
    let text = i32s(&[50], &values);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 31);
    assert_eq!(lines[29], " 30");
    assert!(lines[30].starts_with(" ... [output was truncated"));
    let all = Options {
        max_rows: -1,
        max_rows_slice: -1,
        ..Options::default()
    };
    let text = show_with(DataType::S32, &[50], &bytes!(values), all);
    assert_eq!(text.lines().count(), 50);
    assert_eq!(i32s(&[30], &values[..30]).lines().count(), 30);
}

#[test]
fn the_row_limit_spans_slices_and_stops_at_once() {
    let values: Vec<i32> = (0..4000).collect();
    let text = i32s(&[2000, 2, 1], &values);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 15 * 4);
    assert_eq!(lines[57..59], [" 28", " 29"]);
    assert!(lines[59].starts_with(" ... [output"));
    let all = Options {
        max_rows: -1,
        ..Options::default()
    };
    let text = show_with(DataType::S32, &[2000, 2, 1], &bytes!(values), all);
    assert!(text.ends_with("(2000,.,.) =\n 3998\n 3999"));
}

#[test]
fn a_slice_cut_early_is_still_told_at_the_end() {
    let options = Options {
        max_rows: -1,
        max_rows_slice: 1,
        ..Options::default()
    };
    let text = show_with(
        DataType::S32,
        &[2, 2, 1],
        &bytes!([1_i32, 2, 3, 4]),
        options,
    );
    assert_eq!(
        text,
        "(1,.,.) =\n 1\n\n(2,.,.) =\n 3\n ... [output was truncated, set max_rows = -1 to see all]"
    );
}

#[test]
fn empty_buffers_have_no_lines() {
    for dims in [&[0][..], &[0, 3], &[3, 0], &[2, 0, 3], &[i64::MAX, 8, 0]] {
        assert_eq!(f32s(dims, &[]), "");
    }
}

#[test]
fn what_cannot_be_printed_is_an_error() {
    let message = |dtype, dims: &[i64], bytes: &[u8]| {
        let error = format_buffer(dtype, dims, bytes, &Options::default()).expect_err("an error");
        assert_eq!(error.code(), Code::InvalidArgument);
        error.to_string()
    };
    assert_eq!(
        message(DataType::TOKEN, &[], &[]),
        "cannot print a buffer of dtype token"
    );
    assert_eq!(
        message(DataType::F32, &[2], &[0; 4]),
        "cannot print 4 bytes as f32[2]"
    );
    assert_eq!(
        message(DataType::F32, &[-1], &[]),
        "cannot print a buffer of dimensions [-1]"
    );
    assert_eq!(
        message(DataType::F32, &[i64::MAX, 8], &[]),
        "cannot print a buffer of dimensions [9223372036854775807, 8]"
    );
}
