//! What ops keep: a compiled program for each of its calls, where XLA lets it, or the op itself.

use core::ffi::c_void;
use core::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use xla_ffi::{Context, DataType, Result};

use crate::abi;
use crate::message::Message;
use crate::op::{Instance, OwnOp};
use crate::signature::{AttributeKind, Dim};

/// What a program keeps for a call: the op that it means, and its state.
pub(crate) struct Program {
    // Before the op, which keeps the library of what frees them.
    pub(crate) states: States,
    pub(crate) op: Arc<OwnOp>,
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

/// The state of a call. It lives as long as the program or the op does.
pub(crate) fn of(
    op: &OwnOp,
    instance: usize,
    context: &Context<'_>,
    attributes: &[abi::Attribute],
    numbers: &[i64],
) -> Result<*mut c_void> {
    if op.instances[instance].init.is_none() {
        return Ok(ptr::null_mut());
    }
    match context.state::<Program>() {
        Ok(program) if ptr::eq(&*program.op, op) => {
            program
                .states
                .get(op, instance, Vec::new(), attributes, numbers)
        }
        _ => {
            let key = bytes(op, attributes);
            op.states.get(op, instance, key, attributes, numbers)
        }
    }
}

impl States {
    /// The state for these attributes, made if it is not there.
    pub(crate) fn get(
        &self,
        op: &OwnOp,
        instance: usize,
        key: Vec<u8>,
        attributes: &[abi::Attribute],
        numbers: &[i64],
    ) -> Result<*mut c_void> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = made
            .iter()
            .find(|made| made.instance == instance && made.attributes == key);
        if let Some(found) = found {
            return Ok(found.state);
        }
        let state = make(op, &op.instances[instance], attributes, numbers)?;
        made.push(Made {
            instance,
            attributes: key,
            state,
            cleanup: op.instances[instance].cleanup,
        });
        Ok(state)
    }
}

fn make(
    op: &OwnOp,
    instance: &Instance,
    attributes: &[abi::Attribute],
    numbers: &[i64],
) -> Result<*mut c_void> {
    let Some(init) = instance.init else {
        return Ok(ptr::null_mut());
    };
    // Of the arrays nothing is known yet.
    let mut dims = vec![-1; op.signature().dims.len()];
    for (known, &number) in op.signature().attributes.iter().zip(numbers) {
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
        attributes: attributes.as_ptr(),
        state: ptr::null_mut(),
        batch: 0,
        message: text,
        message_size: size,
    };
    // SAFETY: the op's function, which is what whoever made the op says.
    let code = unsafe { init(&call, &mut state) };
    message.outcome(code).map(|()| state)
}

/// All that the attributes are.
fn bytes(op: &OwnOp, attributes: &[abi::Attribute]) -> Vec<u8> {
    let mut all = Vec::new();
    for (known, attribute) in op.signature().attributes.iter().zip(attributes) {
        let size = match known.kind {
            AttributeKind::Scalar(dtype) | AttributeKind::Array(dtype, _) => DataType::size(dtype),
            AttributeKind::Text => Some(1),
        };
        let size = size.unwrap_or(1) * attribute.length;
        all.extend(attribute.length.to_ne_bytes());
        // SAFETY: the attribute has that many elements of that size.
        all.extend(unsafe { core::slice::from_raw_parts(attribute.data.cast::<u8>(), size) });
    }
    all
}
