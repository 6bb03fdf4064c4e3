//! Sparse symmetric matrices: `P A Pᵀ = L Lᵀ`, equations with the factor, the inverse where `A` has entries, and the
//! derivatives of that inverse, of which the derivatives of every order of `log det A` consist.
//!
//! What depends on the pattern alone is found once ([`Symbolic`]) and serves all matrices that have it.

#![forbid(unsafe_code)]

mod cholesky;
mod dense;
mod inverse;
mod jet;
mod order;
mod pattern;
mod product;
mod scalar;
mod scratch;
mod solve;
mod supernodes;
mod symbolic;
mod tree;

pub use inverse::HIGHEST_ORDER;
pub use pattern::{Columns, Pattern, PatternError};
pub use scalar::Scalar;
pub use solve::System;
pub use symbolic::{FactorPattern, Symbolic};
