//! Element type and dimensions of an array, whoever holds them.

use xla_ffi::{AnyBuffer, AnyBufferMut, DataType};

/// An array's type.
pub trait ArrayView {
    /// Element type.
    fn dtype(&self) -> DataType;

    /// Dimensions, batch dimensions included; empty for a scalar.
    fn dims(&self) -> &[i64];
}

/// An array's type as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayType {
    /// Element type.
    pub dtype: DataType,
    /// Dimensions.
    pub dims: Vec<i64>,
}

impl ArrayView for ArrayType {
    fn dtype(&self) -> DataType {
        self.dtype
    }

    fn dims(&self) -> &[i64] {
        &self.dims
    }
}

impl ArrayView for (DataType, &[i64]) {
    fn dtype(&self) -> DataType {
        self.0
    }

    fn dims(&self) -> &[i64] {
        self.1
    }
}

macro_rules! views {
    ($($buffer:ident)*) => {$(
        impl ArrayView for $buffer<'_> {
            #[inline]
            fn dtype(&self) -> DataType {
                $buffer::dtype(self)
            }

            #[inline]
            fn dims(&self) -> &[i64] {
                $buffer::dims(self)
            }
        }
    )*};
}

views!(AnyBuffer AnyBufferMut);
