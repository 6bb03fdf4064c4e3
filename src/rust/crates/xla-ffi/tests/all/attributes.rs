//! Attributes: every kind, every dtype, and the words when they do not fit.

use xla_ffi::half::{bf16, f16};
use xla_ffi::testing::{Call, Value};
use xla_ffi::{
    handler, io, AnyBufferMut, Attr, Attrs, Complex, Cx, Host, Kernel, Op, Platform, Pred, Result,
    Scalar, Untyped,
};

io! {
    struct AttrsIo<'f> {
        // Not a buffer of any type: the attributes are what is tested.
        out: AnyBufferMut<'f>,
        flag: Attr<bool>,
        count: Attr<i32>,
        factor: Attr<f64> = 0.5,
        label: Attr<&'f str> = "none",
        sizes: Attr<&'f [i64]>,
        maybe: Attr<Option<Complex<f32>>>,
        nested: Attr<Attrs<'f>>,
        all: Attrs<'f>,
    }
}

struct AttrOp;

impl Op for AttrOp {
    const TARGET: &'static str = "attrs";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for AttrOp {
    type Io<'f> = AttrsIo<'f>;

    fn run(mut io: AttrsIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
        let inner: Attrs<'_> = io.nested.get("inner")?;
        let text = format!(
            "{} {} {} {} {:?} {:?} {} {} {}",
            *io.flag,
            *io.count,
            *io.factor,
            *io.label,
            *io.sizes,
            *io.maybe,
            inner.get::<f16>("half")?,
            inner.get_or::<u8>("absent", 9)?,
            io.all.len(),
        );
        let out = io.out.as_mut_slice::<u8>()?;
        out[..text.len()].copy_from_slice(text.as_bytes());
        Ok(())
    }
}

fn attrs_call() -> Call {
    let inner: Vec<(String, Value)> = vec![("half".into(), f16::from_f32(1.5).into())];
    Call::new()
        .ret::<u8>(&[64])
        .attr("sizes", &[3i64, 4][..])
        .attr("flag", true)
        .attr("nested", vec![("inner".to_owned(), Value::from(inner))])
        .attr("an unknown one", 1u16)
}

fn text_of(call: Call) -> Result<String, String> {
    let mut frame = call.build();
    frame
        .call(handler::<AttrOp, Host>)
        .map_err(|failure| failure.message)?;
    let bytes = frame.ret::<u8>(0);
    Ok(String::from_utf8_lossy(bytes)
        .trim_end_matches('\0')
        .to_owned())
}

#[test]
fn attributes_of_every_kind() {
    let text = text_of(attrs_call().attr("count", 7i32));
    assert_eq!(text.as_deref(), Ok("true 7 0.5 none [3, 4] None 1.5 9 5"));
    let given = attrs_call()
        .attr("count", -1i32)
        .attr("label", "é")
        .attr("factor", 2f64)
        .attr("maybe", Complex::new(1f32, 2.0));
    let want = "true -1 2 é [3, 4] Some(Complex { re: 1.0, im: 2.0 }) 1.5 9 8";
    assert_eq!(text_of(given).as_deref(), Ok(want));
}

#[test]
fn attributes_of_every_dtype() {
    fn round_trip<T: Scalar + PartialEq + for<'f> xla_ffi::AttrValue<'f>>(value: T) {
        struct Check<T>(std::marker::PhantomData<T>);
        io! {
            struct CheckIo<'f> { out: AnyBufferMut<'f>, all: Attrs<'f> }
        }
        impl<T: Scalar + PartialEq> Op for Check<T> {
            const TARGET: &'static str = "check";
            type Dtypes = Untyped;
        }
        impl<T, P> Kernel<P> for Check<T>
        where
            T: Scalar + PartialEq + for<'f> xla_ffi::AttrValue<'f>,
            P: Platform,
        {
            type Io<'f> = CheckIo<'f>;
            fn run(mut io: CheckIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
                let one: T = io.all.get("one")?;
                let two: &[T] = io.all.get("two")?;
                assert!(io.all.get::<&[T]>("none")?.is_empty());
                io.out
                    .as_mut_slice::<T>()?
                    .copy_from_slice(&[one, two[0], two[1]]);
                Ok(())
            }
        }
        let call = Call::new().ret::<T>(&[3]).attr("one", value);
        let call = call
            .attr("two", &[value, value][..])
            .attr("none", &[][..] as &[T]);
        let mut frame = call.build();
        frame
            .call(handler::<Check<T>, Host>)
            .expect("attributes of that type");
        assert!(
            frame.ret::<T>(0).iter().all(|got| *got == value),
            "{}",
            T::DTYPE
        );
    }
    round_trip(Pred(1));
    round_trip(-3i8);
    round_trip(-3i16);
    round_trip(-3i32);
    round_trip(-3i64);
    round_trip(3u8);
    round_trip(3u16);
    round_trip(3u32);
    round_trip(3u64);
    round_trip(f16::from_f32(0.5));
    round_trip(bf16::from_f32(0.5));
    round_trip(0.5f32);
    round_trip(0.5f64);
    round_trip(Complex::new(0.5f32, 1.0));
    round_trip(Complex::new(0.5f64, 1.0));
}

#[test]
fn attribute_errors_name_what_was_expected_and_what_came() {
    let message = |call: Call| text_of(call).expect_err("a bad attribute");
    assert_eq!(
        message(attrs_call()),
        "attrs: attribute `count` must be a scalar i32, got none"
    );
    assert_eq!(
        message(attrs_call().attr("count", 7i64)),
        "attrs: attribute `count` must be a scalar i32, got a scalar i64"
    );
    assert_eq!(
        message(attrs_call().attr("count", "7")),
        "attrs: attribute `count` must be a scalar i32, got a string"
    );
    let call = || attrs_call().attr("count", 7i32);
    assert_eq!(
        message(call().attr("label", 1f32)),
        "attrs: attribute `label` must be a string, got a scalar f32"
    );
    assert_eq!(
        message(call().attr("label", Value::String(vec![0xff]))),
        "attrs: attribute `label` must be a string, got bytes that are not UTF-8"
    );
    assert_eq!(
        message(call().attr("maybe", &[1f32][..])),
        "attrs: attribute `maybe` must be a scalar c64, got an array of f32"
    );
}
