//! Plugins of other versions, incomplete ones, and files that are no plugins.

use crate::fake::*;
use pjrt::*;
use pjrt_api::*;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn newer_plugins_are_welcome() {
    let _s = session();
    let mut t = table();
    t.struct_size += 80;
    t.pjrt_api_version.minor_version = API_MINOR + 20;
    let plugin = plugin(t).unwrap();
    assert_eq!(plugin.api_version(), (0, API_MINOR + 20));
    plugin.client(&platform_option("cpu")).unwrap();
}

unsafe extern "C" fn beyond_the_end(
    _: *mut PJRT_Executable_OutputElementTypes_Args,
) -> *mut PJRT_Error {
    unreachable!("the table does not reach so far")
}

#[test]
fn older_plugins_lack_functions() {
    let _s = session();
    let mut t = table();
    // A table that ends before the output types; what lies behind must not be touched.
    t.struct_size = offset_of!(PJRT_Api, PJRT_Executable_OutputElementTypes);
    t.pjrt_api_version.minor_version = 30;
    t.PJRT_Executable_OutputElementTypes = Some(beyond_the_end);
    let client = plugin(t).unwrap().client(&platform_option("cpu")).unwrap();
    let program = Program::new("any", ProgramFormat::Mlir);
    let executable = client.compile(&program, &[]).unwrap();
    let e = executable.output_dtypes().unwrap_err();
    assert_eq!(
        (e.kind(), e.code()),
        (Kind::MissingFunction, Code::UNIMPLEMENTED)
    );
    assert_eq!(
        e.message(),
        "the plugin does not implement PJRT_Executable_OutputElementTypes"
    );
    // A hole in the table is the same.
    let e = client.platform_version().unwrap_err();
    assert_eq!(e.call(), Some("PJRT_Client_PlatformVersion"));
    let mut t = table();
    t.PJRT_Executable_Serialize = None;
    t.PJRT_Executable_DeserializeAndLoad = None;
    let client = plugin(t).unwrap().client(&platform_option("cpu")).unwrap();
    let e = client
        .compile(&program, &[])
        .unwrap()
        .serialize()
        .unwrap_err();
    assert_eq!(e.kind(), Kind::MissingFunction);
    let e = client.load(b"compiled any", &program, &[]).unwrap_err();
    assert_eq!(e.kind(), Kind::MissingFunction);
    // Without knowledge of the layout the plugin is asked to put things in order.
    let mut t = table();
    t.PJRT_Buffer_GetMemoryLayout = None;
    let client = plugin(t).unwrap().client(&platform_option("cpu")).unwrap();
    let executable = client.compile(&program, &[]).unwrap();
    let out = executable.execute(&[], &ExecuteOptions::default()).unwrap();
    let mut x = [0.0; 6];
    out[0].read(Dest::F64(&mut x), Order::RowMajor).unwrap();
    assert_eq!(x, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn another_major_version_is_refused() {
    let _s = session();
    let mut t = table();
    t.pjrt_api_version.major_version = 1;
    t.pjrt_api_version.minor_version = 2;
    let e = plugin(t).err().unwrap();
    assert_eq!(e.kind(), Kind::IncompatibleVersion);
    assert_eq!(
        e.message(),
        "the plugin `fake` has PJRT API version 1.2; this host needs 0.x"
    );
}

#[test]
fn tables_that_are_none() {
    let _s = session();
    let mut t = table();
    t.struct_size = 8;
    assert_eq!(plugin(t).err().unwrap().kind(), Kind::NotAPlugin);
    // SAFETY: NULL is allowed.
    let null = unsafe { Plugin::from_api(std::ptr::null(), "nothing") };
    assert_eq!(
        null.err().unwrap().message(),
        "`nothing` is not a PJRT plugin: its GetPjrtApi returned NULL"
    );
}

#[test]
fn initialised_once_per_table() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn count(_: *mut PJRT_Plugin_Initialize_Args) -> *mut PJRT_Error {
        CALLS.fetch_add(1, Ordering::SeqCst);
        std::ptr::null_mut()
    }
    let _s = session();
    let mut t = table();
    t.PJRT_Plugin_Initialize = Some(count);
    let t = keep(t);
    for _ in 0..3 {
        // SAFETY: kept, so valid for ever.
        unsafe { Plugin::from_api(t, "counted") }.unwrap();
    }
    assert_eq!(CALLS.load(Ordering::SeqCst), 1);
}

/// What the fake extension was asked to register.
static REGISTERED: std::sync::Mutex<Vec<(String, String, usize)>> =
    std::sync::Mutex::new(Vec::new());

unsafe extern "C" fn register(a: *mut PJRT_FFI_Register_Handler_Args) -> *mut PJRT_Error {
    // SAFETY: the host passes valid arguments.
    let (a, text) = unsafe {
        let text = |p: *const std::ffi::c_char, n| {
            String::from_utf8(std::slice::from_raw_parts(p.cast::<u8>(), n).to_vec()).unwrap()
        };
        (&*a, text)
    };
    let mut list = REGISTERED.lock().unwrap();
    list.push((
        text(a.target_name, a.target_name_size),
        text(a.platform_name, a.platform_name_size),
        a.handler as usize,
    ));
    std::ptr::null_mut()
}

#[test]
fn handlers_go_through_the_extension() {
    let _s = session();
    let bare = plugin(table()).unwrap();
    assert!(!bare.has_ffi());
    // SAFETY: never called.
    let e = unsafe { bare.register_ffi_handler("f", "host", std::ptr::null()) }.unwrap_err();
    assert_eq!(e.code(), Code::UNIMPLEMENTED);

    // Behind another extension, and larger than this host knows it.
    let ffi = keep(PJRT_FFI_Extension {
        base: PJRT_Extension_Base {
            struct_size: PJRT_FFI_Extension::STRUCT_SIZE + 16,
            r#type: PJRT_Extension_Type::FFI,
            next: std::ptr::null_mut(),
        },
        type_register: None,
        user_data_add: None,
        register_handler: Some(register),
    });
    let first = keep(PJRT_Extension_Base {
        struct_size: PJRT_Extension_Base::STRUCT_SIZE,
        r#type: PJRT_Extension_Type(99),
        next: ffi.cast(),
    });
    let mut t = table();
    t.extension_start = first;
    let plugin = plugin(t).unwrap();
    assert!(plugin.has_ffi());
    // SAFETY: the fake only takes a note.
    unsafe { plugin.register_ffi_handler("f", "host", 64 as *const _) }.unwrap();
    assert_eq!(
        *REGISTERED.lock().unwrap(),
        [("f".to_string(), "host".to_string(), 64)]
    );
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A library that is no plugin.
#[cfg(unix)]
fn nobodys_plugin() -> PathBuf {
    let (source, library) = (scratch("empty.c"), scratch("libempty.so"));
    std::fs::write(&source, "int nothing_of_interest;\n").unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status = std::process::Command::new(compiler)
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status()
        .expect("a C compiler");
    assert!(status.success());
    library
}

#[cfg(windows)]
fn nobodys_plugin() -> PathBuf {
    let root = std::env::var_os("SystemRoot").expect("where Windows is");
    Path::new(&root).join("system32").join("kernel32.dll")
}

#[test]
fn files_that_are_no_plugins() {
    let missing = Plugin::load(&scratch("no-such-plugin.so")).err().unwrap();
    assert_eq!(
        (missing.kind(), missing.code()),
        (Kind::MissingFile, Code::NOT_FOUND)
    );

    let text = scratch("text.so");
    std::fs::write(&text, "not a library").unwrap();
    for path in [text.as_path(), Path::new(env!("CARGO_TARGET_TMPDIR"))] {
        assert_eq!(Plugin::load(path).err().unwrap().kind(), Kind::NotALibrary);
    }

    let library = nobodys_plugin();
    let e = Plugin::load(&library).err().unwrap();
    assert_eq!(e.kind(), Kind::NotAPlugin);
    assert!(
        e.message().ends_with("it does not export GetPjrtApi"),
        "{e}"
    );
}
