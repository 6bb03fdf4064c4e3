//! Memory between pages that the processor refuses to touch.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::slice;

/// Whole pages, with such a page before and one behind.
pub(super) struct Pages {
    mapping: NonNull<u8>,
    page: usize,
    /// Bytes between the two.
    size: usize,
}

// SAFETY: it is the only way to its memory.
unsafe impl Send for Pages {}

impl Pages {
    /// Room for `size` bytes; `None` where the system has none.
    pub(super) fn new(size: usize) -> Option<Self> {
        let page = Pages::bytes_of_one()?;
        let size = size.max(1).checked_next_multiple_of(page)?;
        // SAFETY: a new mapping, of which the middle is then opened.
        let mapping = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
            let address = libc::mmap(
                ptr::null_mut(),
                size.checked_add(2 * page)?,
                libc::PROT_NONE,
                flags,
                -1,
                0,
            );
            if address == libc::MAP_FAILED {
                return None;
            }
            NonNull::new(address.cast::<u8>())?
        };
        let pages = Pages {
            mapping,
            page,
            size,
        };
        // SAFETY: whole pages of this mapping.
        let opened = unsafe {
            let middle = mapping.as_ptr().add(page).cast::<c_void>();
            libc::mprotect(middle, size, libc::PROT_READ | libc::PROT_WRITE)
        };
        (opened == 0).then_some(pages)
    }

    /// What their memory is aligned to.
    pub(super) fn bytes_of_one() -> Option<usize> {
        // SAFETY: it only asks.
        usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: `size` bytes that can be read, from the second page on.
        unsafe { slice::from_raw_parts(self.mapping.as_ptr().add(self.page), self.size) }
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and they can be written; `self` is the only way to them.
        unsafe { slice::from_raw_parts_mut(self.mapping.as_ptr().add(self.page), self.size) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, which nobody uses any more.
        unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.size + 2 * self.page) };
    }
}
