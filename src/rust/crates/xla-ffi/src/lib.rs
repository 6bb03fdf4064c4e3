//! Typed, safe Rust over XLA's FFI C API: write custom-call handlers in Rust.
