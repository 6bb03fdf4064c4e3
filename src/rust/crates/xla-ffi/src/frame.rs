//! The call frame: what XLA passes to a handler, taken out operand by operand.

use core::ffi::c_void;
use std::sync::Arc;

use crate::attr::{raw_slice, Attrs};
use crate::buffer::{AnyBuffer, AnyBufferMut};
use crate::completion::Completion;
use crate::context::Context;
use crate::error::{Error, Operand, OperandKind, Result};
use crate::view::{checked, dims_of, fault, View, Want};
use crate::{sys, DataType};

/// A call, decoded lazily: arguments and results come out one after the other, in the program's
/// order, each once. (One result taken twice would be two ways to write one memory.)
#[derive(Debug)]
pub struct CallFrame<'f> {
    arg_types: &'f [sys::XLA_FFI_ArgType],
    args: &'f [*mut c_void],
    ret_types: &'f [sys::XLA_FFI_RetType],
    rets: &'f [*mut c_void],
    raw_rets: &'f sys::XLA_FFI_Rets,
    host: bool,
    next_arg: usize,
    next_ret: usize,
    attrs: Attrs<'f>,
    context: Context<'f>,
    /// Set where the call may be completed later.
    pub(crate) completion: Option<Arc<Completion>>,
}

impl<'f> CallFrame<'f> {
    /// # Safety
    /// `raw` is XLA's frame of a call in the execute stage, at least up to `attrs`; what it points
    /// to lives, unchanged, for `'f`; no other `CallFrame` is made from it; `host` is true only if
    /// handlers on this platform can read and write its memory.
    #[inline]
    pub unsafe fn from_raw(raw: *const sys::XLA_FFI_CallFrame, host: bool) -> Self {
        // SAFETY: by contract the arrays have `size` entries, and `api` and `ctx` are this call's.
        // Fields are read one by one, because an older XLA's frame may end before `future`.
        unsafe {
            CallFrame {
                arg_types: raw_slice((*raw).args.types, (*raw).args.size),
                args: raw_slice((*raw).args.args, (*raw).args.size),
                ret_types: raw_slice((*raw).rets.types, (*raw).rets.size),
                rets: raw_slice((*raw).rets.rets, (*raw).rets.size),
                raw_rets: &(*raw).rets,
                host,
                next_arg: 0,
                next_ret: 0,
                attrs: Attrs::from_raw(&(*raw).attrs),
                context: Context::from_raw((*raw).api, (*raw).ctx, host),
                completion: None,
            }
        }
    }

    /// How many arguments the call has.
    #[must_use]
    pub fn arg_count(&self) -> usize {
        self.args.len()
    }

    /// How many results the call has.
    #[must_use]
    pub fn ret_count(&self) -> usize {
        self.rets.len()
    }

    /// Moves the arguments that are left into a frame of their own.
    pub(crate) fn split_off_args(&mut self) -> CallFrame<'f> {
        let rest = CallFrame {
            next_ret: self.rets.len(),
            completion: None,
            ..*self
        };
        self.next_arg = self.args.len();
        rest
    }

    /// Moves the results that are left into a frame of their own.
    pub(crate) fn split_off_rets(&mut self) -> CallFrame<'f> {
        let rest = CallFrame {
            next_arg: self.args.len(),
            completion: None,
            ..*self
        };
        self.next_ret = self.rets.len();
        rest
    }

    /// How many arguments have not been taken yet.
    #[must_use]
    pub fn args_left(&self) -> usize {
        self.args.len() - self.next_arg
    }

    /// How many results have not been taken yet.
    #[must_use]
    pub fn rets_left(&self) -> usize {
        self.rets.len() - self.next_ret
    }

    /// The attributes of the call.
    #[must_use]
    pub fn attrs(&self) -> Attrs<'f> {
        self.attrs
    }

    /// XLA's services.
    #[must_use]
    pub fn context(&self) -> Context<'f> {
        self.context
    }

    /// The element type of the argument at `index`, if it is a buffer.
    #[must_use]
    pub fn arg_dtype(&self, index: usize) -> Option<DataType> {
        dtype_at(self.args, self.arg_types, index)
    }

    /// The element type of the result at `index`, if it is a buffer.
    #[must_use]
    pub fn ret_dtype(&self, index: usize) -> Option<DataType> {
        dtype_at(self.rets, self.ret_types, index)
    }

    /// The arguments as XLA describes them, without taking them; `None` for what is no buffer.
    #[inline]
    pub fn described_args(&self) -> impl ExactSizeIterator<Item = Option<Described<'f>>> + '_ {
        described(self.args, self.arg_types)
    }

    /// The results as XLA describes them, without taking them; `None` for what is no buffer.
    #[inline]
    pub fn described_rets(&self) -> impl ExactSizeIterator<Item = Option<Described<'f>>> + '_ {
        described(self.rets, self.ret_types)
    }

    /// The error of the operand at that position, which has no element type.
    #[cold]
    pub(crate) fn not_a_buffer(
        &self,
        at: Option<(OperandKind, usize)>,
        name: &'static str,
    ) -> Error {
        let (kind, at) = at.unwrap_or((OperandKind::Argument, 0));
        let operand = Operand::new(kind, name);
        let (all, types) = match kind {
            OperandKind::Result => (self.rets, self.ret_types),
            _ => (self.args, self.arg_types),
        };
        let fault = take(all, types, &mut { at }, operand).err();
        fault.unwrap_or_else(|| Error::internal("is a null pointer").with_operand(operand))
    }

    /// Takes the next argument; `name` and `index` tell which it is in errors.
    ///
    /// # Errors
    /// There are no more; it is no buffer; its shape does not fit in memory.
    #[inline]
    pub fn next_arg(&mut self, name: &'static str, index: Option<u32>) -> Result<AnyBuffer<'f>> {
        let kind = OperandKind::Argument;
        self.next_arg_as(Operand { kind, name, index }, &Want::ANYTHING)
    }

    /// Takes the next result; `name` and `index` tell which it is in errors.
    ///
    /// # Errors
    /// As [`next_arg`](Self::next_arg).
    #[inline]
    pub fn next_ret(&mut self, name: &'static str, index: Option<u32>) -> Result<AnyBufferMut<'f>> {
        let kind = OperandKind::Result;
        self.next_ret_as(Operand { kind, name, index }, &Want::ANYTHING)
    }

    #[inline(always)]
    pub(crate) fn next_arg_as(&mut self, operand: Operand, want: &Want) -> Result<AnyBuffer<'f>> {
        let Some((raw, len)) = self.checked_arg(want) else {
            return Err(self.arg_fault(want, operand));
        };
        // SAFETY: XLA's descriptor of an argument, see `from_raw`.
        Ok(unsafe { AnyBuffer::new(self.view(raw, len, operand)) })
    }

    #[inline(always)]
    pub(crate) fn next_ret_as(
        &mut self,
        operand: Operand,
        want: &Want,
    ) -> Result<AnyBufferMut<'f>> {
        let Some((raw, len)) = self.checked_ret(want) else {
            return Err(self.ret_fault(want, operand));
        };
        // SAFETY: XLA's descriptor of a result, see `from_raw`; `next_ret` moved on, so nobody else
        // gets it.
        Ok(unsafe { AnyBufferMut::new(self.view(raw, len, operand)) })
    }

    #[inline(always)]
    fn view(&self, raw: &'f sys::XLA_FFI_Buffer, len: usize, operand: Operand) -> View<'f> {
        View {
            raw,
            len,
            operand,
            rets: self.raw_rets,
            host: self.host,
        }
    }

    /// Not inlined, as every field of every operand struct has it, for each element type.
    #[inline(never)]
    fn checked_arg(&mut self, want: &Want) -> Option<(&'f sys::XLA_FFI_Buffer, usize)> {
        next(self.args, self.arg_types, &mut self.next_arg, want)
    }

    /// As [`checked_arg`](Self::checked_arg).
    #[inline(never)]
    fn checked_ret(&mut self, want: &Want) -> Option<(&'f sys::XLA_FFI_Buffer, usize)> {
        next(self.rets, self.ret_types, &mut self.next_ret, want)
    }

    #[cold]
    #[inline(never)]
    fn arg_fault(&mut self, want: &Want, operand: Operand) -> Error {
        next_fault(self.args, self.arg_types, &mut self.next_arg, want, operand)
    }

    #[cold]
    #[inline(never)]
    fn ret_fault(&mut self, want: &Want, operand: Operand) -> Error {
        next_fault(self.rets, self.ret_types, &mut self.next_ret, want, operand)
    }
}

/// A buffer as XLA describes it, of which nothing was checked.
#[derive(Clone, Copy, Debug)]
pub struct Described<'f> {
    /// Element type.
    pub dtype: DataType,
    /// Dimensions, of any sign and size.
    pub dims: &'f [i64],
    /// The first element.
    pub data: *mut c_void,
}

#[inline]
fn described<'a, 'f: 'a>(
    all: &'a [*mut c_void],
    types: &'a [i32],
) -> impl ExactSizeIterator<Item = Option<Described<'f>>> + 'a {
    all.iter().zip(types).map(|(&raw, &type_)| {
        let raw = raw.cast::<sys::XLA_FFI_Buffer>().cast_const();
        if raw.is_null() || type_ != sys::XLA_FFI_ArgType_BUFFER {
            return None;
        }
        // SAFETY: not null, so XLA's descriptor of a buffer, alive as long as the frame.
        let (raw, dims) = unsafe { (&*raw, dims_of(&*raw)) };
        Some(Described {
            dtype: DataType(raw.dtype),
            dims,
            data: raw.data,
        })
    })
}

/// The next operand, if it is what is wanted; else it stays the next one.
#[inline(always)]
fn next<'f>(
    all: &[*mut c_void],
    types: &[i32],
    next: &mut usize,
    want: &Want,
) -> Option<(&'f sys::XLA_FFI_Buffer, usize)> {
    let (&raw, &type_) = (all.get(*next)?, types.get(*next)?);
    if type_ != sys::XLA_FFI_ArgType_BUFFER {
        return None;
    }
    // SAFETY: XLA's descriptor of an operand, see `CallFrame::from_raw`.
    let found = unsafe { checked(raw, want) }?;
    *next += 1;
    Some(found)
}

/// What is wrong with the next operand, which is passed over.
fn next_fault(
    all: &[*mut c_void],
    types: &[i32],
    next: &mut usize,
    want: &Want,
    operand: Operand,
) -> Error {
    match take(all, types, next, operand) {
        Err(error) => error,
        // SAFETY: as in `next`.
        Ok(raw) => unsafe { fault(raw, want, operand) },
    }
}

// Arguments and results have the same one type, so one function serves both.
const _: () = assert!(sys::XLA_FFI_ArgType_BUFFER == sys::XLA_FFI_RetType_BUFFER);

#[cold]
fn wrong_type(operand: Operand, type_: i32) -> Error {
    Error::mismatch(
        operand,
        "be a buffer",
        format_args!("an operand of type {type_}"),
    )
}

fn take(
    all: &[*mut c_void],
    types: &[i32],
    next: &mut usize,
    operand: Operand,
) -> Result<*mut c_void> {
    let at = *next;
    let (Some(&raw), Some(&type_)) = (all.get(at), types.get(at)) else {
        return Err(Error::invalid_argument("is missing").with_operand(operand));
    };
    *next = at + 1;
    if type_ != sys::XLA_FFI_ArgType_BUFFER {
        return Err(wrong_type(operand, type_));
    }
    Ok(raw)
}

fn dtype_at(all: &[*mut c_void], types: &[i32], index: usize) -> Option<DataType> {
    let raw = all.get(index)?.cast::<sys::XLA_FFI_Buffer>();
    if raw.is_null() || *types.get(index)? != sys::XLA_FFI_ArgType_BUFFER {
        return None;
    }
    // SAFETY: not null, so XLA's descriptor of a buffer, alive as long as the frame.
    Some(DataType(unsafe { (*raw).dtype }))
}
