//! A call of an op: its frame checked against the signature and laid out for the body.

use xla_ffi::{CallFrame, Code, Error, Result};

use super::state::Program;
use crate::call::arena::{self, Arena, Work};
use crate::call::arrays::{Flats, Pairs};
use crate::call::attributes::Decoded;
use crate::call::cache::CachedCall;
use crate::call::cuda;
use crate::call::frame::{complete, in_place, take};
use crate::call::prepared::Prepared;
use crate::call::threads::start;
use crate::call::{Addresses, Layout};
use crate::op::CustomOp;

/// Runs the op on the frame of a call, which says which op it means if it is `marked`.
pub(crate) fn run(op: &CustomOp, frame: &mut CallFrame<'_>, marked: bool) -> Result<()> {
    arena::with(|arena| {
        let Arena {
            attributes,
            layout,
            work,
        } = arena;
        op.interface.decode(&frame.attrs(), marked, attributes)?;
        checked(op, None, attributes, layout, frame, work)
    })
}

/// Runs the op's kernel on the device that the frame's arrays are on.
pub(crate) fn run_on_cuda(op: &CustomOp, frame: &mut CallFrame<'_>, marked: bool) -> Result<()> {
    let kernels = op.kernels.as_ref().ok_or_else(|| {
        let text = "it has no kernel for CUDA: `ffi_source(cuda = )` gives it one";
        Error::new(Code::Unimplemented, text)
    })?;
    arena::with(|arena| {
        let (attributes, layout) = (&mut arena.attributes, &mut arena.layout);
        op.interface.decode(&frame.attrs(), marked, attributes)?;
        let mut flats = Flats::new();
        let (_, copies) = arrays_of(op, frame, attributes, layout, &mut flats)?;
        complete(&op.interface, &layout.bound, &mut flats, &copies)?;
        layout.stride(&flats, attributes.batch_axes, true);
        cuda::run(&cuda::Call {
            signature: op.signature(),
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
    if let Some(cached) = program.calls.find(frame, &mut addresses) {
        return cached.run(&program.kept(), frame, &addresses);
    }
    arena::with(|arena| {
        let (layout, work) = (&mut arena.layout, &mut arena.work);
        let (op, attributes) = (&*program.op, &program.attributes);
        checked(op, Some(program), attributes, layout, frame, work)
    })
}

/// Puts the frame's arrays into `flats` and compares them with the signature: how many operands there are, where
/// results begin, and what is copied because it shares no memory.
fn arrays_of<'f>(
    op: &CustomOp,
    frame: &mut CallFrame<'f>,
    attributes: &Decoded,
    layout: &mut Layout,
    flats: &mut Flats<'f>,
) -> Result<((usize, usize), Pairs)> {
    let counts = take(&op.interface, frame, flats, attributes.batch_axes)?;
    layout.check(&op.interface, counts.0, counts.1, attributes, flats)?;
    let copies = in_place(&op.interface, flats, counts.1, layout.count)?;
    Ok((counts, copies))
}

fn checked(
    op: &CustomOp,
    program: Option<&Program>,
    attributes: &Decoded,
    layout: &mut Layout,
    frame: &mut CallFrame<'_>,
    work: &mut Work,
) -> Result<()> {
    let mut flats = Flats::new();
    let ((operands, first_result), copies) = arrays_of(op, frame, attributes, layout, &mut flats)?;
    let at = op.body_of(layout.bound.instance())?;
    let given = flats.len();
    let scratch = complete(&op.interface, &layout.bound, &mut flats, &copies)?;
    layout.stride(&flats, attributes.batch_axes, !op.interface.whole);
    let state = match program {
        Some(program) => program.state(at)?,
        None => op.state(at, attributes)?,
    };
    let instance = &op.instances[at];
    let call = Prepared {
        interface: &op.interface,
        dtypes: &instance.dtypes,
        attributes,
        layout,
        flats: &flats,
        copies: &copies,
        scratch,
        state,
    };
    if let Some(program) = program {
        let arrays = (operands, first_result, given);
        let cached = || CachedCall::new(&call, &instance.body, at, arrays, program.marked);
        program.calls.add(frame, cached);
    }
    start(frame, call, &instance.body, work)
}
