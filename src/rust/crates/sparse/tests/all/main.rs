//! Factors, solutions and inverses beside dense ones.

mod colouring;
mod derivative;
mod matrices;
mod numeric;
mod own_order;
mod pattern;
mod product;
