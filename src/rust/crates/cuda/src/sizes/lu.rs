//! LU factorisation.

use matrices::Matrices;

/// Up to how many rows and columns a kernel of our own factors all matrices of a batch: a thread has a row.
const LU_IN_BLOCKS: i32 = 512;

/// The same of one matrix, in f32 and in f64: cuSOLVER has all of the device for it.
const LU_ALONE: [i32; 2] = [128, 64];

/// Whether a kernel of our own factors all matrices, a block of threads for each. `precision` is that of the elements
/// ([`crate::Element::PRECISION`]).
pub fn lu_in_blocks(shape: Matrices, precision: usize) -> bool {
    let most = if shape.count > 1 {
        LU_IN_BLOCKS
    } else {
        LU_ALONE[precision]
    };
    shape.rows.max(shape.cols) <= most
}

/// How many columns a panel of that kernel may have, the best number first: as many as there is shared memory for. The most
/// are in registers: `Panel` in `lu.cu`. `kind` is [`crate::Element::KIND`].
pub fn lu_panels(kind: usize) -> &'static [usize] {
    const WIDTHS: [usize; 3] = [32, 16, 8];
    &WIDTHS[usize::from(kind == 3)..]
}

/// Warps of a block for LU factorisation: a thread for each row, and as many again for what is beside the panel.
pub fn lu_warps(shape: Matrices) -> usize {
    (shape.rows as usize).div_ceil(16).clamp(1, 16)
}
