//! The driver.

use super::{library, Stream};
use std::ffi::{c_char, c_int, c_uint, c_void};

library! {
    /// `libcuda.so.1`.
    Driver("cu") {
        one get_error_name: "GetErrorName"(error: c_int, name: *mut *const c_char);
        one driver_get_version: "DriverGetVersion"(version: *mut c_int);
        one init: "Init"(flags: c_uint);
        one device_get_count: "DeviceGetCount"(count: *mut c_int);
        one device_get: "DeviceGet"(device: *mut c_int, ordinal: c_int);
        one ctx_get_current: "CtxGetCurrent"(context: *mut *mut c_void);
        one ctx_get_device: "CtxGetDevice"(device: *mut c_int);
        one device_get_attribute: "DeviceGetAttribute"(value: *mut c_int, attribute: c_int, device: c_int);
        one module_load_data: "ModuleLoadData"(module: *mut *mut c_void, image: *const c_void);
        one module_get_function: "ModuleGetFunction"(
            function: *mut *mut c_void, module: *mut c_void, name: *const c_char,
        );
        one func_set_attribute: "FuncSetAttribute"(function: *mut c_void, attribute: c_int, value: c_int);
        one launch_kernel: "LaunchKernel"(
            function: *mut c_void,
            grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
            block_x: c_uint, block_y: c_uint, block_z: c_uint,
            shared_bytes: c_uint, stream: Stream,
            arguments: *mut *mut c_void, extra: *mut *mut c_void,
        );
        one memcpy_dtod_async: "MemcpyDtoDAsync_v2"(to: u64, from: u64, bytes: usize, stream: Stream);
        one memcpy_htod_async: "MemcpyHtoDAsync_v2"(to: u64, from: *const c_void, bytes: usize, stream: Stream);
        one memcpy_dtoh_async: "MemcpyDtoHAsync_v2"(to: *mut c_void, from: u64, bytes: usize, stream: Stream);
        one memset_d8_async: "MemsetD8Async"(to: u64, value: u8, bytes: usize, stream: Stream);
        one stream_synchronize: "StreamSynchronize"(stream: Stream);
        one thread_exchange_stream_capture_mode: "ThreadExchangeStreamCaptureMode"(mode: *mut c_int);
    }
}
