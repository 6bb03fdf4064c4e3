//! Memory that is shared between operands, or not this processor's.

use xla_ffi::testing::{Call, Failure};
use xla_ffi::{
    handler, io, AnyBuffer, AnyBufferMut, Arg, Attr, Code, Context, Cx, Host, Kernel, Op, Platform,
    Result, Ret, Untyped,
};

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
