//! The compiler for kernels.

use super::library;
use std::ffi::{c_char, c_int, c_void};

library! {
    /// `libnvrtc.so`.
    Nvrtc("nvrtc") {
        one version: "Version"(major: *mut c_int, minor: *mut c_int);
        one create_program: "CreateProgram"(
            program: *mut *mut c_void, source: *const c_char, name: *const c_char,
            headers: c_int, header_sources: *const *const c_char, header_names: *const *const c_char,
        );
        one destroy_program: "DestroyProgram"(program: *mut *mut c_void);
        one compile_program: "CompileProgram"(
            program: *mut c_void, count: c_int, options: *const *const c_char,
        );
        one get_cubin_size: "GetCUBINSize"(program: *mut c_void, size: *mut usize);
        one get_cubin: "GetCUBIN"(program: *mut c_void, cubin: *mut c_char);
        one get_ptx_size: "GetPTXSize"(program: *mut c_void, size: *mut usize);
        one get_ptx: "GetPTX"(program: *mut c_void, ptx: *mut c_char);
        one get_program_log_size: "GetProgramLogSize"(program: *mut c_void, size: *mut usize);
        one get_program_log: "GetProgramLog"(program: *mut c_void, log: *mut c_char);
    }
}
