//! A call of an op on CUDA: its kernel's argument, memory for the call, the launches.

use cuda::raw;
use cuda::unit::Grid;
use cuda::Cuda;
use xla_ffi::{Code, Context, DataType, Error, Result};

use super::shape::{each_grid, Shape, MOST_BLOCKS};
use super::{failure, source, Kernels};
use crate::attributes::Decoded;
use crate::flat::{Flat, Pair};
use crate::layout::Layout;
use crate::op::OwnOp;
use crate::signature::AttributeKind;

/// A call, checked and laid out.
pub(crate) struct Call<'a> {
    pub(crate) op: &'a OwnOp,
    pub(crate) kernels: &'a Kernels,
    pub(crate) attributes: &'a Decoded,
    pub(crate) layout: &'a Layout,
    /// Operands, results, scratch arrays, and in the order of `copies` operands that are copied to
    /// their results first.
    pub(crate) flats: &'a [Flat<'a>],
    pub(crate) copies: &'a [Pair],
    pub(crate) context: &'a Context<'a>,
}

/// Scratch memory of a launch; more elements of the batch have launches of their own.
const MOST_SCRATCH: usize = 256 << 20;
/// Scratch arrays begin at multiples of this.
const ALIGN: usize = 16;

/// Runs the kernel for all elements of the batch.
pub(crate) fn run(call: &Call<'_>) -> Result<()> {
    let cuda = <Cuda as xla_ffi::Platform>::new(call.context)?;
    let count = call.layout.sizes.iter().product::<usize>();
    let results = call.op.signature().results.iter().enumerate();
    let operands = call.op.signature().operands.len();
    let is_empty = call.flats[operands..].iter().take(results.len());
    if count == 0 || (results.len() > 0 && is_empty.clone().all(|flat| flat.size == 0)) {
        return Ok(());
    }
    call.copy(&cuda, count)?;
    let shape = call.shape()?;
    if shape.items == 0 {
        return Ok(());
    }
    call.launch(&cuda, &shape, count)
}

impl Call<'_> {
    /// Puts operands where their results are.
    fn copy(&self, cuda: &Cuda, count: usize) -> Result<()> {
        let first = self.flats.len() - self.copies.len();
        for (from, &Pair { to, .. }) in (first..).zip(self.copies) {
            let (source, result) = (&self.flats[from], &self.flats[to]);
            let (source_at, result_at) = (source.base as u64, result.base as u64);
            if source.size == result.size {
                // SAFETY: an operand and a result of one type, which do not overlap.
                unsafe { raw::copy(cuda, result_at, source_at, result.size) }?;
                continue;
            }
            for element in 0..count {
                let from = source_at.wrapping_add_signed(self.offset(from, element));
                let to = result_at.wrapping_add_signed(self.offset(to, element));
                // SAFETY: this element of an operand and a result of one type.
                unsafe { raw::copy(cuda, to, from, result.bytes) }?;
            }
        }
        Ok(())
    }

    /// Bytes from an array's beginning to an element of the batch.
    fn offset(&self, array: usize, element: usize) -> i64 {
        let (mut rest, mut offset) = (element, 0);
        for (axis, &size) in self.layout.sizes.iter().enumerate().rev() {
            let stride = self.layout.strides[axis * self.flats.len() + array];
            offset += (rest % size) as i64 * stride as i64;
            rest /= size;
        }
        offset
    }

    fn launch(&self, cuda: &Cuda, shape: &Shape, count: usize) -> Result<()> {
        let signature = self.op.signature();
        if self.layout.sizes.len() > source::AXES {
            let text = format!(
                "a kernel's batch has at most {} axes that do not lie as one, got {}",
                source::AXES,
                self.layout.sizes.len()
            );
            return Err(Error::new(Code::Unimplemented, text));
        }
        let arrays = source::arrays(signature);
        let first_scratch = arrays - signature.scratch.len();
        let too_much = || {
            let text = "more scratch memory is needed than addresses can count";
            Error::new(Code::ResourceExhausted, text)
        };

        // What the device must be told, and the scratch arrays of as many elements as are launched at once.
        let mut told = vec![0_u8; if self.kernels.fails { failure::SIZE } else { 0 }];
        let attributes = self.tell_attributes(&mut told);
        let rooms = self.flats[first_scratch..arrays].iter();
        let rooms: Option<Vec<usize>> = rooms
            .map(|flat| flat.bytes.checked_next_multiple_of(ALIGN))
            .collect();
        let rooms = rooms.ok_or_else(too_much)?;
        let each = rooms
            .iter()
            .try_fold(0_usize, |sum, &room| sum.checked_add(room));
        let each = each.ok_or_else(too_much)?;
        let at_once = match (each, &shape.grid) {
            (0, None) => count,
            (0, Some(_)) => count.min(MOST_BLOCKS[2] as usize),
            (_, None) => (MOST_SCRATCH / each).clamp(1, count),
            (_, Some(_)) => (MOST_SCRATCH / each)
                .clamp(1, count)
                .min(MOST_BLOCKS[2] as usize),
        };
        let total = each
            .checked_mul(at_once)
            .and_then(|bytes| bytes.checked_add(told.len()));
        let memory = self.context.scratch(total.ok_or_else(too_much)?, ALIGN)?;
        let base = memory.as_ptr() as u64;
        // SAFETY: the memory has room for it, in front of the scratch arrays.
        unsafe { raw::upload(cuda, base, &told) }?;

        let mut words = vec![0_u64; 4];
        words.extend(
            (0..source::AXES).map(|axis| self.layout.sizes.get(axis).map_or(1, |&s| s as u64)),
        );
        let mut next = base + told.len() as u64;
        for (at, flat) in self.flats[..arrays].iter().enumerate() {
            if at < first_scratch {
                words.push(flat.base as u64);
            } else {
                words.push(next);
                next += (rooms[at - first_scratch] * at_once) as u64;
            }
        }
        words.extend((arrays == 0).then_some(0));
        for axis in 0..source::AXES {
            let strides = (0..arrays).map(|at| match self.layout.sizes.get(axis) {
                Some(_) => self.layout.strides[axis * self.flats.len() + at] as u64,
                None => 0,
            });
            words.extend(strides);
            words.extend((arrays == 0).then_some(0));
        }
        words.extend((0..first_scratch).map(|_| 0));
        words.extend(rooms.iter().map(|&room| room as u64));
        words.extend((arrays == 0).then_some(0));
        words.extend(self.layout.bound.dims().iter().map(|&dim| dim as u64));
        words.extend(self.layout.bound.dims().is_empty().then_some(0));
        words.extend(attributes.iter().map(|word| match *word {
            Word::Value(value) => value,
            Word::Told(offset) => base + offset as u64,
        }));
        words.push(if self.kernels.fails { base } else { 0 });
        debug_assert_eq!(words.len(), source::words(signature));

        let unit = &self.kernels.units[self.layout.bound.instance()];
        for first in (0..count).step_by(at_once) {
            let here = at_once.min(count - first);
            let counts = [first, here, shape.items, self.layout.sizes.len()];
            words[..4].copy_from_slice(&counts.map(|number| number as u64));
            let grid = match shape.grid {
                Some(grid) => Grid {
                    blocks: [grid.blocks[0], grid.blocks[1], here as u32],
                    ..grid
                },
                None => each_grid(here, shape.items)?,
            };
            // SAFETY: these are the words of the unit's kernel (`source::arguments`), with this call's
            // memory; what the kernel does with it is what whoever makes an op promises.
            unsafe { unit.launch(cuda, grid, &mut words) }?;
        }
        if !self.kernels.fails {
            return Ok(());
        }
        // SAFETY: the record lies at the memory's beginning.
        let record = unsafe { raw::read(cuda, base, failure::SIZE) }?;
        match failure::read(&record) {
            None => Ok(()),
            Some((error, _)) if count == 1 => Err(error),
            Some((error, element)) => {
                let text = format!("{error} (element {} of the batch of {count})", element + 1);
                Err(Error::new(error.code(), text))
            }
        }
    }

    /// Attributes as words; what is longer is put to what the device is told.
    fn tell_attributes(&self, told: &mut Vec<u8>) -> Vec<Word> {
        let mut words = Vec::new();
        let known = self.op.signature().attributes.iter();
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
                words.push(Word::Told(told.len()));
                words.push(Word::Value(value.length as u64));
                told.extend_from_slice(data);
            }
            told.resize(told.len().next_multiple_of(ALIGN), 0);
        }
        words
    }
}

/// A word of the argument: a value, or the address of something that the device is told.
enum Word {
    Value(u64),
    Told(usize),
}
