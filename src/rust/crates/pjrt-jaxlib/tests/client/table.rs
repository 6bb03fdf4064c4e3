//! The table, and what bad calls get.

use crate::call;
use crate::common::*;
use pjrt_api::*;
use std::mem::size_of;

#[test]
fn the_table_is_whole() {
    let api = api();
    assert_eq!(api.struct_size, PJRT_Api::STRUCT_SIZE);
    assert_eq!(
        (
            api.pjrt_api_version.major_version,
            api.pjrt_api_version.minor_version
        ),
        (API_MAJOR, API_MINOR)
    );
    let first = PJRT_Api::FIELDS
        .iter()
        .find(|f| f.name == "PJRT_Error_Destroy")
        .unwrap()
        .offset;
    let functions = unsafe {
        std::slice::from_raw_parts(
            std::ptr::from_ref(api)
                .cast::<u8>()
                .add(first)
                .cast::<usize>(),
            PJRT_Api::FUNCTIONS.len(),
        )
    };
    assert!(functions.iter().all(|f| *f != 0));
    let extension = unsafe { &*api.extension_start.cast::<PJRT_FFI_Extension>() };
    assert_eq!(extension.base.r#type, PJRT_Extension_Type::FFI);
    assert_eq!(extension.base.struct_size, 48);
    assert!(extension.base.next.is_null());
}

#[test]
fn what_is_not_implemented_says_its_name() {
    let failure = call!(
        PJRT_Client_CreateBuffersForAsyncHostToDevice,
        PJRT_Client_CreateBuffersForAsyncHostToDevice_Args {}
    )
    .map(drop)
    .unwrap_err();
    assert_eq!(failure.code, PJRT_Error_Code::UNIMPLEMENTED);
    assert!(
        failure
            .message
            .starts_with("PJRT_Client_CreateBuffersForAsyncHostToDevice is not implemented"),
        "{}",
        failure.message
    );
    let error = unsafe { api().PJRT_Compile.unwrap()(std::ptr::null_mut()) };
    assert!(answer(error)
        .unwrap_err()
        .message
        .starts_with("PJRT_Compile "));
}

#[test]
fn bad_handles_and_sizes_are_refused() {
    let failure = call!(PJRT_Client_PlatformName, PJRT_Client_PlatformName_Args {})
        .map(drop)
        .unwrap_err();
    assert_eq!(
        failure.message,
        "PJRT_Client_PlatformName: `client` is NULL"
    );
    let failure = call!(
        PJRT_Client_PlatformName,
        PJRT_Client_PlatformName_Args { struct_size: 3 }
    )
    .map(drop)
    .unwrap_err();
    assert_eq!(
        failure.message,
        "PJRT_Client_PlatformName: struct_size 3 is not the size of a struct"
    );
    let error = unsafe { api().PJRT_Buffer_Dimensions.unwrap()(std::ptr::null_mut()) };
    assert_eq!(
        answer(error).unwrap_err().message,
        "PJRT_Buffer_Dimensions: the arguments are NULL"
    );
    // What may be NULL when it is destroyed, and an error that is none.
    call!(PJRT_Client_Destroy, PJRT_Client_Destroy_Args {}).unwrap();
    call!(PJRT_Buffer_Destroy, PJRT_Buffer_Destroy_Args {}).unwrap();
    call!(PJRT_Event_Destroy, PJRT_Event_Destroy_Args {}).unwrap();
    call!(PJRT_Executable_Destroy, PJRT_Executable_Destroy_Args {}).unwrap();
    call!(
        PJRT_LoadedExecutable_Destroy,
        PJRT_LoadedExecutable_Destroy_Args {}
    )
    .unwrap();
    unsafe { api().PJRT_Error_Destroy.unwrap()(&mut PJRT_Error_Destroy_Args::new()) };
}

#[test]
fn a_caller_with_an_older_api_passes_shorter_arguments() {
    let client = client();
    let (a, b) = (
        f32s(client, &[2, 3], &[1.; 6]),
        f32s(client, &[2, 3], &[2.; 6]),
    );
    let program = compile(client, ADD);
    let mut outputs = [std::ptr::null_mut()];
    let (lists, places) = ([[a, b]], [outputs.as_mut_ptr()]);
    let lists = [lists[0].as_ptr()];
    // The table of long ago knew neither `execute_device` nor the end of the options.
    let mut options = PJRT_ExecuteOptions::new();
    options.struct_size = 2 * size_of::<usize>();
    options.num_non_donatable_input_indices = 1000;
    let size = PJRT_LoadedExecutable_Execute_Args::FIELDS
        .iter()
        .find(|f| f.name == "execute_device")
        .unwrap()
        .offset;
    call!(
        PJRT_LoadedExecutable_Execute,
        PJRT_LoadedExecutable_Execute_Args {
            struct_size: size,
            executable: program,
            options: &mut options,
            argument_lists: lists.as_ptr(),
            num_devices: 1,
            num_args: 2,
            output_lists: places.as_ptr(),
            execute_device: std::ptr::NonNull::dangling().as_ptr(),
        }
    )
    .unwrap();
    assert_eq!(read::<f32>(outputs[0]).unwrap(), [3.; 6]);
    [a, b, outputs[0]].into_iter().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn objects_may_go_in_any_order() {
    find_python();
    let client = new_client(&[]).unwrap();
    let program = compile(client, ADD);
    let x = f32s(client, &[2, 3], &[1.; 6]);
    call!(PJRT_Client_Destroy, PJRT_Client_Destroy_Args { client }).unwrap();
    let out = execute(program, &[x, x]).unwrap()[0];
    destroy_executable(program);
    destroy(x);
    let event = call!(
        PJRT_Buffer_ReadyEvent,
        PJRT_Buffer_ReadyEvent_Args { buffer: out }
    )
    .unwrap()
    .event;
    assert_eq!(read::<f32>(out).unwrap(), [2.; 6]);
    let out = out as usize;
    // … and on any thread.
    std::thread::spawn(move || destroy(out as *mut PJRT_Buffer))
        .join()
        .unwrap();
    wait(event).unwrap();
    destroy_event(event);
}
