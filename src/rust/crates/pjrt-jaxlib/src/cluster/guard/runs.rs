//! The runs that handlers find by their ids.

use crate::run::state::Run;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::SystemTime;

static RUNS: RwLock<BTreeMap<i64, Arc<Run>>> = RwLock::new(BTreeMap::new());

/// A run that handlers find by its id.
pub(crate) struct Registered(i32);

impl Registered {
    /// Gives the run an id, which no other has in this process: devices find each other by it, of whatever client.
    pub fn new(run: &Arc<Run>) -> Self {
        static NEXT: OnceLock<AtomicI32> = OnceLock::new();
        let next = NEXT.get_or_init(|| {
            // Runs of another library in this process count from elsewhere.
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            AtomicI32::new(now.map_or(0, |now| now.subsec_nanos() as i32))
        });
        // XLA takes 0 for none.
        let mut ids = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed) & i32::MAX);
        let id = ids.find(|id| *id != 0).unwrap_or(1);
        let mut runs = RUNS.write().unwrap_or_else(PoisonError::into_inner);
        runs.insert(id.into(), Arc::clone(run));
        Self(id)
    }

    pub fn id(&self) -> i64 {
        self.0.into()
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut runs = RUNS.write().unwrap_or_else(PoisonError::into_inner);
        let run = runs.remove(&self.id());
        drop(runs);
        drop(run);
    }
}

/// The run with the id that `ask` gives, which is asked where there is any run.
pub(super) fn find(ask: impl FnOnce() -> Option<i64>) -> Option<Arc<Run>> {
    let runs = || RUNS.read().unwrap_or_else(PoisonError::into_inner);
    let any = !runs().is_empty();
    let id = any.then(ask).flatten()?;
    let runs = runs();
    runs.get(&id).cloned()
}
