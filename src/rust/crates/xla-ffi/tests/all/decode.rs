//! Operands of every element type, remaining operands, descriptions.

use std::fmt::Debug;

use xla_ffi::half::{bf16, f16};
use xla_ffi::testing::Call;
use xla_ffi::{
    handler, io, AllDtypes, AnyBuffer, Arg, Attr, AttrType, Code, Complex, Cx, DataType, DtypeSet,
    Error, FieldDtype, FieldKind, Host, Io, Kernel, MinRank, Op, Platform, Pred, Rank, RankSpec,
    RemainingArgs, RemainingRets, Result, Ret, Scalar, Untyped,
};

io! {
    struct CopyIo<'f, T> {
        x: Arg<'f, T>,
        y: Ret<'f, T>,
    }
}

struct Copy;

impl Op for Copy {
    const TARGET: &'static str = "copy";
    type Dtypes = AllDtypes;
}

impl<T: Scalar, P: Platform> Kernel<P, T> for Copy {
    type Io<'f> = CopyIo<'f, T>;

    fn run(mut io: CopyIo<'_, T>, _cx: &Cx<'_, P>) -> Result<()> {
        io.y.expect_dims(io.x.dims())?;
        io.y.as_mut_slice()?.copy_from_slice(io.x.as_slice()?);
        Ok(())
    }
}

fn copies<T: Scalar + PartialEq + Debug>(values: [T; 3]) {
    let mut frame = Call::new().arg(&[3, 1], &values).ret::<T>(&[3, 1]).build();
    frame
        .call(handler::<Copy, Host>)
        .expect("the same shape and type");
    assert_eq!(frame.ret::<T>(0), values, "{}", T::DTYPE);
    assert_eq!(frame.arg::<T>(0), values, "{} argument", T::DTYPE);
}

#[test]
fn every_dtype_goes_through() {
    copies([Pred(1), Pred(0), Pred(7)]);
    copies([i8::MIN, 0, i8::MAX]);
    copies([i16::MIN, 0, i16::MAX]);
    copies([i32::MIN, 0, i32::MAX]);
    copies([i64::MIN, 0, i64::MAX]);
    copies([u8::MIN, 1, u8::MAX]);
    copies([u16::MIN, 1, u16::MAX]);
    copies([u32::MIN, 1, u32::MAX]);
    copies([u64::MIN, 1, u64::MAX]);
    copies([f16::from_f32(-1.5), f16::MAX, f16::INFINITY]);
    copies([bf16::from_f32(-1.5), bf16::MAX, bf16::INFINITY]);
    copies([-1.5f32, f32::MAX, f32::INFINITY]);
    copies([-1.5f64, f64::MAX, f64::INFINITY]);
    copies([
        Complex::new(1f32, -2.0),
        Complex::new(0.0, 3.0),
        Complex::new(4.0, 0.0),
    ]);
    copies([
        Complex::new(1f64, -2.0),
        Complex::new(0.0, 3.0),
        Complex::new(4.0, 0.0),
    ]);
    assert_eq!(<AllDtypes as DtypeSet>::DTYPES.len(), 15);
}

#[test]
fn scalars_and_empty_buffers_go_through() {
    let mut frame = Call::new().arg(&[], &[2.5f64]).ret::<f64>(&[]).build();
    frame.call(handler::<Copy, Host>).expect("rank 0");
    assert_eq!(frame.ret::<f64>(0), [2.5]);
    // No elements, and so a null pointer.
    let dims = [3, 0, 2];
    Call::new()
        .arg::<f32>(&dims, &[])
        .ret::<f32>(&dims)
        .run(handler::<Copy, Host>)
        .expect("empty");
    // The product of the others alone would not fit in memory.
    let dims = [i64::MAX, i64::MAX, 0];
    Call::new()
        .arg::<f32>(&dims, &[])
        .ret::<f32>(&dims)
        .run(handler::<Copy, Host>)
        .expect("empty");
}

io! {
    /// Adds up whatever it is given.
    struct SumIo<'f> {
        first: Arg<'f, f32>,
        rest: RemainingArgs<'f>,
        sum: Ret<'f, f32, Rank<0>>,
        copies: RemainingRets<'f>,
    }
}

struct Sum;

impl Op for Sum {
    const TARGET: &'static str = "sum";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for Sum {
    type Io<'f> = SumIo<'f>;

    fn run(mut io: SumIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
        assert_eq!((io.rest.len(), io.copies.len()), (2, 2));
        let mut sum: f32 = io.first.as_slice()?.iter().sum();
        for arg in io.rest {
            sum += arg?.as_slice::<f32>()?.iter().sum::<f32>();
        }
        io.sum.as_mut_slice()?[0] = sum;
        for (factor, copy) in [2.0, 3.0].into_iter().zip(io.copies) {
            copy?.into_mut_slice::<f32>()?[0] = factor * sum;
        }
        Ok(())
    }
}

#[test]
fn remaining_operands() {
    let call = Call::new().arg(&[2], &[1f32, 2.0]).arg(&[], &[3f32]);
    let rets = |call: Call| call.ret::<f32>(&[]).ret::<f32>(&[]).ret::<f32>(&[]);
    let mut frame = rets(call.arg(&[1, 1], &[4f32])).build();
    frame
        .call(handler::<Sum, Host>)
        .expect("one result and two more");
    let sums: Vec<f32> = (0..3).flat_map(|i| frame.ret::<f32>(i)).copied().collect();
    assert_eq!(sums, [10.0, 20.0, 30.0]);

    let wrong = Call::new()
        .arg(&[1], &[1f32])
        .arg(&[1], &[1f32])
        .arg(&[1], &[1i32]);
    let failure = rets(wrong).run(handler::<Sum, Host>).expect_err("an i32");
    assert_eq!(
        failure.message,
        "sum: argument `rest[1]` must be f32, got i32"
    );

    let failure = Call::new()
        .ret::<f32>(&[])
        .run(handler::<Sum, Host>)
        .expect_err("no argument");
    assert_eq!(
        failure.message,
        "sum: expected at least 1 argument (`first`), got 0"
    );
}

io! {
    struct DescribedIo<'f, T> {
        /// `(..., m, n)`,
        /// column-major
        a: Arg<'f, T, MinRank<2>>,
        any: AnyBuffer<'f>,
        pivots: Ret<'f, i32>,
        /// how many
        count: Attr<i64> = 30,
        label: Attr<Option<&'f str>>,
    }
}

io! {
    struct NumberIo { n: Attr<i64> }
}

#[test]
fn operands_describe_themselves() {
    assert_eq!(<NumberIo as Io<'static>>::SIGNATURE[0].name, "n");
    let fields = <DescribedIo<'static, f32> as Io<'static>>::SIGNATURE;
    let names: Vec<_> = fields.iter().map(|field| field.name).collect();
    assert_eq!(names, ["a", "any", "pivots", "count", "label"]);
    assert_eq!(fields[0].doc(), "`(..., m, n)`, column-major");
    let generic = FieldKind::Argument {
        dtype: FieldDtype::Generic,
        rank: RankSpec::AtLeast(2),
    };
    assert_eq!(fields[0].kind, generic);
    assert!(fields[0].is_generic() && !fields[1].is_generic() && !fields[2].is_generic());
    let pivots = FieldKind::Result {
        dtype: FieldDtype::Fixed(DataType::S32),
        rank: RankSpec::Any,
    };
    assert_eq!(fields[2].kind, pivots);
    assert_eq!(fields[3].default, Some("30"));
    let label = FieldKind::Attribute {
        type_: AttrType::String,
        required: false,
    };
    assert_eq!(fields[4].kind, label);
    // With the element type filled in, it is like any other.
    let kind = <DescribedIo<'static, f32> as Io<'static>>::FIELDS[0].kind;
    let fixed = FieldDtype::Fixed(DataType::F32);
    assert_eq!(
        kind,
        FieldKind::Argument {
            dtype: fixed,
            rank: RankSpec::AtLeast(2)
        }
    );
}

#[test]
fn errors_keep_their_parts() {
    let error = Error::invalid_argument("is odd")
        .with_op("lu")
        .with_op("late");
    assert_eq!(
        (error.op(), error.code()),
        (Some("lu"), Code::InvalidArgument)
    );
    assert_eq!(error.to_string(), "lu: is odd");
    assert_eq!(Code::from_raw(8), Code::ResourceExhausted);
    assert_eq!(Code::from_raw(0), Code::Unknown);
    assert_eq!(
        std::mem::size_of::<Result<()>>(),
        std::mem::size_of::<usize>()
    );
}
