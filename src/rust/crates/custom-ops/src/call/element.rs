//! The body, called for one element of a batch.

use core::ffi::c_void;
use core::mem;

use xla_ffi::{DataType, Error, Result};

use super::arena::Work;
use super::bound::BoundCall;
use super::instance::Body;
use super::prepared::Plan;
use crate::body::abi;
use crate::body::plain::{Cell, Number, Word};
use crate::signature::AttributeKind;

/// A body that may throw.
type Unwinding = unsafe extern "C-unwind" fn(*const abi::Call) -> i32;

impl Plan<'_> {
    /// Calls the body with the addresses as they are.
    #[inline]
    pub(crate) fn element(&self, body: &Body, work: &mut Work, element: usize) -> Result<()> {
        let buffers = if self.call.interface.many.is_some() {
            work.buffers.as_ptr()
        } else {
            work.flat.as_ptr()
        };
        match body {
            Body::C(body) => self.compiled(work, buffers, element, |call| {
                // SAFETY: the op's function with what its signature says.
                Ok(unsafe { body(call) })
            }),
            Body::Foreign(body, barrier) => self.compiled(work, buffers, element, |call| {
                // SAFETY: as above; types that differ in what may leave the function, and a call that
                // has nothing to drop.
                unsafe {
                    let body = mem::transmute::<abi::Body, Unwinding>(*body);
                    barrier.catch(|| body(call))
                }
            }),
            Body::Plain(function) => {
                // SAFETY: as above.
                let status = unsafe { function.call(|word| self.word(word, buffers)) }?;
                match status {
                    0 => Ok(()),
                    status => Err(Error::internal(format!("the function returned {status}"))),
                }
            }
            Body::Host(body) => body(&mut BoundCall::new(self, &work.flat, element)),
        }
    }

    /// Calls a body for an element by way of `enter`.
    #[inline(always)]
    fn compiled(
        &self,
        work: &mut Work,
        buffers: *const *mut c_void,
        element: usize,
        enter: impl FnOnce(&abi::Call) -> Result<i32>,
    ) -> Result<()> {
        let (message, message_size) = work.message.buffer();
        let call = abi::Call {
            size: size_of::<abi::Call>(),
            buffers,
            dims: self.call.layout.bound.dims().as_ptr(),
            attributes: self.call.attributes.all.as_ptr(),
            state: self.call.state,
            batch: element as i64,
            message,
            message_size,
        };
        let code = enter(&call)?;
        // SAFETY: the body wrote its text as `xlaffi.h` says.
        unsafe { work.message.outcome(code) }
    }

    /// What stands for a word of a function's arguments.
    fn word(&self, word: Word, buffers: *const *mut c_void) -> Result<Cell> {
        let number = |number| match number {
            Number::Dim(dim) => self.call.layout.bound.dims()[dim],
            Number::Attribute(at) => self.call.attributes.numbers[at],
        };
        let int = |value: i64| match i32::try_from(value) {
            Ok(value) => Ok(Cell::int(value)),
            Err(_) => Err(Error::invalid_argument(format!(
                "{value} does not fit into an int, as the function takes it"
            ))),
        };
        match word {
            // SAFETY: there are as many as the signature has arrays.
            Word::Array(at) => Ok(Cell::Word(unsafe { *buffers.add(at) } as usize)),
            Word::Value(value) => Ok(Cell::Word(number(value) as usize)),
            Word::I32(value) => int(number(value)),
            Word::I64(value) => Ok(Cell::Behind(number(value) as u64)),
            Word::F64(Number::Attribute(at)) => Ok(Cell::Behind(self.double(at).to_bits())),
            Word::F64(value) => Ok(Cell::Behind((number(value) as f64).to_bits())),
            Word::Attribute(at) => Ok(Cell::Word(self.call.attributes.all[at].data as usize)),
            Word::Length(at) => int(self.call.attributes.all[at].length as i64),
            Word::Size(at) => {
                let flat = &self.call.flats[self.flat_of(at)];
                int((flat.bytes / flat.dtype.size().unwrap_or(1)) as i64)
            }
        }
    }

    /// A scalar attribute as a double.
    fn double(&self, at: usize) -> f64 {
        let data = self.call.attributes.all[at].data;
        match self.call.interface.signature().attributes[at].kind {
            // SAFETY: a scalar of this type, aligned.
            AttributeKind::Scalar(DataType::F64) => unsafe { data.cast::<f64>().read() },
            // SAFETY: as above.
            AttributeKind::Scalar(DataType::F32) => f64::from(unsafe { data.cast::<f32>().read() }),
            _ => self.call.attributes.numbers[at] as f64,
        }
    }

    /// The place of the first array of the signature's, by its place in what the body gets.
    fn flat_of(&self, buffer: usize) -> usize {
        let counts = self.call.interface.counts().take(buffer);
        counts
            .map(|several| if several { self.call.layout.count } else { 1 })
            .sum()
    }
}
