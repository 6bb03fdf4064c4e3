//! The memory that LAPACK works in, sized before any work and made once per thread.

use crate::error::{Error, Result};
use crate::int::Int;
use matrices::{Complex, Element};
use std::cell::Cell;
use std::mem::take;
use std::thread::LocalKey;

/// An element type in which threads keep workspaces.
pub trait Worked: Element {
    /// What this thread keeps of its last workspace.
    #[doc(hidden)]
    fn kept() -> &'static LocalKey<Cell<Kept<Self>>>;
}

macro_rules! worked {
    ($($scalar:ty),*) => {$(
        impl Worked for $scalar {
            fn kept() -> &'static LocalKey<Cell<Kept<Self>>> {
                thread_local! {
                    static KEPT: Cell<Kept<$scalar>> = const { Cell::new((Vec::new(), Vec::new(), Vec::new())) };
                }
                &KEPT
            }
        }
    )*};
}
worked!(f32, f64, Complex<f32>, Complex<f64>);

/// How many elements of each kind a routine works in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    work: usize,
    real: usize,
    ints: usize,
}

impl Sizes {
    /// Sizes as formulas give them; `None` where one is more than LAPACK's integers hold.
    pub(crate) fn new(work: i128, real: i128, ints: i128) -> Option<Self> {
        let fits = |size: i128| Some(Int::try_from(size).ok()?.max(1) as usize);
        Some(Sizes {
            work: fits(work)?,
            real: fits(real)?,
            ints: fits(ints)?,
        })
    }

    /// The refusal of a matrix whose workspace LAPACK cannot address.
    ///
    /// # Errors
    /// There are no sizes.
    pub fn or_too_large(sizes: Option<Self>, rows: Int, cols: Int) -> Result<Self> {
        sizes.ok_or(Error::TooLarge { rows, cols })
    }
}

/// LAPACK's workspace, from what the thread has kept. Its contents mean nothing between calls.
#[derive(Debug)]
pub struct Workspace<W: Worked> {
    pub(crate) work: Vec<W>,
    pub(crate) real: Vec<W::Real>,
    pub(crate) ints: Vec<Int>,
}

/// The parts of a workspace that a thread keeps, for each element type, until it ends.
#[doc(hidden)]
pub type Kept<W> = (Vec<W>, Vec<<W as Element>::Real>, Vec<Int>);

/// Bytes that a thread keeps at most of each element type.
const MOST_KEPT: usize = 4 << 20;

impl<W: Worked> Workspace<W> {
    /// # Errors
    /// There is no memory for it.
    #[inline(never)] // once for each dtype, not for each routine
    pub fn new(sizes: Sizes) -> Result<Self> {
        // A thread that is about to end has nothing left.
        let (work, real, ints) = W::kept().try_with(Cell::take).unwrap_or_default();
        Ok(Workspace {
            work: resized(work, sizes.work, W::ZERO)?,
            real: resized(real, sizes.real, W::Real::ZERO)?,
            ints: resized(ints, sizes.ints, 0)?,
        })
    }

    /// Whether it is at least that large.
    pub(crate) fn holds(&self, sizes: Sizes) -> bool {
        self.work.len() >= sizes.work
            && self.real.len() >= sizes.real
            && self.ints.len() >= sizes.ints
    }
}

impl<W: Worked> Drop for Workspace<W> {
    #[inline(never)]
    fn drop(&mut self) {
        let parts = (
            take(&mut self.work),
            take(&mut self.real),
            take(&mut self.ints),
        );
        let bytes = parts.0.capacity() * size_of::<W>()
            + parts.1.capacity() * size_of::<W::Real>()
            + parts.2.capacity() * size_of::<Int>();
        if bytes <= MOST_KEPT {
            // A thread that is about to end keeps nothing.
            let _ = W::kept().try_with(|kept| kept.set(parts));
        }
    }
}

/// A vector of exactly `len`, not more, as what LAPACK computes may depend on how much room it has.
///
/// # Errors
/// There is no memory for it.
fn resized<T: Clone>(mut kept: Vec<T>, len: usize, value: T) -> Result<Vec<T>> {
    if kept.capacity() < len.saturating_add(SLACK) {
        return filled(len, value);
    }
    kept.resize(len, value);
    Ok(kept)
}

/// Elements behind the end that are ours: OpenBLAS 0.3.21's complex `gemv` for Haswell reads, without
/// using it, one element more of its vector, which faults where the next page is not mapped; see
/// `padded.rs`.
const SLACK: usize = 512;

/// A vector of `len` times `value`.
///
/// # Errors
/// There is no memory for it.
#[inline(never)]
pub fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    vector
        .try_reserve_exact(len.saturating_add(SLACK))
        .map_err(|_| Error::NoMemory {
            bytes: len.saturating_mul(size_of::<T>()),
        })?;
    vector.resize(len, value);
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_one_workspace_and_gives_exactly_what_is_asked_for() {
        let sizes = |work| Sizes::new(work, 3, 5).expect("small sizes");
        let ws = Workspace::<f64>::new(sizes(1000)).expect("memory");
        let place = ws.work.as_ptr();
        drop(ws);
        let ws = Workspace::<f64>::new(sizes(10)).expect("memory");
        assert_eq!((ws.work.as_ptr(), ws.work.len()), (place, 10));
        // It is in use, so the next one is another.
        let other = Workspace::<f64>::new(sizes(1000)).expect("memory");
        assert!(other.work.as_ptr() != place && other.holds(sizes(1000)));
    }

    #[test]
    fn what_is_large_is_not_kept() {
        let large = Sizes::new(1 << 20, 1, 1).expect("a size that fits");
        drop(Workspace::<f64>::new(large).expect("memory"));
        let kept = f64::kept().take();
        assert_eq!(kept.0.capacity(), 0);
    }
}
