//! Copying n-dimensional arrays between memory orders.
//!
//! The host (`pjrt`, `convert`) transposes too, and changes element types on the way. This one copies
//! elements as they are, of any size, for other clients of the plugin, which ask for orders that the
//! host never asks for: the plugin knows nothing of the host, and the host's kernels are compiled for
//! pairs of types.

/// Elements per side of the blocks in which two crossing orders are copied: both sides of a block
/// of 8-byte elements stay in the first-level cache.
const BLOCK: usize = 32;

/// One dimension: how many elements, and the bytes between two of them on each side.
#[derive(Clone, Copy)]
struct Axis {
    size: usize,
    to: isize,
    from: isize,
}

/// Copies an array of `dims`, element by element of `element` bytes, between the given strides
/// (bytes from one element to the next along each dimension; may be negative or zero).
///
/// # Safety
/// Every element that strides and sizes reach from `to` is writable, from `from` readable, and no
/// written one overlaps a read one.
pub(crate) unsafe fn copy(
    to: *mut u8,
    to_strides: &[i64],
    from: *const u8,
    from_strides: &[i64],
    dims: &[i64],
    element: usize,
) {
    let mut axes: Vec<Axis> = Vec::with_capacity(dims.len());
    for ((&size, &to), &from) in dims.iter().zip(to_strides).zip(from_strides) {
        if size == 0 {
            return;
        }
        if size > 1 {
            axes.push(Axis {
                size: size as usize,
                to: to as isize,
                from: from as isize,
            });
        }
    }
    // SAFETY: by this function's contract; the sizes match the element types.
    unsafe {
        match element {
            1 => walk::<u8>(to, from, axes),
            2 => walk::<[u8; 2]>(to, from, axes),
            4 => walk::<[u8; 4]>(to, from, axes),
            8 => walk::<[u8; 8]>(to, from, axes),
            _ => walk::<[u8; 16]>(to, from, axes),
        }
    }
}

/// # Safety
/// As for [`copy`]; `T` is as large as an element and has alignment 1.
unsafe fn walk<T: Copy>(to: *mut u8, from: *const u8, mut axes: Vec<Axis>) {
    let size = std::mem::size_of::<T>() as isize;
    // Slowest written dimension first, so that the last one is written in order.
    axes.sort_unstable_by_key(|a| std::cmp::Reverse(a.to.unsigned_abs()));
    // Dimensions that lie one within the next on both sides are one dimension.
    let mut merged: Vec<Axis> = Vec::with_capacity(axes.len());
    for axis in axes {
        match merged.last_mut() {
            Some(outer)
                if outer.to == axis.to * axis.size as isize
                    && outer.from == axis.from * axis.size as isize =>
            {
                *outer = Axis {
                    size: outer.size * axis.size,
                    ..axis
                };
            }
            _ => merged.push(axis),
        }
    }
    let Some(row) = merged.pop() else {
        // SAFETY: one element, by the caller's contract.
        unsafe { to.cast::<T>().write(from.cast::<T>().read()) };
        return;
    };
    if row.to == size && row.from == size {
        // SAFETY: `row.size` elements in order on both sides, by the caller's contract.
        return unsafe {
            each(to, from, &merged, &mut |to, from| {
                std::ptr::copy_nonoverlapping(from, to, row.size * size as usize);
            });
        };
    }
    // The dimension that is read in order is the partner of the one that is written in order.
    let partner = merged
        .iter()
        .enumerate()
        .filter(|(_, a)| a.from.unsigned_abs() < row.from.unsigned_abs())
        .min_by_key(|(_, a)| a.from.unsigned_abs())
        .map(|(i, _)| i);
    let column = partner.map_or(
        Axis {
            size: 1,
            to: 0,
            from: 0,
        },
        |i| merged.remove(i),
    );
    // SAFETY: the offsets stay within the array, by the caller's contract.
    unsafe {
        each(to, from, &merged, &mut |to, from| {
            plane::<T>(to, from, column, row)
        })
    };
}

/// Calls `body` at every point that the axes span.
///
/// # Safety
/// As for [`copy`].
unsafe fn each(
    to: *mut u8,
    from: *const u8,
    axes: &[Axis],
    body: &mut dyn FnMut(*mut u8, *const u8),
) {
    let Some((axis, inner)) = axes.split_first() else {
        return body(to, from);
    };
    for i in 0..axis.size as isize {
        // SAFETY: the offsets stay within the array, by the caller's contract.
        unsafe {
            each(
                to.offset(i * axis.to),
                from.offset(i * axis.from),
                inner,
                body,
            )
        };
    }
}

/// Copies a plane in blocks.
///
/// # Safety
/// As for [`walk`].
unsafe fn plane<T: Copy>(to: *mut u8, from: *const u8, column: Axis, row: Axis) {
    for c in (0..column.size).step_by(BLOCK) {
        let columns = BLOCK.min(column.size - c);
        for r in (0..row.size).step_by(BLOCK) {
            let rows = BLOCK.min(row.size - r);
            let (c, r) = (c as isize, r as isize);
            // SAFETY: the block begins within the plane, and its sizes end there; `T` needs no
            // alignment.
            unsafe {
                let to = to.offset(c * column.to + r * row.to);
                let from = from.offset(c * column.from + r * row.from);
                if columns == BLOCK && rows == BLOCK {
                    block::<T>(to, from, column, row, BLOCK, BLOCK);
                } else {
                    block::<T>(to, from, column, row, columns, rows);
                }
            }
        }
    }
}

/// Copies one block; inlined, so that the whole blocks know their size.
///
/// # Safety
/// As for [`walk`].
#[inline(always)]
unsafe fn block<T: Copy>(
    to: *mut u8,
    from: *const u8,
    column: Axis,
    row: Axis,
    columns: usize,
    rows: usize,
) {
    for i in 0..columns as isize {
        for j in 0..rows as isize {
            // SAFETY: by this function's contract.
            unsafe {
                to.offset(i * column.to + j * row.to).cast::<T>().write(
                    from.offset(i * column.from + j * row.from)
                        .cast::<T>()
                        .read(),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies an array of consecutive numbers from one order to another, the slow way.
    fn expected(dims: &[i64], to: &[i64], from: &[i64], cells: &[u32], out: usize) -> Vec<u32> {
        let mut result = vec![0; out];
        let count: i64 = dims.iter().product();
        for n in 0..count {
            let (mut rest, mut t, mut f) = (n, 0, 0);
            for (d, &size) in dims.iter().enumerate().rev() {
                let index = rest % size;
                rest /= size;
                t += index * to[d];
                f += index * from[d];
            }
            result[t as usize / 4] = cells[f as usize / 4];
        }
        result
    }

    fn dense(dims: &[i64], order: &[usize]) -> Vec<i64> {
        let mut strides = vec![0; dims.len()];
        let mut step = 4;
        for &d in order {
            strides[d] = step;
            step *= dims[d];
        }
        strides
    }

    #[test]
    fn every_pair_of_orders() {
        let dims = [3, 37, 5, 33];
        let cells: Vec<u32> = (0..3 * 37 * 5 * 33).collect();
        let orders = [
            [3, 2, 1, 0],
            [0, 1, 2, 3],
            [2, 3, 0, 1],
            [1, 3, 0, 2],
            [3, 0, 2, 1],
            [0, 3, 1, 2],
        ];
        for a in orders {
            for b in orders {
                let (to, from) = (dense(&dims, &a), dense(&dims, &b));
                let mut got = vec![0u32; cells.len()];
                // SAFETY: dense strides over buffers of the array's size.
                unsafe {
                    copy(
                        got.as_mut_ptr().cast(),
                        &to,
                        cells.as_ptr().cast(),
                        &from,
                        &dims,
                        4,
                    );
                }
                assert_eq!(
                    got,
                    expected(&dims, &to, &from, &cells, cells.len()),
                    "{a:?} {b:?}"
                );
            }
        }
    }

    #[test]
    fn backwards_broadcast_scalar_and_empty() {
        let cells = [1u32, 2, 3, 4, 5, 6];
        let mut got = [0u32; 6];
        // SAFETY: the reversed rows start at the last one; the reach is the array.
        unsafe {
            let last = cells.as_ptr().add(3).cast();
            copy(
                got.as_mut_ptr().cast(),
                &[12, 4],
                last,
                &[-12, 4],
                &[2, 3],
                4,
            );
        }
        assert_eq!(got, [4, 5, 6, 1, 2, 3]);
        // SAFETY: a stride of zero reads the same element again.
        unsafe {
            copy(
                got.as_mut_ptr().cast(),
                &[12, 4],
                cells.as_ptr().cast(),
                &[0, 4],
                &[2, 3],
                4,
            )
        };
        assert_eq!(got, [1, 2, 3, 1, 2, 3]);
        // SAFETY: one element; then none.
        unsafe {
            copy(
                got.as_mut_ptr().cast(),
                &[],
                cells[5..].as_ptr().cast(),
                &[],
                &[],
                4,
            );
            copy(
                std::ptr::null_mut(),
                &[4, 4],
                std::ptr::null(),
                &[4, 4],
                &[0, 7],
                4,
            );
        }
        assert_eq!(got[0], 6);
    }

    #[test]
    fn every_element_size() {
        for size in [1usize, 2, 4, 8, 16] {
            let cells: Vec<u8> = (0..6 * size).map(|i| i as u8).collect();
            let mut got = vec![0u8; cells.len()];
            let s = size as i64;
            // SAFETY: a 2×3 array in either order fills the buffers.
            unsafe {
                copy(
                    got.as_mut_ptr(),
                    &[3 * s, s],
                    cells.as_ptr(),
                    &[s, 2 * s],
                    &[2, 3],
                    size,
                );
            }
            let want: Vec<u8> = [0, 2, 4, 1, 3, 5]
                .iter()
                .flat_map(|&i| cells[i * size..][..size].to_vec())
                .collect();
            assert_eq!(got, want);
        }
    }
}
