//! Shapes: how many elements, which rank, how to print them.

use core::fmt;

use crate::error::{Error, Operand, Result};
use crate::DataType;

/// Product of the dimensions; `None` if one is negative or the product does not fit.
#[inline]
pub(crate) fn element_count(dims: &[i64]) -> Option<usize> {
    let mut count = 1usize;
    for &dim in dims {
        let product = usize::try_from(dim)
            .ok()
            .and_then(|dim| count.checked_mul(dim));
        let Some(product) = product else {
            return unusual_count(dims);
        };
        count = product;
    }
    Some(count)
}

/// The same where one is negative or a product does not fit: unless another is 0.
#[cold]
fn unusual_count(dims: &[i64]) -> Option<usize> {
    let negative = dims.iter().any(|&dim| dim < 0);
    (!negative && dims.contains(&0)).then_some(0)
}

/// Bytes of `len` elements; `None` if the dtype is unknown or no Rust slice can be that long.
#[inline]
pub(crate) fn byte_len(dtype: DataType, len: usize) -> Option<usize> {
    let size = dtype.size()?.checked_mul(len)?;
    (size <= isize::MAX as usize).then_some(size)
}

/// Prints `(2,3)`.
pub(crate) struct Dims<'a>(pub(crate) &'a [i64]);

impl fmt::Display for Dims<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, dim) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{dim}")?;
        }
        f.write_str(")")
    }
}

/// Which ranks an operand may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RankSpec {
    /// Any.
    Any,
    /// That one.
    Exactly(usize),
    /// That one or more.
    AtLeast(usize),
}

impl RankSpec {
    #[inline]
    pub(crate) fn allows(self, got: usize) -> bool {
        match self {
            RankSpec::Any => true,
            RankSpec::Exactly(rank) => got == rank,
            RankSpec::AtLeast(rank) => got >= rank,
        }
    }

    #[inline]
    pub(crate) fn check(self, operand: Operand, dims: &[i64]) -> Result<()> {
        if self.allows(dims.len()) {
            return Ok(());
        }
        Err(Error::mismatch(
            operand,
            format_args!("have {self}"),
            format_args!("rank {}", dims.len()),
        ))
    }
}

impl fmt::Display for RankSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RankSpec::Any => f.write_str("any rank"),
            RankSpec::Exactly(rank) => write!(f, "rank {rank}"),
            RankSpec::AtLeast(rank) => write!(f, "rank {rank} or more"),
        }
    }
}

/// The rank of a typed buffer, as a type: [`AnyRank`], [`Rank`] or [`MinRank`].
pub trait RankCheck: 'static {
    /// What is checked.
    const SPEC: RankSpec;
}

/// Any rank.
#[derive(Debug)]
pub enum AnyRank {}

/// Exactly `N` dimensions.
#[derive(Debug)]
pub enum Rank<const N: usize> {}

/// `N` dimensions or more: batch dimensions, then `N` of one item.
#[derive(Debug)]
pub enum MinRank<const N: usize> {}

impl RankCheck for AnyRank {
    const SPEC: RankSpec = RankSpec::Any;
}

impl<const N: usize> RankCheck for Rank<N> {
    const SPEC: RankSpec = RankSpec::Exactly(N);
}

impl<const N: usize> RankCheck for MinRank<N> {
    const SPEC: RankSpec = RankSpec::AtLeast(N);
}
