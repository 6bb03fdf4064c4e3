//! What an op takes and gives, as its signature says.
//!
//! ```text
//! a: T[..., m, n] column, b: T[..., m]; alpha: f64 = 1, lags: i64[p] -> x: T[..., min(m, n)]; work: T[2*n]
//! ```
//! Operands; attributes `->` results; scratch memory.

mod ast;

pub use ast::*;
