//! The memory that LAPACK works in, sized before any work and made once per thread.

use super::routines::Element;
use super::sys::Int;
use xla_ffi::{Code, Error, Result};

/// How many elements of each kind a routine works in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    work: usize,
    real: usize,
    ints: usize,
}

impl Sizes {
    /// Sizes as formulas give them; `None` where one is more than LAPACK's integers hold.
    pub(super) fn new(work: i128, real: i128, ints: i128) -> Option<Self> {
        let fits = |size: i128| Some(Int::try_from(size).ok()?.max(1) as usize);
        Some(Sizes {
            work: fits(work)?,
            real: fits(real)?,
            ints: fits(ints)?,
        })
    }

    /// The refusal of a matrix whose workspace LAPACK cannot address.
    pub(super) fn or_too_large(sizes: Option<Self>, rows: Int, cols: Int) -> Result<Self> {
        sizes.ok_or_else(|| {
            Error::invalid_argument(format!(
                "a matrix of {rows} x {cols} needs more workspace than LAPACK's integers can count"
            ))
        })
    }
}

/// LAPACK's workspace. Its contents mean nothing between calls.
#[derive(Debug)]
pub struct Workspace<W: Element> {
    pub(super) work: Vec<W>,
    pub(super) real: Vec<W::Real>,
    pub(super) ints: Vec<Int>,
}

impl<W: Element> Workspace<W> {
    /// # Errors
    /// There is no memory for it.
    pub(super) fn new(sizes: Sizes) -> Result<Self> {
        Ok(Workspace {
            work: filled(sizes.work, W::ZERO)?,
            real: filled(sizes.real, W::Real::ZERO)?,
            ints: filled(sizes.ints, 0)?,
        })
    }

    /// Whether it is at least that large.
    pub(super) fn holds(&self, sizes: Sizes) -> bool {
        self.work.len() >= sizes.work
            && self.real.len() >= sizes.real
            && self.ints.len() >= sizes.ints
    }
}

/// Elements behind the end that are ours: OpenBLAS 0.3.21's complex `gemv` for Haswell reads (and never
/// writes) past the end of its operands, which faults where the next page is not mapped.
const SLACK: usize = 512;

/// A vector of `len` times `value`.
///
/// # Errors
/// There is no memory for it.
pub(super) fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    vector
        .try_reserve_exact(len.saturating_add(SLACK))
        .map_err(|_| {
            let bytes = len.saturating_mul(size_of::<T>());
            Error::new(
                Code::ResourceExhausted,
                format!("no memory for {bytes} bytes of workspace"),
            )
        })?;
    vector.resize(len, value);
    Ok(vector)
}
