//! Operands that do not fit, with the exact words, and memory that is shared.

use xla_ffi::testing::{Call, Failure};
use xla_ffi::{
    describe, handler, io, AnyBuffer, AnyBufferMut, Arg, Attr, Code, Context, Cx, DataType, Floats,
    Host, Kernel, MinRank, Op, Platform, Rank, RealAndComplex, Result, Ret, Scalar, Untyped,
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

io! {
    struct InPlaceIo<'f> {
        x: Arg<'f, f32>,
        w: Arg<'f, f32>,
        y: Ret<'f, f32>,
        z: Ret<'f, f32>,
        how: Attr<&'f str>,
    }
}

struct InPlace;

impl Op for InPlace {
    const TARGET: &'static str = "in_place";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for InPlace {
    type Io<'f> = InPlaceIo<'f>;

    fn run(mut io: InPlaceIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
        match *io.how {
            "slice" => io.x.as_slice().map(drop),
            "bytes" => io.x.as_bytes().map(drop),
            "copy" => {
                io.y.copy_from(&io.x)?;
                io.y.as_mut_slice()?[0] += 1.0;
                Ok(())
            }
            "copy across" => io.z.copy_from(&io.x),
            "map" => io.y.map_from([&io.x, &io.w], |[x, w]| 10.0 * x + w),
            "map across" => io.z.map_from([&io.x, &io.w], |[x, w]| 10.0 * x + w),
            other => panic!("no way called {other}"),
        }
    }
}

fn in_place(how: &str, aliased: bool) -> Result<[Vec<f32>; 3], Failure> {
    let call = Call::new()
        .arg(&[2], &[1f32, 2.0])
        .arg(&[2], &[3f32, 4.0])
        .attr("how", how);
    let call = if aliased {
        call.ret_aliasing(0)
    } else {
        call.ret::<f32>(&[2])
    };
    let mut frame = call.ret::<f32>(&[2]).build();
    frame.call(handler::<InPlace, Host>)?;
    Ok([
        frame.arg(0).to_vec(),
        frame.ret(0).to_vec(),
        frame.ret(1).to_vec(),
    ])
}

#[test]
fn shared_memory_has_no_slice_but_works_in_place() {
    let refused =
        "in_place: argument `x` shares its memory with a result, but this op cannot work in place";
    for how in ["slice", "bytes", "copy across", "map across"] {
        assert!(in_place(how, false).is_ok(), "{how}");
        let failure = in_place(how, true).expect_err(how);
        assert_eq!(
            (failure.code, &*failure.message),
            (Code::FailedPrecondition, refused),
            "{how}"
        );
    }
    let [x, y, _] = in_place("copy", false).expect("two memories");
    assert_eq!((x, y), (vec![1.0, 2.0], vec![2.0, 2.0]));
    let [x, y, _] = in_place("copy", true).expect("one memory");
    assert_eq!((x, y), (vec![2.0, 2.0], vec![2.0, 2.0]));
    for aliased in [false, true] {
        let [_, y, _] = in_place("map", aliased).expect("element by element");
        assert_eq!(y, [13.0, 24.0]);
    }
}

/// A device whose memory this processor must not touch.
struct Device;

// SAFETY: it claims no host memory.
unsafe impl Platform for Device {
    const NAME: &'static str = "device";
    const HOST_MEMORY: bool = false;

    fn new(_context: &Context<'_>) -> Result<Self> {
        Ok(Device)
    }
}

io! {
    struct TouchIo<'f> { x: AnyBuffer<'f>, y: AnyBufferMut<'f>, write: Attr<bool> }
}

struct Touch;

impl Op for Touch {
    const TARGET: &'static str = "touch";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for Touch {
    type Io<'f> = TouchIo<'f>;

    fn run(mut io: TouchIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
        if *io.write {
            io.y.as_mut_slice::<f32>()?.fill(0.0);
        }
        io.y.copy_from(&io.x)
    }
}

#[test]
fn memory_of_a_device_is_not_touched() {
    let call = |write: bool| Call::new().arg(&[1], &[1f32]).attr("write", write);
    let failure = call(true)
        .ret::<f32>(&[1])
        .run(handler::<Touch, Device>)
        .expect_err("writes");
    let text = "touch: result `y` is in the device's memory, which this processor cannot read";
    assert_eq!((failure.code, &*failure.message), (Code::Internal, text));
    let failure = call(false)
        .ret::<f32>(&[1])
        .run(handler::<Touch, Device>)
        .expect_err("copies");
    assert!(
        failure.message.contains("in the device's memory"),
        "{failure}"
    );
    // The same memory: nothing to copy, so nothing to touch.
    call(false)
        .ret_aliasing(0)
        .run(handler::<Touch, Device>)
        .expect("in place");
}
