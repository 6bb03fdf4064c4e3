//! Triangular systems of a batch.

use crate::platform::host::batch::{
    cost_in_lanes, for_each, for_each_run, no_workspace, run_length_of,
};
use crate::platform::host::{kernel_suits, Batch, Changed, HostScalar};
use lanes::triangular::{Trsm, LEAST_SIDES, MOST, MOST_UNKNOWNS};
use lanes::Blocks;
use lapack::{refuse_negative, routines};
use matrices::{Form, Matrices};
use xla_ffi::Result;

/// Whether the kernel computes right-hand sides of that shape.
fn suits<T: HostScalar>(shape: Matrices, form: Form) -> bool {
    let (order, sides) = if form.left {
        (shape.rows, shape.cols)
    } else {
        (shape.cols, shape.rows)
    };
    let triangle = Matrices {
        rows: order,
        cols: order,
        ..shape
    };
    kernel_suits::<T>(shape, MOST)
        || sides >= LEAST_SIDES && kernel_suits::<T>(triangle, MOST_UNKNOWNS)
}

/// `op(X) S = Y` or `S op(X) = Y`, `y` (of the batch's shape) becoming `S`.
///
/// # Errors
/// There is no memory for a working copy.
pub fn trsm<T: HostScalar>(
    (cx, shape): Batch<'_>,
    form: Form,
    x: &[T],
    y: Changed<'_, T>,
) -> Result<()> {
    if y.is_empty() {
        return Ok(());
    }
    let order = if form.left { shape.rows } else { shape.cols };
    let flops = f64::from(order) * f64::from(shape.rows) * f64::from(shape.cols);
    if suits::<T>(shape, form) {
        let square = (order as usize).pow(2);
        let cost = cost_in_lanes(flops, square + shape.elements());
        let run = run_length_of((cx, shape), Blocks::up_to(MOST.real as usize), cost);
        let (m, n, _) = shape.sizes();
        let runs = x.chunks(run * square).zip(y.parts(run * m * n));
        return for_each_run((cx, shape), cost, runs, |(x, y), together| {
            let (y, count) = (y.ready(), x.len() / square);
            T::in_lanes(
                Trsm {
                    form,
                    m,
                    n,
                    x,
                    y,
                    together,
                },
                count,
            )
        });
    }
    let items = x
        .chunks_exact((order as usize).pow(2))
        .zip(y.parts(shape.elements()));
    for_each(cx, flops, items, no_workspace, |(), (x, y)| {
        let info = routines::trsm(form, (shape.rows, shape.cols), x, y.ready());
        refuse_negative(info, "trsm")
    })
}
