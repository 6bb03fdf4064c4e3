//! A call's frame, checked against the signature and laid out for the body.

use core::cell::RefCell;
use core::ffi::c_void;
use core::ptr;

use xla_ffi::{CallFrame, Code, Error, Result};

use crate::addresses::Addresses;
use crate::attributes::Decoded;
use crate::batch::{self, Plan};
use crate::bind::Bound;
use crate::flat::{Flat, Flats, Pair, Pairs};
use crate::kernel::launch;
use crate::layout::Layout;
use crate::op::{Instance, OwnOp};
use crate::room::{self, Room, Scratch, Work};
use crate::site::Site;
use crate::state::{self, Program};

/// A call whose arrays were checked: all that its body needs but XLA's services.
pub(crate) struct Ready<'a> {
    pub(crate) op: &'a OwnOp,
    pub(crate) instance: &'a Instance,
    pub(crate) attributes: &'a Decoded,
    pub(crate) layout: &'a Layout,
    pub(crate) flats: &'a [Flat<'a>],
    /// Operands whose elements are copied to their results before the body runs; they are the last
    /// of the arrays, in this order.
    pub(crate) copies: &'a [Pair],
    /// Bytes of scratch memory.
    pub(crate) scratch: usize,
    pub(crate) state: *mut c_void,
}

/// Runs the op on the frame of a call, which says which op it means if it is `marked`.
pub(crate) fn run(op: &OwnOp, frame: &mut CallFrame<'_>, marked: bool) -> Result<()> {
    room::with(|room| {
        let Room {
            attributes,
            layout,
            work,
        } = room;
        attributes.read(op, &frame.attrs(), marked)?;
        checked(op, None, attributes, layout, frame, work)
    })
}

/// Runs the op's kernel on the device that the frame's arrays are on.
pub(crate) fn run_on_cuda(op: &OwnOp, frame: &mut CallFrame<'_>, marked: bool) -> Result<()> {
    let kernels = op.kernels.as_ref().ok_or_else(|| {
        let text = "it has no kernel for CUDA: `ffi_source(cuda = )` gives it one";
        Error::new(Code::Unimplemented, text)
    })?;
    room::with(|room| {
        let (attributes, layout) = (&mut room.attributes, &mut room.layout);
        attributes.read(op, &frame.attrs(), marked)?;
        let mut flats = Flats::new();
        let (operands, first_result) = take(op, frame, &mut flats, attributes.batch_axes)?;
        layout.check(op, operands, first_result, attributes, &mut flats)?;
        let copies = in_place(op, &flats, first_result, layout.count)?;
        complete(op, &layout.bound, &mut flats, &copies)?;
        layout.stride(&flats, attributes.batch_axes, true);
        launch::run(&launch::Call {
            op,
            kernels,
            attributes,
            layout,
            flats: &flats,
            copies: &copies,
            context: &frame.context(),
        })
    })
}

/// Runs the op that a program keeps for the call.
#[inline]
pub(crate) fn run_kept(program: &Program, frame: &mut CallFrame<'_>) -> Result<()> {
    let mut addresses = Addresses::new();
    if let Some(site) = program.sites.find(frame, &mut addresses) {
        return site.run(program, frame, &addresses);
    }
    room::with(|room| {
        let (layout, work) = (&mut room.layout, &mut room.work);
        let (op, attributes) = (&*program.op, &program.attributes);
        checked(op, Some(program), attributes, layout, frame, work)
    })
}

fn checked(
    op: &OwnOp,
    program: Option<&Program>,
    attributes: &Decoded,
    layout: &mut Layout,
    frame: &mut CallFrame<'_>,
    work: &mut Work,
) -> Result<()> {
    let mut flats = Flats::new();
    let (operands, first_result) = take(op, frame, &mut flats, attributes.batch_axes)?;
    layout.check(op, operands, first_result, attributes, &mut flats)?;
    let copies = in_place(op, &flats, first_result, layout.count)?;
    let instance = op.body_of(layout.bound.instance())?;
    let given = flats.len();
    let scratch = complete(op, &layout.bound, &mut flats, &copies)?;
    layout.stride(&flats, attributes.batch_axes, !op.whole);
    let state = match program {
        Some(program) => program.state(instance)?,
        None => state::of(op, instance, attributes)?,
    };
    let call = Ready {
        op,
        instance: &op.instances[instance],
        attributes,
        layout,
        flats: &flats,
        copies: &copies,
        scratch,
        state,
    };
    if let Some(program) = program {
        let site = || Site::new(&call, operands, first_result, given, program.marked);
        program.sites.add(frame, site);
    }
    start(frame, call, work)
}

/// Runs the body.
pub(crate) fn start(frame: &mut CallFrame<'_>, call: Ready<'_>, work: &mut Work) -> Result<()> {
    let context = frame.context();
    let frame = RefCell::new(frame);
    let plan = Plan {
        call,
        context: &context,
        later: &|| Ok(frame.borrow_mut().later()?.promise()),
    };
    batch::run(&plan, work)
}

/// Takes the arrays of the frame; how many operands were given, and where the results begin.
fn take<'f>(
    op: &OwnOp,
    frame: &mut CallFrame<'f>,
    flats: &mut Flats<'f>,
    front: usize,
) -> Result<(usize, usize)> {
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

/// The operands that the body works on where results are, of an op whose operand `*k` comes so often.
pub(crate) fn pairs(
    op: &OwnOp,
    first_result: usize,
    count: usize,
) -> impl Iterator<Item = Pair> + '_ {
    let mut to = first_result;
    op.signature().results.iter().flat_map(move |result| {
        let times = result.count.map_or(1, |_| count);
        let first = to;
        to += times;
        let operand = result.in_place.map(|operand| op.first_flat(operand, count));
        let pair = move |from: usize| {
            (0..times).map(move |index| Pair {
                from: from + index,
                to: first + index,
            })
        };
        operand.into_iter().flat_map(pair)
    })
}

/// Looks at what shares memory; which operands are not where their results are, though the body works
/// on them there.
fn in_place(op: &OwnOp, flats: &[Flat<'_>], first_result: usize, count: usize) -> Result<Pairs> {
    let (mut copies, mut in_place) = (Pairs::new(), Pairs::new());
    for pair in pairs(op, first_result, count) {
        let (from, to) = (&flats[pair.from], &flats[pair.to]);
        in_place.push(pair);
        if from.base != to.base || from.dims != to.dims {
            copies.push(pair);
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

/// Adds the scratch arrays, and behind them the operands whose elements are copied to their results;
/// how many bytes of scratch memory there must be.
pub(crate) fn complete(
    op: &OwnOp,
    bound: &Bound,
    flats: &mut Flats<'_>,
    copies: &[Pair],
) -> Result<usize> {
    let scratch = &op.signature().scratch;
    let sizes = bound.sizes();
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
    for &Pair { from, to } in copies {
        // The body finds the operand where its result is.
        let operand = flats[from];
        flats[from] = flats[to];
        flats.push(operand);
    }
    Ok(end)
}
