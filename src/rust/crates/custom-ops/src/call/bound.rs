//! A call as a body in this process's host sees it.

use core::ffi::c_void;
use core::slice;

use xla_ffi::{AttrType, Context, DataType, Error, Promise, Result};

use super::arrays::Flat;
use super::attributes::bytes_of;
use super::prepared::Plan;
use crate::signature::{self, AttributeKind, Order, Signature};

/// A call of a [`Body::Host`](crate::Body::Host): of an element of a batch, or of the whole batch
/// where the op is so ([`Options::whole`](crate::Options::whole)).
pub struct BoundCall<'a> {
    plan: &'a Plan<'a>,
    flat: &'a [*mut c_void],
    element: usize,
}

/// An array that the body reads.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a, B = &'a [u8]> {
    /// The signature's name.
    pub name: &'a str,
    /// Which one, of an array that comes several times; else 0.
    pub index: usize,
    /// Element type.
    pub dtype: DataType,
    /// With those of the batch, where the body is given whole batches.
    pub dims: &'a [i64],
    /// How matrices lie.
    pub order: Order,
    /// The elements.
    pub bytes: B,
}

/// An array that the body writes. Its elements are anything, or the operand's of which it is the result in place.
pub type ArrayMut<'a> = Array<'a, &'a mut [u8]>;

/// An attribute.
#[derive(Clone, Copy, Debug)]
pub struct AttributeValue<'a> {
    /// The signature's name.
    pub name: &'a str,
    /// What it holds.
    pub type_: AttrType,
    /// The value, the elements, or the text.
    pub bytes: &'a [u8],
}

impl<'a> BoundCall<'a> {
    pub(crate) fn new(plan: &'a Plan<'a>, flat: &'a [*mut c_void], element: usize) -> Self {
        BoundCall {
            plan,
            flat,
            element,
        }
    }

    /// What the op takes and gives.
    #[must_use]
    pub fn signature(&self) -> &'a Signature {
        self.plan.call.interface.signature()
    }

    /// What each variable for element types stands for.
    #[must_use]
    pub fn dtypes(&self) -> &'a [DataType] {
        self.plan.call.dtypes
    }

    /// The named dimensions.
    #[must_use]
    pub fn dims(&self) -> &'a [i64] {
        self.plan.call.layout.bound.dims()
    }

    /// Which element of the batch this is, from 0.
    #[must_use]
    pub fn element(&self) -> usize {
        self.element
    }

    /// XLA's services.
    #[must_use]
    pub fn context(&self) -> &'a Context<'a> {
        self.plan.context
    }

    /// The lengths of the batch's axes.
    #[must_use]
    pub fn batch_sizes(&self) -> &'a [usize] {
        &self.plan.call.layout.sizes
    }

    /// How many of an array's dimensions are of the batch: operands first, then results.
    ///
    /// # Panics
    /// There are not so many arrays.
    #[must_use]
    pub fn batch_rank(&self, at: usize) -> usize {
        self.plan.call.flats[at].batch
    }

    /// How many bytes an array goes on along each of the [batch's axes](Self::batch_sizes), 0 where
    /// it is the same for all: operands first, then results.
    ///
    /// # Panics
    /// There are not so many arrays.
    #[must_use]
    pub fn strides(&self, at: usize) -> Vec<isize> {
        let count = self.plan.call.flats.len();
        assert!(at < count, "there is no array {at}");
        self.plan
            .call
            .layout
            .strides
            .iter()
            .skip(at)
            .step_by(count)
            .copied()
            .collect()
    }

    /// Makes this a call that is complete when the promise is answered, some time after the body
    /// has returned. Until then its arrays stay where they are. Only a body of whole batches may.
    ///
    /// # Errors
    /// XLA has no futures, or the op's body is of single elements.
    pub fn pending(&self) -> Result<Promise> {
        match self.plan.call.interface.whole {
            true => (self.plan.pending)(),
            false => Err(Error::internal(
                "a call of elements cannot be completed later",
            )),
        }
    }

    /// The id of the run of a program that the call is part of, where XLA tells it.
    #[must_use]
    pub fn run_id(&self) -> Option<i64> {
        self.plan.context.run_id().ok()
    }

    /// How many operands there are; one that comes several times counts as often, one that is left
    /// out as well.
    #[must_use]
    pub fn operands(&self) -> usize {
        let operands = self.signature().operands.len();
        self.plan
            .call
            .interface
            .first_flat(operands, self.plan.call.layout.count)
    }

    /// An operand; `None` for one that was left out.
    ///
    /// # Panics
    /// There are not so many.
    #[must_use]
    pub fn operand(&self, at: usize) -> Option<Array<'_>> {
        assert!(at < self.operands(), "there is no operand {at}");
        let flat = &self.plan.call.flats[at];
        let operands = &self.signature().operands;
        let (which, index) = self.place(at, operands.iter().map(|operand| operand.count));
        flat.is_given().then(|| {
            // SAFETY: XLA's memory of the operand, which nobody writes but by way of a result, and
            // those are borrowed with all of `self`.
            let bytes = unsafe { slice::from_raw_parts(self.address(at), self.size_of(flat)) };
            self.array(&operands[which].array, index, flat, bytes)
        })
    }

    /// An array of the signature, `bytes` being its elements.
    fn array<'b, B>(
        &'b self,
        array: &'b signature::Array,
        index: usize,
        flat: &Flat<'b>,
        bytes: B,
    ) -> Array<'b, B> {
        Array {
            name: &array.name,
            index,
            dtype: flat.dtype,
            dims: self.dims_of(flat),
            order: array.order,
            bytes,
        }
    }

    /// How many results there are.
    #[must_use]
    pub fn results(&self) -> usize {
        let results = self.signature().results.iter();
        let count = self.plan.call.layout.count;
        results
            .map(|result| if result.count.is_some() { count } else { 1 })
            .sum()
    }

    /// A result.
    ///
    /// # Panics
    /// There are not so many.
    #[must_use]
    pub fn result(&mut self, at: usize) -> ArrayMut<'_> {
        assert!(at < self.results(), "there is no result {at}");
        let results = &self.signature().results;
        let (which, index) = self.place(at, results.iter().map(|result| result.count));
        let at = self.operands() + at;
        let flat = &self.plan.call.flats[at];
        // SAFETY: XLA's memory of the result, of this element alone; all of `self` is borrowed.
        let bytes = unsafe { slice::from_raw_parts_mut(self.address(at), self.size_of(flat)) };
        self.array(&results[which].array, index, flat, bytes)
    }

    /// An attribute, by its place in the signature.
    ///
    /// # Panics
    /// There are not so many.
    #[must_use]
    pub fn attribute(&self, at: usize) -> AttributeValue<'a> {
        let known: &signature::Attribute = &self.signature().attributes[at];
        let raw = self.plan.call.attributes.all[at];
        let type_ = match known.kind {
            AttributeKind::Scalar(dtype) => AttrType::Scalar(dtype),
            AttributeKind::Array(dtype, _) => AttrType::Array(dtype),
            AttributeKind::Text => AttrType::String,
        };
        AttributeValue {
            name: &known.name,
            type_,
            // SAFETY: it was decoded for this call, and nobody writes it.
            bytes: unsafe { bytes_of(known, &raw) },
        }
    }

    /// Which of the signature's arrays that is, and which one of those that come several times.
    fn place(&self, at: usize, counts: impl Iterator<Item = Option<usize>>) -> (usize, usize) {
        let mut first = 0;
        for (which, count) in counts.enumerate() {
            let times = count.map_or(1, |_| self.plan.call.layout.count);
            if at < first + times {
                return (which, at - first);
            }
            first += times;
        }
        unreachable!("the place was looked at")
    }

    fn dims_of(&self, flat: &Flat<'a>) -> &'a [i64] {
        match self.plan.call.interface.whole {
            true => flat.dims,
            false => &flat.dims[flat.batch..],
        }
    }

    fn size_of(&self, flat: &Flat<'_>) -> usize {
        match self.plan.call.interface.whole {
            true => flat.size,
            false => flat.bytes,
        }
    }

    /// What has no elements need not have an address.
    fn address(&self, at: usize) -> *mut u8 {
        let address = self.flat[at].cast::<u8>();
        match address.is_null() {
            true => core::ptr::NonNull::dangling().as_ptr(),
            false => address,
        }
    }
}
