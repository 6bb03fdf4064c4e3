//! Special functions of real arguments, one number at a time; no XLA, no R.
//!
//! Each file is a family, with its methods, their sources and what they are good for. Algorithms over a trait of
//! numbers (`number`) give derivatives in the parameters beside the values. Nothing here panics: outside a function's
//! domain it is NaN.
//!
//! Powers and fused multiply-add are `libm`'s: those of Windows' C library are x87's, which have but 53 bits in a
//! thread that is not the first.
//!
//! For NVIDIA's GPUs the same code is compiled to PTX, without the standard library (`tools/cuda/special.py`).
#![cfg_attr(target_arch = "nvptx64", no_std)]

#[cfg(target_arch = "nvptx64")]
extern crate core as std;

mod bessel;
mod beta;
mod beta_inc;
mod beta_mean;
mod coefficients;
#[cfg(target_arch = "nvptx64")]
mod elementary;
mod erf;
mod expint;
mod gamma;
mod gamma_inc;
mod lambert;
#[cfg(test)]
mod near;
mod number;
mod owens_t;
mod real;
mod series;
mod table;
mod tail;
mod wide;
mod zeta;

pub use bessel::{bessel_i, bessel_i_scaled, bessel_j, bessel_k, bessel_k_scaled, bessel_y};
pub use beta::{beta, choose, lbeta, lchoose};
pub use beta_inc::log_beta_density;
pub use erf::{erf, erfc, erfcinv, erfcx, erfinv, log_ndtr, ndtr, ndtri, ndtri_exp};
pub use expint::{expint_ei, expint_n};
pub use gamma::{gamma, lgamma};
pub use gamma_inc::log_gamma_density;
pub use lambert::lambert_w;
pub use owens_t::owens_t;
#[cfg(target_arch = "nvptx64")]
pub use table::known;
pub use table::{function, names, Function};
pub use zeta::{digamma, polygamma, trigamma, zeta};
