//! Scratch memory of a call that is being checked.

use xla_ffi::registry::{checking, CheckedScratch};
use xla_ffi::{DataType, Result};

use super::arena::Scratch;
use super::prepared::Plan;

impl Plan<'_> {
    /// Each scratch array in memory of its own where this call is checked; else none, and it has
    /// its place in the thread's memory.
    pub(crate) fn checked_scratch(&self) -> Result<Vec<CheckedScratch>> {
        match self.call.scratch > 0 && checking() {
            true => self.scratch_by_array(),
            false => Ok(Vec::new()),
        }
    }

    #[cold]
    fn scratch_by_array(&self) -> Result<Vec<CheckedScratch>> {
        let numbers = &self.call.attributes.numbers;
        let mut all = Vec::new();
        for (index, array) in self.call.interface.signature().scratch.iter().enumerate() {
            let dtype = array.dtype.eval(self.call.dtypes);
            let dims = array.dims.iter();
            // The plan's check had no fault to find in them.
            let dims = dims.map(|dim| {
                dim.eval(self.call.layout.bound.dims(), numbers)
                    .unwrap_or(0)
            });
            all.extend(CheckedScratch::new(
                Some(index),
                dtype.unwrap_or(DataType::INVALID),
                dims.collect(),
                Scratch::ALIGN,
            )?);
        }
        Ok(all)
    }
}
