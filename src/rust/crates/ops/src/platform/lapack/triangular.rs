//! Triangular systems of a batch.

use super::batch::{for_each, split};
pub use super::routines::Form;
use super::routines::Solve;
use super::{Batch, Precision};
use xla_ffi::Result;

/// `op(X) S = Y` or `S op(X) = Y`, `y` (of the batch's shape) becoming `S`.
///
/// # Errors
/// There is no memory for a working copy.
pub fn trsm<T: Precision>((cx, shape): Batch<'_>, form: Form, x: &[T], y: &mut [T]) -> Result<()> {
    if y.is_empty() {
        return Ok(());
    }
    let order = if form.left { shape.rows } else { shape.cols };
    let items =
        x.chunks_exact((order as usize).pow(2))
            .zip(split(y, shape.elements(), shape.count));
    for_each(
        cx,
        f64::from(order) * f64::from(shape.rows) * f64::from(shape.cols),
        items,
        || Ok(Vec::new()),
        |copy, (x, y)| {
            let (x, mut y) = (T::read(x, copy)?, T::stage(y)?);
            T::Work::trsm(form, (shape.rows, shape.cols), x, &mut y);
            Ok(())
        },
    )
}
