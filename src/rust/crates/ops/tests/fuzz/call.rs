//! A call as data that can be mutated, laid out in memory between guards, and made.

use core::ffi::c_void;
use core::mem::size_of;
use core::ptr;

use xla_ffi::testing::{Call, Failure, Frame};
use xla_ffi::{sys, DataKind, DataType, HandlerFn};

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
    // Where everything lies.
    let mut end = GUARD;
    let mut place = |operand: &Operand| {
        let len = operand.bytes().filter(|_| !operand.no_data).unwrap_or(0);
        let start = end + operand.shift;
        end = (start + len).next_multiple_of(GUARD) + GUARD;
        Place { start, len }
    };
    let args: Vec<Place> = spec.args.iter().map(&mut place).collect();
    let rets: Vec<Place> = spec
        .rets
        .iter()
        .map(|ret| match ret.alias.and_then(|at| args.get(at)) {
            Some(arg) => Place { ..*arg },
            None => place(ret),
        })
        .collect();
    if arena.0.len() * 64 < end {
        arena.0.resize(end / 64 + 1, [0; 8]);
    }
    let memory = arena.bytes();
    memory[..end].fill(UNTOUCHED);
    let mut rng = Rng::of(data, 1);
    for (place, arg) in args.iter().zip(&spec.args) {
        let bytes = &mut memory[place.start..place.start + place.len];
        fill(bytes, arg.dtype, arg.fill, &mut rng);
    }
    let before = memory[..end].to_vec();
    let base = memory.as_mut_ptr();

    // The frame.
    let mut keep = Vec::new();
    let mut lay = |operands: &[Operand], places: &[Place]| -> (Vec<i32>, Vec<*mut c_void>) {
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
            keep.push((descriptor, dims));
            let pointer = match operand.no_descriptor {
                true => ptr::null_mut(),
                false => descriptor.cast(),
            };
            (operand.type_, pointer)
        });
        of.unzip()
    };
    let (mut arg_types, mut arg_pointers) = lay(&spec.args, &args);
    let (mut ret_types, mut ret_pointers) = lay(&spec.rets, &rets);
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
    (frame.args.size, frame.args.types) = (arg_types.len() as i64, arg_types.as_mut_ptr());
    frame.args.args = arg_pointers.as_mut_ptr();
    (frame.rets.size, frame.rets.types) = (ret_types.len() as i64, ret_types.as_mut_ptr());
    frame.rets.rets = ret_pointers.as_mut_ptr();
    frame.attrs = attrs;
    let answer = host.call(handler);
    for (descriptor, _) in keep {
        // SAFETY: made above, and the call is over.
        drop(unsafe { Box::from_raw(descriptor) });
    }

    // What may have changed is put back, and then all is as before.
    let memory = arena.bytes();
    let written = rets
        .iter()
        .map(|ret| memory[ret.start..ret.start + ret.len].to_vec())
        .collect();
    for ret in &rets {
        let range = ret.start..ret.start + ret.len;
        memory[range.clone()].copy_from_slice(&before[range]);
    }
    if let Some(at) = (0..end).find(|&at| memory[at] != before[at]) {
        panic!("byte {at} was written: arguments {:?}", places(&args));
    }
    answer.map(|()| written)
}

fn places(all: &[Place]) -> Vec<(usize, usize)> {
    all.iter().map(|place| (place.start, place.len)).collect()
}

/// Attributes laid out as XLA does.
#[derive(Default)]
struct Attributes {
    keep: Vec<Kept>,
}

/// What attributes point to.
#[allow(dead_code, reason = "held only for those who point there")]
enum Kept {
    Bytes(Vec<u64>),
    Span(Vec<sys::XLA_FFI_ByteSpan>),
    Scalar(Vec<sys::XLA_FFI_Scalar>),
    Array(Vec<sys::XLA_FFI_Array>),
    Attrs(Vec<sys::XLA_FFI_Attrs>),
    Types(Vec<i32>),
    Names(Vec<*mut sys::XLA_FFI_ByteSpan>),
    Values(Vec<*mut c_void>),
}

/// Keeps a value (in a `Vec`, which may be moved while others point into it); its address.
macro_rules! keep {
    ($all:expr, $kind:ident, $value:expr) => {{
        let mut value = vec![$value];
        let address = value.as_mut_ptr();
        $all.keep.push(Kept::$kind(value));
        address
    }};
}

impl Attributes {
    fn bytes(&mut self, bytes: &[u8]) -> *mut c_void {
        if bytes.is_empty() {
            return ptr::null_mut();
        }
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        for (to, from) in words.iter_mut().zip(bytes.chunks(8)) {
            let mut word = [0; 8];
            word[..from.len()].copy_from_slice(from);
            *to = u64::from_ne_bytes(word);
        }
        let address = words.as_mut_ptr().cast();
        self.keep.push(Kept::Bytes(words));
        address
    }

    fn span(&mut self, text: &[u8]) -> *mut sys::XLA_FFI_ByteSpan {
        let ptr = self.bytes(text).cast_const().cast();
        let len = text.len();
        keep!(self, Span, sys::XLA_FFI_ByteSpan { ptr, len })
    }

    fn lay(&mut self, attrs: &[(Vec<u8>, Attr)]) -> sys::XLA_FFI_Attrs {
        let (mut types, mut names, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (name, attr) in attrs {
            names.push(self.span(name));
            let (type_, value) = self.value(attr);
            types.push(type_);
            values.push(value);
        }
        let raw = sys::XLA_FFI_Attrs {
            struct_size: size_of::<sys::XLA_FFI_Attrs>(),
            extension_start: ptr::null_mut(),
            size: types.len() as i64,
            types: types.as_mut_ptr(),
            names: names.as_mut_ptr(),
            attrs: values.as_mut_ptr(),
        };
        self.keep.push(Kept::Types(types));
        self.keep.push(Kept::Names(names));
        self.keep.push(Kept::Values(values));
        raw
    }

    fn value(&mut self, attr: &Attr) -> (i32, *mut c_void) {
        match attr {
            Attr::Scalar(dtype, bytes) => {
                let value = self.bytes(bytes);
                let raw = sys::XLA_FFI_Scalar {
                    dtype: dtype.0,
                    value,
                };
                (
                    sys::XLA_FFI_AttrType_SCALAR,
                    keep!(self, Scalar, raw).cast(),
                )
            }
            Attr::Array(dtype, size, bytes) => {
                let (dtype, size, data) = (dtype.0, *size, self.bytes(bytes));
                let raw = sys::XLA_FFI_Array { dtype, size, data };
                (sys::XLA_FFI_AttrType_ARRAY, keep!(self, Array, raw).cast())
            }
            Attr::Text(text) => (sys::XLA_FFI_AttrType_STRING, self.span(text).cast()),
            Attr::Table(attrs) => {
                let raw = self.lay(attrs);
                (
                    sys::XLA_FFI_AttrType_DICTIONARY,
                    keep!(self, Attrs, raw).cast(),
                )
            }
            Attr::Null(type_) => (*type_, ptr::null_mut()),
        }
    }
}

/// Elements of an argument.
fn fill(bytes: &mut [u8], dtype: DataType, how: Fill, rng: &mut Rng) {
    let Some(info) = dtype
        .info()
        .filter(|_| matches!(how, Fill::Ordinary | Fill::Special))
    else {
        match how {
            Fill::Zeros => bytes.fill(0),
            _ => bytes.iter_mut().for_each(|byte| *byte = rng.next() as u8),
        }
        return;
    };
    let part = dtype.part().unwrap_or(dtype);
    for element in bytes.chunks_exact_mut(part.size().unwrap_or(1)) {
        let special = how == Fill::Special && rng.one_in(8);
        match (info.kind, part) {
            (DataKind::Float | DataKind::Complex, DataType::F32) => {
                let x = number(special, rng) as f32;
                element.copy_from_slice(&x.to_ne_bytes());
            }
            (DataKind::Float | DataKind::Complex, DataType::F64) => {
                element.copy_from_slice(&number(special, rng).to_ne_bytes());
            }
            (DataKind::Signed | DataKind::Unsigned, _) if !special => {
                element.fill(0);
                let least = if cfg!(target_endian = "little") {
                    0
                } else {
                    element.len() - 1
                };
                element[least] = 1 + rng.below(9) as u8;
            }
            _ => element.iter_mut().for_each(|byte| *byte = rng.next() as u8),
        }
    }
}

fn number(special: bool, rng: &mut Rng) -> f64 {
    const SPECIAL: [f64; 9] = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        1e300,
        1e-300,
        1e-320,
        1e38,
    ];
    match special {
        true => *rng.pick(&SPECIAL),
        false => rng.number(),
    }
}
