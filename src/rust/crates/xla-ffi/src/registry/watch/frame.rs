//! The operands and results of a call frame, as far as a check needs to know them.

use core::ffi::c_void;

use crate::attr::raw_slice;
use crate::dims::{byte_len, element_count};
use crate::version::FRAME_SIZE;
use crate::view::overlap;
use crate::{sys, DataType};

/// An operand or a result.
pub(super) struct Buffer {
    /// XLA's descriptor, whose `data` says where it is.
    raw: *mut sys::XLA_FFI_Buffer,
    pub(super) dtype: DataType,
    pub(super) dims: Vec<i64>,
    /// Bytes.
    pub(super) size: usize,
    /// XLA's memory for it.
    pub(super) data: *mut u8,
}

/// All of them.
pub(super) struct Operands {
    pub(super) args: Vec<Buffer>,
    pub(super) rets: Vec<Buffer>,
    /// For each result the operand whose memory XLA gave it.
    pub(super) aliases: Vec<Option<usize>>,
}

impl Operands {
    /// What a frame holds, or why that cannot be said.
    ///
    /// # Safety
    /// XLA's frame of a call that outlives what is returned.
    pub(super) unsafe fn of(frame: *mut sys::XLA_FFI_CallFrame) -> Result<Self, String> {
        // SAFETY: by contract; the size is looked at before anything else.
        let (args, rets) = unsafe {
            if (*frame).struct_size < FRAME_SIZE {
                return Err("the call frame is shorter than any that is known".to_owned());
            }
            let (args, rets) = (&(*frame).args, &(*frame).rets);
            (
                buffers(
                    raw_slice(args.types, args.size),
                    raw_slice(args.args, args.size),
                )?,
                buffers(
                    raw_slice(rets.types, rets.size),
                    raw_slice(rets.rets, rets.size),
                )?,
            )
        };
        let mut aliases = Vec::new();
        for ret in &rets {
            let shared = args
                .iter()
                .position(|arg| overlap(arg.range(), ret.range()));
            if let Some(arg) = shared.map(|arg| &args[arg]) {
                if arg.data != ret.data || arg.size != ret.size {
                    return Err("a result has a part of an operand's memory".to_owned());
                }
            }
            aliases.push(shared);
        }
        Ok(Operands {
            args,
            rets,
            aliases,
        })
    }
}

impl Buffer {
    fn range(&self) -> (usize, usize) {
        (self.data as usize, self.data as usize + self.size)
    }

    /// Makes the handler see it there.
    ///
    /// # Safety
    /// The call lasts, and nobody else looks at its frame now.
    pub(super) unsafe fn point_to(&self, data: *mut u8) {
        // SAFETY: by contract XLA's descriptor; XLA makes one for each call that runs.
        unsafe { (*self.raw).data = data.cast() };
    }

    /// The bytes in XLA's memory.
    ///
    /// # Safety
    /// The call lasts, and nobody writes there.
    pub(super) unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: by contract.
        unsafe { raw_slice(self.data, self.size as i64) }
    }

    /// Copies what a run made to where XLA expects it.
    ///
    /// # Safety
    /// A result, and the call lasts.
    pub(super) unsafe fn fill(&self, from: &[u8]) {
        assert_eq!(from.len(), self.size);
        if self.size > 0 {
            // SAFETY: by contract XLA's memory, of that size; `from` is ours.
            unsafe { self.data.copy_from_nonoverlapping(from.as_ptr(), self.size) };
        }
    }
}

/// # Safety
/// XLA's arrays: types, and descriptors.
unsafe fn buffers(types: &[i32], raw: &[*mut c_void]) -> Result<Vec<Buffer>, String> {
    let each = types.iter().zip(raw).map(|(&kind, &raw)| {
        // Operands and results have one number for a buffer.
        if kind != sys::XLA_FFI_ArgType_BUFFER || raw.is_null() {
            return Err("not all operands are buffers".to_owned());
        }
        let raw = raw.cast::<sys::XLA_FFI_Buffer>();
        // SAFETY: by contract; descriptors are complete up to `dims`, which has `rank` entries.
        let (dtype, data, dims) = unsafe {
            let dims = raw_slice((*raw).dims, (*raw).rank);
            (DataType((*raw).dtype), (*raw).data.cast::<u8>(), dims)
        };
        let size = element_count(dims).and_then(|len| byte_len(dtype, len));
        match size {
            None => Err(format!("the size of an operand is not known ({dtype})")),
            Some(size) if size > 0 && data.is_null() => {
                Err("an operand has elements but no memory".to_owned())
            }
            Some(size) => Ok(Buffer {
                raw,
                dtype,
                dims: dims.to_vec(),
                size,
                data,
            }),
        }
    });
    each.collect()
}

/// Bytes of operands and of results, those of unknown size aside.
///
/// # Safety
/// XLA's frame.
pub(super) unsafe fn bytes(frame: *const sys::XLA_FFI_CallFrame) -> (u64, u64) {
    let sum = |all: &[*mut c_void]| {
        let sizes = all.iter().map(|&raw| {
            let raw = raw.cast::<sys::XLA_FFI_Buffer>().cast_const();
            // SAFETY: XLA's descriptors.
            let size = unsafe { raw.as_ref() }.and_then(|raw| {
                // SAFETY: as above; they are complete up to `dims`, which has `rank` entries.
                let dims = unsafe { raw_slice(raw.dims, raw.rank) };
                byte_len(DataType(raw.dtype), element_count(dims)?)
            });
            size.unwrap_or(0) as u64
        });
        sizes.sum()
    };
    // SAFETY: by contract; the size is looked at before anything else.
    unsafe {
        if (*frame).struct_size < FRAME_SIZE {
            return (0, 0);
        }
        let (args, rets) = (&(*frame).args, &(*frame).rets);
        (
            sum(raw_slice(args.args, args.size)),
            sum(raw_slice(rets.rets, rets.size)),
        )
    }
}
