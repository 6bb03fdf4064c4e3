//! Where a body writes the text of its error.

use core::ffi::{c_char, CStr};
use core::mem::MaybeUninit;

use xla_ffi::{Code, Error, Result};

const SIZE: usize = 1024;

pub(crate) struct Message([MaybeUninit<u8>; SIZE]);

impl Default for Message {
    #[inline]
    fn default() -> Self {
        Message([MaybeUninit::uninit(); SIZE])
    }
}

impl Message {
    /// Where a body writes, and how much there is; empty to begin with.
    #[inline]
    pub(crate) fn buffer(&mut self) -> (*mut c_char, usize) {
        self.0[0].write(0);
        // Whatever the body writes ends there.
        self.0[SIZE - 1].write(0);
        (self.0.as_mut_ptr().cast(), SIZE)
    }

    /// What the code means of a body that was given the room.
    ///
    /// # Safety
    /// The body left the text alone or wrote one that ends in NUL.
    #[inline]
    pub(crate) unsafe fn outcome(&self, code: i32) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: by contract.
        Err(unsafe { self.error(code) })
    }

    /// # Safety
    /// As [`outcome`](Self::outcome).
    #[cold]
    unsafe fn error(&self, code: i32) -> Error {
        // SAFETY: by contract the bytes up to a NUL were written.
        let text = unsafe { CStr::from_ptr(self.0.as_ptr().cast()) }.to_string_lossy();
        let text = match text.is_empty() {
            true => format!("the body failed with code {code}"),
            false => text.into_owned(),
        };
        Error::new(Code::from_raw(code), text)
    }
}
