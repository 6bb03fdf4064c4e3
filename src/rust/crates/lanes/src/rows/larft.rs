//! Blocks of reflections from the vectors and factors of these: their triangles, as LAPACK's `larft`, and the order in
//! which the vectors are read.

use super::reflect::{BLOCK, FEW, MANY};
use crate::lanes::{Float, Lanes};
use crate::operands::Task;

/// Makes a [`Block`](crate::operands::Block) in `memory` of the reflections in the columns of `panel`, which begin in
/// row `start`. Where there are two numbers for each column in `tau`, these are complex, and so are the columns, of which
/// the parts are rows of their own. A complex reflection's vector `v` becomes two columns, `v` and `i v`.
#[inline(always)]
pub(crate) fn prepare<V: Lanes>(
    panel: &[V],
    stride: usize,
    (start, m): (usize, usize),
    (tau, task): (&[V::Float], Task),
    memory: &mut [V],
) {
    let tall = BLOCK / V::WIDTH;
    let vectors = start / V::WIDTH..m.div_ceil(V::WIDTH);
    let len = vectors.len();
    let (v, rest) = memory.split_at_mut(BLOCK * len);
    let (v_rows, rest) = rest.split_at_mut(BLOCK * len);
    let (t, products) = rest.split_at_mut(BLOCK * tall);
    v.fill(panel[0].like(0.0));
    let parts = tau.len() * stride / panel.len();
    let columns = panel.chunks_exact(stride);
    for (c, (v, column)) in v.chunks_exact_mut(parts * len).zip(columns).enumerate() {
        let (v, iv) = v.split_at_mut(len);
        v.copy_from_slice(&column[vectors.clone()]);
        begin(v, c, parts);
        times_i(v, iv);
    }
    by_rows(v, len, v_rows);
    // Those of a column that is another one times the imaginary unit are known by that one's.
    let (wide, step) = (if V::REGISTERS >= 32 { MANY.1 } else { FEW.1 }, parts * len);
    for (strip, to) in v.chunks(wide * step).zip(products.chunks_mut(wide * tall)) {
        V::project(v_rows, strip, step, 0..len * V::WIDTH, to);
    }
    triangle(V::flat(products), (tau, parts), task, t);
}

/// Puts the 1 that reflection `c` begins with, a number of so many `parts`, and 0 before it.
#[inline(always)]
pub(super) fn begin<V: Lanes>(v: &mut [V], c: usize, parts: usize) {
    let head = &mut V::flat_mut(v)[..(c + 1) * parts];
    head.fill(V::Float::of(0.0));
    head[c * parts] = V::Float::of(1.0);
}

/// `to` becomes complex numbers times the imaginary unit.
#[inline(always)]
fn times_i<V: Lanes>(from: &[V], to: &mut [V]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.times_i();
    }
}

/// [`BLOCK`] columns of `len` vectors become rows of so many numbers.
#[inline(always)]
fn by_rows<V: Lanes>(columns: &[V], len: usize, rows: &mut [V]) {
    let tall = BLOCK / V::WIDTH;
    let mut square = [columns[0]; BLOCK];
    let square = &mut square[..V::WIDTH];
    for (first, columns) in columns.chunks_exact(V::WIDTH * len).enumerate() {
        for at in 0..len {
            for (to, column) in square.iter_mut().zip(columns.chunks_exact(len)) {
                *to = column[at];
            }
            V::transpose(square);
            for (row, from) in square.iter().enumerate() {
                rows[(at * V::WIDTH + row) * tall + first] = *from;
            }
        }
    }
}

/// The columns of `T`, or of `Tᴴ` for a factorisation, of the inner products of the reflections. A complex number of
/// two `parts` is a square of four real ones, of which the second column is the first one times the imaginary unit.
#[inline(always)]
fn triangle<V: Lanes>(
    products: &[V::Float],
    (tau, parts): (&[V::Float], usize),
    task: Task,
    t: &mut [V],
) {
    let tall = BLOCK / V::WIDTH;
    let zero = t[0].like(0.0);
    t.fill(zero);
    for step in (0..tau.len()).step_by(parts) {
        // `T` from its first column on, or its last row.
        let at = |step| match task {
            Task::Factor => tau.len() - 1 - step,
            Task::Columns => step,
        };
        let number = at(step) / parts;
        let sums = &mut [zero; BLOCK][..tall];
        V::flat_mut(sums)[number * parts] = V::Float::of(1.0);
        for k in (0..step).map(at) {
            let factor = zero.like(products[number * BLOCK + k].f64());
            for (sum, known) in sums.iter_mut().zip(&t[k * tall..][..tall]) {
                *sum = known.neg_mul_add(factor, *sum);
            }
        }
        let re = zero.like(tau[number * parts].f64());
        let (to, beside) = t[number * parts * tall..][..parts * tall].split_at_mut(tall);
        for (to, sum) in to.iter_mut().zip(&*sums) {
            *to = *sum * re;
        }
        if parts == 2 {
            let im = tau[number * parts + 1].f64();
            let im = if task == Task::Factor { -im } else { im };
            let im = zero.signs() * zero.like(im);
            for (to, sum) in to.iter_mut().zip(&*sums) {
                *to = sum.swap_parts().mul_add(im, *to);
            }
            times_i(to, beside);
        }
    }
}
