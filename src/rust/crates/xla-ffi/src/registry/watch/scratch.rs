//! Scratch memory of handlers under check, between zones as operands are.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::deferred;
use super::scratch_source::{ScratchSource, Spoilt};
use super::zone::{Zone, ALIGNMENT};
use crate::dims::{byte_len, element_count};
use crate::error::{Code, Error, Result};
use crate::DataType;

/// Scratch memory of a handler that is being checked: every byte of it is set, another one in each
/// run, and what is written beside it is found when it is dropped.
pub struct CheckedScratch {
    // Taken out on drop only.
    memory: Option<Spoilt>,
    source: Arc<ScratchSource>,
}

impl CheckedScratch {
    /// An array of scratch memory, aligned to 64 bytes or more; `None` where this thread runs no
    /// handler under check. `index` is its place among those that the handler declares, if it does.
    ///
    /// # Errors
    /// [`Code::ResourceExhausted`]: there is no memory for it.
    pub fn new(
        index: Option<usize>,
        dtype: DataType,
        dims: Vec<i64>,
        align: usize,
    ) -> Result<Option<Self>> {
        let Some(source) = deferred::source() else {
            return Ok(None);
        };
        let taken = source.taken.fetch_add(1, Ordering::Relaxed);
        let size = element_count(&dims).and_then(|len| byte_len(dtype, len));
        let zone =
            size.and_then(|size| Zone::new(size, source.fill, source.place, align.max(ALIGNMENT)));
        let zone = zone.ok_or_else(|| {
            Error::new(
                Code::ResourceExhausted,
                "no scratch memory to check a call in",
            )
        })?;
        let memory = Some(Spoilt {
            index: index.unwrap_or(taken),
            dtype,
            dims,
            zone,
        });
        Ok(Some(CheckedScratch { memory, source }))
    }

    /// The first byte.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        let memory = self.memory.as_mut();
        memory.map_or(std::ptr::null_mut(), |memory| memory.zone.address())
    }
}

impl Drop for CheckedScratch {
    fn drop(&mut self) {
        let spoilt = self
            .memory
            .take()
            .filter(|memory| memory.zone.before().or(memory.zone.behind()).is_some());
        if let Some(spoilt) = spoilt {
            let all = &self.source.spoilt;
            all.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(spoilt);
        }
    }
}

impl std::fmt::Debug for CheckedScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckedScratch").finish_non_exhaustive()
    }
}
