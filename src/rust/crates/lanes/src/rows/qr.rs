//! `R` and reflections of one matrix, and the columns of its `Q`.

use super::panel::eliminate;
use super::reflect::{Reflections, Task, BLOCK};
use crate::lanes::{Float, Lanes};

/// Factors `m` rows in place, as LAPACK's `geqrf`; there is a factor for each reflection.
#[inline(always)]
pub(crate) fn factor<V: Lanes>(
    m: usize,
    stride: usize,
    a: &mut [V],
    tau: &mut [V::Float],
    work: &mut [V],
) {
    let n = a.len() / stride;
    for (at, tau) in tau.chunks_mut(BLOCK).enumerate() {
        let start = at * BLOCK;
        let panel = start..start + tau.len();
        let columns = &mut a[panel.start * stride..panel.end * stride];
        let vectors = start / V::WIDTH..m.div_ceil(V::WIDTH);
        eliminate(columns, stride, vectors, tau);
        if panel.end < n {
            let reflections = Reflections {
                stride,
                m,
                panel,
                tau,
                task: Task::Factor,
            };
            V::reflect(a, &reflections, work);
        }
    }
}

/// The columns of `Q` in place of the reflections, of which there are as many as factors.
#[inline(always)]
pub(crate) fn columns<V: Lanes>(
    m: usize,
    stride: usize,
    a: &mut [V],
    tau: &[V::Float],
    work: &mut [V],
) {
    let zero = a[0].like(0.0);
    for (j, column) in a.chunks_exact_mut(stride).enumerate().skip(tau.len()) {
        column.fill(zero);
        V::flat_mut(column)[j] = V::Float::of(1.0);
    }
    for (at, tau) in tau.chunks(BLOCK).enumerate().rev() {
        let start = at * BLOCK;
        let reflections = Reflections {
            stride,
            m,
            panel: start..start + tau.len(),
            tau,
            task: Task::Columns,
        };
        V::reflect(a, &reflections, work);
    }
}
