//! Arrays in this machine's memory as programs have them, where no buffer is around them.

use crate::convert::{self, Origin, Target};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::host_data::{Dest, HostData, Source};
use crate::layout::{self, Order};

/// How an array lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape<'a> {
    /// Element type.
    pub dtype: DType,
    /// Dimensions.
    pub dims: &'a [i64],
    /// Whether the last two dimensions are matrices with their columns one after the other; else the
    /// last dimension varies fastest.
    pub columns: bool,
}

impl Shape<'_> {
    fn strides(&self) -> Vec<isize> {
        let mut strides = layout::dense(self.dims, Order::RowMajor);
        if let (true, [.., m, _]) = (self.columns, self.dims) {
            let rank = strides.len();
            strides[rank - 2] = 1;
            strides[rank - 1] = *m as isize;
        }
        strides
    }

    fn check(&self, bytes: usize, elements: Option<usize>) -> Result<()> {
        let count = layout::elements(self.dims, self.dtype.size())?;
        if bytes != count * self.dtype.size() || elements.is_some_and(|given| given != count) {
            return Err(Error::argument(format!(
                "an array of {} with shape {:?} does not fit {bytes} bytes",
                self.dtype, self.dims
            )));
        }
        Ok(())
    }

    /// Copies the array out of `memory`, converting as [`Buffer::read`](crate::Buffer::read) does.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` where sizes differ, or complex numbers are to become real ones.
    pub fn read(&self, memory: &[u8], dest: Dest<'_>, order: Order) -> Result<()> {
        self.check(memory.len(), Some(dest.len(self.dtype)))?;
        let origin = Origin {
            data: memory.as_ptr(),
            dtype: self.dtype,
            dims: self.dims,
            strides: &self.strides(),
        };
        // SAFETY: memory and `dest` have as many elements as the shape, which dense strides reach.
        unsafe { convert::from_device(origin, &layout::dense(self.dims, order), dest, &|| ()) }
    }

    /// Fills `memory` with the array, converting as [`HostData`] says.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` where sizes differ, an integer type does not have a number, or complex
    /// numbers are to become real ones.
    pub fn write(&self, source: Source<'_>, order: Order, memory: &mut [u8]) -> Result<()> {
        let host = HostData {
            source,
            dims: self.dims,
            order,
            dtype: self.dtype,
        };
        self.check(memory.len(), Some(host.source.len(self.dtype)?))?;
        convert::range::check(&host.source, self.dtype)?;
        let target = Target {
            data: memory.as_mut_ptr(),
            dtype: self.dtype,
            strides: &self.strides(),
        };
        let from = layout::dense(self.dims, order);
        // SAFETY: as above.
        unsafe { convert::to_device(host.source, self.dims, &from, target, &|| ()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_goes_in_and_out() {
        // Two matrices of 2 × 3 in R's order.
        let dims = [2, 2, 3];
        let numbers: Vec<f64> = (0..12).map(f64::from).collect();
        for columns in [false, true] {
            for &dtype in DType::ALL {
                let shape = Shape {
                    dtype,
                    dims: &dims,
                    columns,
                };
                let mut memory = vec![0; 12 * dtype.size()];
                let order = Order::ColumnMajor;
                shape
                    .write(Source::F64(&numbers), order, &mut memory)
                    .unwrap();
                let mut back = vec![[0.0; 2]; 12];
                shape
                    .read(&memory, Dest::Complex(&mut back), order)
                    .unwrap();
                let expected = numbers.iter().map(|&x| match dtype {
                    DType::Pred => [f64::from(u8::from(x != 0.0)), 0.0],
                    _ => [x, 0.0],
                });
                assert_eq!(back, expected.collect::<Vec<_>>(), "{dtype}");
                if dtype == DType::U8 {
                    let lies: [u8; 12] = match columns {
                        false => [0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11],
                        true => [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11],
                    };
                    assert_eq!(memory, lies);
                }
                assert!(shape
                    .write(Source::F64(&numbers[1..]), order, &mut memory)
                    .is_err());
                assert!(shape
                    .read(&memory[1..], Dest::Complex(&mut back), order)
                    .is_err());
            }
        }
    }
}
