//! What a library must get right before it is used: each routine on a small matrix, in each dtype.
//! (A library with 64-bit integers fails everything.)

mod factors;
mod spectra;
mod square;

use super::table::Library;
use crate::int::Int;
use matrices::Complex;
use square::{number, Square, Tried, Tries, C, N};

/// # Errors
/// What it got wrong.
pub(super) fn run(library: &Library) -> Result<(), String> {
    if !has_short_integers(library) {
        return Err("takes 64-bit integers under the names of others".to_owned());
    }
    let failed = |letter| move |routine| format!("computes {letter}{routine} wrongly");
    dtype::<f32>().map_err(failed("s"))?;
    dtype::<f64>().map_err(failed("d"))?;
    dtype::<Complex<f32>>().map_err(failed("c"))?;
    dtype::<Complex<f64>>().map_err(failed("z"))
}

/// Whether INTEGER has 32 bits, seen with memory that is enough for more.
fn has_short_integers(library: &Library) -> bool {
    let mut a = [1.0, 4.0, 2.0, 12.0];
    let n: [Int; 2] = [2, 0];
    let (mut pivots, mut info): ([Int; 4], [Int; 2]) = ([7; 4], [7; 2]);
    // SAFETY: a 2 × 2 matrix, with room for pivots, sizes and `info` of twice the width.
    unsafe {
        (library.d.getrf)(
            n.as_ptr(),
            n.as_ptr(),
            a.as_mut_ptr(),
            n.as_ptr(),
            pivots.as_mut_ptr(),
            info.as_mut_ptr(),
        );
    }
    pivots == [2, 2, 7, 7] && info == [0, 7]
}

fn dtype<T: Tried>() -> Tries {
    // Rounded to the dtype, and not singular.
    let a = Square::from(
        &Square::of(&|i, j| {
            let k = i * N + j;
            let strong = if i == j { 3.0 } else { 0.0 };
            C::new(number(k) + strong, number(k + 100))
        })
        .to::<T>(),
    );
    factors::lu::<T>(&a)?;
    factors::qr::<T>(&a)?;
    factors::pivoted::<T>(&a)?;
    factors::triangles::<T>(&a)?;
    factors::tridiagonal::<T>(&a)?;
    spectra::singular_values::<T>(&a)?;
    spectra::hermitian::<T>(&a)?;
    spectra::general::<T>(&a)
}
