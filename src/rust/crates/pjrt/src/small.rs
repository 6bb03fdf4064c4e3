//! How much the text of a program computes: a few operations on small arrays, which kind.rs compiles in a short way.

use programs::counted;

/// What a program computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A few elements, which are only moved.
    Moves,
    /// Small arrays.
    Small,
    /// Large ones, or operations that are not known here.
    Large,
}

/// Operations of programs that only move elements.
const MOVES: [&str; 17] = [
    "add",
    "and",
    "broadcast_in_dim",
    "compare",
    "concatenate",
    "constant",
    "convert",
    "custom_call",
    "iota",
    "not",
    "or",
    "output_operand_alias",
    "reshape",
    "select",
    "slice",
    "subtract",
    "transpose",
];

/// Further ones of small programs. Behind an `optimization_barrier` stand random numbers, which are those of JAX to the
/// last bit.
const SMALL: [&str; 51] = [
    "abs",
    "atan2",
    "bitcast_convert",
    "case",
    "cbrt",
    "ceil",
    "cholesky",
    "clamp",
    "cosine",
    "count_leading_zeros",
    "divide",
    "dot_general",
    "dynamic_slice",
    "dynamic_update_slice",
    "exponential",
    "exponential_minus_one",
    "floor",
    "gather",
    "if",
    "is_finite",
    "log",
    "log_plus_one",
    "logistic",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "pad",
    "popcnt",
    "power",
    "reduce",
    "reduce_window",
    "remainder",
    "return",
    "reverse",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "scatter",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sine",
    "sort",
    "sqrt",
    "tan",
    "tanh",
    "triangular_solve",
    "while",
    "xor",
];

/// What is computed with in small programs. Functions of complex numbers differ in their last bits.
const REAL: [&str; 11] = [
    "f64", "f32", "i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64",
];

/// Words of programs that are compiled as XLA compiles them: of other dialects, and calls of functions.
const FOREIGN: [&str; 5] = ["mhlo.", "sdy.", " call @", "func.call", "mesh"];

/// Operations that read elements at other places, which the short way of writing kernels computes again for each place.
/// With one after the other that doubles: a gradient of eight steps `x <- sin(x) + x[length(x):1]` took 2 s to compile,
/// and one of twelve more memory than there was (jaxlib 0.10.2). XLA's own way finds equal places. Slices, pieces put
/// together and transposes do not double.
pub(crate) const READING_ELSEWHERE: [&str; 2] = ["gather", "reverse"];

/// So many of these a small program may have.
pub(crate) const MOST_ELSEWHERE: usize = 4;

/// Up to so many elements no array is worth a thread or a longer look by the compiler.
const MOST_SMALL: u64 = 1024;

/// Up to so many elements it does not matter how they are moved.
const MOST_MOVED: u64 = 256;

/// What the text of a program computes with.
pub(crate) fn extent(text: &str) -> Extent {
    let mut found = Extent::Moves;
    let mut elsewhere = 0;
    for rest in text.split("stablehlo.").skip(1) {
        let name = word(rest);
        elsewhere += usize::from(READING_ELSEWHERE.contains(&name));
        if elsewhere > MOST_ELSEWHERE {
            return Extent::Large;
        }
        if SMALL.contains(&name) {
            found = Extent::Small;
        } else if !MOVES.contains(&name) {
            return Extent::Large;
        }
    }
    for rest in text.split("tensor<").skip(1) {
        match elements(rest) {
            Some(0..=MOST_MOVED) => {}
            Some(0..=MOST_SMALL) => found = Extent::Small,
            _ => return Extent::Large,
        }
    }
    if FOREIGN.iter().any(|word| text.contains(word)) {
        return Extent::Large;
    }
    if text.contains("chlo.") {
        found = Extent::Small;
    }
    found
}

/// The name that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    &text[..end.unwrap_or(text.len())]
}

/// How many elements an array has of whose type this is the part after `tensor<`; `None` for what small programs have
/// not.
fn elements(text: &str) -> Option<u64> {
    let (inner, _) = text.split_once('>')?;
    // The layouts of a custom call's operands are in a type that no data have.
    if inner.ends_with("index") {
        return Some(0);
    }
    let (count, dtype) = counted(inner)?;
    REAL.contains(&dtype).then_some(count)
}
