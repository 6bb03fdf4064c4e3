//! How libraries name LAPACK's routines.

/// What stands before and behind a routine's name, such as `dgetrf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Convention {
    pub prefix: &'static str,
    pub suffix: &'static str,
    /// Bits of an INTEGER.
    pub integers: u32,
}

impl Convention {
    const fn new(prefix: &'static str, suffix: &'static str, integers: u32) -> Self {
        Convention {
            prefix,
            suffix,
            integers,
        }
    }

    pub(super) fn symbol(self, routine: &str) -> String {
        format!("{}{routine}{}", self.prefix, self.suffix)
    }
}

/// The better one first. Those with 64-bit integers are recognised so that they can be refused by
/// name: wherever they are found, the same library exists with integers of 32 bits, and conversion
/// would copy all pivots.
pub(super) const CONVENTIONS: [Convention; 7] = [
    Convention::new("scipy_", "_", 32), // the OpenBLAS of SciPy's wheels
    Convention::new("", "$NEWLAPACK", 32), // Accelerate from macOS 13.3 on
    Convention::new("", "_", 32),
    Convention::new("scipy_", "_64_", 64), // the OpenBLAS of numpy's wheels
    Convention::new("", "_64_", 64),
    Convention::new("", "_64", 64),
    Convention::new("", "$NEWLAPACK$ILP64", 64),
];
