//! Scratch memory of handlers under check, between zones as operands are.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::later;
use super::run::Plan;
use super::zone::{Place, Zone, ALIGNMENT};
use crate::dims::{byte_len, element_count};
use crate::error::{Code, Error, Result};
use crate::DataType;

/// Where the scratch memory of one run comes from, on all of its threads.
pub(super) struct Ground {
    place: Place,
    fill: [u8; 3],
    taken: AtomicUsize,
    spoilt: Mutex<Vec<Spoilt>>,
}

/// Scratch memory beside which something was written.
pub(super) struct Spoilt {
    pub(super) index: usize,
    pub(super) dtype: DataType,
    pub(super) dims: Vec<i64>,
    pub(super) zone: Zone,
}

impl Ground {
    /// `array`: its number among the arrays of the call.
    pub(super) fn new(plan: Plan, array: usize) -> Arc<Self> {
        Arc::new(Ground {
            place: match plan.place {
                Place::LeastAligned => Place::Aligned,
                place => place,
            },
            fill: plan.fill.array(array),
            taken: AtomicUsize::new(0),
            spoilt: Mutex::default(),
        })
    }

    /// What was given back since the last time with something written beside it.
    pub(super) fn spoilt(&self) -> Vec<Spoilt> {
        let mut spoilt = self.spoilt.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = std::mem::take(&mut *spoilt);
        all.sort_by_key(|one| one.index);
        all
    }
}

/// Scratch memory of a handler that is being checked: every byte of it is set, another one in each
/// run, and what is written beside it is found when it is dropped.
pub struct CheckedScratch {
    // Taken out on drop only.
    memory: Option<Spoilt>,
    ground: Arc<Ground>,
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
        let Some(ground) = later::ground() else {
            return Ok(None);
        };
        let taken = ground.taken.fetch_add(1, Ordering::Relaxed);
        let size = element_count(&dims).and_then(|len| byte_len(dtype, len));
        let zone =
            size.and_then(|size| Zone::new(size, ground.fill, ground.place, align.max(ALIGNMENT)));
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
        Ok(Some(CheckedScratch { memory, ground }))
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
            let all = &self.ground.spoilt;
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
