//! What functions `init` made for calls.

use core::ffi::c_void;
use core::ptr;
use std::sync::{Mutex, PoisonError};

use xla_ffi::Result;

use super::attributes::Decoded;
use super::instance::Instance;
use crate::body::abi;
use crate::body::message::Message;
use crate::signature::{AttributeKind, Dim, Signature};

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

impl States {
    /// The state for these attributes, made if it is not there.
    pub(crate) fn get(
        &self,
        signature: &Signature,
        instances: &[Instance],
        instance: usize,
        key: impl FnOnce() -> Vec<u8>,
        attributes: &Decoded,
    ) -> Result<*mut c_void> {
        let Some(init) = instances[instance].init else {
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
        let state = make(signature, init, attributes)?;
        made.push(Made {
            instance,
            attributes: key,
            state,
            cleanup: instances[instance].cleanup,
        });
        Ok(state)
    }
}

fn make(signature: &Signature, init: abi::Init, attributes: &Decoded) -> Result<*mut c_void> {
    // Of the arrays nothing is known yet.
    let mut dims = vec![-1; signature.dims.len()];
    for (known, &number) in signature.attributes.iter().zip(&attributes.numbers) {
        if let AttributeKind::Array(_, Dim::Name(dim)) = known.kind {
            dims[dim] = number;
        }
    }
    let mut message = Message::default();
    let mut state = ptr::null_mut();
    let (text, size) = message.buffer();
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
