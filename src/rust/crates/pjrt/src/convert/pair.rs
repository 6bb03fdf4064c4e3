//! What the loops need to know of a pair of types: how a run is converted and how tiles are
//! transposed. Only this is compiled for each pair.

use super::scalar::Cast;
use super::types::for_size;
use std::any::TypeId;

/// Rows and columns of the tiles that are transposed at once: with 8-byte elements a row is a
/// cache line.
pub(super) const TILE: usize = 8;

/// Converts a run of that many elements, each a number of bytes behind the one before.
type Run = unsafe fn(from: *const u8, step: isize, to: *mut u8, to_step: isize, len: usize);

/// What the loops need to know of two types.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// Bytes of an element in the source.
    pub from: usize,
    /// Bytes of an element in the destination.
    pub to: usize,
    /// Converts elements of a run, which may have strides.
    pub run: Run,
    /// Transposes a column of that many tiles, whose runs lie `step` bytes apart.
    pub tiles: Run,
    /// Whether `tiles` converts too; otherwise its tiles have the destination's type.
    pub direct: bool,
    /// Whether both types are the same, so that a run is copied.
    pub plain: bool,
}

impl Pair {
    pub(super) fn of<S: Cast<D> + 'static, D: Copy + 'static>() -> Self {
        Pair {
            from: size_of::<S>(),
            to: size_of::<D>(),
            run: run::<S, D>,
            tiles: if S::OFTEN {
                tiles::<S, D>
            } else {
                for_size!(size_of::<D>(), T => tiles::<T, T>)
            },
            direct: S::OFTEN || TypeId::of::<S>() == TypeId::of::<D>(),
            plain: TypeId::of::<S>() == TypeId::of::<D>(),
        }
    }

    /// Converts a run.
    ///
    /// # Safety
    /// `len` elements are inside either memory.
    pub(super) unsafe fn line(&self, from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { (self.run)(from, self.from as isize, to, self.to as isize, len) };
    }
}

/// # Safety
/// As [`Run`], with elements of type `S` and `D`.
unsafe fn run<S: Cast<D>, D: Copy>(
    from: *const u8,
    step: isize,
    to: *mut u8,
    to_step: isize,
    len: usize,
) {
    let (from, to) = (from.cast::<S>(), to.cast::<D>());
    if step == size_of::<S>() as isize && to_step == size_of::<D>() as isize {
        for i in 0..len {
            // SAFETY: the caller's promise.
            unsafe {
                to.add(i)
                    .write_unaligned(from.add(i).read_unaligned().cast())
            };
        }
        return;
    }
    for i in 0..len as isize {
        // SAFETY: the caller's promise.
        unsafe {
            let x = from.byte_offset(i * step).read_unaligned();
            to.byte_offset(i * to_step).write_unaligned(x.cast());
        }
    }
}

/// # Safety
/// `TILE` runs of that many tiles' rows, the given number of bytes apart, are inside either memory.
unsafe fn tiles<S: Cast<D>, D: Copy>(
    from: *const u8,
    step: isize,
    to: *mut u8,
    to_step: isize,
    count: usize,
) {
    let (from, to) = (from.cast::<S>(), to.cast::<D>());
    for tile in 0..count {
        let first = (tile * TILE) as isize;
        for i in first..first + TILE as isize {
            for j in 0..TILE as isize {
                // SAFETY: the caller's promise.
                unsafe {
                    let x = from.offset(i).byte_offset(j * step).read_unaligned();
                    to.offset(j)
                        .byte_offset(i * to_step)
                        .write_unaligned(x.cast());
                }
            }
        }
    }
}
