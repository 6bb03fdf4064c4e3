//! `xlaffi_program`: source code before compilation.

use pjrt::{Program, ProgramFormat};
use pjrt_jaxlib::Others;

use crate::host::array;
use crate::host::called::Called;
use crate::host::other_hosts::is_independent;
use crate::host::watch::look_at_program;
use crate::r::argument::elements;
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::object::{borrowed, text};
use crate::r::pointer::{class, get, wrap};
use crate::r::value::{named, Value};
use crate::r::vector::bytes;

class!(
    Program,
    c"xlaffi_program",
    "a program made by pjrt_program()"
);

/// A type in a StableHLO text of more elements than an array of R can have, and what is wrong with
/// it. XLA ends the process where their bytes, without the axes of length 0, cannot be counted in 64
/// bits, and it goes through the other axes of an array that has such an axis.
fn too_large_type(code: &[u8]) -> Option<(&str, &'static str)> {
    const MOST: u64 = 1 << 52;
    const MOST_EMPTY: u64 = 1 << 31;
    let text = std::str::from_utf8(code).ok()?;
    text.match_indices("tensor<")
        .filter_map(|(at, _)| {
            let end = at + text[at..].find('>')? + 1;
            let is_complex = text[at..end].contains("complex<");
            text.get(at..end + usize::from(is_complex))
        })
        .find_map(|ty| {
            let dims = ty["tensor<".len()..].split('x').map_while(|dim| match dim {
                "?" => Some(1),
                dim => dim.parse::<u64>().ok(),
            });
            let product = |count: u64, dim: u64| count.checked_mul(dim.max(1));
            let count = dims.clone().try_fold(1_u64, product);
            match count {
                Some(count) if count <= MOST => {
                    let is_long = count > MOST_EMPTY && dims.clone().any(|dim| dim == 0);
                    is_long.then_some((
                        ty,
                        "is empty, but XLA would look at more than 2^31 places of it",
                    ))
                }
                _ => Some((ty, "does not fit into any memory")),
            }
        })
}

routines! {
    // A program from a string or raw vector.
    fn program_new(src, format: &str) {
        let format = match format {
            "hlo" => ProgramFormat::Hlo,
            _ => ProgramFormat::Mlir,
        };
        let code = match text(src) {
            Some(text) => text.as_bytes(),
            None => bytes(src).ok_or_else(|| {
                Failure::argument("src", "`src` must be one string or a raw vector")
            })?,
        };
        if let Some((ty, fault)) = too_large_type(code) {
            return Err(Failure {
                code: "RESOURCE_EXHAUSTED",
                ..Failure::argument("src", format!("{ty} {fault}"))
            });
        }
        look_at_program(code);
        Ok(wrap(Program::new(code.to_vec(), format)))
    }

    // Format, size in bytes, the text of a program that is text, and the bytes of an HLO proto.
    fn program_info(program) {
        let program: &Program = get(program, "program")?;
        let is_mlir = matches!(program.format(), ProgramFormat::Mlir);
        let text = std::str::from_utf8(program.code())
            .ok()
            .filter(|text| is_mlir && !text.contains('\0'));
        Ok(named! {
            format = program.format().name(),
            size = program.code().len() as i32,
            text = text.map(str::to_string),
            bytes = match is_mlir {
                true => Value::Null,
                false => Value::Bytes(program.code().to_vec()),
            },
        })
    }

    // Whether another session makes the same of the program: it calls neither R functions nor other hosts' handlers, and
    // what the CPU plugin makes of it does not depend on which handlers there are.
    fn program_lasts(program) {
        let program: &Program = get(program, "program")?;
        let code = program.code();
        let calls_r = Called::by(code, Others::None).names_r();
        Ok(Value::Flag(!calls_r && is_independent(code) && !pjrt_jaxlib::depends_on_handlers(code)))
    }

    // A program for arguments of these shapes, from one whose arguments have dimensions without
    // sizes.
    fn program_refine(program, shapes) {
        let program: &Program = get(program, "program")?;
        let shapes = elements(shapes)
            .into_iter()
            // SAFETY: the list, which R protects, has the element.
            .map(|shape| array::dims(unsafe { borrowed(&shape) }))
            .collect::<Outcome<Vec<_>>>()?;
        let code = pjrt_jaxlib::refine(program.code(), &shapes)?;
        Ok(wrap(Program::new(code, ProgramFormat::Mlir)))
    }
}
