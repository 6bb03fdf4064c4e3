//! Sparse matrices. Their patterns are attributes: `n`, `colptr` and `rowind` are compressed columns, counted from 0, of
//! the lower triangle of a symmetric matrix; long ones may be texts ([`numbers`]). What depends on a pattern alone is found once for each, and shared by
//! all calls of a program and by the matrices of a batch.

pub(crate) mod directions;
pub(crate) mod factor;
pub(crate) mod inverse;
pub(crate) mod numbers;
pub(crate) mod own_order;
pub(crate) mod product;
pub(crate) mod solve;
pub(crate) mod state;
