//! Programs whose largest and smallest numbers XLA's CPU computes without NaN, if it is not told otherwise.

use crate::kind::counted;
use crate::program::{Program, ProgramFormat};

/// Words of programs in which a reducer may be in a region of its own, or in another dialect or function.
const APART: [&str; 6] = [
    "\"stablehlo.reduce",
    "stablehlo.reduce_window",
    "mhlo.",
    "vhlo.",
    "func.call",
    " call @",
];

/// Of so many elements on a reduction, and what is computed for it, may go to the library.
const LEAST: u64 = 4096;

/// Whether a program may reduce arrays, and have `maximum` or `minimum` in the reduction or for it. XLA's CPU (jaxlib
/// 0.10.2) leaves reductions of 4096 elements or more, with the elementwise operations before them, to a library,
/// YNNPACK, whose extrema drop NaN. Sums it adds up as XLA does, faster where they are long, so it is only for these
/// programs that XLA is told to leave out the library. Programs that R functions are written as have such extrema as
/// a comparison and a choice, which the library does not take.
pub fn reduces_extrema(program: &Program) -> bool {
    let text = match program.format() {
        ProgramFormat::Mlir => std::str::from_utf8(program.code()).ok(),
        ProgramFormat::Hlo => None,
    };
    let Some(text) = text else {
        // Bytecode and HLO have the names of operations as they are.
        return program.names("reduce") && (program.names("maximum") || program.names("minimum"));
    };
    if !text.contains("reduce") {
        return false;
    }
    let is_apart = APART.iter().any(|word| text.contains(word));
    let mut extrema = ["stablehlo.maximum", "stablehlo.minimum"]
        .into_iter()
        .flat_map(|op| text.split(op).skip(1));
    extrema.any(|rest| is_apart || is_large(rest.lines().next().unwrap_or("")))
}

/// Whether the first type of a line has the library's size, or cannot be read.
fn is_large(line: &str) -> bool {
    let Some((_, rest)) = line.split_once("tensor<") else {
        return true;
    };
    let inner = rest.split(['>', ',']).next().unwrap_or("");
    counted(inner).map_or(true, |(count, _)| count >= LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &str) -> bool {
        reduces_extrema(&Program::new(code, ProgramFormat::Mlir))
    }

    const SUM: &str =
        "%1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0] : \
        (tensor<9999xf64>, tensor<f64>) -> tensor<f64>\n";

    #[test]
    fn extrema_are_found() {
        for op in ["maximum", "minimum"] {
            let reduced = |size: &str| {
                format!(
                    "%1 = stablehlo.reduce(%x init: %0) applies stablehlo.{op} across dimensions = [0] : \
                     (tensor<{size}>, tensor<f64>) -> tensor<f64>\n"
                )
            };
            let before = |size: &str| format!("%2 = stablehlo.{op} %1, %y : tensor<{size}>\n{SUM}");
            for size in [
                "4096xf64",
                "64x64xf32",
                "2x3x?xf64",
                "99999999999x99999999999xf32",
            ] {
                assert!(of(&reduced(size)) && of(&before(size)), "{size}");
            }
            for size in ["4095xf64", "f64", "0x5000xf32", "64x63xf64"] {
                assert!(!of(&reduced(size)) && !of(&before(size)), "{size}");
            }
            assert!(of(&format!(
                "\"stablehlo.reduce\"(%x, %0) ({{ stablehlo.{op} %a, %b : tensor<f64>"
            )));
            assert!(of(&format!(
                "{SUM} %2 = func.call @f(%1)\n stablehlo.{op} %a, %b : tensor<f64>"
            )));
            assert!(of(&format!("{SUM} stablehlo.{op} %a, %b")));
            let hlo = format!("\u{8}reduce\u{3} {op}");
            let hlo = Program::new(hlo.into_bytes(), ProgramFormat::Hlo);
            assert!(reduces_extrema(&hlo));
            let bytecode = [&b"ML\xefR\xff reduce "[..], op.as_bytes()].concat();
            assert!(reduces_extrema(&Program::new(
                bytecode,
                ProgramFormat::Mlir
            )));
        }
    }

    #[test]
    fn others_are_left_alone() {
        assert!(!of(SUM));
        assert!(!of(
            "\"stablehlo.reduce\"(%x, %0) ({ stablehlo.add %a, %b : tensor<f64>"
        ));
        assert!(!of("%2 = stablehlo.maximum %1, %y : tensor<9999xf64>"));
        let bytecode = Program::new(&b"ML\xefR\xff reduce add"[..], ProgramFormat::Mlir);
        assert!(!reduces_extrema(&bytecode));
    }
}
