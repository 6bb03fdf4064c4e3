//! Host memory for transfers: aligned as XLA wants it, and kept for reuse within bounds, because
//! fresh memory costs more than filling it (every page of it faults once).

use crate::error::{Code, Error, Kind, Result};
use std::alloc::{alloc, dealloc, Layout};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// XLA's CPU client takes memory over without a copy only if it is aligned to this.
const ALIGN: usize = 64;
/// Huge pages' size; blocks from here on are aligned to it.
const HUGE: usize = 2 << 20;
/// Smaller blocks are left to the allocator, which is fast at them.
const POOLED: usize = 64 << 10;
/// Bytes kept at most.
const KEPT: usize = 64 << 20;

/// A block of uninitialised memory, at least one byte long. Goes back to the pool when dropped, where nothing else is said.
pub(crate) struct Block {
    data: NonNull<u8>,
    layout: Layout,
    /// Whether it goes back to the pool.
    is_pooled: bool,
}

// SAFETY: a block is memory that nobody else has.
unsafe impl Send for Block {}

#[derive(Default)]
struct Pool {
    blocks: Vec<Block>,
    bytes: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    blocks: Vec::new(),
    bytes: 0,
});

/// A block of at least `bytes` bytes.
///
/// # Errors
/// `RESOURCE_EXHAUSTED` where there is not so much memory.
pub(crate) fn take(bytes: usize) -> Result<Block> {
    if bytes >= POOLED {
        let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        // The best fit, as long as not more than half of it would lie idle.
        let found = (0..pool.blocks.len())
            .filter(|&i| (bytes..=bytes.saturating_mul(2)).contains(&pool.blocks[i].layout.size()))
            .min_by_key(|&i| pool.blocks[i].layout.size());
        if let Some(i) = found {
            let block = pool.blocks.swap_remove(i);
            pool.bytes -= block.layout.size();
            return Ok(block);
        }
    }
    Block::new(bytes)
}

impl Block {
    fn new(bytes: usize) -> Result<Self> {
        let exhausted = || {
            Error::new(
                Kind::Memory,
                Code::RESOURCE_EXHAUSTED,
                format!("{bytes} bytes of host memory cannot be allocated"),
            )
        };
        let align = if bytes >= HUGE { HUGE } else { ALIGN };
        let layout = Layout::from_size_align(bytes.max(1), align)
            .map_err(|_| exhausted())?
            .pad_to_align();
        // SAFETY: the layout's size is not 0.
        let data = NonNull::new(unsafe { alloc(layout) }).ok_or_else(exhausted)?;
        advise_huge(data.as_ptr(), layout.size());
        Ok(Self {
            data,
            layout,
            is_pooled: true,
        })
    }

    /// The same, to be given back to the system when it is dropped.
    pub(crate) fn not_pooled(mut self) -> Self {
        self.is_pooled = false;
        self
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.data.as_ptr()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let size = self.layout.size();
        if self.is_pooled && (POOLED..=KEPT).contains(&size) {
            let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
            if pool.bytes + size <= KEPT {
                pool.bytes += size;
                let block = Block {
                    data: self.data,
                    layout: self.layout,
                    is_pooled: true,
                };
                pool.blocks.push(block);
                return;
            }
        }
        if !self.is_pooled {
            let_go(self.data.as_ptr(), size);
        }
        // SAFETY: allocated with this layout, and nobody else has it.
        unsafe { dealloc(self.data.as_ptr(), self.layout) };
    }
}

/// Asks for huge pages in memory that is about to be filled for the first time: one fault per
/// 2 MiB instead of 512. A hint, so that failure is harmless; the contents are left alone.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn advise_huge(data: *mut u8, size: usize) {
    let skipped = data.align_offset(HUGE);
    let inside = size.saturating_sub(skipped) / HUGE * HUGE;
    if inside > 0 {
        // SAFETY: whole huge pages inside the caller's memory; the advice changes no contents.
        unsafe { libc::madvise(data.add(skipped).cast(), inside, libc::MADV_HUGEPAGE) };
    }
}

/// Gives the pages of memory that is about to be freed back to the system now: the allocator keeps some of it, however much.
#[cfg(all(target_os = "linux", not(miri)))]
fn let_go(data: *mut u8, size: usize) {
    /// The largest pages that processors of today have by default.
    const PAGE: usize = 64 << 10;
    let skipped = data.align_offset(PAGE);
    let inside = size.saturating_sub(skipped) / PAGE * PAGE;
    if inside > 0 {
        // SAFETY: whole pages inside the caller's memory, whose contents nobody needs any more.
        unsafe { libc::madvise(data.add(skipped).cast(), inside, libc::MADV_DONTNEED) };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn let_go(_data: *mut u8, _size: usize) {}

#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) fn advise_huge(_data: *mut u8, _size: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_reused() {
        for bytes in [0, 1, 63, 64, 4097, POOLED, HUGE, HUGE + 1] {
            let block = take(bytes).unwrap();
            assert_eq!(block.as_ptr() as usize % ALIGN, 0);
            assert!(block.layout.size() >= bytes);
            // SAFETY: the block is that long.
            unsafe { block.as_ptr().write_bytes(1, bytes) };
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri ends where memory does, and no allocation fails")]
    fn absurd_sizes_are_errors() {
        for bytes in [usize::MAX, isize::MAX as usize, 1 << 60] {
            let error = take(bytes).err().unwrap();
            assert_eq!(error.code(), Code::RESOURCE_EXHAUSTED);
        }
    }

    #[test]
    fn the_pool_is_bounded() {
        let blocks: Vec<_> = (0..20).map(|_| take(8 << 20).unwrap()).collect();
        drop(blocks);
        let pool = POOL.lock().unwrap();
        assert!(pool.bytes <= KEPT);
        assert_eq!(
            pool.bytes,
            pool.blocks.iter().map(|b| b.layout.size()).sum::<usize>()
        );
    }
}
