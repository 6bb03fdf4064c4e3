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

/// Whether a text needs them. What becomes of a value is not looked at: a large array that may have lost signs, and
/// another one that is divided by, are enough, and so is one conversion to fewer digits.
fn needs_own(text: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let large = |is: fn(&Statement<'_>) -> bool| statements(text).any(|s| is_large(&s) && is(&s));
    // There the size of what is reduced is not seen.
    if (has(&REGIONS) || has(&APART)) && statements(text).any(|said| is_extremum(&said)) {
        return true;
    }
    large(|said| is_extremum(said) || rounds(said) || narrows(said))
        || (large(is_unsigned) && large(|said| SIGNED.contains(&said.op)))
}

fn is_extremum(said: &Statement<'_>) -> bool {
    EXTREMA.contains(&said.op)
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
    fn divisors_beside_zeros_without_their_sign_are_found() {
        for made in [
            "stablehlo.negate",
            "stablehlo.tanh",
            "\"stablehlo.sign\"",
            "chlo.erf",
        ] {
            for (taken, size, expected) in [
                ("divide", "4096xf64", Reductions::Own),
                ("rsqrt", "?xf64", Reductions::Own),
                ("power", "64x64xf32", Reductions::Own),
                ("multiply", "4096xf64", Reductions::AsXla),
                ("divide", "4095xf64", Reductions::AsXla),
            ] {
                let text = format!(
                    "%1 = {made} %x : tensor<{size}>\n%2 = stablehlo.{taken} %y, %1 : tensor<{size}>\n{SUM}"
                );
                assert_eq!(of(&text), expected, "{text}");
                assert_eq!(of(&format!("{text} func.call @f")), expected, "{text}");
            }
        }
        assert_eq!(
            of(&format!(
                "%1 = stablehlo.divide %x, %y : tensor<9999xf64>\n{SUM}"
            )),
            Reductions::AsXla
        );
        for (bytecode, expected) in [
            ("reduce negate_v1 rsqrt_v1", Reductions::Own),
            ("reduce log-plus-one divide", Reductions::Own),
            ("reduce negate multiply", Reductions::AsXla),
            ("reduce add divide", Reductions::AsXla),
            ("reduce convert", Reductions::Own),
        ] {
            let code = bytecode.as_bytes();
            assert_eq!(Reductions::of(code, true), expected, "{bytecode}");
        }
    }

    #[test]
    fn conversions_to_fewer_digits_are_found() {
        for (from, to, expected) in [
            ("9999xf64", "9999xf32", Reductions::Own),
            ("9999xf64", "9999xi8", Reductions::Own),
            ("9999xf32", "9999xbf16", Reductions::Own),
            ("9999xf32", "9999xf8E4M3FN", Reductions::Own),
            ("4095xf64", "4095xui8", Reductions::AsXla),
            ("9999xf32", "9999xf64", Reductions::AsXla),
            ("9999xf64", "9999xi32", Reductions::AsXla),
            ("9999xi64", "9999xf32", Reductions::AsXla),
        ] {
            let text =
                format!("%2 = stablehlo.convert %x : (tensor<{from}>) -> tensor<{to}>\n{SUM}");
            assert_eq!(of(&text), expected, "{text}");
            assert_eq!(of(&format!("{text} func.call @f")), expected, "{text}");
        }
        assert_eq!(of(&format!("{SUM}stablehlo.convert %x")), Reductions::Own);
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
