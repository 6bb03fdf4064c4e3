//! Room for the text of a body's error.

use core::ffi::{c_char, CStr};

use xla_ffi::{Code, Error, Result};

const SIZE: usize = 1024;

pub(crate) struct Message([u8; SIZE]);

impl Default for Message {
    fn default() -> Self {
        Message([0; SIZE])
    }
}

impl Message {
    /// Where a body writes, and how much there is; empty to begin with.
    pub(crate) fn room(&mut self) -> (*mut c_char, usize) {
        self.0[0] = 0;
        (self.0.as_mut_ptr().cast(), SIZE)
    }

    /// What a body's code means.
    #[inline]
    pub(crate) fn outcome(&self, code: i32) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        Err(self.error(code))
    }

    #[cold]
    fn error(&self, code: i32) -> Error {
        let text = CStr::from_bytes_until_nul(&self.0).map(CStr::to_string_lossy);
        let text = text.unwrap_or_else(|_| String::from_utf8_lossy(&self.0));
        let text = match text.is_empty() {
            true => format!("the body failed with code {code}"),
            false => text.into_owned(),
        };
        Error::new(Code::from_raw(code), text)
    }
}
