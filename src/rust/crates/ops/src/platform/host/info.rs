//! What routines tell of each matrix, where nobody asks.

use super::xla_error;
use lapack::filled;
use matrices::Matrices;
use xla_ffi::Result;

/// Room for what the routines tell of each matrix, where nobody asks: of a few on the stack.
pub struct UnwantedInfo {
    few: [i32; 16],
    many: Vec<i32>,
    count: usize,
}

impl UnwantedInfo {
    /// For as many matrices.
    ///
    /// # Errors
    /// There is no memory.
    pub fn new(shape: Matrices) -> Result<Self> {
        // There can be any number of matrices without elements.
        let count = if shape.elements() == 0 {
            0
        } else {
            shape.count
        };
        let few = [0; 16];
        let many = if count <= few.len() {
            Vec::new()
        } else {
            filled(count, 0).map_err(xla_error)?
        };
        Ok(UnwantedInfo { few, many, count })
    }

    /// One for each matrix that has elements.
    pub fn as_mut_slice(&mut self) -> &mut [i32] {
        match self.few.get_mut(..self.count) {
            Some(few) => few,
            None => &mut self.many,
        }
    }
}
