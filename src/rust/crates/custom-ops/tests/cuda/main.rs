//! Kernels of one's own, without a GPU: on stand-ins for the driver and for NVRTC, which compiles them
//! as C++ (`crates/ops/tests/cuda/fake`).
#![cfg(target_os = "linux")]

#[path = "../../../ops/tests/common/fake.rs"]
#[allow(dead_code)]
mod fake;

mod arguments;
mod common;
mod failures;
mod launches;
mod registration;
