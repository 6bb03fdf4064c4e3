//! A call as data that can be mutated, laid out in memory between guards, and made.

use core::ffi::c_void;
use core::mem::size_of;
use core::ops::Range;
use core::ptr;

use xla_ffi::testing::{Call, Failure, Frame};
use xla_ffi::{sys, DataType, HandlerFn};

use crate::lay::{fill, Attributes};
use crate::rng::Rng;

/// Bytes around each operand that nobody may write.
const GUARD: usize = 64;
const UNTOUCHED: u8 = 0xa5;
/// Operands with more bytes get none: a host without that much memory.
const MOST: usize = 1 << 19;

/// How the elements of an argument are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    /// From -1 to 1, integers from 1 to 9: what most ops can make sense of.
    Ordinary,
    /// The same, with NaN, infinities, subnormal and huge numbers among them.
    Special,
    /// Any bits.
    Bits,
    Zeros,
}

#[derive(Clone, Debug)]
pub struct Operand {
    pub type_: i32,
    pub dtype: DataType,
    pub dims: Vec<i64>,
    /// The rank that the frame tells, where it is not that of `dims`.
    pub rank: Option<i64>,
    pub fill: Fill,
    pub no_data: bool,
    pub no_descriptor: bool,
    pub no_dims: bool,
    /// Bytes by which the data start behind where they would.
    pub shift: usize,
    /// For a result: the argument whose memory it has.
    pub alias: Option<usize>,
}

impl Operand {
    pub fn new(dtype: DataType, dims: &[i64]) -> Self {
        Operand {
            type_: sys::XLA_FFI_ArgType_BUFFER,
            dtype,
            dims: dims.to_vec(),
            rank: None,
            fill: Fill::Ordinary,
            no_data: false,
            no_descriptor: false,
            no_dims: false,
            shift: 0,
            alias: None,
        }
    }

    /// Bytes of its elements; `None` where no host could have them.
    pub fn bytes(&self) -> Option<usize> {
        let size = self.dtype.size().unwrap_or(16);
        if self.dims.iter().any(|&d| d < 0) {
            return None;
        }
        if self.dims.contains(&0) {
            return Some(0);
        }
        let mut all = self.dims.iter().map(|&d| d as usize);
        let bytes = all.try_fold(size, |n, d| n.checked_mul(d))?;
        (bytes <= MOST).then_some(bytes)
    }
}

#[derive(Clone, Debug)]
pub enum Attr {
    Scalar(DataType, Vec<u8>),
    /// Type, elements that the frame tells, data.
    Array(DataType, usize, Vec<u8>),
    Text(Vec<u8>),
    Table(Vec<(Vec<u8>, Attr)>),
    /// An attribute of that type without a value.
    Null(i32),
}

#[derive(Clone, Debug)]
pub struct Spec {
    pub args: Vec<Operand>,
    pub rets: Vec<Operand>,
    pub attrs: Vec<(Vec<u8>, Attr)>,
    pub stage: sys::XLA_FFI_ExecutionStage,
    pub frame_size: usize,
    /// An extension of that type and size before all else.
    pub extension: Option<(i32, usize)>,
    /// Which of the hosts makes the call.
    pub host: usize,
}

impl Spec {
    pub fn new(args: Vec<Operand>, rets: Vec<Operand>) -> Self {
        Spec {
            args,
            rets,
            attrs: Vec::new(),
            stage: sys::XLA_FFI_ExecutionStage_EXECUTE,
            frame_size: size_of::<sys::XLA_FFI_CallFrame>(),
            extension: None,
            host: 0,
        }
    }
}

/// Hosts of several versions, each made once.
pub struct Hosts(Vec<Frame>);

impl Hosts {
    pub const COUNT: usize = 4;

    pub fn new() -> Self {
        let whole = size_of::<sys::XLA_FFI_Api>();
        Hosts(vec![
            Call::new().build(),
            Call::new().threads(2).build(),
            Call::new()
                .api_size(xla_ffi::testing::API_WITHOUT_SERVICES)
                .build(),
            Call::new().api_size(whole - 8).scratch_limit(100).build(),
        ])
    }
}

/// What a call wrote, result by result.
pub type Written = Vec<Vec<u8>>;

/// Aligned memory, used anew for each call.
pub struct Arena(Vec<[u64; 8]>);

impl Arena {
    pub fn new() -> Self {
        Arena(Vec::new())
    }

    fn bytes(&mut self) -> &mut [u8] {
        let len = size_of::<[u64; 8]>() * self.0.len();
        // SAFETY: numbers as bytes.
        unsafe { core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), len) }
    }
}

struct Place {
    start: usize,
    len: usize,
}

impl Place {
    fn range(&self) -> Range<usize> {
        self.start..self.start + self.len
    }
}

/// Where arguments and results lie, and where the memory ends.
fn places(spec: &Spec) -> (Vec<Place>, Vec<Place>, usize) {
    let mut end = GUARD;
    let mut place = |operand: &Operand| {
        let len = operand.bytes().filter(|_| !operand.no_data).unwrap_or(0);
        let start = end + operand.shift;
        end = (start + len).next_multiple_of(GUARD) + GUARD;
        Place { start, len }
    };
    let args: Vec<Place> = spec.args.iter().map(&mut place).collect();
    let rets = spec
        .rets
        .iter()
        .map(|ret| match ret.alias.and_then(|at| args.get(at)) {
            Some(arg) => Place { ..*arg },
            None => place(ret),
        })
        .collect();
    (args, rets, end)
}

/// The descriptors of operands that lie at `places` behind `base`, the dimensions that they point
/// to, and the arrays of a frame.
struct Operands {
    kept: Vec<(*mut sys::XLA_FFI_Buffer, Vec<i64>)>,
    types: Vec<i32>,
    pointers: Vec<*mut c_void>,
}

impl Operands {
    fn lay(operands: &[Operand], places: &[Place], base: *mut u8) -> Self {
        let mut kept = Vec::new();
        let of = operands.iter().zip(places).map(|(operand, place)| {
            let mut dims = operand.dims.clone();
            let descriptor = Box::into_raw(Box::new(sys::XLA_FFI_Buffer {
                struct_size: size_of::<sys::XLA_FFI_Buffer>(),
                extension_start: ptr::null_mut(),
                dtype: operand.dtype.0,
                data: match place.len {
                    0 => ptr::null_mut(),
                    _ => base.wrapping_add(place.start).cast(),
                },
                rank: operand.rank.unwrap_or(dims.len() as i64),
                dims: match operand.no_dims {
                    true => ptr::null_mut(),
                    false => dims.as_mut_ptr(),
                },
            }));
            kept.push((descriptor, dims));
            let pointer = match operand.no_descriptor {
                true => ptr::null_mut(),
                false => descriptor.cast(),
            };
            (operand.type_, pointer)
        });
        let (types, pointers) = of.unzip();
        Operands {
            kept,
            types,
            pointers,
        }
    }
}

impl Drop for Operands {
    fn drop(&mut self) {
        for (descriptor, _) in &self.kept {
            // SAFETY: made by `lay()`, and the call is over.
            drop(unsafe { Box::from_raw(*descriptor) });
        }
    }
}

/// Makes the call and checks that nothing was written but results.
///
/// # Panics
/// Something was.
pub fn make(
    spec: &Spec,
    handler: HandlerFn,
    hosts: &mut Hosts,
    arena: &mut Arena,
    data: u64,
) -> Result<Written, Failure> {
    let (args, rets, end) = places(spec);
    if arena.0.len() * 64 < end {
        arena.0.resize(end / 64 + 1, [0; 8]);
    }
    let memory = arena.bytes();
    memory[..end].fill(UNTOUCHED);
    let mut rng = Rng::of(data, 1);
    for (place, arg) in args.iter().zip(&spec.args) {
        fill(&mut memory[place.range()], arg.dtype, arg.fill, &mut rng);
    }
    let before = memory[..end].to_vec();
    let base = memory.as_mut_ptr();
    let answer = call(spec, handler, hosts, (&args, &rets, base));

    // What may have changed is put back, and then all is as before.
    let memory = arena.bytes();
    let written = rets.iter().map(|ret| memory[ret.range()].to_vec());
    let written = written.collect();
    for ret in &rets {
        memory[ret.range()].copy_from_slice(&before[ret.range()]);
    }
    if let Some(at) = (0..end).find(|&at| memory[at] != before[at]) {
        let args: Vec<_> = args.iter().map(|arg| (arg.start, arg.len)).collect();
        panic!("byte {at} was written: arguments {args:?}");
    }
    answer.map(|()| written)
}

/// The call itself, of operands at these places behind an address.
fn call(
    spec: &Spec,
    handler: HandlerFn,
    hosts: &mut Hosts,
    (args, rets, base): (&[Place], &[Place], *mut u8),
) -> Result<(), Failure> {
    let mut args = Operands::lay(&spec.args, args, base);
    let mut rets = Operands::lay(&spec.rets, rets, base);
    let mut attributes = Attributes::default();
    let attrs = attributes.lay(&spec.attrs);
    let host = &mut hosts.0[spec.host % Hosts::COUNT];
    let frame = host.as_raw();
    let mut extension = sys::XLA_FFI_Extension_Base {
        struct_size: 0,
        type_: 0,
        next: ptr::null_mut(),
    };
    frame.struct_size = spec.frame_size;
    frame.stage = spec.stage;
    frame.extension_start = match spec.extension {
        None => ptr::null_mut(),
        Some((type_, size)) => {
            (extension.type_, extension.struct_size) = (type_, size);
            &mut extension
        }
    };
    (frame.args.size, frame.args.types) = (args.types.len() as i64, args.types.as_mut_ptr());
    frame.args.args = args.pointers.as_mut_ptr();
    (frame.rets.size, frame.rets.types) = (rets.types.len() as i64, rets.types.as_mut_ptr());
    frame.rets.rets = rets.pointers.as_mut_ptr();
    frame.attrs = attrs;
    host.call(handler)
}
