//! `xlaffi_program`: source code before compilation.

use pjrt::{Program, ProgramFormat};

use crate::argument::{borrowed, elements, text};
use crate::entry::routines;
use crate::failure::{Failure, Outcome};
use crate::host;
use crate::pointer::{class, get, wrap};
use crate::value::{named, Value};
use crate::vector::bytes;
use crate::watch::look_at_program;

class!(
    Program,
    c"xlaffi_program",
    "a program made by pjrt_program()"
);

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

    // A program for arguments of these shapes, from one whose arguments have dimensions without
    // sizes.
    fn program_refine(program, shapes) {
        let program: &Program = get(program, "program")?;
        let shapes = elements(shapes)
            .into_iter()
            // SAFETY: the list, which R protects, has the element.
            .map(|shape| host::dims(unsafe { borrowed(&shape) }))
            .collect::<Outcome<Vec<_>>>()?;
        let code = pjrt_jaxlib::refine(program.code(), &shapes)?;
        Ok(wrap(Program::new(code, ProgramFormat::Mlir)))
    }
}
