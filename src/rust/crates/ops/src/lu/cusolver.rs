//! LU factorisation, and its exchanges of rows as a permutation.

use super::cuda;
use super::operands::{GetrfIo, PivotsIo};
use super::permutation::{self, Rows};
use ::cuda::routines::lu;
use ::cuda::{Changed, Cuda, DeviceSlice, DeviceSliceMut, Element};
use xla_ffi::{Cx, Kernel, Op, Result, Traits};

crate::cusolver::target! {
    /// LU factorisation with partial pivoting.
    Getrf: GetrfIo = "cusolver_getrf_ffi" by getrf
}

fn getrf<T: Element>(mut io: GetrfIo<'_, T>, cx: &Cx<'_, Cuda>) -> Result<()> {
    let shape = io.shape()?;
    let a = Changed::<T>::new(&io.x, &mut io.lu)?;
    let pivots = DeviceSliceMut::of(&mut io.ipiv)?;
    let info = DeviceSliceMut::of(&mut io.info)?;
    cuda::getrf((cx, shape), a, pivots, Some(info))
}

/// The order of rows that the pivots of LU factorisation leave.
pub struct PivotsToPermutation;

impl Op for PivotsToPermutation {
    const TARGET: &'static str = "cu_lu_pivots_to_permutation";
    type Dtypes = Rows;
    const TRAITS: Traits = Traits::COMMAND_BUFFER_COMPATIBLE;
    // What JAX passed until 0.4.34; it is the length of the permutation.
    const IGNORED_ATTRS: &'static [&'static str] = &["permutation_size"];
}

impl Kernel<Cuda, i32> for PivotsToPermutation {
    type Io<'f> = PivotsIo<'f, i32>;

    fn run(mut io: PivotsIo<'_, i32>, cx: &Cx<'_, Cuda>) -> Result<()> {
        let (count, length, size) = permutation::sizes(&io.pivots, &io.permutation)?;
        if io.permutation.is_empty() {
            return Ok(());
        }
        let from = (DeviceSlice::of(&io.pivots)?, length);
        let to = (DeviceSliceMut::of(&mut io.permutation)?, size);
        lu::permutation(cx, count, from, to)
    }
}
