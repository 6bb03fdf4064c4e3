//! Factors, solutions and inverses beside dense ones.

mod derivative;
mod matrices;
mod numeric;
mod pattern;
mod product;
