//! Operands that do not fit, with the exact words.

use xla_ffi::testing::{Call, Failure};
use xla_ffi::{
    describe, handler, io, Arg, Code, Cx, DataType, Floats, Host, Kernel, MinRank, Op, Platform,
    Rank, RealAndComplex, Result, Ret, Scalar,
};

io! {
    struct LuIo<'f, T> {
        a: Arg<'f, T, MinRank<2>>,
        lu: Ret<'f, T, MinRank<2>>,
        pivots: Ret<'f, i32>,
    }
}

struct Lu;

impl Op for Lu {
    const TARGET: &'static str = "lu";
    type Dtypes = Floats;
}

impl<T: Scalar, P: Platform> Kernel<P, T> for Lu {
    type Io<'f> = LuIo<'f, T>;

    fn run(mut io: LuIo<'_, T>, _cx: &Cx<'_, P>) -> Result<()> {
        let (batch_dims, batch, [m, n]) = io.a.split_dims()?;
        io.lu.expect_dims(io.a.dims())?;
        io.pivots
            .expect_batch_dims(batch_dims, &[m.min(n) as i64])?;
        io.lu.copy_from(&io.a)?;
        io.pivots.as_mut_slice()?.fill(batch as i32);
        Ok(())
    }
}

fn fail(call: Call) -> Failure {
    let failure = call
        .run(handler::<Lu, Host>)
        .expect_err("operands that do not fit");
    assert_eq!(failure.code, Code::InvalidArgument);
    failure
}

const A: [f32; 6] = [1., 2., 3., 4., 5., 6.];

#[test]
fn counts() {
    let call = Call::new().arg(&[2, 3], &A).arg(&[2, 3], &A);
    let call = call.ret::<f32>(&[2, 3]).ret::<i32>(&[2]);
    assert_eq!(fail(call).message, "lu: expected 1 argument (`a`), got 2");
    let call = Call::new().arg(&[2, 3], &A).ret::<f32>(&[2, 3]);
    assert_eq!(
        fail(call).message,
        "lu: expected 2 results (`lu`, `pivots`), got 1"
    );
}

#[test]
fn dtypes() {
    let call = Call::new()
        .arg(&[2, 3], &[0i32; 6])
        .ret::<i32>(&[2, 3])
        .ret::<i32>(&[2]);
    assert_eq!(
        fail(call).message,
        "lu: argument `a` must be f32 or f64, got i32"
    );
    let call = Call::new()
        .arg(&[2, 3], &A)
        .ret::<f64>(&[2, 3])
        .ret::<i32>(&[2]);
    assert_eq!(fail(call).message, "lu: result `lu` must be f32, got f64");
    let call = Call::new()
        .arg(&[2, 3], &A)
        .ret::<f32>(&[2, 3])
        .ret::<i64>(&[2]);
    assert_eq!(
        fail(call).message,
        "lu: result `pivots` must be i32, got i64"
    );
    let call = Call::new().arg_of(DataType(77), &[2, 3], &[0; 6]);
    let failure = fail(call.ret::<f32>(&[2, 3]).ret::<i32>(&[2]));
    assert_eq!(
        failure.message,
        "lu: argument `a` must be f32 or f64, got unknown dtype 77"
    );
}

#[test]
fn ranks_and_shapes() {
    let call = Call::new().arg(&[6], &A).ret::<f32>(&[6]).ret::<i32>(&[2]);
    assert_eq!(
        fail(call).message,
        "lu: argument `a` must have rank 2 or more, got rank 1"
    );
    let call = Call::new()
        .arg(&[2, 3], &A)
        .ret::<f32>(&[3, 2])
        .ret::<i32>(&[2]);
    assert_eq!(
        fail(call).message,
        "lu: result `lu` must have shape (2,3), got (3,2)"
    );
    let call = Call::new()
        .arg(&[1, 2, 3], &A)
        .ret::<f32>(&[1, 2, 3])
        .ret::<i32>(&[2]);
    assert_eq!(
        fail(call).message,
        "lu: result `pivots` must have shape (1,2), got (2)"
    );
    let huge = [1 << 40, 1 << 40];
    let call = Call::new().arg_of(DataType::F32, &huge, &[]);
    assert_eq!(
        fail(call.ret::<f32>(&[2, 3]).ret::<i32>(&[2])).message,
        "lu: argument `a` must have a size that fits in memory, got shape (1099511627776,1099511627776)"
    );
    let call = Call::new().arg_of(DataType::F32, &[2, -3], &[]);
    assert_eq!(
        fail(call.ret::<f32>(&[2, 3]).ret::<i32>(&[2])).message,
        "lu: argument `a` must have a size that fits in memory, got shape (2,-3)"
    );
    // As many batch dimensions as one likes, as long as the batch itself can be counted.
    let call = Call::new().arg::<f32>(&[i64::MAX, 2, 0], &[]);
    assert_eq!(
        fail(call.ret::<f32>(&[i64::MAX, 2, 0]).ret::<i32>(&[i64::MAX, 1])).message,
        "lu: result `pivots` must have a size that fits in memory, got shape (9223372036854775807,1)"
    );
}

#[test]
fn not_a_buffer() {
    let call = Call::new().arg(&[2, 3], &A).last_arg_type(9);
    let failure = fail(call.ret::<f32>(&[2, 3]).ret::<i32>(&[2]));
    assert_eq!(
        failure.message,
        "lu: argument `a` must be a buffer, got an operand of type 9"
    );
}

#[test]
fn fits() {
    let mut frame = Call::new()
        .arg(&[1, 2, 3], &A)
        .ret::<f32>(&[1, 2, 3])
        .ret::<i32>(&[1, 2])
        .build();
    frame.call(handler::<Lu, Host>).expect("operands that fit");
    assert_eq!(
        (frame.ret::<f32>(0), frame.ret::<i32>(1)),
        (&A[..], &[1, 1][..])
    );
    let info = describe::<Lu, Host>();
    assert_eq!(
        (info.target, info.platform, info.fields.len()),
        ("lu", "host", 3)
    );
    assert_eq!(info.dtypes, [DataType::F32, DataType::F64]);
}

/// One that only says which element types it wants.
struct Picky;

impl Op for Picky {
    const TARGET: &'static str = "picky";
    type Dtypes = RealAndComplex;
}

io! {
    struct PickyIo<'f, T> {
        fixed: Arg<'f, i32, Rank<1>>,
        out: Ret<'f, T>,
    }
}

impl<T: Scalar, P: Platform> Kernel<P, T> for Picky {
    type Io<'f> = PickyIo<'f, T>;

    fn run(_io: PickyIo<'_, T>, _cx: &Cx<'_, P>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn the_first_generic_operand_decides_be_it_a_result() {
    let call = || Call::new().arg(&[1], &[1i32]);
    call()
        .ret::<f64>(&[])
        .run(handler::<Picky, Host>)
        .expect("f64 is one of them");
    let failure = call()
        .ret::<u8>(&[])
        .run(handler::<Picky, Host>)
        .expect_err("ui8 is not");
    assert_eq!(
        failure.message,
        "picky: result `out` must be f32, f64, c64 or c128, got ui8"
    );
    let call = Call::new().arg(&[], &[1i32]).ret::<f32>(&[]);
    let failure = call.run(handler::<Picky, Host>).expect_err("rank 0");
    assert_eq!(
        failure.message,
        "picky: argument `fixed` must have rank 1, got rank 0"
    );
}
