//! What the machine code of `examples/kernels.rs` is made of.

use std::collections::BTreeSet;
use std::process::Command;

/// Kernels, of which each is there for f32 and f64, real and complex.
const KERNELS: [&str; 7] = ["Lu", "Geqrf", "Orgqr", "Potrf", "Trsm", "Syevd", "Gesdd"];

/// Those of which a real matrix alone has its rows in lanes, so that none is computed one by one.
const IN_ROWS: [&str; 2] = ["Lu", "Potrf"];

/// Those of real matrices alone, which have their rows in lanes.
const REAL: [&str; 1] = ["Crossprod"];

/// Products that kernels share, not inlined.
const PRODUCTS: [&str; 20] = [
    "product",
    "follow",
    "reflect",
    "prepare",
    "project",
    "sweep",
    "multiply",
    "larfg",
    "gemver",
    "gemvt",
    "gemvh",
    "bdsqr",
    "roots",
    "spread",
    "ends",
    "hemv",
    "stedc",
    "sterf",
    "steqr",
    "substitute",
];

/// Work that kernels have in common; some of it moves numbers only.
const APART: &str = "apart";

/// What may be called besides: it moves data only, or is looked at itself.
const MOVES: [&str; 11] = [
    APART,
    "gather",
    "scatter",
    "scatter_some",
    "strided",
    "lines",
    // It divides and multiplies only.
    "weights",
    "share",
    "share_by",
    // A slice of a slice, and two iterators side by side, which the compiler may leave out of line.
    "index_mut",
    "zip",
];

/// Whether the function is such work, compiled once.
pub fn is_apart(name: &str) -> bool {
    name.contains(&format!("::{APART}::<"))
}

/// The functions of the crate that kernels may call.
pub fn called() -> impl Iterator<Item = &'static str> {
    PRODUCTS.into_iter().chain(MOVES)
}

/// What a tool says, which has to succeed.
pub fn output(command: &mut Command) -> String {
    let done = command
        .output()
        .expect("cargo and binutils, which linking needs");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {errors}");
    String::from_utf8(done.stdout).expect("text")
}

/// A kernel, as one of its callers has it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Instance {
    caller: &'static str,
    kernel: &'static str,
    complex: bool,
    single: bool,
}

/// What was found among the functions of the example.
#[derive(Debug, Default)]
pub struct Seen {
    kernels: BTreeSet<Instance>,
    products: BTreeSet<(&'static str, String)>,
}

impl Seen {
    /// The vector that the function is of, if it is a product.
    pub fn product(&mut self, name: &str) -> Option<String> {
        let product = PRODUCTS.into_iter().find(|product| {
            name.ends_with(&format!("Lanes>::{product}"))
                || name.ends_with(&format!("::{product}::{product}"))
        })?;
        let vector = name
            .split(['<', ':', ' '])
            .find(|word| word.starts_with("F64x") || word.starts_with("F32x"))
            .unwrap_or_else(|| panic!("{name} is of no known vector"));
        self.products.insert((product, vector.to_owned()));
        Some(vector.to_owned())
    }

    /// Whether the function is a kernel of one of the `callers`: what is known of that one.
    pub fn kernel<K: Copy>(&mut self, name: &str, callers: &[(&'static str, K)]) -> Option<K> {
        let &(caller, known) = callers.iter().find(|(caller, _)| {
            name.contains("dispatch::") && name.contains(&format!("::{caller}"))
        })?;
        let kernel = KERNELS
            .into_iter()
            .chain(REAL)
            .find(|kernel| name.contains(&format!("::{kernel}<")))
            .unwrap_or_else(|| panic!("{name} is of no kernel of the list"));
        self.kernels.insert(Instance {
            caller,
            kernel,
            complex: name.contains("Complex<"),
            single: name.contains("f32>"),
        });
        Some(known)
    }

    /// That nothing is missing where there are so many callers, of which one has a matrix in each lane alone.
    pub fn expect_all(&self, callers: usize) {
        let functions = callers * 2 * KERNELS.len() - IN_ROWS.len() + (callers - 1) * REAL.len();
        assert_eq!(self.kernels.len(), 2 * functions, "{:?}", self.kernels);
        let products = PRODUCTS.len() * 2 * (callers - 1);
        assert_eq!(self.products.len(), products, "{:?}", self.products);
    }
}

/// That a function has operations that multiply and add at once on `whole` vectors, and no `other` ones.
#[track_caller]
pub fn expect_vector_code(name: &str, whole: usize, other: Option<&str>) {
    assert!(whole > 0, "{name} has no fused operation on whole vectors");
    assert_eq!(other, None, "{name} computes lanes one by one");
}
