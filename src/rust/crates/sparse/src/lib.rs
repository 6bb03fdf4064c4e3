//! Sparse symmetric matrices: `P A Pᵀ = L Lᵀ`, equations with the factor, the inverse where `A` has entries, and the
//! derivatives of that inverse, of which the derivatives of every order of `log det A` consist.
//!
//! What depends on the pattern alone is found once ([`Symbolic`]) and serves all matrices that have it.
//!
//! Times in milliseconds of the Laplacian of a square grid plus the identity, f64, one core of an AMD EPYC with AVX2 (the
//! processor was shared; the least of many runs, by `examples/grid.rs` with Rust 1.95), beside CHOLMOD's numeric factor by
//! `update()` of Matrix 1.5-3 in R 4.2.2 with Debian's reference BLAS 3.11 (CPU time). Both store as many elements.
//!
//! | grid | factor | CHOLMOD's factor | inverse | first derivative of the inverse |
//! |---|---|---|---|---|
//! | 100 x 100 | 1.15 | 9 | 2.4 | 22 |
//! | 316 x 316 | 29 | 260 | 65 | |
//!
//! So the inverse takes 2.1 to 2.3 times as long as the factor; it has twice the operations.

#![forbid(unsafe_code)]

mod cholesky;
mod colouring;
mod factor_pattern;
mod inverse;
mod jet;
mod kernels;
mod number;
mod order;
mod own_order;
mod pattern;
mod product;
mod scratch;
mod solve;
mod supernodes;
mod symbolic;
mod tile;
mod tree;

pub use colouring::{column_colouring, star_colouring, Colouring};
pub use factor_pattern::FactorPattern;
pub use inverse::HIGHEST_ORDER;
pub use number::Number;
pub use own_order::OwnOrder;
pub use pattern::{Columns, Pattern, PatternError};
pub use solve::System;
pub use symbolic::Symbolic;
