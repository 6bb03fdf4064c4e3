//! Small arrays stay in memory of the plugin: jaxlib takes some microseconds to make an array of its own, and its many
//! parts are cheap to free only while they are still in the processor's cache, which they are no more when a host's
//! collector finds them. What programs read of small arrays are copies in arrays that each program keeps (`frame.rs`).

use crate::array::copy::{copy_in, make_array};
use crate::array::dlpack::{AlignedMemory, Owner};
use crate::array::jax_array::Array;
use crate::array::shape::Shape;
use crate::base::error::Result;
use crate::client::device::Device;
use crate::client::Client;
use std::sync::{Arc, OnceLock};

/// Larger ones cost more to copy than jaxlib's array costs.
const LARGEST: usize = 32 << 10;

/// Whether arrays of that shape stay in the plugin's memory.
pub(crate) fn fits(shape: &Shape) -> bool {
    shape.bytes <= LARGEST
}

/// A small array that is there.
pub(crate) struct Small {
    memory: AlignedMemory,
    /// The same elements as an array of jaxlib's, for what has no other way: donation, copies to other devices.
    array: OnceLock<Arc<Array>>,
}

impl Small {
    /// An array whose elements `fill` writes to the address that it gets.
    pub fn new(bytes: usize, fill: impl FnOnce(*mut u8)) -> Result<Self> {
        let memory = AlignedMemory::of_elements(bytes)?;
        fill(memory.as_ptr());
        Ok(Self {
            memory,
            array: OnceLock::new(),
        })
    }

    /// Where the elements are, which nobody changes.
    pub fn as_ptr(&self) -> *const u8 {
        self.memory.as_ptr()
    }

    /// A copy as an array of jaxlib's, made once.
    pub fn array(&self, client: &Client, device: &Device, shape: &Shape) -> Result<Arc<Array>> {
        if let Some(array) = self.array.get() {
            return Ok(Arc::clone(array));
        }
        // SAFETY: the memory holds an array of that shape.
        let copy = unsafe { copy_in(self.as_ptr(), None, shape)? };
        let made = Arc::new(make_array(client, device, shape, Owner::Ours(copy))?);
        Ok(Arc::clone(self.array.get_or_init(|| made)))
    }
}

/// Where the elements of a buffer are.
#[derive(Clone)]
pub(crate) enum Contents {
    /// In an array of jaxlib's, perhaps not yet.
    Array(Arc<Array>),
    Small(Arc<Small>),
}
