//! Plugin, client and programs of the fake plugin.

use super::execute::{execute_on, SHARDED, TYPED};
use super::objects::*;

use pjrt_api::*;

use std::ptr::{null_mut, NonNull};

use std::sync::atomic::Ordering;

use std::sync::{Arc, Mutex};

use std::time::Duration;

pub struct FakeClient {
    platform: String,
    devices: [*mut PJRT_Device; 2],
}

/// A program is a few words; where it runs on other devices than the first, their addresses come after "on".
pub struct FakeProgram {
    code: String,
    devices: Vec<*mut PJRT_Device>,
}

impl FakeProgram {
    fn new(code: &str) -> Self {
        let on = code.split_once(" on ").map_or("8", |(_, devices)| devices);
        let addresses = on.split(',').map(|device| device.parse::<usize>().unwrap());
        Self {
            devices: addresses
                .map(|address| address as *mut PJRT_Device)
                .collect(),
            code: code.to_string(),
        }
    }

    /// What it does.
    fn word(&self) -> &str {
        self.code.split(" on ").next().unwrap()
    }
}

pub fn text(data: *const std::ffi::c_char, len: usize) -> String {
    // SAFETY: the host passes valid strings.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) };
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// When the results of the program "gated" are there.
pub static GATE: Mutex<Option<FakeEvent>> = Mutex::new(None);

/// Lets the results of the last "gated" be there.
pub fn open_gate() {
    if let Some(gate) = GATE.lock().unwrap().take() {
        gate.set(None);
    }
}

/// Does something a little later, on a thread of the plugin.
pub fn later(f: impl FnOnce() + Send + 'static) {
    THREADS.fetch_add(1, Ordering::SeqCst);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        f();
        THREADS.fetch_sub(1, Ordering::SeqCst);
    });
}

pub fn row_major(rank: usize) -> Placing {
    Placing::MinorToMajor((0..rank as i64).rev().collect())
}

/// A 2×3 array of the `f32`s 0..6 in the order of its memory.
pub fn six(layout: Placing, ready: FakeEvent) -> *mut PJRT_Buffer {
    let data = (0..6u8).flat_map(|i| f32::from(i).to_ne_bytes()).collect();
    FakeBuffer {
        kind: PJRT_Buffer_Type::F32,
        dims: vec![2, 3],
        layout,
        data: Arc::new(Mutex::new(data)),
        borrowed: None,
        ready,
        deleted: Arc::default(),
    }
    .give()
}

unsafe extern "C" fn free_serialized(bytes: *mut PJRT_SerializedExecutable) {
    drop(take::<String, _>(SERIALIZED, bytes));
}

functions! {
    fn plugin_initialize(_a: PJRT_Plugin_Initialize_Args) -> *mut PJRT_Error {
        null_mut()
    }
    fn plugin_attributes(a: PJRT_Plugin_Attributes_Args) -> *mut PJRT_Error {
        let list = [1i64, 2];
        let mut values = [PJRT_NamedValue::new(); 6];
        for (i, v) in values.iter_mut().enumerate() {
            v.name = c"abcdef".as_ptr().wrapping_add(i);
            v.name_size = 1;
            v.r#type = PJRT_NamedValue_Type(i as u32);
            v.value_size = 2;
        }
        values[0].value.string_value = c"hi".as_ptr();
        values[1].value.int64_value = -7;
        values[2].value.int64_array_value = super::keep(list).cast();
        values[3].value.float_value = 0.5;
        values[4].value.bool_value = true;
        a.num_attributes = values.len();
        a.attributes = super::keep::<[_; 6]>(values).cast();
        null_mut()
    }
    fn client_create(a: PJRT_Client_Create_Args) -> *mut PJRT_Error {
        // SAFETY: the host's options are alive during the call; this one is text.
        let platform = unsafe {
            let option = &*a.create_options;
            assert_eq!(text(option.name, option.name_size), "platform");
            text(option.value.string_value, option.value_size)
        };
        if platform == "none" {
            return error(PJRT_Error_Code::NOT_FOUND, "no such hardware");
        }
        let devices = [8 as *mut PJRT_Device, 16 as *mut PJRT_Device];
        a.client = give(CLIENT, FakeClient { platform, devices });
        null_mut()
    }
    fn client_destroy(a: PJRT_Client_Destroy_Args) -> *mut PJRT_Error {
        let l = live();
// With one client left, everything is its own.
        let left = l[BUFFER] + l[LOADED] + l[EXECUTABLE];
        assert!(l[CLIENT] > 1 || left == 0, "the client goes before its objects");
        drop(take::<FakeClient, _>(CLIENT, a.client));
        null_mut()
    }
    fn client_platform_name(a: PJRT_Client_PlatformName_Args) -> *mut PJRT_Error {
        let client: &FakeClient = peek(a.client);
        a.platform_name = client.platform.as_ptr().cast();
        a.platform_name_size = client.platform.len();
        null_mut()
    }
    fn client_devices(a: PJRT_Client_AddressableDevices_Args) -> *mut PJRT_Error {
        let client: &FakeClient = peek(a.client);
        a.addressable_devices = client.devices.as_ptr();
        a.num_addressable_devices = client.devices.len();
        null_mut()
    }
    fn client_compile(a: PJRT_Client_Compile_Args) -> *mut PJRT_Error {
        // SAFETY: the host's program is alive during the call.
        let program = unsafe { &*a.program };
        assert_eq!(text(program.format, program.format_size), "mlir");
        let code = text(program.code, program.code_size);
        if code == "nonsense" {
            return error(PJRT_Error_Code::INVALID_ARGUMENT, "cannot parse nonsense");
        }
        a.executable = give(LOADED, FakeProgram::new(&code));
        null_mut()
    }
    fn buffer_from_host(a: PJRT_Client_BufferFromHostBuffer_Args) -> *mut PJRT_Error {
        // SAFETY: the host's shape is alive during the call.
        let dims = unsafe { std::slice::from_raw_parts(a.dims, a.num_dims) }.to_vec();
        if dims == [13] {
            return error(PJRT_Error_Code::RESOURCE_EXHAUSTED, "out of device memory");
        }
        let size = pjrt::DType::from_pjrt(a.r#type).unwrap().size();
        let len = dims.iter().product::<i64>() as usize * size;
        let (source, done) = (a.data as usize, FakeEvent::default());
        let mut buffer = FakeBuffer {
            kind: a.r#type,
            layout: row_major(dims.len()),
            dims,
            data: Arc::new(Mutex::new(vec![0; len])),
            borrowed: None,
            ready: FakeEvent::default(),
            deleted: Arc::default(),
        };
        let copy = move |to: &Mutex<Vec<u8>>| {
            // SAFETY: the host keeps its memory until it is told.
            unsafe { to.lock().unwrap().as_mut_ptr().copy_from(source as *const u8, len) };
        };
        match a.host_buffer_semantics {
            PJRT_HostBufferSemantics::kMutableZeroCopy => {
                buffer.borrowed = Some((NonNull::new(a.data as *mut u8).unwrap(), done.clone()));
                buffer.ready.set(None);
            }
            PJRT_HostBufferSemantics::kImmutableOnlyDuringCall => {
                copy(&buffer.data);
                buffer.ready.set(None);
                done.set(None);
            }
            _ => {
                let (data, ready, done) = (buffer.data.clone(), buffer.ready.clone(), done.clone());
                later(move || {
                    copy(&data);
                    ready.set(None);
                    done.set(None);
                });
            }
        }
        a.done_with_host_buffer = done.give();
        a.buffer = buffer.give();
        null_mut()
    }
    fn loaded_destroy(a: PJRT_LoadedExecutable_Destroy_Args) -> *mut PJRT_Error {
        drop(take::<FakeProgram, _>(LOADED, a.executable));
        null_mut()
    }
    fn loaded_get(a: PJRT_LoadedExecutable_GetExecutable_Args) -> *mut PJRT_Error {
        let code = &peek::<FakeProgram, _>(a.loaded_executable).code;
        if code == "opaque" {
            return error(PJRT_Error_Code::INTERNAL, "cannot get at the executable");
        }
        a.executable = give(EXECUTABLE, FakeProgram::new(code));
        null_mut()
    }
    fn executable_destroy(a: PJRT_Executable_Destroy_Args) -> *mut PJRT_Error {
        drop(take::<FakeProgram, _>(EXECUTABLE, a.executable));
        null_mut()
    }
    fn executable_serialize(a: PJRT_Executable_Serialize_Args) -> *mut PJRT_Error {
        let code = &peek::<FakeProgram, _>(a.executable).code;
        if code == "fails" {
            return error(PJRT_Error_Code::INTERNAL, "cannot be written down");
        }
        let bytes = format!("compiled {code}");
        (a.serialized_bytes, a.serialized_bytes_size) = (bytes.as_ptr().cast(), bytes.len());
        // The text's memory stays where it is.
        a.serialized_executable = give(SERIALIZED, bytes);
        a.serialized_executable_deleter = Some(free_serialized);
        null_mut()
    }
    fn deserialize(a: PJRT_Executable_DeserializeAndLoad_Args) -> *mut PJRT_Error {
        let bytes = text(a.serialized_executable, a.serialized_executable_size);
        let options = a.overridden_serialized_compile_options_size;
        let Some(code) = bytes.strip_prefix("compiled ").filter(|_| options > 0) else {
            return error(PJRT_Error_Code::INVALID_ARGUMENT, "cannot read that");
        };
        a.loaded_executable = give(LOADED, FakeProgram::new(code));
        null_mut()
    }
    fn executable_num_outputs(a: PJRT_Executable_NumOutputs_Args) -> *mut PJRT_Error {
        a.num_outputs = match peek::<FakeProgram, _>(a.executable).word() {
            "two" | "one strange" => 2,
            "none" | "none, fails" | "none, second fails" => 0,
            _ => 1,
        };
        null_mut()
    }
    fn loaded_devices(a: PJRT_LoadedExecutable_AddressableDevices_Args) -> *mut PJRT_Error {
        let devices = &peek::<FakeProgram, _>(a.executable).devices;
        (a.addressable_devices, a.num_addressable_devices) = (devices.as_ptr(), devices.len());
        null_mut()
    }
    fn optimized_program(a: PJRT_Executable_OptimizedProgram_Args) -> *mut PJRT_Error {
        let (module, format) = match peek::<FakeProgram, _>(a.executable).word() {
            "typed" => (TYPED, c"hlo_with_config"),
            _ => (SHARDED, c"hlo"),
        };
        // SAFETY: the host's program is alive during the call.
        let program = unsafe { &mut *a.program };
        if program.code.is_null() {
            program.code_size = module.len();
        } else {
            assert_eq!(program.code_size, module.len());
            // SAFETY: the host's memory is that long.
            unsafe { program.code.cast::<u8>().copy_from(module.as_ptr(), module.len()) };
        }
        (program.format, program.format_size) = (format.as_ptr(), format.count_bytes());
        null_mut()
    }
    fn execute(a: PJRT_LoadedExecutable_Execute_Args) -> *mut PJRT_Error {
        let program = peek::<FakeProgram, _>(a.executable);
        assert_eq!(a.num_devices, program.devices.len());
        for device in 0..a.num_devices {
            // SAFETY: the host's lists are alive during the call and as long as it says.
            let inputs = unsafe { std::slice::from_raw_parts(*a.argument_lists.add(device), a.num_args) };
            for &b in inputs {
                if *peek::<FakeBuffer, _>(b).deleted.lock().unwrap() {
                    return error(PJRT_Error_Code::UNKNOWN, "something is wrong with a buffer");
                }
            }
        }
        for device in 0..a.num_devices {
            // SAFETY: the host's lists are alive during the call and have an element for each device.
            let error = unsafe { execute_on(a, program.word(), device) };
            if !error.is_null() {
                return error;
            }
        }
        null_mut()
    }
}
