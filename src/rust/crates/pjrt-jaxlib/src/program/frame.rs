//! The arguments of a run as Python gets them: a list of arrays. A program keeps such lists, each with an array of its
//! own for every argument that is small, which is filled anew for each run: that takes neither a new object nor a look-up.

use crate::array::copy::{fill, make_array};
use crate::array::dlpack::{AlignedMemory, Owner};
use crate::array::jax_array::Array;
use crate::array::shape::Shape;
use crate::array::small::Small;
use crate::base::error::Result;
use crate::client::device::Device;
use crate::client::Client;
use crate::python::gil::Gil;
use crate::python::object::Object;
use crate::run::state::Run;
use std::sync::{Arc, Mutex, PoisonError};

/// So many are kept for a program: more than one are needed where threads run it, or where runs go on behind the launch.
const KEPT: usize = 4;
/// Only frames whose arrays have fewer bytes are kept.
const BYTES: usize = 1 << 20;

/// The frames of a program that wait for its next run.
#[derive(Default)]
pub(crate) struct Frames(Mutex<Vec<Frame>>);

impl Frames {
    /// A frame that no run reads.
    pub fn take(&self, gil: &Gil, arguments: usize) -> Result<Frame> {
        let idle = {
            let mut frames = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let at = frames.iter().position(Frame::is_idle);
            at.map(|at| frames.remove(at))
        };
        idle.map_or_else(|| Frame::new(gil, arguments), Ok)
    }

    /// Keeps a frame; `run` may still read it.
    pub fn keep(&self, mut frame: Frame, run: Option<Arc<Run>>) {
        if frame.bytes > BYTES {
            return;
        }
        frame.run = run;
        // Dropped behind the lock, as that needs Python's. XLA itself holds on to what it reads, so the oldest may go.
        let mut _oldest = None;
        let mut frames = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if frames.len() == KEPT {
            // First one of whose run nobody can tell any more.
            let lost = frames.iter().position(Frame::is_lost);
            _oldest = Some(frames.remove(lost.unwrap_or(0)));
        }
        frames.push(frame);
    }
}

/// A list of arrays. Between two runs each place has the frame's own array, or `None`.
pub(crate) struct Frame {
    pub list: Object,
    own: Vec<Option<Own>>,
    /// Places that have something else for this run.
    lent: Vec<usize>,
    bytes: usize,
    run: Option<Arc<Run>>,
}

/// An array that uses memory of ours as it is.
struct Own {
    array: Object,
    memory: *mut u8,
}

// SAFETY: the memory is the array's, and written only by who has the frame.
unsafe impl Send for Own {}

impl Frame {
    fn new(gil: &Gil, arguments: usize) -> Result<Self> {
        let none = gil.none()?;
        let list = gil.list((0..arguments).map(|_| &none))?;
        none.release(gil);
        Ok(Self {
            list,
            own: (0..arguments).map(|_| None).collect(),
            lent: Vec::new(),
            bytes: 0,
            run: None,
        })
    }

    fn is_idle(&self) -> bool {
        self.run.as_ref().map_or(true, |run| run.is_through())
    }

    /// Whether it never becomes idle: its run's results are gone, and none was seen to be there.
    fn is_lost(&self) -> bool {
        let run = self.run.as_ref();
        run.is_some_and(|run| Arc::strong_count(run) == 1 && !run.is_through())
    }

    /// Puts an array at a place.
    pub fn put(&mut self, gil: &Gil, place: usize, array: &Array) -> Result<()> {
        self.lent.push(place);
        gil.set_item(&self.list, place, array.object())
    }

    /// Copies the elements of a small array of `shape` to a place where the program reads them as `wanted`.
    pub fn copy(
        &mut self,
        gil: &Gil,
        place: usize,
        small: &Small,
        (shape, wanted): (&Shape, &Shape),
        (client, device): (&Client, &Device),
    ) -> Result<()> {
        let in_order = shape.minor_to_major == wanted.minor_to_major;
        let strides = (!in_order).then(|| shape.strides());
        if let Some(own) = &self.own[place] {
            // SAFETY: memory of an array of the wanted shape that no run reads; the small one's holds the same elements.
            unsafe { fill(own.memory, small.as_ptr(), strides.as_deref(), wanted) };
            return Ok(());
        }
        let memory = AlignedMemory::new(wanted.bytes)?;
        let address = memory.as_ptr();
        // SAFETY: as above.
        unsafe { fill(address, small.as_ptr(), strides.as_deref(), wanted) };
        let array = make_array(client, device, wanted, Owner::Ours(memory))?;
        // Else XLA has copied it.
        if wanted.bytes > 0 && array.address_with(gil)? != address as usize {
            return self.put(gil, place, &array);
        }
        gil.set_item(&self.list, place, array.object())?;
        self.bytes += wanted.bytes;
        self.own[place] = Some(Own {
            array: array.into_object(),
            memory: address,
        });
        Ok(())
    }

    /// Takes everything out that is not the frame's.
    pub fn clear(&mut self, gil: &Gil) -> Result<()> {
        let none = gil.none()?;
        for place in self.lent.drain(..) {
            let own = self.own[place].as_ref().map(|own| &own.array);
            gil.set_item(&self.list, place, own.unwrap_or(&none))?;
        }
        none.release(gil);
        Ok(())
    }
}
