//! `xlaffi_program`: source code before compilation.

use extendr_api::prelude::*;
use pjrt::{Program, ProgramFormat};

use crate::failure::{guard, or_null, Failure};
use crate::pointer::{class, get, wrap};

class!(
    Program,
    c"xlaffi_program",
    "a program made by pjrt_program()"
);

// A program from a string or raw vector.
#[extendr]
fn program_new(src: Robj, format: Robj) -> Robj {
    guard(|| {
        let format = match format.as_str() {
            Some("hlo") => ProgramFormat::Hlo,
            _ => ProgramFormat::Mlir,
        };
        let code = match (src.as_str(), src.as_raw_slice()) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(bytes)) => bytes.to_vec(),
            (None, None) => {
                return Err(Failure::argument(
                    "src",
                    "`src` must be one string or a raw vector",
                ))
            }
        };
        Ok(wrap(Program::new(code, format)))
    })
}

// Format, size in bytes, the text of a program that is text, and the bytes of an HLO proto.
#[extendr]
fn program_info(program: Robj) -> Robj {
    guard(|| {
        let program: &Program = get(&program, "program")?;
        let is_mlir = matches!(program.format(), ProgramFormat::Mlir);
        let text = std::str::from_utf8(program.code())
            .ok()
            .filter(|text| is_mlir && !text.contains('\0'));
        Ok(list!(
            format = program.format().name(),
            size = program.code().len() as i32,
            text = or_null(text.map(str::to_string)),
            bytes = or_null((!is_mlir).then(|| Raw::from_bytes(program.code())))
        ))
    })
}

extendr_module! {
    mod program;
    fn program_new;
    fn program_info;
}
