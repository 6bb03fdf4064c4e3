//! Buffers to host memory.

use crate::array::buffer::Buffer;
use crate::array::event::Event;
use crate::array::jax_array::Array;
use crate::array::shape::{Shape, Wanted};
use crate::array::small::Contents;
use crate::base::entry::entry;
use crate::base::error::{Error, Result};
use crate::base::strided;
use crate::run::signal::{in_background, Signal};
use std::sync::Arc;

/// How the elements are to lie in the caller's memory.
enum Order {
    AsTheyAre,
    Strides(Box<[i64]>),
}

/// A copy to make once the array is ready.
struct Copy {
    shape: Arc<Shape>,
    order: Order,
    to: *mut u8,
    /// Where to start and how many bytes, for a copy of the elements as they are.
    offset: usize,
    bytes: usize,
}

// SAFETY: the caller leaves its memory to us until the event is ready.
unsafe impl Send for Copy {}

impl Copy {
    /// Copies the elements.
    ///
    /// # Safety
    /// They are at `from`; the caller's memory has room for the copy, in the order that was asked for.
    unsafe fn make(&self, from: *const u8) {
        match &self.order {
            _ if self.bytes == 0 => {}
            // SAFETY: by this function's contract.
            Order::AsTheyAre => unsafe {
                std::ptr::copy_nonoverlapping(from.add(self.offset), self.to, self.bytes);
            },
            // SAFETY: as above.
            Order::Strides(strides) => unsafe {
                let shape = &self.shape;
                let size = shape.element_size();
                strided::copy(self.to, strides, from, &shape.strides(), &shape.dims, size);
            },
        }
    }

    /// Copies the elements of `array`; waits for it.
    ///
    /// # Safety
    /// As for [`Copy::make`].
    unsafe fn make_of(&self, array: &Arc<Array>) -> Result<()> {
        let from = array.address()? as *const u8;
        // SAFETY: by this function's contract; the array holds the elements.
        unsafe { self.make(from) };
        Ok(())
    }

    /// Copies at once where the contents are there, else when they are.
    ///
    /// # Safety
    /// As for [`Copy::make`], until the event is ready.
    unsafe fn start(self, contents: Contents) -> Result<Event> {
        let array = match contents {
            Contents::Array(array) => array,
            Contents::Small(small) => {
                // SAFETY: by this function's contract; the memory holds the elements.
                unsafe { self.make(small.as_ptr()) };
                return Ok(Event::Done(None));
            }
        };
        if array.poll().is_some() {
            // SAFETY: by this function's contract.
            return Ok(Event::Done(unsafe { self.make_of(&array) }.err()));
        }
        let signal = Signal::new();
        let done = Arc::clone(&signal);
        in_background("xlaffi-download", move || {
            // SAFETY: by this function's contract.
            let outcome = unsafe { self.make_of(&array) }.err();
            drop(array);
            done.set(outcome);
        })?;
        Ok(Event::Signal(signal))
    }
}

/// Bytes that a strided copy of a shape reaches, counted from the first element.
fn reach(shape: &Shape, strides: &[i64]) -> Result<usize> {
    if shape.bytes == 0 {
        return Ok(0);
    }
    let mut last = 0i64;
    for (&size, &stride) in shape.dims.iter().zip(strides) {
        if stride < 0 {
            return Err(Error::invalid("`host_layout` has a negative stride"));
        }
        last = stride
            .checked_mul(size - 1)
            .and_then(|n| last.checked_add(n))
            .ok_or_else(|| Error::invalid("`host_layout` reaches beyond memory"))?;
    }
    Ok(last as usize + shape.element_size())
}

entry!(to_host_buffer, PJRT_Buffer_ToHostBuffer_Args, |args| {
    // SAFETY: the API's contract, here and below.
    let buffer = unsafe { Buffer::from_raw(args.src)? };
    let shape = &buffer.shape;
    // SAFETY: as above.
    let (order, needed) = match unsafe { Wanted::read(args.host_layout, shape.dims.len())? } {
        None => (Order::AsTheyAre, shape.bytes),
        Some(Wanted::Order(order)) if order == shape.minor_to_major => {
            (Order::AsTheyAre, shape.bytes)
        }
        Some(Wanted::Order(order)) => (
            Order::Strides(shape.with_order(&order)?.strides()),
            shape.bytes,
        ),
        Some(Wanted::Strides(strides)) => {
            let needed = reach(shape, &strides)?;
            (Order::Strides(strides), needed)
        }
    };
    if args.dst.is_null() {
        args.dst_size = needed;
        return Ok(());
    }
    if args.dst_size < needed {
        return Err(Error::invalid(format!(
            "`dst_size` is {}, an array {shape} needs {needed}",
            args.dst_size
        )));
    }
    let contents = buffer.live()?;
    let copy = Copy {
        shape: Arc::clone(shape),
        order,
        to: args.dst.cast(),
        offset: 0,
        bytes: shape.bytes,
    };
    // SAFETY: the caller's memory has room for `needed` bytes until the event is ready.
    args.event = unsafe { copy.start(contents)? }.into_raw();
    Ok(())
});

entry!(copy_raw_to_host, PJRT_Buffer_CopyRawToHost_Args, |args| {
    // SAFETY: the API's contract, here and below.
    let buffer = unsafe { Buffer::from_raw(args.buffer)? };
    let range = usize::try_from(args.offset)
        .ok()
        .zip(usize::try_from(args.transfer_size).ok());
    let fits = range.filter(|(o, n)| {
        o.checked_add(*n)
            .is_some_and(|end| end <= buffer.shape.bytes)
    });
    let Some((offset, bytes)) = fits else {
        return Err(Error::invalid(format!(
            "{} bytes from {} on do not lie in a buffer of {}",
            args.transfer_size, args.offset, buffer.shape.bytes
        )));
    };
    if args.dst.is_null() && bytes > 0 {
        return Err(Error::invalid("`dst` is NULL"));
    }
    let copy = Copy {
        shape: Arc::clone(&buffer.shape),
        order: Order::AsTheyAre,
        to: args.dst.cast(),
        offset,
        bytes,
    };
    // SAFETY: the caller's memory has room for `bytes` until the event is ready.
    args.event = unsafe { copy.start(buffer.live()?)? }.into_raw();
    Ok(())
});
