//! The ops on CUDA, without a GPU: the tests of the CPU's ops run a second time, on stand-ins for
//! NVIDIA's libraries (`fake`), and tests of what only CUDA has.
#![cfg(target_os = "linux")]
#![allow(clippy::duplicate_mod)] // Each of those tests has its own copy of what they share.

#[path = "../common/mod.rs"]
mod common;
#[path = "../all/eigh.rs"]
mod eigh;
mod fakes;
mod geev;
mod jaxlib;
mod lengths;
#[path = "../all/lu.rs"]
mod lu;
mod parts;
mod points;
#[path = "../all/qr.rs"]
mod qr;
mod special;
#[path = "../all/svd.rs"]
mod svd;
