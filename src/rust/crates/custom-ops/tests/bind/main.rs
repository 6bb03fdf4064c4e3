//! Signatures meet arrays: values, results, and what is wrong in words.

mod refusals;
#[path = "../common/snapshot.rs"]
mod snapshot;

use std::fmt::Write;

use custom_ops::bind::{complex, infer, real, wider, ArrayType, Bound, Plan, Sets};
use custom_ops::signature::{Signature, DTYPES};
use xla_ffi::DataType;

/// `f32(2, 3) f64()`
fn arrays(text: &str) -> Vec<ArrayType> {
    let arrays = text.split_terminator(')').map(|array| {
        let (dtype, dims) = array.split_once('(').expect("a dtype and dimensions");
        ArrayType {
            dtype: DataType::from_name(dtype.trim()).expect("a dtype"),
            dims: dims
                .split_terminator(',')
                .map(|dim| dim.trim().parse().expect("a number"))
                .collect(),
        }
    });
    arrays.collect()
}

/// Sets of dtypes by name.
type Given = &'static [(&'static str, &'static [DataType])];

fn shape_texts(arrays: &[ArrayType]) -> String {
    let one = |array: &ArrayType| {
        let dims: Vec<String> = array.dims.iter().map(i64::to_string).collect();
        format!("{}({})", array.dtype, dims.join(", "))
    };
    arrays.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn plan(text: &str, sets: &[(&str, &[DataType])]) -> Plan {
    let signature = Signature::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let sets = Sets::new(&signature, sets).unwrap_or_else(|error| panic!("{error}"));
    Plan::new(signature, sets)
}

fn results(plan: &Plan, operands: &str, attributes: &[i64]) -> Vec<ArrayType> {
    let operands = arrays(operands);
    let inferred = infer(plan.signature(), plan.sets(), &operands, attributes);
    let inferred = inferred.unwrap_or_else(|error| panic!("{error}"));
    let results: Vec<ArrayType> = inferred
        .results
        .into_iter()
        .map(|result| result.array)
        .collect();
    let mut bound = Bound::default();
    plan.check(&operands, &results, attributes, &mut bound)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(bound.dims(), inferred.dims);
    assert_eq!(bound.batch(), inferred.batch);
    assert_eq!(plan.sets().instance(bound.instance()), inferred.dtypes);
    results
}

#[test]
fn results_follow_from_operands() {
    let case = |text: &str, operands: &str, attributes: &[i64], expected: &str| {
        let found = results(&plan(text, &[]), operands, attributes);
        assert_eq!(shape_texts(&found), expected, "{text} of {operands}");
    };
    case("x: T[n], y: T[] -> z: T[n]", "f32(3) f32()", &[], "f32(3)");
    case(
        "x: T, y: T -> z: T",
        "f64(5, 1, 3) f64(4, 1)",
        &[],
        "f64(5, 4, 3)",
    );
    case(
        "x: T[..., n], y: T[n] -> z: T[...], w: complex(T)[..., n, n/2]",
        "f64(2, 3) f64(3)",
        &[],
        "f64(2) c128(2, 3, 1)",
    );
    case(
        "a: T[..., m, n] column -> q: T[..., m, min(m, n)], a: T[..., m, n] column",
        "f32(0, 4, 2)",
        &[],
        "f32(0, 4, 2) f32(0, 4, 2)",
    );
    case(
        "x: T[n], y: U[n] -> z: wider(T, U)[n]",
        "f32(2) f64(2)",
        &[],
        "f64(2)",
    );
    case(
        "x: f64[2*n+1], y: f64[n] -> z: f64[n]",
        "f64(7) f64(3)",
        &[],
        "f64(3)",
    );
    case("x: T[n], w: U[m]? -> z: T[n]", "f32(2)", &[], "f32(2)");
    case(
        "x: T[n], w: U[m]? -> z: T[n]",
        "f32(2) f64(4)",
        &[],
        "f32(2)",
    );
    case(
        "x: T[n]; lag: i64, w: f64[p] -> z: T[max(n - lag, 0), p]",
        "f32(2)",
        &[3, 5],
        "f32(0, 5)",
    );
    case(
        "xs: T[n]*k, y: U[m] -> zs: T[n]*k, s: U[k, m]",
        "f32(2) f32(2) f64(1)",
        &[],
        "f32(2) f32(2) f64(2, 1)",
    );
    case(
        "xs: T[n]*k, y: U[m] -> zs: T[n]*k, s: U[k, m]",
        "f64(1)",
        &[],
        "f64(0, 1)",
    );
    case("-> z: f64[3]", "", &[], "f64(3)");
    case("x: f64[] ->", "f64()", &[], "");
}

#[test]
fn wider_is_numpys_result_type() {
    // Made by numpy 2.4 and ml_dtypes 0.6.
    let table = include_str!("../snapshots/wider.txt");
    assert_eq!(table.lines().count(), DTYPES.len() * DTYPES.len());
    for line in table.lines() {
        let names: Vec<Option<DataType>> = line.split(' ').map(DataType::from_name).collect();
        let [Some(a), Some(b), expected] = names[..] else {
            panic!("{line}")
        };
        assert_eq!(wider(a, b), expected, "{line}");
    }
}

#[test]
fn parts_and_complex_numbers() {
    assert_eq!(real(DataType::C64), Some(DataType::F32));
    assert_eq!(real(DataType::S8), Some(DataType::S8));
    assert_eq!(complex(DataType::F64), Some(DataType::C128));
    assert_eq!(complex(DataType::C64), Some(DataType::C64));
    assert_eq!(complex(DataType::F16), None);
}

#[test]
fn instances_are_numbered() {
    let set: &[DataType] = &[DataType::S8, DataType::F32, DataType::F64];
    let sets = plan("x: T[], y: U[] ->", &[("U", set)]).sets().clone();
    assert_eq!(sets.instances(), 6);
    for instance in 0..6 {
        assert_eq!(sets.find(&sets.instance(instance)), Some(instance));
    }
    assert_eq!(sets.instance(4), [DataType::F64, DataType::F32]);
    assert_eq!(sets.find(&[DataType::S8, DataType::S8]), None);
}

#[test]
fn sizes_are_those_of_batch_elements() {
    let signature =
        "x: T[..., n], y: f32[...]?, z: T[n]? -> s: T[..., n]; work: T[2*n], more: i8[3]";
    let plan = plan(signature, &[]);
    let mut bound = Bound::default();
    let mut sizes = |operands: &str, results: &str| {
        let checked = plan.check(&arrays(operands), &arrays(results), &[], &mut bound);
        checked.unwrap_or_else(|error| panic!("{error}"));
        bound.sizes().to_vec()
    };
    assert_eq!(sizes("f64(2, 3, 5)", "f64(2, 3, 5)"), [40, 40, 80, 3]);
    assert_eq!(
        sizes("f32(3, 5) f32(2, 1) f32(5)", "f32(2, 3, 5)"),
        [20, 4, 20, 20, 40, 3]
    );
    assert_eq!(sizes("f64(0) f32(0)", "f64(0, 0)"), [0, 4, 0, 0, 3]);
}

#[test]
fn sets_that_do_not_fit_are_shape_texts() {
    let cases: &[(&str, Given)] = &[
        ("x: T[n] ->", &[("U", &[DataType::F32])]),
        ("x: T[n] ->", &[("T", &[])]),
        ("x: T[n] ->", &[("T", &[DataType::F32, DataType::F32])]),
        ("x: T[n] ->", &[("T", &[DataType::S4])]),
        (
            "x: T[n] -> y: complex(T)[n]",
            &[("T", &[DataType::F32, DataType::S32])],
        ),
        (
            "x: T[n], y: U[n] -> z: wider(T, U)[n]",
            &[
                ("T", &[DataType::BF16]),
                ("U", &[DataType::BF16, DataType::F16]),
            ],
        ),
        ("x: f64[n] -> z: complex(i32)[n]", &[]),
        (
            "x: A[], y: B[], z: C[], u: D[], v: E[] ->",
            &[
                ("A", &DTYPES),
                ("B", &DTYPES),
                ("C", &DTYPES),
                ("D", &DTYPES),
                ("E", &DTYPES),
            ],
        ),
    ];
    let mut text = String::new();
    for (signature, sets) in cases {
        let signature = Signature::parse(signature).unwrap_or_else(|error| panic!("{error}"));
        let error = Sets::new(&signature, sets).expect_err("they do not fit");
        let _ = writeln!(text, "{error}");
    }
    snapshot::compare("sets.txt", &text);
}
