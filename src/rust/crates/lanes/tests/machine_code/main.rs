//! What the optimiser makes of the kernels, for each processor at the same time: both are one build on most of the way.
#![cfg(target_os = "linux")]

mod arm64;
mod seen;
#[cfg(target_arch = "x86_64")]
mod x86;
