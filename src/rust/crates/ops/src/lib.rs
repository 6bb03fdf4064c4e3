//! The XLA FFI handlers of xlaffi: one file per op.
