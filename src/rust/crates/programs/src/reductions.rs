//! Programs that XLA's CPU computes wrongly, if it is not told otherwise. It leaves reductions of 4096 elements or
//! more, with the elementwise operations before them, to a library, YNNPACK (seen with jaxlib 0.10.2 and 0.11.2), which
//!
//! * drops NaN in `maximum` and `minimum`,
//! * loses the sign of a zero where it negates, and in `expm1`, `log1p`, `tanh`, `sign` and `erf`: 1 divided by it is
//!   the infinity of the other sign,
//! * rounds where it converts to integers of 8 bits, which is to cut off,
//! * leaves out two conversions of which the second is to the dtype before the first.
//!
//! Its sums are as exact as XLA's, and two to four times as fast where they are long, so it is left out only where a
//! program may have one of these. It may overflow early: `exp()` is infinite from 88.38 (`f32`) or 709.44 (`f64`) on,
//! 0.35 below where it must be.

use std::collections::HashSet;

use crate::size::counted;
use crate::statements::{statements, Statement};
use crate::words::contains;

/// How XLA's CPU is to reduce the arrays of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reductions {
    /// By the library, where XLA likes.
    #[default]
    AsXla,
    /// By code of its own.
    Own,
}

/// Of so many elements on a reduction, and what is computed for it, may go to the library.
const LEAST: u64 = 4096;

const EXTREMA: [&str; 2] = ["maximum", "minimum"];

/// What loses the sign of a zero. CHLO's functions are made of these, too.
const UNSIGNED: [&str; 6] = [
    "erf",
    "exponential_minus_one",
    "log_plus_one",
    "negate",
    "sign",
    "tanh",
];

/// To what the sign of a zero matters.
const SIGNED: [&str; 3] = ["divide", "power", "rsqrt"];

/// What passes elements on as they are.
const MOVES: [&str; 6] = [
    "broadcast_in_dim",
    "concatenate",
    "pad",
    "reshape",
    "slice",
    "transpose",
];

/// What else passes zeros on.
const CARRY: [&str; 13] = [
    "add",
    "ceil",
    "convert",
    "divide",
    "floor",
    "maximum",
    "minimum",
    "multiply",
    "round_nearest_even",
    "sine",
    "sqrt",
    "subtract",
    "tan",
];

/// Words of programs in which a reducer is in a region of its own.
const REGIONS: [&str; 2] = ["\"stablehlo.reduce", "stablehlo.reduce_window"];

/// Words of programs that have more functions than one, or operations of another dialect.
const APART: [&str; 4] = ["func.call", " call @", "stablehlo.composite", "mhlo."];

impl Reductions {
    /// What a program needs. Sizes are known of texts, and what becomes of a value where it stays in one function; in
    /// bytecode and HLO the names of operations are found.
    pub fn of(code: &[u8], is_hlo: bool) -> Self {
        let text = std::str::from_utf8(code).ok();
        let needs_own = contains(code, b"reduce")
            && match text.filter(|text| !is_hlo && !text.contains("vhlo.")) {
                Some(text) => needs_own(text),
                None => may_need_own(code),
            };
        match needs_own {
            true => Reductions::Own,
            false => Reductions::AsXla,
        }
    }
}

/// Whether bytecode or HLO may need reductions of XLA's own.
fn may_need_own(code: &[u8]) -> bool {
    const UNSIGNED: [&str; 7] = ["chlo", "erf", "minus", "plus", "negate", "sign", "tanh"];
    let has = |words: &[&str]| words.iter().any(|word| contains(code, word.as_bytes()));
    has(&EXTREMA) || has(&["convert"]) || (has(&UNSIGNED) && has(&SIGNED))
}

/// Whether a text needs them.
fn needs_own(text: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let (in_regions, is_apart) = (has(&REGIONS), has(&APART));
    let large = || statements(text).filter(is_large);
    let extremum = |said: &Statement<'_>| EXTREMA.contains(&said.op);
    if large().any(|said| extremum(&said) || rounds(&said)) {
        return true;
    }
    if (in_regions || is_apart) && statements(text).any(|said| extremum(&said)) {
        return true;
    }
    if is_apart {
        let takes_signs = || large().any(|said| SIGNED.contains(&said.op));
        return large().any(|said| narrows(&said))
            || (large().any(|said| is_unsigned(&said)) && takes_signs());
    }
    uses_what_is_lost(large())
}

/// Whether one of these statements takes the sign of a zero that may have lost it, or converts what was converted to
/// fewer digits.
fn uses_what_is_lost<'a>(large: impl Iterator<Item = Statement<'a>>) -> bool {
    let (mut zeros, mut narrow) = (HashSet::new(), HashSet::new());
    for said in large {
        let taken = match said.op {
            "divide" => said.operands().nth(1),
            "rsqrt" | "power" => said.operands().next(),
            _ => None,
        };
        let is_any = |of: &HashSet<&str>| said.operands().any(|name| of.contains(name));
        let (has_zeros, has_narrow) = (is_any(&zeros), is_any(&narrow));
        if taken.is_some_and(|name| zeros.contains(name)) || (said.op == "convert" && has_narrow) {
            return true;
        }
        let Some(result) = said.result else {
            continue;
        };
        let moves = MOVES.contains(&said.op);
        if is_unsigned(&said) || (has_zeros && (moves || CARRY.contains(&said.op))) {
            zeros.insert(result);
        }
        if narrows(&said) || (has_narrow && moves) {
            narrow.insert(result);
        }
    }
    false
}

fn is_unsigned(said: &Statement<'_>) -> bool {
    said.is_chlo || UNSIGNED.contains(&said.op)
}

/// Whether it converts to integers of 8 bits.
fn rounds(said: &Statement<'_>) -> bool {
    said.op == "convert" && said.result_type().map_or(true, |ty| ty.ends_with("i8"))
}

/// Whether it converts to floating-point numbers of fewer bits.
fn narrows(said: &Statement<'_>) -> bool {
    let bits = |inner: Option<&str>| {
        let (_, bits) = inner?.rsplit('x').next()?.split_once('f')?;
        let end = bits.find(|c: char| !c.is_ascii_digit());
        bits[..end.unwrap_or(bits.len())].parse::<u8>().ok()
    };
    let (from, to) = (bits(said.first_type()), bits(said.result_type()));
    said.op == "convert" && from.is_some() && to.is_some() && to < from
}

/// Whether the first type of a statement has the library's size, or is not known.
fn is_large(said: &Statement<'_>) -> bool {
    let count = said.first_type().and_then(counted);
    count.map_or(true, |(count, _)| count >= LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &str) -> Reductions {
        Reductions::of(code.as_bytes(), false)
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
                assert_eq!(of(&reduced(size)), Reductions::Own, "{size}");
                assert_eq!(of(&before(size)), Reductions::Own, "{size}");
            }
            for size in ["4095xf64", "f64", "0x5000xf32", "64x63xf64"] {
                assert_eq!(of(&reduced(size)), Reductions::AsXla, "{size}");
                assert_eq!(of(&before(size)), Reductions::AsXla, "{size}");
            }
            for text in [
                format!("\"stablehlo.reduce\"(%x, %0) ({{ stablehlo.{op} %a, %b : tensor<f64>"),
                format!("{SUM} %2 = func.call @f(%1)\n stablehlo.{op} %a, %b : tensor<f64>"),
                format!("{SUM} stablehlo.{op} %a, %b"),
            ] {
                assert_eq!(of(&text), Reductions::Own, "{text}");
            }
            let hlo = format!("\u{8}reduce\u{3} {op}");
            assert_eq!(Reductions::of(hlo.as_bytes(), true), Reductions::Own);
            let bytecode = [&b"ML\xefR\xff reduce "[..], op.as_bytes()].concat();
            assert_eq!(Reductions::of(&bytecode, false), Reductions::Own);
        }
    }

    #[test]
    fn divisors_that_may_be_zeros_without_their_sign_are_found() {
        let program = |made: &str, passed: &str, taken: &str, size: &str| {
            format!(
                "%1 = {made} %x : tensor<{size}>\n%2 = stablehlo.{passed} %1, %y : tensor<{size}>\n\
                 %3 = stablehlo.{taken} : tensor<{size}>\n{SUM}"
            )
        };
        for made in [
            "stablehlo.negate",
            "stablehlo.tanh",
            "\"stablehlo.sign\"",
            "chlo.erf",
        ] {
            for (passed, taken, size, expected) in [
                ("multiply", "divide %y, %2", "4096xf64", Reductions::Own),
                ("multiply", "divide %y, %1", "4096xf64", Reductions::Own),
                ("add", "rsqrt %2", "?xf64", Reductions::Own),
                ("reshape", "power %2, %y", "64x64xf32", Reductions::Own),
                ("multiply", "divide %2, %y", "4096xf64", Reductions::AsXla),
                ("multiply", "power %y, %2", "4096xf64", Reductions::AsXla),
                (
                    "exponential",
                    "divide %y, %2",
                    "4096xf64",
                    Reductions::AsXla,
                ),
                ("select", "divide %y, %2", "4096xf64", Reductions::AsXla),
                ("multiply", "divide %y, %2", "4095xf64", Reductions::AsXla),
            ] {
                let text = program(made, passed, taken, size);
                assert_eq!(of(&text), expected, "{text}");
            }
        }
        let text = program("stablehlo.abs", "multiply", "divide %y, %2", "4096xf64");
        assert_eq!(of(&text), Reductions::AsXla);
        assert_eq!(of(&format!("{text} func.call @f")), Reductions::AsXla);
        let called = program("stablehlo.negate", "select", "divide %y, %2", "4096xf64");
        assert_eq!(of(&format!("{called} func.call @f")), Reductions::Own);
        for (bytecode, expected) in [
            ("reduce negate_v1 rsqrt_v1", Reductions::Own),
            ("reduce log-plus-one divide", Reductions::Own),
            ("reduce negate multiply", Reductions::AsXla),
            ("reduce add divide", Reductions::AsXla),
            ("reduce convert", Reductions::Own),
        ] {
            assert_eq!(
                Reductions::of(bytecode.as_bytes(), true),
                expected,
                "{bytecode}"
            );
        }
    }

    #[test]
    fn conversions_of_what_was_converted_are_found() {
        let convert = |name: &str, of: &str, from: &str, to: &str| {
            format!("%{name} = stablehlo.convert %{of} : (tensor<{from}>) -> tensor<{to}>\n")
        };
        let there = |to: &str| convert("2", "x", "9999xf64", &format!("9999x{to}"));
        let back = |of: &str| convert("4", of, "9999xf32", "9999xf64");
        for (text, expected) in [
            (there("f32") + SUM, Reductions::AsXla),
            (there("i8") + SUM, Reductions::Own),
            (
                convert("2", "x", "4095xf64", "4095xui8") + SUM,
                Reductions::AsXla,
            ),
            (there("f32") + &back("2"), Reductions::AsXla),
            (there("f32") + &back("2") + SUM, Reductions::Own),
            (there("bf16") + &back("2") + SUM, Reductions::Own),
            (there("f8E4M3FN") + &back("2") + SUM, Reductions::Own),
            (there("f64") + &back("2") + SUM, Reductions::AsXla),
            (there("i32") + &back("2") + SUM, Reductions::AsXla),
            (there("f32") + &back("3") + SUM, Reductions::AsXla),
            (
                there("f32")
                    + "%3 = stablehlo.reshape %2 : (tensor<9999xf32>) -> tensor<9x1111xf32>\n"
                    + &back("3")
                    + SUM,
                Reductions::Own,
            ),
            (there("f32") + SUM + " func.call @f(%1)", Reductions::Own),
            (there("f64") + SUM + " func.call @f(%1)", Reductions::AsXla),
            (format!("{SUM}stablehlo.convert %x"), Reductions::Own),
        ] {
            assert_eq!(of(&text), expected, "{text}");
        }
    }

    #[test]
    fn others_are_left_alone() {
        for text in [
            SUM,
            "\"stablehlo.reduce\"(%x, %0) ({ stablehlo.add %a, %b : tensor<f64>",
            "%2 = stablehlo.maximum %1, %y : tensor<9999xf64>",
        ] {
            assert_eq!(of(text), Reductions::AsXla, "{text}");
        }
        let bytecode = b"ML\xefR\xff reduce add";
        assert_eq!(Reductions::of(bytecode, false), Reductions::AsXla);
    }
}
