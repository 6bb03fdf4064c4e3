//! Sets of element types, and the one place where an op's element type is looked at.

use num_complex::Complex;

use crate::dtype::Generic;
use crate::error::Result;
use crate::frame::CallFrame;
use crate::io::{FieldInfo, Io};
use crate::layout::Layout;
use crate::op::{run_kernel, Dispatch, DtypeSet, Kernel, Platform};
use crate::DataType;

/// Element types of no interest: the op's operands are [`AnyBuffer`](crate::AnyBuffer)s or of fixed
/// types.
#[derive(Debug)]
pub enum Untyped {}

impl DtypeSet for Untyped {
    const DTYPES: &'static [DataType] = &[];
}

impl<O: Kernel<P>, P: Platform> Dispatch<O, P> for Untyped {
    const SIGNATURE: &'static [FieldInfo] = <O::Io<'static> as Io<'static>>::SIGNATURE;

    #[inline]
    fn dispatch(frame: &mut CallFrame<'_>) -> Result<()> {
        let fields = <Self as Dispatch<O, P>>::SIGNATURE;
        const { Layout::of(<Self as Dispatch<O, P>>::SIGNATURE) }.check_counts(
            frame,
            fields,
            O::IGNORED_ATTRS,
        )?;
        run_kernel::<O, P, ()>(frame)
    }
}

/// Declares a set of element types that ops can be generic over: `dtype_set! { pub Floats = f32,
/// f64; }`.
#[macro_export]
macro_rules! dtype_set {
    ($($(#[$meta:meta])* $vis:vis $name:ident = $first:ty $(, $more:ty)* $(,)?;)*) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        $vis enum $name {}

        impl $crate::DtypeSet for $name {
            const DTYPES: &'static [$crate::DataType] = &[
                <$first as $crate::Scalar>::DTYPE,
                $(<$more as $crate::Scalar>::DTYPE,)*
            ];
        }

        impl<O, P> $crate::Dispatch<O, P> for $name
        where
            P: $crate::Platform,
            O: $crate::Kernel<P, $first> $(+ $crate::Kernel<P, $more>)*,
        {
            const SIGNATURE: &'static [$crate::FieldInfo] =
                <<O as $crate::Kernel<P, $first>>::Io<'static> as $crate::Io<'static>>::SIGNATURE;

            #[inline]
            fn dispatch(frame: &mut $crate::CallFrame<'_>) -> $crate::Result<()> {
                use $crate::__private as private;
                let fields = <Self as $crate::Dispatch<O, P>>::SIGNATURE;
                let layout = const { private::Layout::of(<Self as $crate::Dispatch<O, P>>::SIGNATURE) };
                match private::deciding_dtype(frame, &layout, fields, <O as $crate::Op>::IGNORED_ATTRS)? {
                    <$first as $crate::Scalar>::DTYPE => private::run_kernel::<O, P, $first>(frame),
                    $(<$more as $crate::Scalar>::DTYPE => private::run_kernel::<O, P, $more>(frame),)*
                    got => {
                        Err(private::no_kernel(fields, <Self as $crate::DtypeSet>::DTYPES, got))
                    }
                }
            }
        }
    )*};
}

dtype_set! {
    /// f32, f64.
    pub Floats = f32, f64;
    /// f16, bf16, f32, f64.
    pub AnyFloats = half::f16, half::bf16, f32, f64;
    /// f32, f64, c64, c128.
    pub RealAndComplex = f32, f64, Complex<f32>, Complex<f64>;
    /// i8, i16, i32, i64, ui8, ui16, ui32, ui64.
    pub Integers = i8, i16, i32, i64, u8, u16, u32, u64;
    /// Every [`Scalar`](crate::Scalar).
    pub AllDtypes = crate::Pred, i8, i16, i32, i64, u8, u16, u32, u64, half::f16, half::bf16, f32, f64,
        Complex<f32>, Complex<f64>;
}

const _: () = assert!(<Generic as crate::Scalar>::DTYPE.size().is_none());
