//! Orders and strides. Strides count elements.

use crate::error::{Code, Error, Kind, Result};

/// The order of an array's elements in host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last dimension varies fastest (C, XLA's default).
    RowMajor,
    /// The first dimension varies fastest (R, Fortran).
    ColumnMajor,
}

/// The number of elements of an array.
///
/// # Errors
/// `INVALID_ARGUMENT` for a negative dimension, `RESOURCE_EXHAUSTED` where the array of elements
/// of `size` bytes is larger than any memory.
pub(crate) fn elements(dims: &[i64], size: usize) -> Result<usize> {
    if let Some(i) = dims.iter().position(|&d| d < 0) {
        return Err(Error::argument(format!(
            "dimension {} is negative: {}",
            i + 1,
            dims[i]
        )));
    }
    if dims.contains(&0) {
        return Ok(0);
    }
    dims.iter()
        .try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?))
        .filter(|&n| {
            n.checked_mul(size)
                .is_some_and(|b| isize::try_from(b).is_ok())
        })
        .ok_or_else(|| {
            Error::new(
                Kind::Memory,
                Code::RESOURCE_EXHAUSTED,
                format!("an array of shape {dims:?} does not fit into any memory"),
            )
        })
}

/// Strides of a dense array in `order`.
pub(crate) fn dense(dims: &[i64], order: Order) -> Vec<isize> {
    let rank = dims.len();
    let mut strides = vec![0; rank];
    let mut step = 1isize;
    for k in 0..rank {
        let d = match order {
            Order::RowMajor => rank - 1 - k,
            Order::ColumnMajor => k,
        };
        strides[d] = step;
        step = step.saturating_mul(dims[d] as isize);
    }
    strides
}

/// Strides of a dense array whose dimensions are listed from minor to major. `None` where the
/// list is not a permutation of the dimensions.
pub(crate) fn from_minor_to_major(dims: &[i64], minor_to_major: &[i64]) -> Option<Vec<isize>> {
    if minor_to_major.len() != dims.len() {
        return None;
    }
    let mut strides = vec![0; dims.len()];
    let mut step = 1isize;
    for &d in minor_to_major {
        let d = usize::try_from(d).ok().filter(|&d| d < dims.len())?;
        if strides[d] != 0 {
            return None;
        }
        strides[d] = step;
        step = step.saturating_mul((dims[d] as isize).max(1));
    }
    Some(strides)
}
