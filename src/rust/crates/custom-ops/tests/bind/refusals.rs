//! What does not fit, and the errors that say so.

use super::{arrays, plan, shape_texts};
use crate::snapshot;
use custom_ops::bind::{infer, ArrayType, Bound};
use std::fmt::Write;

const TWO: &str = "x: T[n], y: T[] -> z: T[n]";
const PAIR: &str = "x: T[n], y: T[n] -> z: T[n]";
const QR: &str = "a: T[..., m, n], tau: T[..., min(m, n)] -> q: T[..., m, n]";
const MANY: &str = "xs: T[n]*k, y: T[n] -> z: T[k, n]";

/// Signature, operands, attributes, results (none: of the operands alone).
const CASES: &[(&str, &str, &[i64], Option<&str>)] = &[
    // How many
    (TWO, "", &[], None),
    (TWO, "f32(3)", &[], None),
    (TWO, "f32(3) f32() f32()", &[], None),
    ("x: T[n], w: T[n]? -> z: T[n]", "", &[], None),
    (
        "x: T[n], w: T[n]?, v: T[n]? -> z: T[n]",
        "f32() f32() f32() f32()",
        &[],
        None,
    ),
    (MANY, "", &[], None),
    ("x: T[n] ->", "", &[], None),
    // Dtypes
    (TWO, "i32(3) f32()", &[], None),
    (TWO, "f32(3) f64()", &[], None),
    ("x: f64[n] -> z: f64[n]", "f32(3)", &[], None),
    (
        "x: T[n], y: complex(T)[n] -> z: T[n]",
        "f32(3) c128(3)",
        &[],
        None,
    ),
    (
        "x: T[n], y: U[n], w: wider(T, U)[n] -> z: T[n]",
        "f32(3) f64(3) f32(3)",
        &[],
        None,
    ),
    (MANY, "f32(3) f32(3) f64(3) f64(3)", &[], None),
    // Ranks
    (TWO, "f32(3, 2) f32()", &[], None),
    (TWO, "f32(3) f32(1)", &[], None),
    (QR, "f32(3) f32(1)", &[], None),
    // Dimensions
    (PAIR, "f32(3) f32(4)", &[], None),
    ("x: T[n, n] -> z: T[n]", "f32(3, 4)", &[], None),
    ("x: T[3] -> z: T[]", "f32(4)", &[], None),
    (
        "x: T[n, 3], y: T[2*n + 1, n] -> z: T[]",
        "f32(2, 3) f32(6, 2)",
        &[],
        None,
    ),
    (
        "x: T[n, 3], y: T[2*n + 1, n] -> z: T[]",
        "f32(2, 4) f32(6, 2)",
        &[],
        None,
    ),
    (QR, "f32(5, 4, 2) f32(5, 3)", &[], None),
    ("x: T[n]; lags: i64[n] -> z: T[]", "f32(3)", &[4], None),
    (
        "x: T[n]; v: i64[p], w: i64[p] -> z: T[]",
        "f32(3)",
        &[4, 3],
        Some("f32()"),
    ),
    (
        "x: T[n]; lags: i64[3] -> z: T[]",
        "f32(3)",
        &[4],
        Some("f32()"),
    ),
    (
        "x: T[p], y: T[p]; lags: i64[p] -> z: T[]",
        "f32(3) f32(4)",
        &[3],
        None,
    ),
    ("x: T[lag] ; lag: i64 -> z: T[]", "f32(3)", &[4], None),
    (
        "x: T[lag + p]; lag: i64, w: f64[p] -> z: T[]",
        "f32(3)",
        &[4, 5],
        None,
    ),
    ("x: T[m], y: T[12/m] -> z: T[]", "f32(0) f32(3)", &[], None),
    (PAIR, "f32(-1) f32(-1)", &[], None),
    (MANY, "f32(3) f32(4) f32(3)", &[], None),
    (MANY, "f32(3)", &[], Some("f32(1, 3)")),
    ("xs: T[n]*k -> z: T[k, n]", "", &[], None),
    ("xs: T[n]*k, y: f32[m] -> z: T[k]", "f32(2)", &[], None),
    (
        "xs: T[n]*k, y: f32[k] -> z: f32[k]",
        "f32(2) f32(2) f32(3)",
        &[],
        None,
    ),
    (
        "xs: T[n]*k; w: f64[k] -> z: T[n]",
        "f32(2) f32(2)",
        &[3],
        Some("f32(2)"),
    ),
    // Batches
    (QR, "f32(5, 4, 2) f32(6, 2)", &[], None),
    (
        "x: T, y: T, z: T -> w: T",
        "f32(2, 1) f32(3) f32(4)",
        &[],
        None,
    ),
    (
        "x: T, y: T, z: T -> w: T",
        "f32(3, 1) f32(5) f32(2, 5)",
        &[],
        None,
    ),
    (
        "a: T[..., n], y: T[...] -> a: T[..., n]",
        "f32(3) f32(2)",
        &[],
        None,
    ),
    (
        "a: T[..., n], y: T[...] -> a: T[..., n]",
        "f32(1, 3) f32(2)",
        &[],
        None,
    ),
    (
        "a: T[..., n], y: T[...] -> a: T[..., n]",
        "f32(1, 3) f32(2)",
        &[],
        Some("f32(2, 3)"),
    ),
    // Results
    ("x: T[n] -> z: T[n - 5]", "f32(3)", &[], None),
    ("x: T[n]; lag: i64 -> z: T[n - lag]", "f32(3)", &[4], None),
    ("x: T[n]; lag: i64 -> z: T[n/lag]", "f32(3)", &[0], None),
    ("x: T[n]; k: i64 -> z: T[n*k]", "f32(3)", &[i64::MAX], None),
    ("x: T[n]; k: i64 -> z: T[n, k]", "f32(3)", &[i64::MAX], None),
    (
        "x: T[n]; k: i64 -> z: T[n]; work: T[k - 1]",
        "f32(3)",
        &[0],
        None,
    ),
    (
        "x: T[n]; k: i64 -> z: T[n]; work: T[k]",
        "f32(3)",
        &[i64::MAX],
        None,
    ),
    (TWO, "f32(3) f32()", &[], Some("f32(4)")),
    (TWO, "f32(3) f32()", &[], Some("f64(3)")),
    (TWO, "f32(3) f32()", &[], Some("")),
    (TWO, "f32(3) f32()", &[], Some("f32(3) f32(3)")),
    (QR, "f32(5, 4, 2) f32(5, 2)", &[], Some("f32(1, 4, 2)")),
    (
        "xs: T[n]*k -> zs: T[n]*k",
        "f32(3) f32(3)",
        &[],
        Some("f32(3) f32(4)"),
    ),
];

#[test]
fn what_does_not_fit_is_reported() {
    let mut text = String::new();
    for (signature, operands, attributes, given) in CASES {
        let plan = plan(signature, &[]);
        let operands = arrays(operands);
        let inferred = infer(plan.signature(), plan.sets(), &operands, attributes);
        let error = match (given, inferred) {
            (None, Ok(inferred)) => panic!("{signature}: {inferred:?}"),
            (None, Err(error)) => {
                // A frame without results is refused for the same reason.
                let none: [ArrayType; 0] = [];
                let checked = plan.check(&operands, &none, attributes, &mut Bound::default());
                assert_eq!(checked.as_ref(), Err(&error), "{signature}");
                error
            }
            (Some(given), _) => plan
                .check(&operands, &arrays(given), attributes, &mut Bound::default())
                .expect_err(signature),
        };
        let _ = writeln!(
            text,
            "{signature}\n  {}{}",
            shape_texts(&operands),
            given.map_or(String::new(), |given| format!(" -> {given}"))
        );
        let _ = writeln!(text, "  {error}\n");
    }
    snapshot::compare("bind.txt", &text);
}
