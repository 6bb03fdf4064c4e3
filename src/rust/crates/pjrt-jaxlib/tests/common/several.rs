//! Programs over several devices.
#![allow(
    dead_code,
    clippy::undocumented_unsafe_blocks,
    reason = "tests: every call is one"
)]

use super::*;
use crate::call;

/// A client of eight devices, shared by the tests of a file.
pub fn eight() -> *mut PJRT_Client {
    shared(8)
}

/// How a program is spread over devices.
#[derive(Clone, Copy)]
pub struct Over<'a> {
    pub replicas: usize,
    pub partitions: usize,
    pub shardy: bool,
    /// Ids, replica by replica; empty: the first ones.
    pub devices: &'a [u8],
}

impl Over<'_> {
    pub fn replicas(replicas: usize) -> Self {
        Self {
            replicas,
            partitions: 1,
            shardy: false,
            devices: &[],
        }
    }

    pub fn partitions(partitions: usize, shardy: bool) -> Self {
        Self {
            replicas: 1,
            partitions,
            shardy,
            devices: &[],
        }
    }

    /// As a `CompileOptionsProto`; every number and length is below 128.
    pub fn options(&self) -> Vec<u8> {
        let (replicas, partitions) = (self.replicas as u8, self.partitions as u8);
        let mut build = vec![4 << 3, replicas, 5 << 3, partitions];
        if self.partitions > 1 {
            build.extend([6 << 3, 1]);
        }
        if self.shardy {
            build.extend([0x98, 1, 1]);
        }
        if !self.devices.is_empty() {
            let mut assignment = vec![1 << 3, replicas, 2 << 3, partitions];
            for partition in 0..self.partitions {
                let ids = self.devices.iter().skip(partition);
                let ids: Vec<u8> = ids.step_by(self.partitions).copied().collect();
                let inner = [&[1 << 3 | 2, ids.len() as u8][..], &ids].concat();
                assignment.extend([3 << 3 | 2, inner.len() as u8]);
                assignment.extend(inner);
            }
            build.extend([9 << 3 | 2, assignment.len() as u8]);
            build.extend(assignment);
        }
        [&[3 << 3 | 2, build.len() as u8][..], &build].concat()
    }
}

pub fn compile_over(
    client: *mut PJRT_Client,
    code: &str,
    over: Over<'_>,
) -> *mut PJRT_LoadedExecutable {
    compile_with(client, code.as_bytes(), "mlir", &over.options()).unwrap()
}

pub fn f32s_on(
    client: *mut PJRT_Client,
    device: usize,
    dims: &[i64],
    data: &[f32],
) -> *mut PJRT_Buffer {
    let mut args = upload_args(client, PJRT_Buffer_Type::F32, dims, data.as_ptr().cast());
    args.device = devices(client)[device];
    let (buffer, event) = upload_with(args).unwrap();
    destroy_event(event);
    buffer
}

pub fn device_of(buffer: *mut PJRT_Buffer) -> *mut PJRT_Device {
    call!(PJRT_Buffer_Device, PJRT_Buffer_Device_Args { buffer })
        .unwrap()
        .device
}

pub fn devices_of(executable: *mut PJRT_LoadedExecutable) -> Vec<*mut PJRT_Device> {
    let a = call!(
        PJRT_LoadedExecutable_AddressableDevices,
        PJRT_LoadedExecutable_AddressableDevices_Args { executable }
    )
    .unwrap();
    unsafe { std::slice::from_raw_parts(a.addressable_devices, a.num_addressable_devices) }.to_vec()
}

/// Launches a program: results and event of each device.
#[allow(clippy::type_complexity)]
pub fn launch_over(
    executable: *mut PJRT_LoadedExecutable,
    arguments: &[Vec<*mut PJRT_Buffer>],
    kept: &[i64],
) -> Answer<(Vec<Vec<*mut PJRT_Buffer>>, Vec<*mut PJRT_Event>)> {
    let mut options = PJRT_ExecuteOptions::new();
    options.non_donatable_input_indices = kept.as_ptr();
    options.num_non_donatable_input_indices = kept.len();
    let results = number_of_results(executable);
    let mut outputs = vec![vec![null_mut(); results]; arguments.len()];
    let lists: Vec<_> = arguments.iter().map(|list| list.as_ptr()).collect();
    let places: Vec<_> = outputs.iter_mut().map(|list| list.as_mut_ptr()).collect();
    let mut events = vec![null_mut(); arguments.len()];
    call!(
        PJRT_LoadedExecutable_Execute,
        PJRT_LoadedExecutable_Execute_Args {
            executable,
            options: &mut options,
            argument_lists: lists.as_ptr(),
            num_devices: arguments.len(),
            num_args: arguments.first().map_or(0, Vec::len),
            output_lists: places.as_ptr(),
            device_complete_events: events.as_mut_ptr(),
        }
    )?;
    Ok((outputs, events))
}

/// Runs a program and waits for all devices: the results of each, or the first failure.
pub fn execute_over(
    executable: *mut PJRT_LoadedExecutable,
    arguments: &[Vec<*mut PJRT_Buffer>],
) -> Answer<Vec<Vec<*mut PJRT_Buffer>>> {
    let (outputs, events) = launch_over(executable, arguments, &[])?;
    let outcomes: Vec<_> = events.iter().map(|&event| wait(event)).collect();
    events.into_iter().for_each(destroy_event);
    match outcomes.into_iter().find_map(Result::err) {
        None => Ok(outputs),
        Some(failure) => {
            outputs.into_iter().flatten().for_each(destroy);
            Err(failure)
        }
    }
}
