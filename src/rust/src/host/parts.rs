//! What programs take and give on one device or several: between R's lists and the buffers of each device.

use std::sync::Arc;

use extendr_api::{Robj, Rtype, Types};
use extendr_ffi::{SET_VECTOR_ELT, SEXP};
use pjrt::{Buffer, Executable};

use crate::host::buffer::BufferObject;
use crate::host::contents::size;
use crate::host::executable::ExecutableObject;
use crate::host::in_flight;
use crate::r::argument::elements;
use crate::r::failure::{Failure, Outcome};
use crate::r::memory::expect;
use crate::r::object::{borrowed, described};
use crate::r::pointer::{get, wrap_list};
use crate::r::protected::alloc_list;

/// The results on each device as a list of buffers, or `in_lists` of buffers, as programs over several devices have them;
/// not protected.
pub fn outputs_to_r(outputs: Vec<Vec<Buffer>>, platform: &Arc<str>, in_lists: bool) -> SEXP {
    expect(outputs.iter().flatten().map(size).sum());
    let num_results = outputs.first().map_or(0, Vec::len);
    let mut devices: Vec<_> = outputs
        .into_iter()
        .enumerate()
        .map(|(device, buffers)| {
            let buffers = buffers.into_iter().enumerate();
            buffers.map(move |(result, buffer)| {
                let object = BufferObject::new(buffer, platform);
                if (device, result) == (0, 0) {
                    in_flight::note(&object.buffer);
                }
                object
            })
        })
        .collect();
    if let ([only], false) = (&mut devices[..], in_lists) {
        return wrap_list(only.collect());
    }
    let results = alloc_list(num_results);
    for index in 0..num_results {
        let parts = wrap_list(devices.iter_mut().filter_map(Iterator::next).collect());
        // SAFETY: R's thread; the list is protected and has a place for each result.
        unsafe { SET_VECTOR_ELT(results.sexp(), index as isize, parts) };
    }
    results.sexp()
}

/// The buffers for each device, of a list with a buffer per parameter; of a program over several devices, with a list of
/// buffers per parameter.
pub fn device_parts(arguments: &Robj, executable: &Executable) -> Outcome<Vec<Vec<Arc<Buffer>>>> {
    let (num_devices, in_lists) = (executable.num_devices(), executable.is_over_several());
    let values = elements(arguments);
    let mut parts: Vec<Vec<Arc<Buffer>>> = (0..num_devices)
        .map(|_| Vec::with_capacity(values.len()))
        .collect();
    for (index, value) in values.iter().enumerate() {
        // SAFETY: an element of a list that R protects.
        let value = unsafe { borrowed(value) };
        if let ([only], false) = (&mut parts[..], in_lists) {
            let buffer: &BufferObject = get(value, format_args!("..{}", index + 1))?;
            only.push(buffer.buffer.clone());
            continue;
        }
        let buffers = elements(value);
        if value.rtype() != Rtype::List || buffers.len() != num_devices {
            let argument = format!("..{}", index + 1);
            let came = match value.rtype() {
                Rtype::List => format!("a list of {}", buffers.len()),
                _ => described(value),
            };
            return Err(Failure::argument(
                &argument,
                format!("`{argument}` must be a list of {num_devices} buffer(s), one for each device of the program that this process has, not {came}"),
            ));
        }
        for (device, buffer) in buffers.iter().enumerate() {
            // SAFETY: an element of a list that R protects.
            let buffer = unsafe { borrowed(buffer) };
            let buffer: &BufferObject =
                get(buffer, format_args!("..{}[[{}]]", index + 1, device + 1))?;
            parts[device].push(buffer.buffer.clone());
        }
    }
    Ok(parts)
}

/// An error for an argument that is gone; of a program on one device, also for one that does not fit it, where the plugin
/// does not look at that: XLA takes whatever has the right size.
pub fn check_parts(object: &ExecutableObject, parts: &[Vec<Arc<Buffer>>]) -> Outcome<()> {
    let executable = &object.executable;
    let is_included = executable.client().plugin().is(pjrt_jaxlib::GetPjrtApi());
    if let ([only], false) = (parts, is_included || executable.is_over_several()) {
        let arguments: Vec<&Buffer> = only.iter().map(|buffer| &**buffer).collect();
        executable.check_parameters(&arguments)?;
    }
    for (device, buffers) in parts.iter().enumerate() {
        for (index, buffer) in buffers.iter().enumerate() {
            check_alive(executable, buffer, index, device)?;
        }
    }
    Ok(())
}

/// The same for one buffer of it.
pub fn check_alive(
    executable: &Executable,
    buffer: &Buffer,
    index: usize,
    device: usize,
) -> Outcome<()> {
    if !buffer.is_deleted()? {
        return Ok(());
    }
    let operand = match executable.is_over_several() {
        false => format!("..{}", index + 1),
        true => format!("..{}[[{}]]", index + 1, device + 1),
    };
    let argument = executable.argument(index, device);
    Err(Failure::argument(
        &operand,
        format!("{argument}: execution called on deleted or donated buffer"),
    )
    .hint("`pjrt_execution_options(non_donatable_input_indices = )` keeps an argument."))
}
