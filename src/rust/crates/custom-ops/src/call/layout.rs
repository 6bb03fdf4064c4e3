//! What of a call follows from the types of its arrays, and not from where they lie.

use xla_ffi::{Error, Result};

use super::arrays::Flat;
use super::attributes::Decoded;
use super::interface::Interface;
use crate::bind::Bound;

/// What was found for a call. Used again for the next one, it needs no memory.
#[derive(Clone, Default)]
pub(crate) struct Layout {
    pub(crate) bound: Bound,
    /// How often that operand comes that comes several times.
    pub(crate) count: usize,
    /// The lengths of the batch's axes.
    pub(crate) sizes: Vec<usize>,
    /// For each axis, how far each array goes.
    pub(crate) strides: Vec<isize>,
}

impl Layout {
    /// Has a call's arrays checked, and tells them how they lie.
    pub(crate) fn check(
        &mut self,
        interface: &Interface,
        args: usize,
        first_result: usize,
        attributes: &Decoded,
        flats: &mut [Flat<'_>],
    ) -> Result<()> {
        let signature = interface.signature();
        let front = attributes.batch_axes;
        for flat in flats.iter_mut().filter(|flat| flat.is_given()) {
            flat.batch = front;
        }
        if front > 0 {
            enough(front, flats)?;
        }
        let (operands, results) = (&flats[..args], &flats[first_result..]);
        let bound = &mut self.bound;
        let numbers = &attributes.numbers;
        interface.plan.check(operands, results, numbers, bound)?;
        sizes(front, operands, results, &mut self.sizes)?;
        let own = bound.batch().iter().map(|&size| size as usize);
        self.sizes.extend(own);
        self.count = interface.count_of(args);

        let times = |count: Option<usize>| count.map_or(1, |_| self.count);
        let mut given = flats.iter_mut().filter(|flat| flat.is_given());
        let mut bytes = bound.sizes().iter();
        let present = if interface.many.is_some() {
            usize::MAX
        } else {
            args
        };
        let operands = signature.operands.iter().take(present);
        let arrays = operands.map(|operand| (&operand.array, operand.count));
        let results = signature.results.iter();
        let results = results.map(|result| (&result.array, result.count));
        for (array, count) in arrays.chain(results) {
            for _ in 0..times(count) {
                let (Some(flat), Some(&bytes)) = (given.next(), bytes.next()) else {
                    break;
                };
                flat.lay_out(array, bytes)?;
            }
        }
        Ok(())
    }

    /// How far each array goes from one element of the batch to the next, along each axis;
    /// axes that all go through as through one become one if they are to be `merged`.
    pub(crate) fn stride(&mut self, flats: &[Flat<'_>], front: usize, merged: bool) {
        let (sizes, strides) = (&mut self.sizes, &mut self.strides);
        strides.clear();
        if sizes.is_empty() {
            return;
        }
        let count = flats.len();
        strides.resize(sizes.len() * count, 0);
        for (at, flat) in flats.iter().enumerate() {
            let mut stride = flat.bytes;
            for (place, &dim) in flat.dims[..flat.batch].iter().enumerate().rev() {
                // Axes of `...` are counted from the last one.
                let axis = if place < front {
                    place
                } else {
                    sizes.len() - (flat.batch - place)
                };
                if dim != 1 {
                    strides[axis * count + at] = stride as isize;
                }
                stride = stride.saturating_mul(dim as usize);
            }
        }
        if merged {
            merge(sizes, strides, count);
        }
    }
}

/// Whether all arrays have the axes that a batch has in front.
#[cold]
fn enough(front: usize, flats: &[Flat<'_>]) -> Result<()> {
    match flats
        .iter()
        .filter(|flat| flat.is_given())
        .all(|flat| flat.dims.len() >= front)
    {
        true => Ok(()),
        false => Err(Error::invalid_argument(format!(
            "all arrays must have {front} axes of a batch in front, got one without"
        ))),
    }
}

/// The lengths of the axes that a batch has in front of all arrays.
fn sizes(
    front: usize,
    operands: &[Flat<'_>],
    results: &[Flat<'_>],
    sizes: &mut Vec<usize>,
) -> Result<()> {
    sizes.clear();
    for axis in 0..front {
        let mut operands = operands
            .iter()
            .map(|flat| flat.dims[axis])
            .filter(|&size| size != 1);
        let mut results = results.iter().map(|flat| flat.dims[axis]);
        let size = results.next().or_else(|| operands.next()).unwrap_or(1);
        if let Some(other) = results.chain(operands).find(|&other| other != size) {
            return Err(lengths(axis, size, other));
        }
        sizes.push(size as usize);
    }
    Ok(())
}

#[cold]
fn lengths(axis: usize, one: i64, another: i64) -> Error {
    Error::invalid_argument(format!(
        "axis {} of the batch must have one length, got {one} and {another}",
        axis + 1
    ))
}

/// Makes axes one that all arrays go through as through one.
fn merge(sizes: &mut Vec<usize>, strides: &mut Vec<isize>, count: usize) {
    for axis in (1..sizes.len()).rev() {
        let (outer, inner) = strides[(axis - 1) * count..].split_at(count);
        let is_one = (0..count).all(|at| outer[at] == inner[at].wrapping_mul(sizes[axis] as isize));
        if is_one || sizes[axis - 1] == 1 {
            let size = sizes.remove(axis);
            sizes[axis - 1] *= size;
            strides.drain((axis - 1) * count..axis * count);
        }
    }
}
