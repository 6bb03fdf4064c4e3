//! What a thread's last call was like, so that one that is like it is not checked again.

use xla_ffi::DataType;

use crate::attributes::Decoded;
use crate::call::Flat;
use crate::op::OwnOp;

/// The last call whose arrays were checked and laid out; what was found lies in the
/// [`Room`](crate::room::Room) that this belongs to.
#[derive(Default)]
pub(crate) struct Last {
    /// Which op it was of, 0 for none.
    op: u64,
    operands: usize,
    batch_axes: usize,
    numbers: Vec<i64>,
    arrays: Vec<Laid>,
    /// Of all arrays, one after the other.
    dims: Vec<i64>,
}

/// How an array was laid out.
struct Laid {
    dtype: DataType,
    rank: usize,
    batch: usize,
    bytes: usize,
    size: usize,
}

impl Last {
    pub(crate) fn forget(&mut self) {
        self.op = 0;
    }

    pub(crate) fn remember(
        &mut self,
        op: &OwnOp,
        operands: usize,
        attributes: &Decoded,
        flats: &[Flat<'_>],
    ) {
        self.operands = operands;
        self.batch_axes = attributes.batch_axes;
        self.numbers.clone_from(&attributes.numbers);
        self.arrays.clear();
        self.dims.clear();
        for flat in flats {
            self.dims.extend_from_slice(flat.dims);
            self.arrays.push(Laid {
                dtype: flat.dtype,
                rank: flat.dims.len(),
                batch: flat.batch,
                bytes: flat.bytes,
                size: flat.size,
            });
        }
        self.op = op.serial;
    }

    /// Lays the arrays out as in the last call, if this one differs from it in addresses only.
    #[inline]
    pub(crate) fn lay_out(
        &self,
        op: &OwnOp,
        operands: usize,
        attributes: &Decoded,
        flats: &mut [Flat<'_>],
    ) -> bool {
        if self.op != op.serial
            || self.operands != operands
            || self.batch_axes != attributes.batch_axes
            || self.arrays.len() != flats.len()
            || !same(&self.numbers, &attributes.numbers)
        {
            return false;
        }
        let mut dims = &self.dims[..];
        for (flat, laid) in flats.iter_mut().zip(&self.arrays) {
            let (own, rest) = dims.split_at(laid.rank);
            dims = rest;
            if flat.dtype != laid.dtype || !same(own, flat.dims) {
                return false;
            }
            (flat.batch, flat.bytes, flat.size) = (laid.batch, laid.bytes, laid.size);
            if !flat.is_addressed() {
                return false;
            }
        }
        true
    }
}

/// Equality in a plain loop: these are too short to call `memcmp` for.
#[inline(always)]
fn same(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}
