//! An op's kernels: one program for each choice of element types.

use cuda::unit::Unit;

use super::code::{KernelCode, KernelFault, Work};
use super::source;

use crate::bind::Sets;
use crate::signature::{Dim, Signature, SignatureError};

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
