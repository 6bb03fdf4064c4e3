//! The arrays of a call's frame: taken, looked at for shared memory, completed by what only the body sees.

use core::ptr;

use xla_ffi::{CallFrame, Code, Error, Result};

use super::arena::Scratch;
use super::arrays::{Flat, Flats, Pair, Pairs};
use super::interface::Interface;
use crate::bind::Bound;

/// Takes the arrays of the frame; how many operands were given, and where the results begin.
pub(crate) fn take<'f>(
    interface: &Interface,
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
    let signature = interface.signature();
    // Where one comes several times none is left out.
    if interface.many.is_none() {
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
    interface: &Interface,
    first_result: usize,
    count: usize,
) -> impl Iterator<Item = Pair> + '_ {
    let mut to = first_result;
    interface
        .signature()
        .results
        .iter()
        .flat_map(move |result| {
            let times = result.count.map_or(1, |_| count);
            let first = to;
            to += times;
            let operand = result
                .in_place
                .map(|operand| interface.first_flat(operand, count));
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
pub(crate) fn in_place(
    interface: &Interface,
    flats: &[Flat<'_>],
    first_result: usize,
    count: usize,
) -> Result<Pairs> {
    let (mut copies, mut in_place) = (Pairs::new(), Pairs::new());
    for pair in pairs(interface, first_result, count) {
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
    interface: &Interface,
    bound: &Bound,
    flats: &mut Flats<'_>,
    copies: &[Pair],
) -> Result<usize> {
    let scratch = &interface.signature().scratch;
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
