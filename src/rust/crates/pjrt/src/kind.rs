//! Kinds of programs, which say how they are compiled.

use crate::program::{Program, ProgramFormat};
use crate::small::{extent, Extent};

/// Kinds of programs that XLA compiles with other options than its own. All but the plain are for XLA's CPU client. A
/// program says by the name of its module or by its text which it is, so whatever is found by a program's text is found
/// by its options, too.
///
/// What options cost and save, in seconds of CPU time to compile gradients of R's loops over scalars (jaxlib 0.10.2,
/// one core):
///
/// | | Kalman filter, 50 points | Lotka-Volterra, 20 steps | hidden Markov model, 50 points |
/// |---|---|---|---|
/// | XLA's own | 18.1 | over 60 | 9.9 |
/// | without `fusion` | 2.9 | 1.2 | 4.8 |
/// | `xla_cpu_use_fusion_emitters=false` | 2.5 | 11.0 | 4.7 |
///
/// Functions that XLA compiles as one piece of machine code (`xla_cpu_small_call`) take half of that, but XLA ends the
/// process where an argument of one is a constant. Left where they are, without `call-inliner`, they do not; XLA looks
/// at each pair of a function's steps, so 6,200 operations take 1.7 s in functions of 512 for 9 s in one. Without
/// `fusion` another way to emit kernels than XLA's own takes transposed elements in a wrong order, so the two do not go
/// together.
///
/// In milliseconds of CPU time, for programs of so many operations on four elements each (the same jaxlib; the sum is
/// over nine such programs; the least of three), and how long one run takes of 4 exponentials and 4 negations on so many
/// elements, of 8 sums and 8 products, and of 4 `log1p` and 4 products, in microseconds (the least of 30):
///
/// | | 2 | 4 | 9 | 56 | 228 | sum | 1, exp | 64, exp | 1024, exp | 1024, sums | 1024, log1p |
/// |---|---|---|---|---|---|---|---|---|---|---|---|
/// | XLA's own | 20 | 24 | 26 | 39 | 255 | 451 | 2.7 | 2.9 | 9.8 | 13 | 17 |
/// | level 0 | 21 | 20 | 20 | 33 | 184 | 344 | | | | | |
/// | one part of machine code | 24 | 23 | 27 | 32 | 255 | 438 | | | | | |
/// | no fusion emitters | 12 | 17 | 19 | 22 | 139 | 269 | | | | | |
/// | these two | 12 | 16 | 15 | 20 | 104 | 227 | 2.7 | 3.4 | 10.5 | 4.6 | 15 |
/// | all three | 10 | 12 | 15 | 14 | 42 | 137 | 2.7 | 5.5 | 40 | 10 | 47 |
///
/// Of long programs XLA optimises several parts of the machine code side by side, so they stay in parts. Seconds to
/// compile on two cores, and milliseconds of a run, of likelihoods with zero inflation (the same jaxlib; the parameters'
/// Hessian on an array of 6 x 2000; the first two with 100 random effects):
///
/// | | 2,800 operations | 6,100 operations, Hessian | 900 operations, 16,000 elements | 1,400, Hessian, 2,000 |
/// |---|---|---|---|---|
/// | XLA's own | 4.2 | 15 to 20, 15 to 28 ms | 1.1, 10 to 11 ms | 1.5, 5 ms |
/// | no fusion emitters, one part | 3.5 | 12 to 18 | 1.1 | 1.4 |
/// | the same, two parts | 2.7 | 9.4 | | 1.0 |
/// | the same, eight parts | 2.9 | 10.4, 15 to 20 ms | 0.9, 9 to 11 ms | 0.9, 6 ms |
/// | the same, 32 parts | 3.0 | 10.5 | | 1.2 |
///
/// With these two the results of the nine programs, and of moves, sums and products of each dtype, were those of XLA's
/// own options to the last bit, but for functions of complex numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramKind {
    /// XLA's own options.
    #[default]
    Plain,
    /// XLA computes each operation as it is written and rounds each result: no product with a reciprocal in place of a
    /// quotient, no constants taken together, no multiplication fused with an addition.
    Exact,
    /// Many operations on a few elements each: what the compiler could save takes longer to find.
    Scalars,
    /// Long rows of them beside large arrays: optimised, but not fused, which took all memory for some thousand. Also
    /// what fusion would write again and again.
    Rows,
    /// Operations on small arrays: kernels are written by what was XLA's own way before there were fusion emitters,
    /// which takes half the time, and compiled as one part. So are programs that say by their name that they are loops
    /// of small operations, whatever arrays there are beside.
    Small,
    /// Many operations on arrays of a few thousand elements: kernels are written in the same way, and compiled in a few
    /// parts.
    Many,
    /// Nothing but calls of handlers, and a few elements put in order, which LLVM's optimiser takes longer to look at
    /// than it can ever save. Nothing in there is rounded in another way without it: there are no products to be fused
    /// with sums.
    Moves,
}

impl ProgramKind {
    /// As the first line of a program says, or all of its text where it `is_for_one_cpu`, one device of XLA's CPU
    /// client.
    pub fn of(program: &Program, is_for_one_cpu: bool) -> Self {
        let code = program.code();
        if code.starts_with(b"module @xlaffi_exact {") {
            ProgramKind::Exact
        } else if code.starts_with(b"module @xlaffi_scalars {") {
            ProgramKind::Scalars
        } else if code.starts_with(b"module @xlaffi_rows {") {
            ProgramKind::Rows
        } else if is_for_one_cpu && code.starts_with(b"module @xlaffi_loops {") && !has_flags() {
            ProgramKind::Small
        } else if is_for_one_cpu && code.starts_with(b"module @xlaffi_many {") && !has_flags() {
            ProgramKind::Many
        } else if is_for_one_cpu && program.format() == ProgramFormat::Mlir && !has_flags() {
            match std::str::from_utf8(code).map_or(Extent::Large, extent) {
                Extent::Moves => ProgramKind::Moves,
                Extent::Small => ProgramKind::Small,
                Extent::Large => ProgramKind::Plain,
            }
        } else {
            ProgramKind::Plain
        }
    }

    /// The passes over XLA's own representation that are left out. Without `fusion` each operation is a kernel of its
    /// own, whose result is rounded; without `call-inliner` functions of long programs are compiled by themselves.
    pub(crate) fn without(self) -> Option<&'static str> {
        match self {
            ProgramKind::Exact => Some("algsimp,fusion"),
            ProgramKind::Scalars | ProgramKind::Rows => Some("fusion,call-inliner"),
            ProgramKind::Plain | ProgramKind::Small | ProgramKind::Many | ProgramKind::Moves => {
                None
            }
        }
    }

    /// Whether LLVM optimises the machine code. It fuses multiplications with additions within a kernel, on some
    /// processors without being asked to optimise.
    pub(crate) fn is_optimised(self) -> bool {
        !matches!(self, ProgramKind::Scalars | ProgramKind::Moves)
    }

    /// Where kernels are written in the way that takes least time, in how many parts they are compiled.
    ///
    /// XLA runs their operations one after the other, as it does where its scheduler is told to save memory. Else it hands
    /// operations that do not depend on one another, if one has more than 512 bytes, to its threads, which takes longer
    /// than a small operation: the program of value and gradient of a GARCH model of 500 days, two loops and some ten
    /// operations on arrays of 500, takes 54 us on two cores as XLA likes it, and 19 in order (jaxlib 0.10.2); of 10,000
    /// days 250 and 220. Where operations are long, as on matrices of 322 rows, XLA's way is 20 % faster.
    pub(crate) fn short_way(self) -> Option<i64> {
        match self {
            ProgramKind::Small | ProgramKind::Moves => Some(1),
            ProgramKind::Many => Some(8),
            _ => None,
        }
    }

    /// Whether a program of this kind has the same results as a plain one. Plugins that do not know an option may
    /// compile it as such.
    pub fn only_saves_time(self) -> bool {
        self.short_way().is_some()
    }
}

/// What the user says about the compiler counts.
fn has_flags() -> bool {
    std::env::var_os("XLA_FLAGS").is_some_and(|flags| !flags.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::{MOST_ELSEWHERE, READING_ELSEWHERE};

    fn kind(code: &str) -> ProgramKind {
        ProgramKind::of(&Program::new(code, ProgramFormat::Mlir), true)
    }

    #[test]
    fn names() {
        assert_eq!(kind("module @xlaffi_exact {\n"), ProgramKind::Exact);
        assert_eq!(kind("module @xlaffi_scalars {\n"), ProgramKind::Scalars);
        assert_eq!(kind("module @xlaffi_rows {\n"), ProgramKind::Rows);
        let loops = "module @xlaffi_loops {\n stablehlo.add_like : tensor<9999xf64>";
        assert_eq!(kind(loops), ProgramKind::Small);
        assert_eq!(kind("module @xlaffi_many {\n"), ProgramKind::Many);
        let elsewhere = Program::new(loops, ProgramFormat::Mlir);
        assert_eq!(ProgramKind::of(&elsewhere, false), ProgramKind::Plain);
    }

    #[test]
    fn many_that_read_elements_elsewhere_are_left_to_xla() {
        for name in READING_ELSEWHERE {
            let of = |count: usize| {
                let line = format!("%1 = stablehlo.{name} %0 : tensor<4xf64>\n");
                kind(&line.repeat(count))
            };
            assert_eq!(of(MOST_ELSEWHERE), ProgramKind::Small);
            assert_eq!(of(MOST_ELSEWHERE + 1), ProgramKind::Plain);
        }
    }

    #[test]
    fn what_calls_handlers_and_moves_a_few_elements_moves() {
        let program = |size: &str, op: &str| {
            format!(
                "%0 = stablehlo.custom_call @lu(%x) {{api_version = 4 : i32, \
                 operand_layouts = [dense<[1, 0]> : tensor<2xindex>]}} : (tensor<{size}>) -> tensor<{size}>\n\
                 %1 = stablehlo.{op} %0, %0 : tensor<{size}>"
            )
        };
        let kind_of = |size, op| kind(&program(size, op));
        for (size, op) in [
            ("16x16xf64", "add"),
            ("0x5xf32", "select"),
            ("i1", "transpose"),
        ] {
            assert_eq!(kind_of(size, op), ProgramKind::Moves);
        }
        for (size, op) in [
            ("16x17xf64", "add"),
            ("1x257xi32", "add"),
            ("1024xui8", "select"),
            ("2x2xf64", "multiply"),
            ("2x2xf64", "dot_general"),
            ("2x2xf64", "while"),
            ("f64", "reduce"),
        ] {
            assert_eq!(kind_of(size, op), ProgramKind::Small, "{size} {op}");
        }
        for (size, op) in [
            ("1025xf64", "add"),
            ("99999999999x99999999999xf64", "add"),
            ("?xf64", "add"),
            ("2xcomplex<f64>", "add"),
            ("2xbf16", "add"),
            ("2xf64, #stablehlo.bounds<2>", "add"),
            ("f64", "add_like"),
            ("f64", "optimization_barrier"),
            ("f64", "all_reduce"),
        ] {
            assert_eq!(kind_of(size, op), ProgramKind::Plain, "{size} {op}");
        }
        assert_eq!(
            kind("%1 = chlo.lgamma %0 : tensor<f64>"),
            ProgramKind::Small
        );
        let calls = program("2xf64", "add") + " %2 = func.call @f(%1)";
        assert_eq!(kind(&calls), ProgramKind::Plain);
        let other = Program::new(&b"\xff stablehlo.add"[..], ProgramFormat::Mlir);
        assert_eq!(ProgramKind::of(&other, true), ProgramKind::Plain);
        let hlo = Program::new(&b"stablehlo.add"[..], ProgramFormat::Hlo);
        let small = Program::new(program("2xf64", "add"), ProgramFormat::Mlir);
        assert_eq!(ProgramKind::of(&small, false), ProgramKind::Plain);
        assert_eq!(ProgramKind::of(&hlo, true), ProgramKind::Plain);
    }
}
