//! How an op of matrices is declared.

/// `Op: Operands = "target" of Dtypes` and fields: an op, and what it takes and gives.
macro_rules! op {
    ($(#[$doc:meta])* $op:ident: $io:ident = $target:literal of $dtypes:ident { $($fields:tt)* }) => {
        xla_ffi::io! {
            /// The operands.
            pub struct $io<'f, T> { $($fields)* }
        }

        $(#[$doc])*
        pub struct $op;

        impl xla_ffi::Op for $op {
            const TARGET: &'static str = $target;
            type Dtypes = xla_ffi::$dtypes;
        }
    };
}
pub(crate) use op;
