//! Sparse symmetric matrices: `P A Pᵀ = L Lᵀ`, equations with the factor, the inverse where `A` has entries, and the
//! derivatives of that inverse, of which the derivatives of every order of `log det A` consist.
//!
//! What depends on the pattern alone is found once ([`Symbolic`]) and serves all matrices that have it.
//!
//! Times in milliseconds of the Laplacian of a grid plus the identity, f64, one core of an AMD EPYC with AVX2 (the
//! processor was shared; the least of many runs, by `examples/grid.rs` with Rust 1.95), beside CHOLMOD's numeric factor by
//! `update()` of Matrix 1.5-3 in R 4.2.2 (CPU time), with Debian's reference BLAS 3.11 and with OpenBLAS 0.3.21, which uses
//! AVX-512. All store as many elements.
//!
//! | grid | factor | CHOLMOD's factor | with OpenBLAS | inverse | first derivative of the inverse |
//! |---|---|---|---|---|---|
//! | 100 x 100 | 0.85 | 2 | 1 | 1.9 | 46 |
//! | 316 x 316 | 23 | 137 | 47 | 75 | 2600 |
//! | 27 x 27 x 27 | 87 | 430 | 76 | 570 | 12400 |
//!
//! The inverse has twice the operations of the factor: for a supernode of `w` columns with `b` rows below, the factor takes
//! `w³/6 + b w²/2 + b² w/2` multiplications with additions (its triangle, the rows below, and what they subtract from the
//! parent), the inverse `w³/3 + b w² + b² w`: `L⁻¹` and `L⁻ᵀ L⁻¹` of the triangle, `Y = B L⁻¹` and `Yᵀ Z Y`, and `Z Y`, of
//! which all entries are needed. (On another day of the same processor, with fronts that leave out the zeros of `L⁻¹`: 1.9,
//! 47 and 178 ms beside factors of 0.9, 22 and 65 ms.) With the order of minimum degree three dimensions fill in more
//! than with nested dissection.
//!
//! Since products of jets are called and not in place everywhere, derivatives of the first order take 0.7 of the time, of
//! the second 0.75 to 0.9, of higher ones the same (100 x 100 and 12 x 12 x 12, both ways side by side).

#![forbid(unsafe_code)]

mod blocked;
mod cholesky;
mod colouring;
mod factor_pattern;
mod float;
mod front;
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
pub use float::Float;
pub use jet::HIGHEST_ORDER;
pub use number::Number;
pub use own_order::OwnOrder;
pub use pattern::{Columns, Pattern, PatternError};
pub use solve::System;
pub use symbolic::Symbolic;
