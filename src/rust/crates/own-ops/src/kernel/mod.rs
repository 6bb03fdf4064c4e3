//! The CUDA side of an op: a kernel that is compiled for the device at hand.
//!
//! The kernel's source is made here, round what the user wrote, so that its argument and what a
//! launch puts there ([`launch`]) are described in one place.

mod failure;
pub(crate) mod launch;
mod shape;
mod source;

use cuda::unit::Unit;
use xla_ffi::DataType;

use crate::bind::Sets;
use crate::signature::{Dim, Signature, SignatureError};

/// A kernel as the user gives it.
#[derive(Clone, Debug, Default)]
pub struct KernelCode {
    /// The names of the body's and of the support code's files in messages.
    pub files: [String; 2],
    /// What a thread does.
    pub body: String,
    /// Code before it.
    pub support: String,
    /// The text of `xlaffi.h`.
    pub header: String,
    /// Who does what.
    pub work: Work,
    /// Options for NVRTC.
    pub options: Vec<String>,
}

/// How work is shared out, in numbers that depend on the signature's dimensions.
#[derive(Clone, Debug)]
pub enum Work {
    /// The body is run for each value from 0 of an index.
    Each {
        /// What the index is called.
        index: String,
        /// How many values it has; as many as the first result has elements.
        over: Option<String>,
    },
    /// The body is run by each thread of each block.
    Grid {
        /// Blocks, along one or two axes.
        blocks: Vec<String>,
        /// Threads of a block, along up to three axes.
        threads: Vec<String>,
        /// Bytes of shared memory that the launch asks for.
        shared: Option<String>,
    },
}

impl Default for Work {
    fn default() -> Self {
        Work::Each {
            index: "i".to_owned(),
            over: None,
        }
    }
}

/// What is wrong with a kernel: the part of it, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelFault {
    /// "grid".
    pub part: &'static str,
    /// In words.
    pub message: String,
}

/// [`Work`] in the signature's terms.
#[derive(Debug)]
pub(crate) enum Launch {
    Each(Option<Dim>),
    Grid {
        blocks: Vec<Dim>,
        threads: Vec<Dim>,
        shared: Option<Dim>,
    },
}

/// An op's kernel, for each choice of element types.
#[derive(Debug)]
pub struct Kernels {
    pub(crate) launch: Launch,
    /// One for each instance of the sets.
    pub(crate) units: Vec<Unit>,
    /// Whether it can fail, so that a call must wait for it.
    pub(crate) fails: bool,
}

/// Headers whose functions NVRTC has itself; so code for C may be code for a kernel, too.
const STANDARD: [&str; 8] = [
    "math.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdlib.h",
    "string.h",
    "cmath",
    "cstdint",
];

/// A kernel's argument has at most so many bytes.
const MOST_BYTES: usize = 4096;

impl Kernels {
    /// The sources; nothing is compiled.
    ///
    /// # Errors
    /// What kernels cannot do, or a number that cannot be read.
    pub fn new(signature: &Signature, sets: &Sets, code: &KernelCode) -> Result<Self, KernelFault> {
        let fault = |part, message: String| KernelFault { part, message };
        if let Some(operand) = signature.operands.iter().find(|one| one.count.is_some()) {
            let name = &operand.array.name;
            let text = format!("`{name}` may come several times, which a kernel cannot take");
            return Err(fault("signature", text));
        }
        let launch = Launch::new(signature, &code.work)?;
        if let Work::Each { index, .. } = &code.work {
            if source::names(signature).any(|name| name == index) {
                let text = format!(
                    "`{index}` counts what a kernel does, and cannot be a name in the signature"
                );
                return Err(fault("signature", text));
            }
        }
        let words = source::words(signature);
        if words * 8 > MOST_BYTES {
            let text = format!(
                "the kernel's arguments have {} bytes, and CUDA takes {MOST_BYTES}",
                words * 8
            );
            return Err(fault("signature", text));
        }
        let standard = STANDARD
            .iter()
            .map(|&name| (name.to_owned(), String::new()));
        let own = ("xlaffi.h".to_owned(), code.header.clone());
        let headers: Vec<_> = standard.chain([own]).collect();
        let units = (0..sets.instances()).map(|instance| {
            let source = source::of(signature, &sets.instance(instance), code);
            Unit::new(source, headers.clone(), options(code))
        });
        Ok(Kernels {
            launch,
            units: units.collect(),
            fails: code.fails(),
        })
    }

    /// The programs, one for each choice of element types.
    #[must_use]
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// As [`units`](Kernels::units), to give them code.
    pub fn units_mut(&mut self) -> &mut [Unit] {
        &mut self.units
    }
}

impl KernelCode {
    /// Whether a kernel may fail; by the text, as a call must be waited for then.
    pub(crate) fn fails(&self) -> bool {
        [&self.body, &self.support]
            .iter()
            .any(|part| part.contains("FAIL"))
    }
}

/// C functions are functions of the device.
fn options(code: &KernelCode) -> Vec<String> {
    let own = ["--device-as-default-execution-space", "--disable-warnings"];
    let own = own.iter().map(|&option| option.to_owned());
    own.chain(code.options.iter().cloned()).collect()
}

impl Launch {
    fn new(signature: &Signature, work: &Work) -> Result<Self, KernelFault> {
        let number = |part: &'static str, text: &String| {
            let message = |error: SignatureError| error.to_string();
            let dim = signature.number(text).map_err(message);
            dim.map_err(|message| KernelFault { part, message })
        };
        let numbers = |part: &'static str, texts: &[String], most: usize| {
            if texts.is_empty() || texts.len() > most {
                let message = format!("it has 1 to {most} axes, got {}", texts.len());
                return Err(KernelFault { part, message });
            }
            texts.iter().map(|text| number(part, text)).collect()
        };
        match work {
            Work::Each { over: None, .. } if signature.results.is_empty() => Err(KernelFault {
                part: "over",
                message: "there is no result whose elements could be counted".to_owned(),
            }),
            Work::Each { over, .. } => {
                let over = over.as_ref().map(|text| number("over", text));
                Ok(Launch::Each(over.transpose()?))
            }
            Work::Grid {
                blocks,
                threads,
                shared,
            } => Ok(Launch::Grid {
                blocks: numbers("grid", blocks, 2)?,
                threads: numbers("block", threads, 3)?,
                shared: shared
                    .as_ref()
                    .map(|text| number("shared", text))
                    .transpose()?,
            }),
        }
    }
}

/// The type of an element in CUDA's C++; NVRTC has no headers for half precision and complex
/// numbers, so the former are bits, as in C, and the latter CUDA's pairs.
fn c_type(dtype: DataType) -> &'static str {
    match dtype {
        DataType::PRED => "bool",
        DataType::S8 => "int8_t",
        DataType::S16 => "int16_t",
        DataType::S32 => "int32_t",
        DataType::S64 => "int64_t",
        DataType::U8 => "uint8_t",
        DataType::U16 => "uint16_t",
        DataType::U32 => "uint32_t",
        DataType::U64 => "uint64_t",
        DataType::F16 => "xlaffi_f16",
        DataType::BF16 => "xlaffi_bf16",
        DataType::F32 => "float",
        DataType::C64 => "float2",
        DataType::C128 => "double2",
        _ => "double",
    }
}
