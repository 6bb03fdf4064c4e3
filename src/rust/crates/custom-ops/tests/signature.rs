//! Signatures: what is read, what is refused and where.

#[path = "common/snapshot.rs"]
mod snapshot;

use std::fmt::Write;

use custom_ops::signature::{AttributeKind, AttributeValue, Dim, Dtype, Order, Signature};
use xla_ffi::DataType;

fn read(text: &str) -> Signature {
    Signature::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn all_parts_are_read() {
    let text = "a: T[..., m, n] column, w: T[m]?; alpha: f64 = 1, lags: i64[p], mode: str = \"fast\", k: i32 \
        -> q: wider(T, f32)[..., m, min(m, n) + k], a: T[..., m, n] column; work: real(T)[2*n+1]";
    let signature = read(text);
    assert_eq!(signature.text, text);
    assert_eq!(signature.dims, ["m", "n", "p"]);
    assert_eq!(signature.dtypes, ["T"]);
    let [a, w] = &signature.operands[..] else {
        panic!("two operands")
    };
    assert_eq!(
        (a.array.name.as_str(), a.array.batch, a.array.order),
        ("a", true, Order::Column)
    );
    assert_eq!(a.array.dims, [Dim::Name(0), Dim::Name(1)]);
    assert_eq!(
        (a.optional, w.optional, w.array.batch),
        (false, true, false)
    );
    assert_eq!(&text[a.array.at.clone()], "a: T[..., m, n] column");
    let kinds: Vec<_> = signature
        .attributes
        .iter()
        .map(|a| (&a.kind, &a.default))
        .collect();
    assert_eq!(
        kinds[0],
        (
            &AttributeKind::Scalar(DataType::F64),
            &Some(AttributeValue::Float(1.0))
        )
    );
    assert_eq!(
        kinds[1],
        (&AttributeKind::Array(DataType::S64, Dim::Name(2)), &None)
    );
    assert_eq!(
        kinds[2],
        (
            &AttributeKind::Text,
            &Some(AttributeValue::Text("fast".to_string()))
        )
    );
    assert_eq!(
        &text[signature.attributes[2].at.clone()],
        "mode: str = \"fast\""
    );
    let [q, a] = &signature.results[..] else {
        panic!("two results")
    };
    let wider = Dtype::Wider(
        Box::new(Dtype::Variable(0)),
        Box::new(Dtype::Fixed(DataType::F32)),
    );
    assert_eq!(
        (&q.array.dtype, q.in_place, a.in_place),
        (&wider, None, Some(0))
    );
    let min = Dim::Min(Box::new(Dim::Name(0)), Box::new(Dim::Name(1)));
    assert_eq!(
        q.array.dims[1],
        Dim::Add(Box::new(min), Box::new(Dim::Attribute(3)))
    );
    assert_eq!(
        signature.scratch[0].dtype,
        Dtype::Real(Box::new(Dtype::Variable(0)))
    );
}

#[test]
fn a_signature_has_a_usual_form() {
    let cases = [
        ("x:T[n],y:T[]->z:T[n]", "x: T[n], y: T[] -> z: T[n]"),
        ("x: T, y: T -> z: T", "x: T[...], y: T[...] -> z: T[...]"),
        ("->", "->"),
        ("x: f64[]->", "x: f64[] ->"),
        (" ; n : i64 -> z : s64 [ n ] ", "; n: i64 -> z: i64[n]"),
        ("-> z: bool[3]; w: u8[4]", "-> z: pred[3]; w: ui8[4]"),
        ("xs: f64[n] * k -> ys: f64[n+k]*k", "xs: f64[n]*k -> ys: f64[n + k]*k"),
        ("a: T[m, n] column ?, b: f32[m, n] row? ->", "a: T[m, n]? column, b: f32[m, n]? ->"),
        ("x: T[n] -> y: T[((n)*(2))-(1-(n-1)) / 2/2]", "x: T[n] -> y: T[n*2 - (1 - (n - 1))/2/2]"),
        ("x: T[n] -> y: T[max(n, 1, 2)*(n/(n*n))]", "x: T[n] -> y: T[max(max(n, 1), 2)*(n/(n*n))]"),
        (
            "; a: f32 = -1.5e-9, b: pred = TRUE, c: i8[2] = [-1, 2], d: str = 'it\\'s \"\\\\', e: f64[3] = [inf, nan, 1] ->",
            "; a: f32 = -1.5e-9, b: pred = true, c: i8[2] = [-1, 2], d: str = \"it's \\\"\\\\\", e: f64[3] = [inf, nan, 1] ->",
        ),
        (
            "; k: i64 = -9223372036854775808, l: i64[2] = [9223372036854775807, -9223372036854775808] ->",
            "; k: i64 = -9223372036854775808, l: i64[2] = [9223372036854775807, -9223372036854775808] ->",
        ),
        ("x: T[...]->y:complex(T)[...]", "x: T[...] -> y: complex(T)[...]"),
    ];
    for (text, usual) in cases {
        let signature = read(text);
        assert_eq!(signature.to_string(), usual, "{text}");
        assert_eq!(read(usual).to_string(), usual);
    }
}

/// Each with one thing wrong.
const WRONG: &[&str] = &[
    // Words and signs
    "x: T[n] → z: T[n]",
    "x: T[…, n] -> z: T[n]",
    "x: T<n> -> z: T[n]",
    "größe: T[n] -> z: T[n]",
    "; mode: str = “fast” ->",
    "; mode: str = \"fast ->",
    "; mode: str = \"ä\\q\" ->",
    "x: T[2n] -> z: T[n]",
    "x: T[n] -> z: T[1e3]",
    "x: T[1.5.2] ->",
    "x: T[99999999999999999999] ->",
    "; alpha: f64 = -1e999 ->",
    "x: T[n] | y: T[n] ->",
    // Grammar
    "",
    "x",
    "x: T[n]",
    "x: -> z: T[]",
    "x T[n] -> z: T[n]",
    "x: T[n] y: T[n] -> z: T[n]",
    "x: T[n], -> z: T[n]",
    "x: T[n -> z: T[n]",
    "x: T[n,, m] -> z: T[n]",
    "x: T[n,] -> z: T[n]",
    "x: T[n, ...] -> z: T[n]",
    "x: T[?] -> z: T[]",
    "x: T[n] -> z: T[n]?",
    "x: T[n]?? -> ",
    "xs: T[n]* -> z: T[n]",
    "xs: T[n]*k*l -> z: T[n]",
    "xs: T[n]*3 -> z: T[n]",
    "x: T[n]; alpha: f64; w: T[n] -> z: T[n]",
    "x: T[n] -> z: T[n]; work: T[n]; more: T[n]",
    "x: T[n] -> z: T[n] -> y: T[n]",
    "x: T[n] -> z: T[min(n)]",
    "x: T[n] -> z: T[pow(n, 2)]",
    "x: T[n] -> z: T[n + ]",
    "x: T[n] -> z: T[-n]",
    "x: T[n] -> z: T[(n + 1]",
    "x: T[2 - 3] -> z: T[]",
    "x: T[1/0] -> z: T[]",
    "x: T[9223372036854775807*2] -> z: T[]",
    "x: T[n] -> z: T[n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n]",
    "x: T[((((((((((((((((((((((((((((((((((((((((n))))))))))))))))))))))))))))))))))))))))] ->",
    // Dtypes
    "x: f46[n] -> z: f46[n]",
    "x: F64[n] -> z: F64[n]",
    "x: double[n] -> z: f64[n]",
    "x: float32[n] -> z: f32[n]",
    "x: quux[n] -> z: T[n]",
    "x: i4[n] -> ",
    "x: str -> ",
    "x: bigger(T, f32)[n] -> ",
    "x: T[n] -> z: wider(T)[n]",
    "x: T[n] -> z: wider(T, U)[n]",
    "x: complex(T)[n] -> z: T[n]",
    // Orders
    "x: T[n] column -> ",
    "x: T[..., n] row -> ",
    "x: T[m, n] column row -> ",
    // Attributes
    "; alpha: f64[ -> ",
    "; alpha -> ",
    "; alpha: T -> ",
    "; alpha: c64 -> ",
    "; alpha: pred[2] -> ",
    "; alpha: str[2] -> ",
    "; alpha: f64 = -> ",
    "; alpha: f64 = fast -> ",
    "; alpha: f64 = \"1\" -> ",
    "; alpha: f64 = true -> ",
    "; alpha: f64 = [1] -> ",
    "; alpha: f32 = 1e300 -> ",
    "x: f64 > y: f64",
    "; k: i64 = 1.5 -> ",
    "; k: i64 = 9223372036854775808 -> ",
    "; k: i64 = -9223372036854775809 -> ",
    "x: f64[9223372036854775808] -> ",
    "; k: ui8 = 256 -> ",
    "; k: ui8 = -1 -> ",
    "; k: pred = 1 -> ",
    "; mode: str = 1 -> ",
    "; w: f64[2] = [1, 2, 3] -> ",
    "; w: f64[2] = 1 -> ",
    "; w: f64[2] = [1, 'a'] -> ",
    "; w: f64[n + 1] -> ",
    // Names
    "x: T[n], x: T[n] -> z: T[n]",
    "x: T[n]; x: f64 -> z: T[n]",
    "x: T[n] -> z: T[n], z: T[n]",
    "x: T[n]; alpha: f64, alpha: f64 -> z: T[n]",
    "x: T[n] -> z: T[n]; z: T[n]",
    "x: T[x] -> z: T[]",
    "x: T[T] -> z: T[]",
    "n: T[n] -> z: T[n]",
    "x: T[n]; alpha: f64 -> z: T[alpha]",
    "x: T[n]; alpha: f64[n] -> z: T[alpha]",
    "x: T[n]; alpha: str -> z: T[alpha]",
    "x: T[n]; k: i64, w: f64[k] -> z: T[n]",
    "xs: T[n]*k; k: i64 -> z: T[n]",
    "xlaffi_x: T[n] -> z: T[n]",
    "x: T[XLAFFI_N] -> z: T[]",
    // Bound
    "x: T[n] -> z: T[m]",
    "x: T[rows] -> z: T[row]",
    "x: T[2*n] -> z: T[n]",
    "x: T[n], w: T[m]? -> z: T[m]",
    "x: T[n], w: U[n]? -> z: U[n]",
    "x: T[n], w: T[m]? -> z: T[n]; work: T[m]",
    "x: f64[n] -> z: T[n]",
    // Optional and several
    "x: T[n]?, y: T[n] -> z: T[]",
    "xs: T[n]*k? -> z: T[n]",
    "xs: T[n]*k, ys: T[n]*l -> z: T[n]",
    "xs: T[n]*k, y: T[n]? -> z: T[n]",
    "xs: T[n] -> zs: T[n]*n",
    "xs: T[n]*k -> zs: T[n]*n",
    // In place
    "x: T[n] -> x: T[m]",
    "x: T[n] -> x: f64[n]",
    "x: T[m, n] -> x: T[m, n] column",
    "xs: T[n]*k -> xs: T[n]",
    "x: T[n], w: T[n]? -> w: T[n]",
    // Batches
    "x: T[..., n] -> z: T[n]",
    "x: T[n] -> z: T[..., n]",
    "x: T[n] -> z: T",
    "x: T[..., n] -> z: T[..., n]; work: T",
    "x: T[..., n] -> z: T[..., n]; work: T[..., n]",
    // Where the place is: on another line, far to the right, far to the left
    "x: T[n],\n\ty: T[m]\n-> z: T[k]",
    "a_rather_long_name: T[..., rows, columns] column, another_long_name: T[..., rows] -> solution: T[..., columns, rank]",
    "a_rather_long_name: T[..., rows, columns] column; alpha: F64 = 1 -> solution: T[..., columns], residuals: T[..., rows]",
    "x: T[n] -> z: some_function_with_a_name_that_is_longer_than_what_is_shown_of_any_line_at_all(T)[n]",
];

#[test]
fn what_is_wrong_is_reported_with_its_place() {
    let mut report = String::new();
    for text in WRONG {
        let error = match Signature::parse(text) {
            Ok(signature) => panic!("{text} is read as {signature}"),
            Err(error) => error,
        };
        assert!(
            text.get(error.at.clone()).is_some(),
            "{text}: {:?}",
            error.at
        );
        let _ = writeln!(report, "{error}");
        if let Some(hint) = error.hint {
            let _ = writeln!(report, "hint: {hint}");
        }
        report.push('\n');
    }
    snapshot::compare("signature.txt", &report);
}
