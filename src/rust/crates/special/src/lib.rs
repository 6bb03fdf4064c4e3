//! Special functions of real arguments, one number at a time; no XLA, no R.
//!
//! Each file is a family, with its methods, their sources and what they are good for. Algorithms over a trait of
//! numbers (`number`) give derivatives in the parameters beside the values. Nothing here panics: outside a function's
//! domain it is NaN.

mod beta;
mod beta_inc;
mod coefficients;
mod erf;
mod gamma;
mod gamma_inc;
mod number;
mod series;
mod table;
mod tail;
mod zeta;

pub use beta::{beta, choose, lbeta, lchoose};
pub use beta_inc::log_beta_density;
pub use erf::{erf, erfc, erfcinv, erfcx, erfinv, log_ndtr, ndtr, ndtri, ndtri_exp};
pub use gamma::{gamma, lgamma};
pub use gamma_inc::log_gamma_density;
pub use table::{function, names, Function};
pub use zeta::{digamma, polygamma, trigamma, zeta};
