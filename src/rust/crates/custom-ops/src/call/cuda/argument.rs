//! The argument of a kernel, as `body/cuda/source.rs` declares it, and the memory of a launch.

use xla_ffi::{Code, DataType, Error, Result};

use super::prepared::Call;
use super::shape::{Shape, MOST_BLOCKS};
use crate::body::cuda::{failure, source};
use crate::signature::AttributeKind;

/// Scratch memory of a launch; more elements of the batch have launches of their own.
const MOST_SCRATCH: usize = 256 << 20;
/// Scratch arrays begin at multiples of this.
pub(super) const ALIGN: usize = 16;

/// A word of the argument: a value, or the address of something that is uploaded.
enum Word {
    Value(u64),
    Uploaded(usize),
}

/// The memory of a launch: what is uploaded, and behind it scratch arrays of as many elements as are
/// launched at once.
pub(super) struct Memory {
    /// Room for a failure, if the kernel has any, and attributes.
    pub(super) upload: Vec<u8>,
    attributes: Vec<Word>,
    /// Bytes of each scratch array of one element.
    scratch: Vec<usize>,
    pub(super) at_once: usize,
    /// Bytes of all.
    pub(super) size: usize,
}

#[cold]
fn too_much() -> Error {
    let text = "more scratch memory is needed than addresses can count";
    Error::new(Code::ResourceExhausted, text)
}

impl Call<'_> {
    /// What memory the launches of so many elements need.
    pub(super) fn memory(&self, shape: &Shape, count: usize) -> Result<Memory> {
        let arrays = source::arrays(self.signature);
        let first_scratch = arrays - self.signature.scratch.len();
        let mut upload = vec![0_u8; if self.kernels.fails { failure::SIZE } else { 0 }];
        let attributes = self.attribute_words(&mut upload);
        let scratch = self.flats[first_scratch..arrays].iter();
        let scratch: Option<Vec<usize>> = scratch
            .map(|flat| flat.bytes.checked_next_multiple_of(ALIGN))
            .collect();
        let scratch = scratch.ok_or_else(too_much)?;
        let mut sizes = scratch.iter();
        let each = sizes.try_fold(0_usize, |sum, &size| sum.checked_add(size));
        let each = each.ok_or_else(too_much)?;
        let at_once = match (each, &shape.grid) {
            (0, None) => count,
            (0, Some(_)) => count.min(MOST_BLOCKS[2] as usize),
            (_, None) => (MOST_SCRATCH / each).clamp(1, count),
            (_, Some(_)) => (MOST_SCRATCH / each)
                .clamp(1, count)
                .min(MOST_BLOCKS[2] as usize),
        };
        let size = each
            .checked_mul(at_once)
            .and_then(|bytes| bytes.checked_add(upload.len()));
        Ok(Memory {
            size: size.ok_or_else(too_much)?,
            upload,
            attributes,
            scratch,
            at_once,
        })
    }

    /// The kernel's argument, for a launch's memory at `base`. The first four words are those of a launch.
    pub(super) fn words(&self, memory: &Memory, base: u64) -> Vec<u64> {
        let arrays = source::arrays(self.signature);
        let first_scratch = arrays - self.signature.scratch.len();
        let sizes = &self.layout.sizes;
        let mut words = vec![0_u64; 4];
        words.extend((0..source::AXES).map(|axis| sizes.get(axis).map_or(1, |&s| s as u64)));
        let mut next = base + memory.upload.len() as u64;
        for (at, flat) in self.flats[..arrays].iter().enumerate() {
            if at < first_scratch {
                words.push(flat.base as u64);
            } else {
                words.push(next);
                next += (memory.scratch[at - first_scratch] * memory.at_once) as u64;
            }
        }
        words.extend((arrays == 0).then_some(0));
        for axis in 0..source::AXES {
            let strides = (0..arrays).map(|at| match sizes.get(axis) {
                Some(_) => self.layout.strides[axis * self.flats.len() + at] as u64,
                None => 0,
            });
            words.extend(strides);
            words.extend((arrays == 0).then_some(0));
        }
        words.extend((0..first_scratch).map(|_| 0));
        words.extend(memory.scratch.iter().map(|&size| size as u64));
        words.extend((arrays == 0).then_some(0));
        let dims = self.layout.bound.dims();
        words.extend(dims.iter().map(|&dim| dim as u64));
        words.extend(dims.is_empty().then_some(0));
        words.extend(memory.attributes.iter().map(|word| match *word {
            Word::Value(value) => value,
            Word::Uploaded(offset) => base + offset as u64,
        }));
        words.push(if self.kernels.fails { base } else { 0 });
        debug_assert_eq!(words.len(), source::words(self.signature));
        words
    }

    /// Attributes as words; what is longer is put to what is uploaded.
    fn attribute_words(&self, upload: &mut Vec<u8>) -> Vec<Word> {
        let mut words = Vec::new();
        let known = self.signature.attributes.iter();
        for (known, value) in known.zip(&self.attributes.all) {
            let (dtype, is_scalar) = match known.kind {
                AttributeKind::Scalar(dtype) => (dtype, true),
                AttributeKind::Array(dtype, _) => (dtype, false),
                AttributeKind::Text => (DataType::U8, false),
            };
            let bytes = dtype.size().unwrap_or(1) * value.length;
            // SAFETY: the attribute has so many bytes; one without elements has an address all the same.
            let data = unsafe { core::slice::from_raw_parts(value.data.cast::<u8>(), bytes) };
            if is_scalar {
                let mut word = [0; 8];
                word[..bytes].copy_from_slice(data);
                words.push(Word::Value(u64::from_ne_bytes(word)));
            } else {
                words.push(Word::Uploaded(upload.len()));
                words.push(Word::Value(value.length as u64));
                upload.extend_from_slice(data);
            }
            upload.resize(upload.len().next_multiple_of(ALIGN), 0);
        }
        words
    }
}
