//! Functions of pointers and 64-bit integers, as Fortran and `.C()` have them.

// Miri wants the very types of a function's arguments, which a word of the machine is not.
#![cfg(not(miri))]
// Each function relies on the words that stand beside it.
#![allow(clippy::undocumented_unsafe_blocks)]

use std::ffi::c_void;

use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{register, Body, CustomOp, Instance, Options, PlainFunction, MOST_ARGUMENTS};
use xla_ffi::testing::Call;
use xla_ffi::HandlerFn;

fn handler(
    name: &str,
    text: &str,
    function: *const c_void,
    words: &[&str],
    status: bool,
) -> HandlerFn {
    let signature = Signature::parse(text).unwrap();
    let sets = Sets::new(&signature, &[]).unwrap();
    let words = PlainFunction::new(function, words, status, &signature).unwrap();
    let instances = vec![Instance::new(Vec::new(), Body::Plain(words))];
    // SAFETY: a function of this file.
    let op = unsafe { CustomOp::new(name, signature, sets, instances, Options::default()) };
    register(&op.unwrap(), None).unwrap().trampoline
}

/// Every kind of word.
unsafe extern "C" fn kinds(
    x: *const f64,
    n: i64,
    n_int: *const i32,
    n_long: *const i64,
    alpha: *const f64,
    k: *const f64,
    lags: *const i64,
    length: *const i32,
    size: *const i32,
    y: *mut f64,
) -> i32 {
    unsafe {
        let reported = [
            *x,
            n as f64,
            f64::from(*n_int),
            *n_long as f64,
            *alpha,
            *k,
            *lags.add(1) as f64,
            f64::from(*length),
            f64::from(*size),
        ];
        for (i, reported) in reported.into_iter().enumerate() {
            *y.add(i) = reported;
        }
    }
    -1
}

const TEXT: &str =
    "x: f64[..., n]; alpha: f32 = 0.5, k: i32 = 7, lags: i64[p] = [1, 2] -> y: f64[..., 9]";

#[test]
fn words_are_what_they_say() {
    let words = [
        "array x",
        "value n",
        "i32 n",
        "i64 n",
        "f64 alpha",
        "f64 k",
        "attribute lags",
        "length lags",
        "size x",
        "array y",
    ];
    let handler = handler("kinds", TEXT, kinds as *const c_void, &words, false);
    let mut frame = Call::new()
        .arg(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        .ret::<f64>(&[2, 9])
        .build();
    frame.call(handler).unwrap();
    let reported = [3.0, 3.0, 3.0, 0.5, 7.0, 2.0, 2.0, 3.0];
    assert_eq!(frame.ret::<f64>(0)[..9], [&[1.0], &reported[..]].concat());
    assert_eq!(frame.ret::<f64>(0)[9..], [&[4.0], &reported[..]].concat());
}

#[test]
fn what_is_returned_counts_where_it_is_a_status() {
    unsafe extern "C" fn seven(_: *const f64) -> i32 {
        7
    }
    let text = "x: f64[n] -> y: f64[n]";
    for status in [false, true] {
        let name = format!("status {status}");
        let handler = handler(&name, text, seven as *const c_void, &["array x"], status);
        let call = Call::new().arg(&[1], &[1.0]).ret::<f64>(&[1]);
        let reported = call.run(handler).map_err(|failure| failure.to_string());
        let expected = match status {
            false => Ok(()),
            true => Err("INTERNAL: status true: the function returned 7".to_owned()),
        };
        assert_eq!(reported, expected);
    }
}

#[test]
fn numbers_that_no_int_holds_are_refused() {
    unsafe extern "C" fn never(_: *const i32) -> i32 {
        panic!("it was called");
    }
    let words = ["i32 k"];
    let handler = handler(
        "large",
        "; k: i64 -> y: f64[]",
        never as *const c_void,
        &words,
        false,
    );
    let call = Call::new().ret::<f64>(&[]).attr("k", 1i64 << 31);
    assert_eq!(
        call.run(handler).unwrap_err().to_string(),
        "INVALID_ARGUMENT: large: 2147483648 does not fit into an int, as the function takes it"
    );
}

macro_rules! many {
    ($($word:ident)*) => {
        unsafe extern "C" fn many($($word: i64),*, y: *mut f64) -> i32 {
            let mut at = 0;
            $(
                unsafe { *y.add(at) = $word as f64 };
                at += 1;
            )*
            assert_eq!(at, MOST_ARGUMENTS - 1);
            0
        }
    };
}

many! {
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 a20 a21 a22 a23 a24 a25 a26
    a27 a28 a29 a30 a31 a32 a33 a34 a35 a36 a37 a38 a39 a40 a41 a42 a43 a44 a45 a46 a47 a48 a49 a50
    a51 a52 a53 a54 a55 a56 a57 a58 a59 a60 a61 a62 a63
}

#[test]
fn as_many_arguments_as_r_has() {
    let attributes: Vec<String> = (0..MOST_ARGUMENTS - 1)
        .map(|i| format!("a{i}: i64"))
        .collect();
    let text = format!("; {} -> y: f64[64]", attributes.join(", "));
    let words: Vec<String> = (0..MOST_ARGUMENTS - 1)
        .map(|i| format!("value a{i}"))
        .collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.push("array y");
    let handler = handler("many", &text, many as *const c_void, &words, true);
    let mut call = Call::new().ret::<f64>(&[64]);
    for i in 0..MOST_ARGUMENTS - 1 {
        call = call.attr(&format!("a{i}"), i as i64 * 3 - 5);
    }
    let mut frame = call.build();
    frame.call(handler).unwrap();
    let expected: Vec<f64> = (0..MOST_ARGUMENTS - 1)
        .map(|i| i as f64 * 3.0 - 5.0)
        .collect();
    assert_eq!(frame.ret::<f64>(0), expected);
}

#[test]
fn words_that_make_no_sense_are_reported() {
    let signature = Signature::parse("x: f64[n]; mode: str -> y: f64[n]; work: f64[n]").unwrap();
    let reported = |words: &[&str]| {
        PlainFunction::new(std::ptr::null(), words, false, &signature)
            .err()
            .unwrap_or_default()
    };
    assert_eq!(
        reported(&["x"]),
        "argument 1 (\"x\"): it must be a kind and a name"
    );
    assert_eq!(
        reported(&["array x", "int n"]),
        "argument 2 (\"int n\"): there is no kind `int` of argument"
    );
    assert_eq!(
        reported(&["array n"]),
        "argument 1 (\"array n\"): there is no array `n`"
    );
    assert_eq!(
        reported(&["i32 m"]),
        "argument 1 (\"i32 m\"): there is no dimension or attribute `m`"
    );
    assert_eq!(
        reported(&["i32 mode"]),
        "argument 1 (\"i32 mode\"): attribute `mode` is not one number"
    );
    assert_eq!(
        reported(&["size work"]),
        "argument 1 (\"size work\"): `work` is scratch memory"
    );
    assert_eq!(
        reported(&["array x"; 66]),
        "a function has at most 65 arguments, not 66"
    );
}
