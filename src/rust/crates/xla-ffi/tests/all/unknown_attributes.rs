//! Attributes that no field takes are refused, with the name that was meant.

use xla_ffi::testing::Call;
use xla_ffi::{
    handler, io, Arg, Attr, Attrs, Cx, Floats, HandlerFn, Host, Kernel, Op, Platform, Result,
    Scalar, Untyped,
};

io! {
    struct SolveIo<'f, T> {
        a: Arg<'f, T>,
        uplo: Attr<u8>,
        transposed: Attr<bool> = false,
        rows: Attr<Option<i64>>,
    }
}

struct Solve;

impl Op for Solve {
    const TARGET: &'static str = "solve";
    type Dtypes = Floats;
    const IGNORED_ATTRS: &'static [&'static str] = &["algorithm"];
}

impl<T: Scalar, P: Platform> Kernel<P, T> for Solve {
    type Io<'f> = SolveIo<'f, T>;

    fn run(io: SolveIo<'_, T>, _cx: &Cx<'_, P>) -> Result<()> {
        let _ = (io.a, io.uplo, io.transposed, io.rows);
        Ok(())
    }
}

io! {
    struct PlainIo<'f> { _a: Arg<'f, f32> }
}

struct Plain;

impl Op for Plain {
    const TARGET: &'static str = "plain";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for Plain {
    type Io<'f> = PlainIo<'f>;

    fn run(_: PlainIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
        Ok(())
    }
}

io! {
    struct AllIo<'f> { _a: Arg<'f, f32>, _all: Attrs<'f> }
}

struct All;

impl Op for All {
    const TARGET: &'static str = "all";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for All {
    type Io<'f> = AllIo<'f>;

    fn run(_: AllIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
        Ok(())
    }
}

fn answer(handler: HandlerFn, attrs: &[&str]) -> String {
    let mut call = Call::new().arg(&[1], &[1f32]);
    for name in attrs {
        call = match *name {
            "uplo" => call.attr("uplo", b'L'),
            "transposed" => call.attr("transposed", true),
            "rows" => call.attr("rows", 1i64),
            other => call.attr(other, 1.5f32),
        };
    }
    match call.run(handler) {
        Ok(()) => "fine".to_owned(),
        Err(failure) => failure.to_string(),
    }
}

#[test]
fn what_a_field_takes_or_the_op_ignores_may_be_there() {
    let solve = |attrs: &[&str]| answer(handler::<Solve, Host>, attrs);
    assert_eq!(solve(&["uplo"]), "fine");
    assert_eq!(solve(&["rows", "transposed", "uplo"]), "fine");
    assert_eq!(solve(&["algorithm", "uplo"]), "fine");
    assert_eq!(answer(handler::<Plain, Host>, &[]), "fine");
    assert_eq!(answer(handler::<All, Host>, &["what", "ever"]), "fine");
}

#[test]
fn what_nobody_knows_is_refused_with_the_nearest_name() {
    let solve = |attrs: &[&str]| answer(handler::<Solve, Host>, attrs);
    assert_eq!(
        solve(&["Rows", "uplo"]),
        "INVALID_ARGUMENT: solve: unknown attribute `Rows`; did you mean `rows`?"
    );
    assert_eq!(
        solve(&["transpose", "uplo"]),
        "INVALID_ARGUMENT: solve: unknown attribute `transpose`; did you mean `transposed`?"
    );
    assert_eq!(
        solve(&["uplo", "whatever"]),
        "INVALID_ARGUMENT: solve: unknown attribute `whatever`; it has `uplo`, `transposed`, `rows`"
    );
    assert_eq!(
        answer(handler::<Plain, Host>, &["uplo"]),
        "INVALID_ARGUMENT: plain: unknown attribute `uplo`; it has none"
    );
    // In place of one that must be there.
    assert_eq!(
        solve(&["Uplo"]),
        "INVALID_ARGUMENT: solve: attribute `uplo` must be a scalar ui8, got none"
    );
}
