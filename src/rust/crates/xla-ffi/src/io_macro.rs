//! The macro `io!`.

/// Declares the operands of an op: a struct whose fields are, in order, what the call frame holds.
///
/// A field's type says what it takes: [`Arg`](crate::Arg) and [`Ret`](crate::Ret) (typed, rank
/// checked), [`AnyBuffer`](crate::AnyBuffer) and [`AnyBufferMut`](crate::AnyBufferMut) (any element
/// type), [`RemainingArgs`](crate::RemainingArgs) and [`RemainingRets`](crate::RemainingRets) (last
/// of their kind), [`Attr`](crate::Attr) (by the field's name, with a default if one is given),
/// [`Attrs`](crate::Attrs) (all), or that the call is completed later ([`Pending`](crate::Pending)). Field names are the names in error messages, doc comments end up
/// in [`FieldInfo`](crate::FieldInfo). The struct has a lifetime (unless no field needs it) and, if
/// its op is generic over the element type, one type parameter.
///
/// ```
/// use xla_ffi::{io, Arg, Attr, MinRank, Ret};
///
/// io! {
///     /// `y = scale * x`
///     pub struct ScaleIo<'f, T> {
///         /// `(..., n)`
///         x: Arg<'f, T, MinRank<1>>,
///         /// like `x`
///         y: Ret<'f, T>,
///         /// the factor
///         scale: Attr<f64> = 1.0,
///         /// who asks
///         label: Attr<Option<&'f str>>,
///     }
/// }
/// ```
#[macro_export]
macro_rules! io {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<$life:lifetime $(, $t:ident)?>)? {
            $(
                $(#[doc = $doc:literal])*
                $field_vis:vis $field:ident: $ty:ty $(= $default:expr)?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis struct $name $(<$life $(, $t: $crate::Scalar)?>)? {
            $($(#[doc = $doc])* $field_vis $field: $ty,)*
        }

        $crate::__impl_io! {
            $name $(<$life $(, $t)?>)?;
            $({ [$($doc)*] $field: $ty $(= $default)? })*
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __impl_io {
    ($name:ident; $($fields:tt)*) => {
        $crate::__impl_io! { 'f, ['f] [$name] [$name]; $($fields)* }
    };
    ($name:ident<$life:lifetime>; $($fields:tt)*) => {
        $crate::__impl_io! { $life, [$life] [$name<$life>] [$name<'static>]; $($fields)* }
    };
    ($name:ident<$life:lifetime, $t:ident>; $($fields:tt)*) => {
        $crate::__impl_io! {
            $life, [$life, $t: $crate::Scalar] [$name<$life, $t>]
            [$name<'static, $crate::__private::Generic>]; $($fields)*
        }
    };
    (
        $life:lifetime, [$($generics:tt)*] [$name:ty] [$generic_name:ty];
        $({ [$($doc:literal)*] $field:ident: $ty:ty $(= $default:expr)? })*
    ) => {
        impl<$($generics)*> $crate::Io<$life> for $name {
            const FIELDS: &'static [$crate::FieldInfo] = &[$(
                $crate::FieldInfo::new(
                    stringify!($field),
                    &[$($doc),*],
                    <$ty as $crate::Field<$life>>::KIND,
                    $crate::__default_text!($($default)?),
                ),
            )*];

            const SIGNATURE: &'static [$crate::FieldInfo] =
                <$generic_name as $crate::Io<'static>>::FIELDS;

            #[inline(always)]
            fn decode(frame: &mut $crate::CallFrame<$life>) -> $crate::Result<Self> {
                Ok(Self {
                    $($field: $crate::__decode!(frame, $field, $ty $(, $default)?),)*
                })
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __default_text {
    () => {
        None
    };
    ($default:expr) => {
        Some(stringify!($default))
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __decode {
    ($frame:ident, $field:ident, $ty:ty) => {
        <$ty as $crate::Field<'_>>::decode($frame, stringify!($field))?
    };
    ($frame:ident, $field:ident, $ty:ty, $default:expr) => {
        <$ty>::decode_or($frame, stringify!($field), $default)?
    };
}
