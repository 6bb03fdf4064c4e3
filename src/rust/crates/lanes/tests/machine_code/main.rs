//! What the optimiser makes of the kernels for two processors. In one binary, so that both builds run at the same time.
#![cfg(target_os = "linux")]

mod arm64;
mod seen;
#[cfg(target_arch = "x86_64")]
mod x86;
