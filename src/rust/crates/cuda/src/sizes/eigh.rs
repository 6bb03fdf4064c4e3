//! The same for eigenvalues.

use matrices::Matrices;

/// Up to how many rows Jacobi's method is taken for eigenvalues: one block of threads has it all.
pub const EIGH_JACOBI: i32 = 32;

/// Up to how many rows a kernel of our own has the eigenvalues of all matrices of a batch, a block of threads each.
const IN_BLOCKS: i32 = 256;

/// Whether that kernel has them.
pub fn eigh_in_blocks(shape: Matrices) -> bool {
    let square = shape.rows == shape.cols;
    shape.count > 1 && square && (EIGH_JACOBI + 1..=IN_BLOCKS).contains(&shape.rows)
}

/// Up to how many rows two of its blocks run in a multiprocessor.
const TWO: i32 = 64;

/// Warps of its blocks.
pub fn eigh_warps(shape: Matrices) -> usize {
    if shape.rows <= TWO {
        8
    } else {
        16
    }
}

/// How many bytes of shared memory one of its blocks takes at most, where it may ask for `most`.
pub fn eigh_shared(shape: Matrices, most: usize) -> usize {
    // Half, but for what both have in any case; and what every device has.
    let half = (most / 2).saturating_sub(2 << 10).max(47 << 10);
    if shape.rows <= TWO {
        half.min(most)
    } else {
        most
    }
}

/// How many matrices `XsyevBatched` is given at once. Their elements must be countable in 32 bits, by its
/// manual; by reports, it refuses 40,000 matrices of any size.
pub fn eigh_part(rows: i32) -> usize {
    let elements = (rows as usize).saturating_mul(rows as usize);
    (i32::MAX as usize / elements.max(1)).min(1 << 14)
}
