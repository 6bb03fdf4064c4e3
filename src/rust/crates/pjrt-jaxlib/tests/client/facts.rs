//! What clients and the plugin tell, and options.

use crate::call;
use crate::common::*;
use pjrt_api::*;

fn text(pointer: *const std::ffi::c_char, size: usize) -> String {
    // SAFETY: text of the plugin, which lives as long as it.
    let bytes = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), size) };
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Device `i` of a client, by what it and the client tell of it.
fn check_device(client: *mut PJRT_Client, i: i32, device: *mut PJRT_Device) {
    let device_description = call!(
        PJRT_Device_GetDescription,
        PJRT_Device_GetDescription_Args { device }
    )
    .unwrap()
    .device_description;
    assert_eq!(
        call!(
            PJRT_DeviceDescription_Id,
            PJRT_DeviceDescription_Id_Args { device_description }
        )
        .unwrap()
        .id,
        i
    );
    let a = call!(
        PJRT_DeviceDescription_ToString,
        PJRT_DeviceDescription_ToString_Args { device_description }
    )
    .unwrap();
    assert_eq!(
        text(a.to_string, a.to_string_size),
        format!("CpuDevice(id={i})")
    );
    let a = call!(
        PJRT_DeviceDescription_Kind,
        PJRT_DeviceDescription_Kind_Args { device_description }
    )
    .unwrap();
    assert_eq!(text(a.device_kind, a.device_kind_size), "cpu");
    assert_eq!(
        call!(
            PJRT_Client_LookupDevice,
            PJRT_Client_LookupDevice_Args { client, id: i }
        )
        .unwrap()
        .device,
        device
    );
    let local_hardware_id = call!(
        PJRT_Device_LocalHardwareId,
        PJRT_Device_LocalHardwareId_Args { device }
    )
    .unwrap()
    .local_hardware_id;
    assert_eq!(
        call!(
            PJRT_Client_LookupAddressableDevice,
            PJRT_Client_LookupAddressableDevice_Args {
                client,
                local_hardware_id
            }
        )
        .unwrap()
        .addressable_device,
        device
    );
    assert!(
        call!(
            PJRT_Device_IsAddressable,
            PJRT_Device_IsAddressable_Args { device }
        )
        .unwrap()
        .is_addressable
    );
}

#[test]
fn a_client_describes_itself() {
    let client = client();
    let a = call!(
        PJRT_Client_PlatformName,
        PJRT_Client_PlatformName_Args { client }
    )
    .unwrap();
    assert_eq!(text(a.platform_name, a.platform_name_size), "cpu");
    let a = call!(
        PJRT_Client_PlatformVersion,
        PJRT_Client_PlatformVersion_Args { client }
    )
    .unwrap();
    let version = pjrt_jaxlib::jaxlib_version().unwrap();
    assert!(text(a.platform_version, a.platform_version_size).contains(version));
    assert_eq!(
        call!(
            PJRT_Client_ProcessIndex,
            PJRT_Client_ProcessIndex_Args { client }
        )
        .unwrap()
        .process_index,
        0
    );
    let all = devices(client);
    assert_eq!(all.len(), 2);
    assert_eq!(
        call!(PJRT_Client_Devices, PJRT_Client_Devices_Args { client })
            .unwrap()
            .num_devices,
        2
    );
    assert_eq!(
        call!(
            PJRT_Client_AddressableMemories,
            PJRT_Client_AddressableMemories_Args { client }
        )
        .unwrap()
        .num_addressable_memories
            % 2,
        0
    );
    for (i, &device) in all.iter().enumerate() {
        check_device(client, i as i32, device);
    }
    let failure = call!(
        PJRT_Client_LookupDevice,
        PJRT_Client_LookupDevice_Args { client, id: 2 }
    )
    .map(drop)
    .unwrap_err();
    assert!(failure
        .message
        .contains("no device has the id 2; the client has 2 device(s)"));
    let mut assignment = [-1; 2];
    call!(
        PJRT_Client_DefaultDeviceAssignment,
        PJRT_Client_DefaultDeviceAssignment_Args {
            client,
            num_replicas: 2,
            num_partitions: 1,
            default_assignment_size: 2,
            default_assignment: assignment.as_mut_ptr(),
        }
    )
    .unwrap();
    assert_eq!(assignment, [0, 1]);
}

#[test]
fn the_plugin_tells_its_versions() {
    find_python();
    call!(PJRT_Plugin_Initialize, PJRT_Plugin_Initialize_Args {}).unwrap();
    let a = call!(PJRT_Plugin_Attributes, PJRT_Plugin_Attributes_Args {}).unwrap();
    let attributes = unsafe { std::slice::from_raw_parts(a.attributes, a.num_attributes) };
    let names: Vec<&[u8]> = attributes
        .iter()
        .map(|a| unsafe { std::slice::from_raw_parts(a.name.cast(), a.name_size) })
        .collect();
    assert_eq!(
        names,
        [
            &b"jaxlib_version"[..],
            b"xla_version",
            b"stablehlo_current_version",
            b"stablehlo_minimum_version"
        ]
    );
    assert_eq!(attributes[1].r#type, PJRT_NamedValue_Type::kInt64);
    assert_eq!(unsafe { attributes[1].value.int64_value }, 2);
    assert_eq!(
        (attributes[2].r#type, attributes[2].value_size),
        (PJRT_NamedValue_Type::kInt64List, 3)
    );
}

#[test]
fn options_are_honoured_or_named() {
    find_python();
    let before = std::env::var_os("NPROC");
    let threads =
        Some(xla_ffi::handler::<crate::handlers::Threads, xla_ffi::Host> as xla_ffi::HandlerFn);
    crate::handlers::register("test_threads", "host", threads).unwrap();
    // Devices that wait for each other must not hold all threads of the pool.
    for (count, threads, expected) in [(1, 3, 3), (3, 3, 24), (3, 30, 30), (40, 1, 256)] {
        let client = new_client(&[
            int_option("cpu_device_count", count),
            int_option("num_threads", threads),
        ])
        .unwrap();
        let program = compile(
            client,
            "func.func @main() -> tensor<i32> {
               %0 = stablehlo.custom_call @test_threads() {api_version = 4 : i32} : () -> tensor<i32>
               return %0 : tensor<i32>
             }",
        );
        let out = execute(program, &[]).unwrap()[0];
        assert_eq!(read::<i32>(out).unwrap(), [expected]);
        destroy(out);
        destroy_executable(program);
        assert_eq!(devices(client).len() as i64, count);
        assert_eq!(std::env::var_os("NPROC"), before);
        call!(PJRT_Client_Destroy, PJRT_Client_Destroy_Args { client }).unwrap();
    }
    let fails = |option, text: &str| {
        let failure = new_client(&[option]).unwrap_err();
        assert_eq!(failure.code, PJRT_Error_Code::INVALID_ARGUMENT);
        assert!(failure.message.contains(text), "{}", failure.message);
    };
    fails(
        int_option("device_count", 1),
        "unknown option `device_count`; there are cpu_device_count",
    );
    fails(
        int_option("cpu_device_count", 0),
        "`cpu_device_count` must be from 1 to 1024, got 0",
    );
    fails(
        int_option("asynchronous", 1),
        "`asynchronous` must be true or false, got an integer",
    );
    let mut text = int_option("cpu_device_count", 0);
    text.r#type = PJRT_NamedValue_Type::kString;
    fails(text, "`cpu_device_count` must be an integer, got a string");
}
