//! What ops keep: a compiled program for each of its calls, where XLA lets it, or the op itself.

use core::ffi::c_void;
use core::ptr;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use xla_ffi::{Attrs, Context, Result};

use crate::abi;
use crate::attributes::{bytes_of, Decoded};
use crate::message::Message;
use crate::op::OwnOp;
use crate::signature::{AttributeKind, Dim};
use crate::sites::Sites;

/// What a program keeps for a call: the op that it means, its state, and what its first call was
/// like. Calls that mean the same share it, in all programs, unless the op has state: what each place
/// has for itself is no longer in the processor's cache when its turn comes.
#[repr(C, align(64))]
pub(crate) struct Program {
    /// First, as it is all that most calls need.
    pub(crate) sites: Sites,
    /// Whether the call says which op it means.
    pub(crate) marked: bool,
    pub(crate) attributes: Decoded,
    // Before the op, which keeps the library of what frees them.
    states: States,
    /// By what the op knows it, if it is shared.
    key: Option<Vec<u8>>,
    pub(crate) op: Arc<OwnOp>,
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
        op: Arc<OwnOp>,
        attributes: &Attrs<'_>,
        marked: bool,
    ) -> Result<Arc<Program>> {
        let mut decoded = Decoded::default();
        decoded.read(&op, attributes, marked)?;
        ARE_KEPT.store(true, Ordering::Relaxed);
        if op.instances.iter().any(|instance| instance.init.is_some()) {
            let program = Program::new(op, decoded, marked, None);
            if program.op.instances.len() == 1 {
                // Of several the call's element types will tell.
                program.state(0)?;
            }
            return Ok(Arc::new(program));
        }
        let mut key = bytes(&op, &decoded);
        key.extend(decoded.batch_axes.to_ne_bytes());
        key.push(u8::from(marked));
        let shared = Arc::clone(&op);
        Ok(shared
            .shared
            .get(key, |key| Program::new(op, decoded, marked, Some(key))))
    }

    fn new(op: Arc<OwnOp>, mut attributes: Decoded, marked: bool, key: Option<Vec<u8>>) -> Program {
        attributes.keep(&op);
        Program {
            sites: Sites::default(),
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
    pub(crate) fn is_meant(&self, current: impl FnOnce() -> *const OwnOp) -> bool {
        let first = self.sites.first();
        let marked = first.map_or(self.marked, |site| site.marked);
        marked || ptr::eq(current(), &*self.op)
    }

    /// The state of the op for that instance. It lives as long as the program does.
    pub(crate) fn state(&self, instance: usize) -> Result<*mut c_void> {
        self.states
            .get(&self.op, instance, Vec::new, &self.attributes)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            self.op.shared.forget(key);
        }
    }
}

/// What programs keep of an op, by attributes.
#[derive(Default)]
pub(crate) struct Shared(Mutex<HashMap<Vec<u8>, Weak<Program>>>);

impl Shared {
    fn get(&self, key: Vec<u8>, make: impl FnOnce(Vec<u8>) -> Program) -> Arc<Program> {
        // Dropped after the lock: it may be the last reference by now.
        let crowded;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(&key).and_then(Weak::upgrade) {
            Some(program) if program.sites.have_room() => return program,
            found => crowded = found,
        }
        let program = Arc::new(make(key.clone()));
        known.insert(key, Arc::downgrade(&program));
        drop(known);
        drop(crowded);
        program
    }

    fn forget(&self, key: &[u8]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Another one may have taken its place.
        if known
            .get(key)
            .is_some_and(|program| program.strong_count() == 0)
        {
            known.remove(key);
        }
    }
}

/// What `init` made, for each instance and set of attributes.
#[derive(Default)]
pub(crate) struct States(Mutex<Vec<Made>>);

struct Made {
    instance: usize,
    attributes: Vec<u8>,
    state: *mut c_void,
    cleanup: Option<abi::Cleanup>,
}

// SAFETY: states are the op's: its functions may be called from any thread, and so is `cleanup`.
unsafe impl Send for Made {}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(cleanup) = self.cleanup {
            // SAFETY: made by the `init` that belongs to it, and given back once.
            unsafe { cleanup(self.state) };
        }
    }
}

/// The state of a call in a program that keeps none. It lives as long as the op does.
pub(crate) fn of(op: &OwnOp, instance: usize, attributes: &Decoded) -> Result<*mut c_void> {
    op.states
        .get(op, instance, || bytes(op, attributes), attributes)
}

impl States {
    /// The state for these attributes, made if it is not there.
    pub(crate) fn get(
        &self,
        op: &OwnOp,
        instance: usize,
        key: impl FnOnce() -> Vec<u8>,
        attributes: &Decoded,
    ) -> Result<*mut c_void> {
        let Some(init) = op.instances[instance].init else {
            return Ok(ptr::null_mut());
        };
        let key = key();
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = made
            .iter()
            .find(|made| made.instance == instance && made.attributes == key);
        if let Some(found) = found {
            return Ok(found.state);
        }
        let state = make(op, init, attributes)?;
        made.push(Made {
            instance,
            attributes: key,
            state,
            cleanup: op.instances[instance].cleanup,
        });
        Ok(state)
    }
}

fn make(op: &OwnOp, init: abi::Init, attributes: &Decoded) -> Result<*mut c_void> {
    // Of the arrays nothing is known yet.
    let mut dims = vec![-1; op.signature().dims.len()];
    for (known, &number) in op.signature().attributes.iter().zip(&attributes.numbers) {
        if let AttributeKind::Array(_, Dim::Name(dim)) = known.kind {
            dims[dim] = number;
        }
    }
    let mut message = Message::default();
    let mut state = ptr::null_mut();
    let (text, size) = message.room();
    let call = abi::Call {
        size: size_of::<abi::Call>(),
        buffers: ptr::null(),
        dims: dims.as_ptr(),
        attributes: attributes.all.as_ptr(),
        state: ptr::null_mut(),
        batch: 0,
        message: text,
        message_size: size,
    };
    // SAFETY: the op's function, which is what whoever made the op says; it wrote its text as
    // `xlaffi.h` says.
    unsafe {
        let code = init(&call, &mut state);
        message.outcome(code).map(|()| state)
    }
}

/// All that the attributes are.
fn bytes(op: &OwnOp, attributes: &Decoded) -> Vec<u8> {
    let mut all = Vec::new();
    for (known, attribute) in op.signature().attributes.iter().zip(&attributes.all) {
        all.extend(attribute.length.to_ne_bytes());
        // SAFETY: an attribute as it was decoded.
        all.extend(unsafe { bytes_of(known, attribute) });
    }
    all
}
