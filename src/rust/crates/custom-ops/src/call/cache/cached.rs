//! A call of a compiled program, laid out once: shapes are static, so its next calls, and those of
//! other places that are alike, differ from the first in addresses only.

use core::ffi::c_void;

use xla_ffi::{CallFrame, Result};

use super::super::addresses::{pop_type, push_type, Addresses};
use super::super::arena;
use super::super::arrays::{overlap, Flat, Flats, Pair};
use super::super::attributes::Decoded;
use super::super::frame::{complete, pairs};
use super::super::instance::{Body, Instance};
use super::super::interface::Interface;
use super::super::layout::Layout;
use super::super::prepared::Prepared;
use super::super::threads::start;
use crate::body::abi;
use crate::body::message::Message;

/// What the first call of a place in a program was like, and what was found for it. A program has
/// many places, none of which stays in the processor's cache for long: what each call needs lies in
/// two lines of it.
#[repr(C)]
pub(crate) struct CachedCall {
    args: u16,
    /// The place of the first result among the arrays: behind operands that were left out.
    first_result: u16,
    rets: u16,
    /// Where the named dimensions begin in the types.
    named: u16,
    /// The body, where it is a function in C that is called once, with the arrays as they are.
    direct: Option<abi::Body>,
    attributes: *const abi::Attribute,
    state: *mut c_void,
    rest: Box<Rest>,
    /// The types, if they are so few.
    few: [i64; FEW],
    are_few: bool,
    /// Whether some operand and result are one memory.
    shares: bool,
    /// Whether the call says which op it means.
    pub(crate) marked: bool,
}

/// What `x: T[n], y: T[] -> z: T[n]` has.
const FEW: usize = 9;

// With the state of a `OnceLock` around it.
const _: () = assert!(size_of::<CachedCall>() <= 120);

/// What a program keeps for its calls.
pub(crate) struct Kept<'a> {
    pub(crate) interface: &'a Interface,
    pub(crate) instances: &'a [Instance],
    pub(crate) attributes: &'a Decoded,
}

/// What only calls need that are not direct.
struct Rest {
    /// Of each array that was given: element type and rank; size and alignment; dimensions. Behind
    /// them the named dimensions.
    types: Vec<i64>,
    /// For each result and operand, whether they are one memory; empty where none are.
    together: Vec<bool>,
    layout: Layout,
    /// For each array its dimensions in front, and bytes of an element of the batch.
    arrays: Vec<(usize, usize)>,
    copies: Vec<Pair>,
    /// The place of the instance in the op.
    instance: usize,
}

impl CachedCall {
    /// Of a call: how many operands its frame has, where the results begin among the arrays, and how many of those
    /// there are.
    pub(crate) fn new(
        call: &Prepared<'_>,
        body: &Body,
        instance: usize,
        (args, first_result, given): (usize, usize, usize),
        marked: bool,
    ) -> Option<CachedCall> {
        let interface = call.interface;
        let mut types = Vec::new();
        for (at, flat) in call.flats[..given].iter().enumerate() {
            // An operand that is copied was moved behind all others.
            let copied = call.copies.iter().position(|pair| pair.from == at);
            let behind = call.flats.len() - call.copies.len();
            let flat = copied.map_or(flat, |copied| &call.flats[behind + copied]);
            if !flat.is_given() {
                continue;
            }
            push_type(&mut types, flat)?;
        }
        let named = u16::try_from(types.len()).ok()?;
        types.extend_from_slice(call.layout.bound.dims());
        let are_few = types.len() <= FEW;
        let mut few = [0; FEW];
        few.iter_mut()
            .zip(&types)
            .for_each(|(few, &word)| *few = word);
        let mut together = Vec::new();
        if interface
            .signature()
            .results
            .iter()
            .any(|result| result.in_place.is_some())
        {
            together.resize(first_result * (given - first_result), false);
            for pair in pairs(interface, first_result, call.layout.count) {
                let is_copied = call.copies.iter().any(|copy| copy.to == pair.to);
                together[(pair.to - first_result) * first_result + pair.from] = !is_copied;
            }
        }
        let is_one = call.layout.sizes.iter().all(|&size| size == 1);
        let is_plain = interface.many.is_none()
            && call.copies.is_empty()
            && interface.signature().scratch.is_empty();
        let direct = match *body {
            Body::C(body) if is_one && is_plain => Some(body),
            _ => None,
        };
        Some(CachedCall {
            args: u16::try_from(args).ok()?,
            first_result: u16::try_from(first_result).ok()?,
            rets: u16::try_from(given - first_result).ok()?,
            named,
            direct,
            attributes: call.attributes.all.as_ptr(),
            state: call.state,
            few,
            are_few,
            shares: !together.is_empty(),
            marked,
            rest: Box::new(Rest {
                types,
                together,
                layout: call.layout.clone(),
                arrays: call.flats[..given]
                    .iter()
                    .map(|flat| (flat.batch, flat.bytes))
                    .collect(),
                copies: call.copies.to_vec(),
                instance,
            }),
        })
    }

    #[inline]
    fn types(&self) -> &[i64] {
        match self.are_few {
            true => &self.few,
            false => &self.rest.types,
        }
    }

    /// Whether a call differs from the first one only in where its arrays lie, and where that is.
    #[inline(always)]
    pub(crate) fn fits(&self, frame: &CallFrame<'_>, all: &mut Addresses) -> bool {
        self.take(frame, all).is_some() && self.is_apart(all)
    }

    #[inline(always)]
    fn take(&self, frame: &CallFrame<'_>, all: &mut Addresses) -> Option<()> {
        let (args, rets) = (frame.described_args(), frame.described_rets());
        if args.len() != self.args.into() || rets.len() != self.rets.into() {
            return None;
        }
        let mut types = self.types();
        for arg in args {
            all.take(arg, &mut types)?;
        }
        for _ in self.args..self.first_result {
            all.leave_out();
        }
        for ret in rets {
            all.take(ret, &mut types)?;
        }
        Some(())
    }

    /// Whether memory is shared by just those arrays that shared it in the first call.
    #[inline]
    fn is_apart(&self, all: &Addresses) -> bool {
        let (operands, results) = all.spans.split_at(self.first_result.into());
        let mut together = match self.shares {
            true => self.rest.together.iter(),
            false => [].iter(),
        };
        results.iter().all(|&result| {
            operands.iter().all(|&operand| match together.next() {
                Some(true) => operand.0 == result.0,
                _ => !overlap(operand, result),
            })
        })
    }

    /// Runs the body.
    #[inline]
    pub(crate) fn run(
        &self,
        kept: &Kept<'_>,
        frame: &mut CallFrame<'_>,
        addresses: &Addresses,
    ) -> Result<()> {
        let Some(body) = self.direct else {
            return self.laid_out(kept, frame, addresses);
        };
        let mut message = Message::default();
        let call = abi::Call {
            buffers: addresses.data.as_ptr(),
            dims: self.types()[self.named.into()..].as_ptr(),
            attributes: self.attributes,
            state: self.state,
            ..abi::Call::without_arrays(message.buffer())
        };
        // SAFETY: the op's function, with what its signature says; it wrote its text as `xlaffi.h`
        // says.
        unsafe {
            let code = body(&call);
            message.outcome(code)
        }
    }

    fn laid_out(
        &self,
        kept: &Kept<'_>,
        frame: &mut CallFrame<'_>,
        addresses: &Addresses,
    ) -> Result<()> {
        let rest = &*self.rest;
        let mut types = &self.types()[..self.named.into()];
        let mut flats = Flats::new();
        let arrays = rest
            .arrays
            .iter()
            .zip(addresses.data.iter().zip(addresses.spans.iter()));
        for (at, (&(batch, bytes), (&base, &(_, size)))) in arrays.enumerate() {
            if (self.args.into()..self.first_result.into()).contains(&at) {
                flats.push(Flat::NONE);
                continue;
            }
            let Some((dtype, dims)) = pop_type(&mut types) else {
                break;
            };
            flats.push(Flat {
                dtype,
                dims,
                batch,
                base: base.cast(),
                bytes,
                size,
            });
        }
        let interface = kept.interface;
        let scratch = complete(interface, &rest.layout.bound, &mut flats, &rest.copies)?;
        let instance = &kept.instances[rest.instance];
        let call = Prepared {
            interface,
            dtypes: &instance.dtypes,
            attributes: kept.attributes,
            layout: &rest.layout,
            flats: &flats,
            copies: &rest.copies,
            scratch,
            state: self.state,
        };
        arena::with(|arena| start(frame, call, &instance.body, &mut arena.work))
    }
}
