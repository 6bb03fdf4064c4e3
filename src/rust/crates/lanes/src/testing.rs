//! What tests want to see of the inside.

use crate::kernel::{Kernel, Run};
use crate::qr::{Geqrf, Orgqr};
use crate::rows;
use crate::scratch::{with_lines, NoMemory};
use crate::together::Together;

/// How many lines of 64 bytes a kernel has to work in that asks for so many.
///
/// # Errors
/// There is no memory for them.
pub fn lines(count: usize) -> Result<usize, NoMemory> {
    with_lines(count, |lines| lines.len())
}

/// For how many blocks of reflections there is room in the work of a QR factorisation, and of `n` columns of `k`
/// reflections.
#[must_use]
pub fn blocks_of_qr(m: usize, n: usize, k: usize, together: Together<'_>) -> [usize; 2] {
    let factor = Geqrf {
        run: Run::in_place((m, n), &mut [0.0; 0], together),
        tau: &mut [],
    }
    .rows_scratch(8);
    let columns = Orgqr {
        run: Run::in_place((m, n), &mut [0.0; 0], together),
        k,
        tau: &[],
    }
    .rows_scratch(8);
    [factor, columns].map(|room| (room / rows::stride(m, 8) - n) / 32)
}
