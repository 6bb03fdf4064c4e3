//! Uploaded arrays that nobody needs any more, kept to be filled again: jaxlib takes some
//! microseconds to make one, and no Python is needed to fill one.

use crate::array::Array;
use crate::device::Device;
use crate::shape::Shape;
use std::sync::{Arc, Mutex, PoisonError};

/// Larger ones cost more to fill than to make.
const LARGEST: usize = 64 << 10;
/// How many shapes there are arrays of, and how many bytes in all.
const SHAPES: usize = 32;
const BYTES: usize = 4 << 20;
/// What an array costs beside its elements, about.
const AROUND: usize = 1 << 10;

/// Whether arrays of that shape are kept.
pub(crate) fn fits(shape: &Shape) -> bool {
    (1..=LARGEST).contains(&shape.bytes)
}

/// The arrays of a client that wait to be filled.
#[derive(Default)]
pub(crate) struct Spares(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// The shape that was used last comes first.
    shapes: Vec<Alike>,
    bytes: usize,
}

/// Arrays of one shape on one device.
struct Alike {
    device: *const Device,
    shape: Arc<Shape>,
    arrays: Vec<Arc<Array>>,
}

// SAFETY: the devices' addresses are only compared.
unsafe impl Send for Alike {}

impl Alike {
    fn bytes(&self) -> usize {
        self.shape.bytes + AROUND
    }
}

impl Kept {
    /// Puts those of that shape first.
    fn find(&mut self, device: *const Device, shape: &Shape) -> Option<&mut Alike> {
        let is_it = |alike: &Alike| alike.device == device && *alike.shape == *shape;
        let at = self.shapes.iter().position(is_it)?;
        self.shapes[..=at].rotate_right(1);
        self.shapes.first_mut()
    }
}

impl Spares {
    /// An array to be filled, and its shape.
    pub fn take(&self, device: &Device, shape: &Shape) -> Option<(Arc<Shape>, Arc<Array>)> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let alike = kept.find(device, shape)?;
        let array = alike.arrays.pop()?;
        let (shape, bytes) = (Arc::clone(&alike.shape), alike.bytes());
        kept.bytes -= bytes;
        Some((shape, array))
    }

    /// Keeps an array, or gives it back where it cannot be filled again.
    pub fn keep(
        &self,
        device: *const Device,
        shape: &Arc<Shape>,
        mut array: Arc<Array>,
    ) -> Result<(), Arc<Array>> {
        let is_idle = Arc::get_mut(&mut array).is_some_and(|array| array.is_idle());
        if !is_idle {
            return Err(array);
        }
        // Dropped behind the lock, as that takes Python's.
        let mut gone = None;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.find(device, shape).is_none() {
            if kept.shapes.len() == SHAPES {
                gone = kept.shapes.pop();
            }
            let alike = Alike {
                device,
                shape: Arc::clone(shape),
                arrays: Vec::new(),
            };
            kept.shapes.insert(0, alike);
        }
        let freed = gone.as_ref().map(|gone| gone.arrays.len() * gone.bytes());
        kept.bytes -= freed.unwrap_or(0);
        let bytes = kept.shapes[0].bytes();
        if kept.bytes + bytes > BYTES {
            return Err(array);
        }
        kept.bytes += bytes;
        kept.shapes[0].arrays.push(array);
        Ok(())
    }
}
