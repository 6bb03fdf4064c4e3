//! Where scratch memory of handlers under check comes from.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use super::plan::Plan;
use super::zone::{Place, Zone};
use crate::DataType;

/// Where the scratch memory of one run comes from, on all of its threads.
pub(super) struct ScratchSource {
    pub(super) place: Place,
    pub(super) fill: [u8; 3],
    pub(super) taken: AtomicUsize,
    pub(super) spoilt: Mutex<Vec<Spoilt>>,
}

/// Scratch memory beside which something was written.
pub(super) struct Spoilt {
    pub(super) index: usize,
    pub(super) dtype: DataType,
    pub(super) dims: Vec<i64>,
    pub(super) zone: Zone,
}

impl ScratchSource {
    /// `array`: its number among the arrays of the call.
    pub(super) fn new(plan: Plan, array: usize) -> Arc<Self> {
        Arc::new(ScratchSource {
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
