//! Which way a batch goes, by its sizes. The one place to change after measuring (`tools/gpu/check`): these numbers are
//! by an H100 with CUDA 13.0, `tools/gpu/results.md` has the times. What is said of limits is by NVIDIA's manuals.

mod eigh;
mod lu;

pub use eigh::{eigh_in_blocks, eigh_part, eigh_shared, eigh_warps, EIGH_JACOBI};
pub use lu::{lu_in_blocks, lu_panels, lu_warps};

use matrices::Matrices;
use std::env;
use std::sync::OnceLock;

/// Whether kernels of our own have all of a matrix in registers: up to 32 rows and columns, of c128
/// ([`crate::Element::KIND`] 3) up to 16.
pub fn is_small(shape: Matrices, kind: usize) -> bool {
    let most = if kind == 3 { 16 } else { 32 };
    !shape.is_empty() && shape.rows.max(shape.cols) <= most && !blocks_take_all()
}

/// Whether cuBLAS factors all matrices at once. Its kernels give a matrix to one block of threads,
/// which is slow for a large one unless there are many; a matrix by itself is cuSOLVER's.
pub fn lu_at_once(shape: Matrices) -> bool {
    shape.rows == shape.cols && at_once(shape)
}

/// Set to `all`, our own kernels with a block of threads for each matrix also take what others take: NVIDIA's routines
/// for batches, and the kernels for small matrices. `tools/gpu/check` compares them, on a machine that cannot build
/// another library.
const VARIABLE: &str = "XLAFFI_CUDA_BLOCKS";

fn blocks_take_all() -> bool {
    static ALL: OnceLock<bool> = OnceLock::new();
    *ALL.get_or_init(|| env::var_os(VARIABLE).is_some_and(|value| value == "all"))
}

/// Up to how many elements of a batch of small matrices launches take longer than the work: there a kernel of our own,
/// which is one launch, is faster than cuBLAS's routine between those that look for what is not finite.
const FEW: usize = 1_000_000;

fn are_few(shape: Matrices) -> bool {
    shape.count.saturating_mul(shape.elements()) <= FEW
}

/// Whether cuBLAS makes QR factorisations of all matrices at once. Beyond what a kernel of our own
/// takes, cuSOLVER's routine has one done while cuBLAS's has many: on an H100 in f64, one of 256 took it
/// 0.7 ms, and 20 of them took cuBLAS 46 ms, which would be 67 turns.
pub fn qr_at_once(shape: Matrices) -> bool {
    let larger = shape.rows.max(shape.cols) as usize;
    at_once(shape) && shape.count >= (larger / 32).pow(2)
}

/// Up to how many rows and columns a kernel of our own makes the QR factorisation also of one matrix by
/// itself: one of 128 takes it half of cuSOLVER's time.
const QR_ALONE: i32 = 128;

/// Up to how many rows and columns cuBLAS is faster where there are many matrices.
const QR_SMALL: i32 = 16;

/// Whether a kernel of our own makes the QR factorisations of all matrices, a block of threads each.
pub fn qr_in_blocks(shape: Matrices) -> bool {
    let larger = shape.rows.max(shape.cols);
    let most = if shape.count > 1 { 256 } else { QR_ALONE };
    larger <= most && enough(shape) && (larger > QR_SMALL || are_few(shape) || blocks_take_all())
}

/// How many groups of threads a warp is for QR factorisation, each of which has a column: some rows for
/// each thread.
pub fn qr_groups(shape: Matrices) -> usize {
    match shape.rows {
        ..=4 => 8,
        5..=32 => 4,
        33..=128 => 2,
        _ => 1,
    }
}

/// Warps of a block for QR factorisation: two columns for each group.
pub fn qr_warps(shape: Matrices) -> usize {
    let columns = usize::try_from(shape.cols).unwrap_or(0);
    columns.div_ceil(2 * qr_groups(shape)).clamp(1, WARPS)
}

/// How many numbers lie between two columns in shared memory, so that the groups of a warp ask different
/// banks of it: an odd multiple of the threads in a group.
pub fn qr_stride(shape: Matrices) -> usize {
    let rows = usize::try_from(shape.rows).unwrap_or(0);
    match qr_groups(shape) {
        1 => rows,
        groups => (rows.div_ceil(32 / groups) | 1) * (32 / groups),
    }
}

fn at_once(shape: Matrices) -> bool {
    let larger = shape.rows.max(shape.cols);
    shape.count > 1 && larger <= 1024 && enough(shape)
}

/// Whether there are enough matrices for their size, where each has one block of threads.
fn enough(shape: Matrices) -> bool {
    let larger = i64::from(shape.rows.max(shape.cols));
    larger
        <= i64::try_from(shape.count)
            .unwrap_or(i64::MAX)
            .saturating_mul(128)
}

/// Up to how many rows a warp has a column of Q in registers, as `q.cu` has it: then one launch of ours is faster for one
/// matrix, too.
const Q_IN_REGISTERS: i32 = 256;

/// Whether one launch of ours makes the columns of all Q.
pub fn columns_at_once(shape: Matrices) -> bool {
    shape.rows <= Q_IN_REGISTERS && shape.count >= 1 || at_once(shape)
}

/// Whether a thread makes a column then, and not a warp: it goes through the rows one by one.
pub fn columns_by_threads(shape: Matrices) -> bool {
    shape.rows <= 32
}

/// Warps of a block where a warp makes a column, as `q.cu` has it.
pub const COLUMN_WARPS: usize = 8;

/// Whether cuSOLVER factors all matrices at once by Cholesky's method.
pub fn cholesky_at_once(shape: Matrices) -> bool {
    shape.count > 1 && shape.rows <= 512
}

/// How many matrices of so many elements Jacobi's routines for batches are given at once. How much room
/// they want they say in 32 bits; by reports, it is some 1050 numbers for a matrix of 16.
pub fn jacobi_part(elements: usize) -> usize {
    let room = elements.saturating_mul(8).saturating_add(2048);
    (i32::MAX as usize / room).max(1)
}

/// Up to how many rows and columns `gesvdjBatched` works: its limit.
pub const SVD_AT_ONCE: i32 = 32;

/// Up to this rank singular values come from Jacobi's method, beyond by QR iteration.
pub const SVD_JACOBI: i32 = 1024;

/// Up to how many rows and columns a kernel of our own is faster than `gesvdjBatched`, in f32 and in f64.
const SVD_SMALL: [i32; 2] = [12, 24];

/// Whether a kernel of our own has the singular values of all matrices, a block of threads each: of small ones, and
/// where `gesvdjBatched` cannot, which has a limit and no thin form. `precision` is that of the elements
/// ([`crate::Element::PRECISION`]). 20 matrices of 256 take the kernel half of the time of cuSOLVER's routine for one.
pub fn svd_in_blocks(shape: Matrices, full: bool, precision: usize) -> bool {
    let larger = shape.rows.max(shape.cols);
    let rank = shape.rank() as usize;
    let instead = larger > SVD_AT_ONCE || larger <= SVD_SMALL[precision] || !full;
    shape.count > 1
        && (instead || blocks_take_all())
        && larger <= 1024
        && (1..=256).contains(&rank)
        && rank <= shape.count.saturating_mul(64)
}

/// Warps of a block for singular values: four pairs of columns each.
pub fn svd_warps(shape: Matrices) -> usize {
    (shape.rank() as usize).div_ceil(8).clamp(1, WARPS)
}

/// How many blocks there are for singular values or eigenvalues, where each works in so many bytes: more than run at
/// once, so long as that is not much memory.
pub fn blocks(count: usize, bytes: usize) -> usize {
    count.min(2048).min(((256 << 20) / bytes.max(1)).max(1))
}

/// The most warps in a block of our kernels: `WARPS` in `blocks.cu`.
const WARPS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Shapes around every limit above, and beyond what any machine has.
    fn shapes() -> impl Iterator<Item = Matrices> {
        const SIZES: [i32; 16] = [
            0,
            1,
            31,
            32,
            33,
            64,
            128,
            129,
            256,
            257,
            512,
            513,
            1024,
            1025,
            100_000,
            i32::MAX,
        ];
        const COUNTS: [usize; 9] = [0, 1, 2, 3, 7, 8, 64, 2049, usize::MAX];
        COUNTS.into_iter().flat_map(|count| {
            let shape = move |(rows, cols)| Matrices { count, rows, cols };
            SIZES
                .into_iter()
                .flat_map(|rows| SIZES.map(|cols| (rows, cols)))
                .map(shape)
        })
    }

    #[test]
    fn a_block_never_has_more_warps_than_it_may() {
        for shape in shapes() {
            for warps in [
                lu_warps(shape),
                qr_warps(shape),
                svd_warps(shape),
                eigh_warps(shape),
            ] {
                assert!((1..=WARPS).contains(&warps), "{shape:?}: {warps}");
            }
        }
        const { assert!(COLUMN_WARPS <= WARPS) }
    }

    /// One matrix is left to routines that use the whole device, and so are large ones.
    #[test]
    fn a_block_for_each_is_for_many_small_matrices() {
        for shape in shapes() {
            let larger = shape.rows.max(shape.cols);
            let batched = [
                lu_at_once(shape),
                qr_at_once(shape),
                svd_in_blocks(shape, true, 0),
                svd_in_blocks(shape, false, 1),
                eigh_in_blocks(shape),
            ];
            if shape.count <= 1 || larger > 1024 {
                assert_eq!(batched, [false; 5], "{shape:?}");
            }
            if cholesky_at_once(shape) {
                assert!(shape.count > 1 && shape.rows <= 512, "{shape:?}");
            }
            if shape.count <= 1 && columns_at_once(shape) {
                assert!(shape.rows <= Q_IN_REGISTERS, "{shape:?}");
            }
            if qr_in_blocks(shape) || eigh_in_blocks(shape) {
                assert!(larger <= 256, "{shape:?}");
            }
            if lu_in_blocks(shape, 0) {
                assert!(
                    larger <= if shape.count > 1 { 512 } else { 256 },
                    "{shape:?}"
                );
                assert!(lu_warps(shape) * 32 >= shape.rows as usize, "{shape:?}");
            }
        }
    }

    /// More matrices of a size do not turn it back.
    #[test]
    fn more_of_them_stay_in_blocks() {
        for shape in shapes().filter(|shape| shape.count > 1) {
            let more = Matrices {
                count: shape.count.saturating_mul(2),
                ..shape
            };
            let ways = |shape| {
                [
                    lu_at_once(shape),
                    lu_in_blocks(shape, 0),
                    qr_at_once(shape),
                    qr_in_blocks(shape),
                    svd_in_blocks(shape, false, 1),
                    eigh_in_blocks(shape),
                ]
            };
            for (one, two) in ways(shape).into_iter().zip(ways(more)) {
                assert!(two >= one, "{shape:?}");
            }
        }
    }

    /// Columns in shared memory do not overlap, and their beginnings are as many banks apart as a
    /// group has threads, so that those of a warp meet in none.
    #[test]
    fn groups_ask_different_banks() {
        for rows in 1..=256 {
            let shape = Matrices {
                count: 2,
                rows,
                cols: 7,
            };
            let (groups, stride) = (qr_groups(shape), qr_stride(shape));
            assert!(stride >= rows as usize && stride < rows as usize + 64 / groups);
            let banks = (0..groups)
                .flat_map(|group| (0..32 / groups).map(move |lane| (group * stride + lane) % 32));
            assert_eq!(banks.collect::<BTreeSet<_>>().len(), 32, "{rows}");
        }
    }

    /// What the libraries count in 32 bits.
    #[test]
    fn parts_of_a_batch_are_countable() {
        for rows in [1, 2, 32, 33, 100, 1024, 32_768, 46_340, 46_341, i32::MAX] {
            let elements = (rows as usize).pow(2);
            let part = eigh_part(rows);
            assert!(part <= 32_000 && part * elements <= i32::MAX as usize);
            assert_eq!(part == 0, elements > i32::MAX as usize);
            let part = jacobi_part(elements);
            assert!(part == 1 || part * (1050 + elements) <= i32::MAX as usize);
        }
    }

    /// What cuBLAS takes at once is square; what it does not take is not refused.
    #[test]
    fn cublas_gets_square_matrices() {
        for shape in shapes().filter(|shape| shape.rows != shape.cols) {
            assert!(!lu_at_once(shape), "{shape:?}");
        }
    }

    #[test]
    fn blocks_work_in_bounded_memory() {
        for count in [1, 2, 100, 5000] {
            for bytes in [0, 1, 1 << 10, 1 << 20, 1 << 28, 1 << 40] {
                let blocks = blocks(count, bytes);
                assert!((1..=count.min(2048)).contains(&blocks));
                assert!(blocks == 1 || blocks * bytes <= 256 << 20);
            }
        }
    }
}
