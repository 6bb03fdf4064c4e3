//! A call's frame, checked against the signature and laid out for the body.

use core::cell::RefCell;
use core::ffi::c_void;
use core::ptr;

use xla_ffi::{CallFrame, Code, DataType, Error, Result};

use crate::batch::{self, Plan};
use crate::bind::ArrayView;
use crate::inline::Inline;
use crate::op::OwnOp;
use crate::room::{self, Room, Scratch};
use crate::signature::Array;
use crate::state;

/// An array of a call (each of those that come several times), or scratch memory.
#[derive(Clone, Copy)]
pub(crate) struct Flat<'f> {
    pub(crate) dtype: DataType,
    /// Of the whole array, those of the batch in front.
    pub(crate) dims: &'f [i64],
    /// How many of them are of the batch.
    pub(crate) batch: usize,
    /// The first byte; of scratch memory the distance from its beginning.
    pub(crate) base: *mut u8,
    /// Bytes of an element of the batch.
    pub(crate) bytes: usize,
    /// Bytes of the whole array.
    pub(crate) size: usize,
}

/// An operand and a result, by their places among the arrays.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// The arrays in the order of the signature: operands, results, scratch; and behind them operands
/// whose elements are copied to their results.
pub(crate) type Flats<'f> = Inline<Flat<'f>, 8>;

type Pairs = Inline<Pair, 2>;

impl Flat<'_> {
    /// An operand that was not given.
    const NONE: Flat<'static> = Flat {
        dtype: DataType::INVALID,
        dims: &[],
        batch: 0,
        base: ptr::null_mut(),
        bytes: 0,
        size: 0,
    };

    /// An array as the frame has it, of which those dimensions are in front.
    #[inline(always)]
    fn new(front: usize, dtype: DataType, dims: &[i64], data: *const c_void) -> Flat<'_> {
        Flat {
            dtype,
            dims,
            batch: front,
            base: data.cast_mut().cast(),
            bytes: 0,
            size: 0,
        }
    }

    /// How much of it is an element of the batch. That it fits into memory was looked at when it was
    /// taken.
    fn lay_out(&mut self, array: &Array, bytes: usize) -> Result<()> {
        self.batch = self.dims.len() - array.dims.len();
        self.bytes = bytes;
        let batch = self.dims[..self.batch].iter();
        self.size = batch.fold(bytes, |size, &dim| size * dim as usize);
        if self.is_addressed() {
            return Ok(());
        }
        let fault = match self.base.is_null() {
            true => "has elements but no memory",
            false => "is not aligned to its element type",
        };
        Err(Error::internal(format!("array `{}` {fault}", array.name)))
    }

    /// Whether its elements lie where elements can.
    #[inline]
    pub(crate) fn is_addressed(&self) -> bool {
        let align = self.dtype.size().unwrap_or(1).min(8);
        // Sizes are powers of two.
        self.size == 0 || (!self.base.is_null() && self.base as usize & (align - 1) == 0)
    }

    pub(crate) fn is_given(&self) -> bool {
        self.dtype != DataType::INVALID
    }

    fn overlaps(&self, other: &Flat<'_>) -> bool {
        let (a, b) = (self.base as usize, other.base as usize);
        a < b.saturating_add(other.size) && b < a.saturating_add(self.size)
    }
}

impl ArrayView for Flat<'_> {
    #[inline]
    fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Those behind the batch's.
    #[inline]
    fn dims(&self) -> &[i64] {
        &self.dims[self.batch..]
    }
}

/// Runs the op on the frame of a call, which says which op it means if it is `marked`.
pub(crate) fn run(op: &OwnOp, frame: &mut CallFrame<'_>, marked: bool) -> Result<()> {
    room::with(|room| checked(op, frame, marked, room))
}

fn checked(op: &OwnOp, frame: &mut CallFrame<'_>, marked: bool, room: &mut Room) -> Result<()> {
    let context = frame.context();
    room.attributes.read(op, &frame.attrs(), marked)?;
    let mut flats = Flats::new();
    let (operands, first_result) = take(op, frame, &mut flats, room)?;
    let attributes = &room.attributes;
    let mut copies = Pairs::new();
    let mut is_known = room.last.lay_out(op, operands, attributes, &mut flats);
    if is_known {
        copies = in_place(op, &flats, first_result, room.count)?;
        is_known = copies.is_empty();
    }
    if !is_known {
        room.last.forget();
        copies = arrays(op, operands, first_result, &mut flats, room)?;
    }
    let given = flats.len();
    let instance = op.body_of(room.bound.instance())?;
    let scratch = scratch(op, &mut flats, room)?;
    for pair in copies.iter_mut() {
        // The body finds the operand where its result is.
        let operand = flats[pair.from];
        flats[pair.from] = flats[pair.to];
        pair.from = flats.len();
        flats.push(operand);
    }
    if !is_known {
        strides(&flats, room);
        if !op.whole {
            merge(&mut room.sizes, &mut room.strides, flats.len());
        }
        if copies.is_empty() {
            let attributes = &room.attributes;
            room.last
                .remember(op, operands, attributes, &flats[..given]);
        }
    }
    let frame = RefCell::new(frame);
    let attributes = &room.attributes;
    let state = state::of(op, instance, &context, &attributes.all, &attributes.numbers)?;
    let plan = Plan {
        op,
        instance: &op.instances[instance],
        dims: room.bound.dims(),
        count: room.count,
        attributes,
        flats: &flats,
        copies: &copies,
        sizes: &room.sizes,
        strides: &room.strides,
        scratch,
        state,
        context: &context,
        later: &|| Ok(frame.borrow_mut().later()?.promise()),
    };
    batch::run(&plan, &mut room.work)
}

/// Takes the arrays of the frame; how many operands were given, and where the results begin.
fn take<'f>(
    op: &OwnOp,
    frame: &mut CallFrame<'f>,
    flats: &mut Flats<'f>,
    room: &Room,
) -> Result<(usize, usize)> {
    let front = room.attributes.batch_axes;
    let (args, rets) = (frame.arg_count(), frame.ret_count());
    for index in 0..args {
        let buffer = frame.next_arg("operand", Some(index as u32))?;
        flats.push(Flat::new(
            front,
            buffer.dtype(),
            buffer.dims(),
            buffer.as_ptr(),
        ));
    }
    let signature = op.signature();
    // Where one comes several times none is left out.
    if op.many.is_none() {
        for _ in args..signature.operands.len() {
            flats.push(Flat::NONE);
        }
    }
    let first_result = flats.len();
    for index in 0..rets {
        let mut buffer = frame.next_ret("result", Some(index as u32))?;
        let data = buffer.as_mut_ptr();
        flats.push(Flat::new(front, buffer.dtype(), buffer.dims(), data));
    }
    Ok((args, first_result))
}

/// Has the arrays checked and lays them out; which operands are not where their results are.
fn arrays(
    op: &OwnOp,
    args: usize,
    first_result: usize,
    flats: &mut [Flat<'_>],
    room: &mut Room,
) -> Result<Pairs> {
    let signature = op.signature();
    let front = room.attributes.batch_axes;
    for flat in flats.iter_mut().filter(|flat| flat.is_given()) {
        flat.batch = front;
    }
    if front > 0 {
        enough(front, flats)?;
    }
    let (operands, results) = (&flats[..args], &flats[first_result..]);
    let bound = &mut room.bound;
    let numbers = &room.attributes.numbers;
    op.plan.check(operands, results, numbers, bound)?;
    sizes(front, operands, results, &mut room.sizes)?;
    let own = bound.batch().iter().map(|&size| size as usize);
    room.sizes.extend(own);
    room.count = op.count_of(args);

    let times = |count: Option<usize>| count.map_or(1, |_| room.count);
    let mut given = flats.iter_mut().filter(|flat| flat.is_given());
    let mut bytes = bound.sizes().iter();
    let present = if op.many.is_some() { usize::MAX } else { args };
    let operands = signature.operands.iter().take(present);
    let arrays = operands.map(|operand| (&operand.array, operand.count));
    let results = signature.results.iter();
    let results = results.map(|result| (&result.array, result.count));
    for (array, count) in arrays.chain(results) {
        for _ in 0..times(count) {
            let (Some(flat), Some(&bytes)) = (given.next(), bytes.next()) else {
                break;
            };
            flat.lay_out(array, bytes)?;
        }
    }
    in_place(op, flats, first_result, room.count)
}

/// Looks at what shares memory; which operands are not where their results are, though the body works
/// on them there.
fn in_place(op: &OwnOp, flats: &[Flat<'_>], first_result: usize, count: usize) -> Result<Pairs> {
    let (mut copies, mut in_place) = (Pairs::new(), Pairs::new());
    let mut to = first_result;
    for result in &op.signature().results {
        for index in 0..result.count.map_or(1, |_| count) {
            if let Some(operand) = result.in_place {
                let from = op.first_flat(operand, count) + index;
                in_place.push(Pair { from, to });
                if flats[from].base != flats[to].base || flats[from].dims != flats[to].dims {
                    copies.push(Pair { from, to });
                }
            }
            to += 1;
        }
    }
    let (operands, results) = flats.split_at(first_result);
    for (from, operand) in operands.iter().enumerate() {
        for (to, result) in results.iter().enumerate() {
            let is_pair = |pair: &Pair| pair.from == from && pair.to == first_result + to;
            if operand.overlaps(result)
                && (!in_place.iter().any(is_pair) || copies.iter().any(is_pair))
            {
                let text = format!(
                    "array {} of the operands shares its memory with a result, but the op does not \
                     work on it in place",
                    from + 1
                );
                return Err(Error::new(Code::FailedPrecondition, text));
            }
        }
    }
    Ok(copies)
}

/// Whether all arrays have the axes that a batch has in front.
#[cold]
fn enough(front: usize, flats: &[Flat<'_>]) -> Result<()> {
    match flats
        .iter()
        .filter(|flat| flat.is_given())
        .all(|flat| flat.dims.len() >= front)
    {
        true => Ok(()),
        false => Err(Error::invalid_argument(format!(
            "all arrays must have {front} axes of a batch in front, got one without"
        ))),
    }
}

/// The lengths of the axes that a batch has in front of all arrays.
fn sizes(
    front: usize,
    operands: &[Flat<'_>],
    results: &[Flat<'_>],
    sizes: &mut Vec<usize>,
) -> Result<()> {
    sizes.clear();
    for axis in 0..front {
        let mut operands = operands
            .iter()
            .map(|flat| flat.dims[axis])
            .filter(|&size| size != 1);
        let mut results = results.iter().map(|flat| flat.dims[axis]);
        let size = results.next().or_else(|| operands.next()).unwrap_or(1);
        if let Some(other) = results.chain(operands).find(|&other| other != size) {
            return Err(lengths(axis, size, other));
        }
        sizes.push(size as usize);
    }
    Ok(())
}

#[cold]
fn lengths(axis: usize, one: i64, another: i64) -> Error {
    Error::invalid_argument(format!(
        "axis {} of the batch must have one length, got {one} and {another}",
        axis + 1
    ))
}

/// Adds the scratch arrays; how many bytes they need together.
fn scratch(op: &OwnOp, flats: &mut Flats<'_>, room: &Room) -> Result<usize> {
    let scratch = &op.signature().scratch;
    let sizes = room.bound.sizes();
    let mut end = 0usize;
    for (array, &bytes) in scratch.iter().zip(&sizes[sizes.len() - scratch.len()..]) {
        let padded = bytes.checked_next_multiple_of(Scratch::ALIGN);
        let Some(next) = padded.and_then(|bytes| end.checked_add(bytes)) else {
            let text = format!("scratch array `{}` does not fit in memory", array.name);
            return Err(Error::new(Code::ResourceExhausted, text));
        };
        flats.push(Flat {
            base: ptr::null_mut::<u8>().wrapping_add(end),
            bytes,
            size: bytes,
            ..Flat::NONE
        });
        end = next;
    }
    Ok(end)
}

/// How far each array goes from one element of the batch to the next, along each axis.
fn strides(flats: &[Flat<'_>], room: &mut Room) {
    let (sizes, strides) = (&mut room.sizes, &mut room.strides);
    strides.clear();
    if sizes.is_empty() {
        return;
    }
    let count = flats.len();
    strides.resize(sizes.len() * count, 0);
    let front = room.attributes.batch_axes;
    for (at, flat) in flats.iter().enumerate() {
        let mut stride = flat.bytes;
        for (place, &dim) in flat.dims[..flat.batch].iter().enumerate().rev() {
            // Axes of `...` are counted from the last one.
            let axis = if place < front {
                place
            } else {
                sizes.len() - (flat.batch - place)
            };
            if dim != 1 {
                strides[axis * count + at] = stride as isize;
            }
            stride = stride.saturating_mul(dim as usize);
        }
    }
}

/// Makes axes one that all arrays go through as through one.
fn merge(sizes: &mut Vec<usize>, strides: &mut Vec<isize>, count: usize) {
    for axis in (1..sizes.len()).rev() {
        let (outer, inner) = strides[(axis - 1) * count..].split_at(count);
        let is_one = (0..count).all(|at| outer[at] == inner[at].wrapping_mul(sizes[axis] as isize));
        if is_one || sizes[axis - 1] == 1 {
            let size = sizes.remove(axis);
            sizes[axis - 1] *= size;
            strides.drain((axis - 1) * count..axis * count);
        }
    }
}
