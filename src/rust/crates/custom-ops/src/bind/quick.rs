//! The check of a call that is as it should be.

use xla_ffi::DataType;

use super::plan::{Plan, Source};
use super::{ArrayView, Bound};
use crate::signature::{Array, Dim};

impl Plan {
    /// `None`: something does not fit.
    #[inline]
    pub(super) fn quick<A: ArrayView, R: ArrayView>(
        &self,
        operands: &[A],
        results: &[R],
        attributes: &[i64],
        bound: &mut Bound,
    ) -> Option<()> {
        let several = self.several_of(operands.len())?;
        self.bind(operands, several, attributes, bound)?;
        let Bound {
            dims, batch, sizes, ..
        } = bound;
        let dims: &[i64] = dims;
        let signature = &self.signature;
        let arrays = signature.operands.len() + signature.results.len() + signature.scratch.len();
        let mut types = self.types[bound.instance * arrays..][..arrays].iter();
        let (mut next, mut mixed) = (0, false);
        for spec in &signature.operands {
            let &(dtype, size) = types.next()?;
            let times = if spec.count.is_some() { several } else { 1 };
            // Optional operands that are left out end the list.
            let until = operands.len().min(next + times);
            for given in &operands[next..until] {
                let (front, len) = own(&spec.array, given, dtype, attributes, dims)?;
                if spec.array.batch && !same(front, batch) {
                    mixed = true;
                    merge(batch, front)?;
                }
                sizes.push(len.saturating_mul(size));
            }
            next = until;
        }
        let mut given = results.iter();
        for spec in &signature.results {
            let &(dtype, size) = types.next()?;
            for _ in 0..if spec.count.is_some() { several } else { 1 } {
                let (front, len) = own(&spec.array, given.next()?, dtype, attributes, dims)?;
                if spec.array.batch && !same(front, batch) {
                    return None;
                }
                sizes.push(len.saturating_mul(size));
            }
        }
        if given.next().is_some() {
            return None;
        }
        for spec in &signature.scratch {
            let &(_, mut size) = types.next()?;
            for dim in &spec.dims {
                let len = value(dim, dims, attributes)?;
                size = size.saturating_mul(usize::try_from(len).ok()?);
            }
            sizes.push(isize::try_from(size).ok()?.unsigned_abs());
        }
        match mixed {
            true => self.in_place(operands, several, batch),
            false => Some(()),
        }
    }

    /// How often the operand comes that comes several times.
    #[inline]
    fn several_of(&self, given: usize) -> Option<usize> {
        let several = given.checked_sub(self.required)?;
        match self.several {
            None => (given <= self.signature.operands.len()).then_some(0),
            Some(_) => (several > 0 || !self.at_least_one).then_some(several),
        }
    }

    /// Which array an operand of the signature is, the first where it comes several times.
    #[inline]
    fn position(&self, operand: usize, several: usize) -> usize {
        match self.several {
            Some(at) if operand > at => operand + several - 1,
            _ => operand,
        }
    }

    /// That array, if it was given.
    #[inline]
    fn given<'a, A>(&self, operands: &'a [A], operand: usize, several: usize) -> Option<&'a A> {
        match self.several == Some(operand) && several == 0 {
            true => None,
            false => operands.get(self.position(operand, several)),
        }
    }

    /// Values of names and variables.
    #[inline]
    fn bind<A: ArrayView>(
        &self,
        operands: &[A],
        several: usize,
        attributes: &[i64],
        bound: &mut Bound,
    ) -> Option<()> {
        bound.dims.clear();
        bound.batch.clear();
        bound.sizes.clear();
        for source in &self.dims {
            bound.dims.push(match *source {
                Source::Length(at) => attributes[at],
                Source::Count => several as i64,
                Source::Operand(operand, back) => match self.given(operands, operand, several) {
                    Some(given) => {
                        let dims = given.dims();
                        *dims.get(dims.len().checked_sub(back)?)?
                    }
                    None => 0,
                },
            });
        }
        if let Some(index) = self.count {
            if bound.dims[index] != several as i64 {
                return None;
            }
        }
        for (at, length) in &self.lengths {
            if value(length, &bound.dims, attributes)? != attributes[*at] {
                return None;
            }
        }
        bound.instance = 0;
        for (variable, operand) in self.dtypes.iter().enumerate() {
            let set = self.sets.of(variable);
            let at = match self.given(operands, *operand, several) {
                Some(given) => set.iter().position(|dtype| *dtype == given.dtype())?,
                None => 0,
            };
            bound.instance = bound.instance * set.len() + at;
        }
        // The first operand's batch dimensions are mostly all there are.
        if self.batch {
            let mut specs = self.signature.operands.iter().enumerate();
            let first = specs.find_map(|(at, spec)| {
                let given = self
                    .given(operands, at, several)
                    .filter(|_| spec.array.batch)?;
                Some((given.dims(), spec.array.dims.len()))
            });
            if let Some((dims, own)) = first {
                let (front, _) = dims.split_at(dims.len().checked_sub(own)?);
                if front.iter().any(|dim| *dim < 0) {
                    return None;
                }
                bound.batch.extend_from_slice(front);
            }
        }
        Some(())
    }

    /// What is worked on in place does not broadcast.
    #[cold]
    fn in_place<A: ArrayView>(&self, operands: &[A], several: usize, batch: &[i64]) -> Option<()> {
        let specs = self.signature.operands.iter().zip(&self.in_place);
        let each = specs.flat_map(|(spec, in_place)| {
            let times = if spec.count.is_some() { several } else { 1 };
            std::iter::repeat((&spec.array, *in_place)).take(times)
        });
        let broadcast = each.zip(operands).any(|((spec, in_place), given)| {
            let front = given.dims().len() - spec.dims.len();
            in_place && spec.batch && !same(&given.dims()[..front], batch)
        });
        (!broadcast).then_some(())
    }
}

/// The batch dimensions of an array that fits, and how many elements a batch element has.
#[inline(always)]
fn own<'a, A: ArrayView>(
    spec: &Array,
    given: &'a A,
    dtype: DataType,
    attributes: &[i64],
    values: &[i64],
) -> Option<(&'a [i64], usize)> {
    let dims = given.dims();
    let (front, own) = dims.split_at(dims.len().checked_sub(spec.dims.len())?);
    if given.dtype() != dtype || (!spec.batch && !front.is_empty()) {
        return None;
    }
    let mut len = 1_usize;
    for (dim, got) in spec.dims.iter().zip(own) {
        if value(dim, values, attributes)? != *got {
            return None;
        }
        len = len.saturating_mul(usize::try_from(*got).ok()?);
    }
    Some((front, len))
}

#[inline(always)]
fn value(dim: &Dim, dims: &[i64], attributes: &[i64]) -> Option<i64> {
    match dim {
        Dim::Name(index) => Some(dims[*index]),
        Dim::Number(number) => Some(*number),
        _ => dim.eval(dims, attributes).ok(),
    }
}

/// Equality in a plain loop: shapes are too short to call `memcmp` for.
#[inline(always)]
fn same(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// Broadcasts the batch dimensions with others.
#[cold]
fn merge(batch: &mut Vec<i64>, other: &[i64]) -> Option<()> {
    let before = batch.clone();
    let rank = before.len().max(other.len());
    let at = |dims: &[i64], axis: usize| {
        (axis + dims.len())
            .checked_sub(rank)
            .map_or(1, |at| dims[at])
    };
    batch.clear();
    for axis in 0..rank {
        let (a, b) = (at(&before, axis), at(other, axis));
        batch.push(match (a, b) {
            (_, ..=-1) => return None,
            (a, b) if a == b || b == 1 => a,
            (1, b) => b,
            _ => return None,
        });
    }
    Some(())
}
