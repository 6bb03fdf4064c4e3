//! The PJRT C API as `repr(C)` Rust declarations, shared by the host and the plugin.
