//! The memory that kernels work in: one piece per thread, kept from call to call.

use super::lanes::Lanes;
use std::cell::RefCell;

/// There is no memory for so many bytes to work in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory {
    /// How many were asked for.
    pub bytes: usize,
}

/// What a vector register holds at most, aligned like it.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Line([u8; 64]);

impl Line {
    /// The first `len` vectors that fit in the memory of `lines`; each holds some numbers. This is where
    /// vectors come from, and so where it is shown that the processor has them.
    ///
    /// # Panics
    /// They do not fit.
    #[inline(always)]
    pub(crate) fn lanes<V: Lanes>(_: V::Proof, lines: &mut [Line], len: usize) -> &mut [V] {
        // SAFETY: the proof.
        unsafe { Line::cast(lines, len) }
    }

    /// As [`lanes`](Line::lanes): who has a vector has shown that the processor has such.
    pub(crate) fn like<V: Lanes>(_: V, lines: &mut [Line], len: usize) -> &mut [V] {
        // SAFETY: there is a vector.
        unsafe { Line::cast(lines, len) }
    }

    /// # Safety
    /// The processor has such vectors.
    #[inline(always)]
    unsafe fn cast<V: Lanes>(lines: &mut [Line], len: usize) -> &mut [V] {
        const {
            assert!(size_of::<V>() <= size_of::<Line>() && align_of::<V>() <= align_of::<Line>());
            assert!(size_of::<V>() == V::WIDTH * size_of::<V::Float>());
        }
        assert!(len <= size_of_val(lines) / size_of::<V>());
        // SAFETY: the lines are at least as large as `len` lanes, aligned for them, and
        // initialised; any bits are a number.
        unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), len) }
    }
}

/// Lines that a thread keeps, two megabytes: the first touch of new memory costs more than some columns' factorisation.
const KEPT: usize = 32768;

thread_local! {
    // Freed when the thread ends.
    static LINES: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
}

/// Calls `f` with `len` lines of this thread.
///
/// # Errors
/// There is no memory for them.
pub(crate) fn with_lines<R>(len: usize, f: impl FnOnce(&mut [Line]) -> R) -> Result<R, NoMemory> {
    let take = |lines: &RefCell<Vec<Line>>| lines.take();
    let mut lines = LINES.try_with(take).unwrap_or_default();
    if lines.len() < len {
        let more = lines.try_reserve_exact(len - lines.len());
        more.map_err(|_| NoMemory {
            bytes: len.saturating_mul(size_of::<Line>()),
        })?;
        lines.resize(len, Line([0; 64]));
    }
    let result = f(&mut lines[..len]);
    if lines.len() <= KEPT {
        // A thread that is about to end keeps nothing.
        let _ = LINES.try_with(|kept| kept.replace(lines));
    }
    Ok(result)
}
