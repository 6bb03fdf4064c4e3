//! The ops on the CPU, in one program: each test of linear algebra is linked and started once. What needs a process of
//! its own (stand-ins for CUDA, the fuzzer) lies beside this folder.

#[path = "../common/mod.rs"]
mod common;

mod cholesky;
mod concurrency;
mod crossprod;
mod eigh;
mod forced;
mod jaxlib_eig;
mod jaxlib_factor;
mod jaxlib_gesvd;
mod jaxlib_reduce;
mod jaxlib_refused;
mod kepler;
mod layers;
mod lu;
mod permutation;
mod print_tensor;
mod qr;
mod small;
mod sparse;
mod sparse_text;
mod special;
mod spectra;
mod subnormal;
mod svd;
mod table;
mod wide;
