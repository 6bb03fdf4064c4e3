//! What compiled programs keep for their calls, where XLA lets them.

use core::ffi::c_void;
use core::ptr;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use xla_ffi::{Attrs, Context, Result};

use crate::call::attributes::{all_bytes, Decoded};
use crate::call::cache::{CallCache, Kept};
use crate::call::states::States;
use crate::op::CustomOp;

/// What a program keeps for a call: the op that it means, its state, and what its first call was
/// like. Calls that mean the same share it, in all programs, unless the op has state: what each place
/// has for itself is no longer in the processor's cache when its turn comes.
#[repr(C, align(64))]
pub(crate) struct Program {
    /// First, as it is all that most calls need.
    pub(crate) calls: CallCache,
    /// Whether the call says which op it means.
    pub(crate) marked: bool,
    pub(crate) attributes: Decoded,
    // Before the op, which keeps the library of what frees them.
    states: States,
    /// By what it is found, if it is shared.
    key: Option<Key>,
    pub(crate) op: Arc<CustomOp>,
}

// SAFETY: the addresses in it are of what it keeps itself and nobody writes, and of the op's state,
// whose functions may be called from any thread.
unsafe impl Send for Program {}
// SAFETY: as above.
unsafe impl Sync for Program {}

/// Whether some program ever kept an op: there are hosts that cannot.
static ARE_KEPT: AtomicBool = AtomicBool::new(false);

impl Program {
    /// For a call with these attributes, which say which op it means if it is `marked`.
    pub(crate) fn of_call(
        op: Arc<CustomOp>,
        attributes: &Attrs<'_>,
        marked: bool,
    ) -> Result<Arc<Program>> {
        let mut decoded = Decoded::default();
        op.interface.decode(attributes, marked, &mut decoded)?;
        ARE_KEPT.store(true, Ordering::Relaxed);
        if op.instances.iter().any(|instance| instance.init.is_some()) {
            let program = Program::new(op, decoded, marked, None);
            if program.op.instances.len() == 1 {
                // Of several the call's element types will tell.
                program.state(0)?;
            }
            return Ok(Arc::new(program));
        }
        let mut key = all_bytes(&op.signature().attributes, &decoded);
        key.extend(decoded.batch_axes.to_ne_bytes());
        key.push(u8::from(marked));
        let key = (Arc::as_ptr(&op) as usize, key);
        Ok(shared(key, |key| {
            Program::new(op, decoded, marked, Some(key))
        }))
    }

    fn new(op: Arc<CustomOp>, mut attributes: Decoded, marked: bool, key: Option<Key>) -> Program {
        attributes.keep(&op.signature().attributes);
        Program {
            calls: CallCache::default(),
            marked,
            attributes,
            states: States::default(),
            key,
            op,
        }
    }

    /// What the program keeps for this call.
    #[inline]
    pub(crate) fn of<'f>(context: &Context<'f>) -> Option<&'f Program> {
        match ARE_KEPT.load(Ordering::Relaxed) {
            true => context.state::<Program>().ok(),
            false => None,
        }
    }

    /// Whether the call means the op that the program keeps, where `current` is the name's now.
    #[inline]
    pub(crate) fn is_meant(&self, current: impl FnOnce() -> *const CustomOp) -> bool {
        let first = self.calls.first();
        let marked = first.map_or(self.marked, |call| call.marked);
        marked || ptr::eq(current(), &*self.op)
    }

    /// What its calls are made with.
    pub(crate) fn kept(&self) -> Kept<'_> {
        Kept {
            interface: &self.op.interface,
            instances: &self.op.instances,
            attributes: &self.attributes,
        }
    }

    /// The state of the op for that instance. It lives as long as the program does.
    pub(crate) fn state(&self, instance: usize) -> Result<*mut c_void> {
        let (signature, instances) = (self.op.signature(), &self.op.instances);
        self.states
            .get(signature, instances, instance, Vec::new, &self.attributes)
    }
}

/// An op's address, and all that a call's attributes are.
type Key = (usize, Vec<u8>);

/// What programs share. Each keeps its op, whose address is nobody else's as long as it is here.
static SHARED: Mutex<Option<HashMap<Key, Weak<Program>>>> = Mutex::new(None);

/// What calls share whose op and attributes are those, made if it is not there.
fn shared(key: Key, make: impl FnOnce(Key) -> Program) -> Arc<Program> {
    // Dropped after the lock: it may be the last reference by now.
    let crowded;
    let mut known = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let all = known.get_or_insert_with(HashMap::new);
    match all.get(&key).and_then(Weak::upgrade) {
        Some(program) if program.calls.takes_more() => return program,
        found => crowded = found,
    }
    let program = Arc::new(make(key.clone()));
    all.insert(key, Arc::downgrade(&program));
    drop(known);
    drop(crowded);
    program
}

impl Drop for Program {
    fn drop(&mut self) {
        let Some(key) = &self.key else { return };
        let mut known = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let all = known.get_or_insert_with(HashMap::new);
        // Another one may have taken its place.
        if all
            .get(key)
            .is_some_and(|program| program.strong_count() == 0)
        {
            all.remove(key);
        }
    }
}
