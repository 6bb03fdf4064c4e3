//! The launches of a call.

use cuda::unit::Grid;
use cuda::{raw, Cuda};
use xla_ffi::{Code, Error, Result};

use super::argument::ALIGN;
use super::prepared::Call;
use super::shape::{each_grid, Shape};
use crate::body::cuda::{failure, source};

/// Runs the kernel for all elements of the batch.
pub(crate) fn run(call: &Call<'_>) -> Result<()> {
    let cuda = <Cuda as xla_ffi::Platform>::new(call.context)?;
    let count = call.layout.sizes.iter().product::<usize>();
    let results = call.signature.results.iter().enumerate();
    let operands = call.signature.operands.len();
    let is_empty = call.flats[operands..].iter().take(results.len());
    if count == 0 || (results.len() > 0 && is_empty.clone().all(|flat| flat.size == 0)) {
        return Ok(());
    }
    call.copy(&cuda, count)?;
    let shape = call.shape()?;
    if shape.items == 0 {
        return Ok(());
    }
    call.launch(&cuda, &shape, count)
}

impl Call<'_> {
    fn launch(&self, cuda: &Cuda, shape: &Shape, count: usize) -> Result<()> {
        if self.layout.sizes.len() > source::AXES {
            let text = format!(
                "a kernel's batch has at most {} axes that do not lie as one, got {}",
                source::AXES,
                self.layout.sizes.len()
            );
            return Err(Error::new(Code::Unimplemented, text));
        }
        let needed = self.memory(shape, count)?;
        let memory = self.context.scratch(needed.size, ALIGN)?;
        let base = memory.as_ptr() as u64;
        // SAFETY: the memory has room for it, in front of the scratch arrays.
        unsafe { raw::upload(cuda, base, &needed.upload) }?;
        let mut words = self.words(&needed, base);

        let unit = &self.kernels.units[self.layout.bound.instance()];
        for first in (0..count).step_by(needed.at_once) {
            let here = needed.at_once.min(count - first);
            let counts = [first, here, shape.items, self.layout.sizes.len()];
            words[..4].copy_from_slice(&counts.map(|number| number as u64));
            let grid = match shape.grid {
                Some(grid) => Grid {
                    blocks: [grid.blocks[0], grid.blocks[1], here as u32],
                    ..grid
                },
                None => each_grid(here, shape.items)?,
            };
            // SAFETY: these are the words of the unit's kernel (`source::arguments`), with this call's
            // memory; what the kernel does with it is what whoever makes an op promises.
            unsafe { unit.launch(cuda, grid, &mut words) }?;
        }
        if !self.kernels.fails {
            return Ok(());
        }
        // SAFETY: the record lies at the memory's beginning.
        let record = unsafe { raw::read(cuda, base, failure::SIZE) }?;
        match failure::read(&record) {
            None => Ok(()),
            Some((error, _)) if count == 1 => Err(error),
            Some((error, element)) => {
                let text = format!("{error} (element {} of the batch of {count})", element + 1);
                Err(Error::new(error.code(), text))
            }
        }
    }
}
