//! The body, called for each element of a batch: where the element's arrays are.

use core::ops::Range;
use core::ptr;

use xla_ffi::registry::CheckedScratch;
use xla_ffi::{Error, Result};

use super::arena::Work;
use super::arrays::Pair;
use super::instance::Body;
use super::prepared::Plan;

/// An error, and of which element.
pub(crate) type Outcome = std::result::Result<(), (usize, Error)>;

impl Plan<'_> {
    /// Gives the body the whole batch.
    pub(super) fn whole(&self, body: &Body, work: &mut Work, count: usize) -> Result<()> {
        if !self.call.copies.is_empty() && count > 0 {
            self.start(work, 0)?;
            for element in 0..count {
                if element > 0 {
                    self.step(work);
                }
                self.copy(work);
            }
        }
        let _scratch = self.start(work, 0)?;
        self.element(body, work, 0)
    }

    /// Runs elements one after the other on this thread.
    pub(crate) fn range(&self, body: &Body, work: &mut Work, range: Range<usize>) -> Outcome {
        if range.is_empty() {
            return Ok(());
        }
        let first = range.start;
        let started = self.start(work, first);
        let _scratch = started.map_err(|error| (first, error))?;
        for element in range {
            if element != first {
                self.step(work);
            }
            self.copy(work);
            self.element(body, work, element)
                .map_err(|error| (element, error))?;
        }
        Ok(())
    }

    /// Sets the addresses for an element; scratch memory that is not the thread's must live as long as
    /// they are used.
    fn start(&self, work: &mut Work, element: usize) -> Result<Vec<CheckedScratch>> {
        let count = self.call.flats.len();
        work.at.clear();
        work.at.resize(self.call.layout.sizes.len(), 0);
        let mut rest = element;
        for (at, &size) in work.at.iter_mut().zip(&self.call.layout.sizes).rev() {
            // Of an empty batch there is no element.
            *at = rest % size.max(1);
            rest /= size.max(1);
        }
        let scratch = self.call.flats.len()
            - self.call.copies.len()
            - self.call.interface.signature().scratch.len();
        let mut checked = self.checked_scratch()?;
        let memory = match checked.is_empty() {
            true => work.scratch.at_least(self.call.scratch)?,
            false => ptr::null_mut(),
        };
        work.flat.clear();
        for (at, flat) in self.call.flats.iter().enumerate() {
            let is_scratch =
                at >= scratch && at < scratch + self.call.interface.signature().scratch.len();
            let base = match (is_scratch, checked.get_mut(at.wrapping_sub(scratch))) {
                (true, Some(own)) => own.as_mut_ptr(),
                (true, None) => memory.wrapping_add(flat.base as usize),
                (false, _) => flat.base,
            };
            let steps = work.at.iter().enumerate();
            let offset: isize = steps
                .map(|(axis, &step)| self.call.layout.strides[axis * count + at] * step as isize)
                .sum();
            work.flat.push(base.wrapping_offset(offset).cast());
        }
        if self.call.interface.many.is_some() {
            self.gather(work);
        }
        Ok(checked)
    }

    /// Goes on to the next element.
    #[inline]
    fn step(&self, work: &mut Work) {
        let count = self.call.flats.len();
        for axis in (0..self.call.layout.sizes.len()).rev() {
            let strides = &self.call.layout.strides[axis * count..][..count];
            work.at[axis] += 1;
            if work.at[axis] < self.call.layout.sizes[axis] {
                for (address, &stride) in work.flat.iter_mut().zip(strides) {
                    *address = address.wrapping_byte_offset(stride);
                }
                break;
            }
            // Back to the beginning of this axis, and on along the one before it.
            work.at[axis] = 0;
            let back = self.call.layout.sizes[axis] as isize - 1;
            for (address, &stride) in work.flat.iter_mut().zip(strides) {
                *address = address.wrapping_byte_offset(-stride * back);
            }
        }
        if self.call.interface.many.is_some() {
            self.gather(work);
        }
    }

    /// What the body gets, where an operand comes several times.
    fn gather(&self, work: &mut Work) {
        work.buffers.clear();
        let flat = work.flat.as_mut_ptr();
        let mut at = 0;
        for several in self.call.interface.counts() {
            let here = flat.wrapping_add(at);
            if several {
                work.buffers.push(here.cast());
                at += self.call.layout.count;
            } else {
                // SAFETY: there is an address for each array, counted as often as it comes.
                work.buffers.push(unsafe { *here });
                at += 1;
            }
        }
    }

    /// Copies operands to the results where the body works on them, for this element.
    #[inline]
    fn copy(&self, work: &Work) {
        let copied = self.call.flats.len() - self.call.copies.len();
        for (from, &Pair { to, .. }) in (copied..).zip(self.call.copies) {
            let bytes = self.call.flats[to].bytes;
            if bytes > 0 {
                let (source, result) = (work.flat[from].cast::<u8>(), work.flat[to].cast());
                // SAFETY: this element of an operand and a result of one type, that do not overlap.
                unsafe { ptr::copy_nonoverlapping(source, result, bytes) };
            }
        }
    }
}
