//! The arguments of a run.

use crate::array::buffer::Buffer;
use crate::array::copy::{copy_in, make_array};
use crate::array::dlpack::Owner;
use crate::array::jax_array::{deleted, Array};
use crate::array::small::Contents;
use crate::base::entry::{object, slice};
use crate::base::error::{Error, Result};
use crate::client::device::Device;
use crate::program::executable::Executable;
use crate::program::frame::Frame;
use crate::python::compat::Jaxlib;
use crate::python::gil::Gil;
use crate::python::object::Object;
use crate::run::state::Run;
use pjrt_api::{PJRT_Buffer, PJRT_ExecuteOptions};
use std::sync::Arc;

/// One argument: the caller's buffer and what XLA gets.
pub(super) struct Argument<'a> {
    buffer: &'a Buffer,
    pub contents: Contents,
}

/// The buffers of one device's arguments.
///
/// # Safety
/// `list` leads to `count` handles, each NULL or a buffer of this crate.
pub(super) unsafe fn buffers<'a>(
    list: Option<*const *mut PJRT_Buffer>,
    count: usize,
    name: &str,
) -> Result<Vec<&'a Buffer>> {
    let handles = match list {
        None => &[],
        // SAFETY: by this function's contract, here and below.
        Some(list) => unsafe { slice(list, count, name)? },
    };
    let handles = handles.iter().zip(1..);
    handles
        // SAFETY: as above.
        .map(|(handle, i)| unsafe { object(*handle, &format!("argument {i}")) })
        .collect()
}

/// Checks the arguments of one device, which jaxlib does not: it takes any array of the right size.
pub(super) fn check<'a>(
    executable: &Executable,
    device: &Device,
    buffers: &[&'a Buffer],
) -> Result<Vec<Argument<'a>>> {
    let parameters = &executable.module.parameters;
    let several = !executable.over_one();
    let name = |i: i32| match several {
        false => format!("argument {i}"),
        true => format!("argument {i} of device {}", device.short()),
    };
    if buffers.len() != parameters.len() {
        return Err(Error::invalid(format!(
            "`{}` takes {} argument(s), got {}",
            executable.module.name,
            parameters.len(),
            buffers.len()
        )));
    }
    buffers
        .iter()
        .zip(parameters)
        .zip(1..)
        .map(|((buffer, want), i)| {
            let shape = &buffer.shape;
            if shape.ty != want.ty || shape.dims != want.dims {
                return Err(Error::invalid(format!(
                    "{} must have dtype and shape {want}, got {shape}",
                    name(i)
                )));
            }
            if !std::ptr::eq(buffer.device(), device) {
                return Err(Error::invalid(format!(
                    "{} is on device {}, but the program was compiled for device {}",
                    name(i),
                    buffer.device().short(),
                    device.short()
                )));
            }
            let contents = buffer.contents().ok_or_else(|| deleted(&name(i)))?;
            let contents = match contents {
                // XLA may write it, or keep it for a result; over several devices jaxlib takes no other.
                _ if executable.module.donates || several => {
                    Contents::Array(buffer.as_array(contents)?)
                }
                contents => contents,
            };
            let contents = match contents {
                Contents::Array(array) if shape.minor_to_major != want.minor_to_major => {
                    // The program was compiled for another order of the elements.
                    let ordered = shape.with_order(&want.minor_to_major)?;
                    let from = array.address()? as *const u8;
                    // SAFETY: the address is that of the array's elements, which lie in its order.
                    let memory = unsafe { copy_in(from, Some(&shape.strides()), &ordered)? };
                    let owner = Owner::Ours(memory);
                    let array = make_array(&buffer.client, device, &ordered, owner)?;
                    Contents::Array(Arc::new(array))
                }
                contents => contents,
            };
            Ok(Argument { buffer, contents })
        })
        .collect()
}

/// Puts the arguments into a frame.
pub(super) fn fill(
    gil: &Gil,
    frame: &mut Frame,
    executable: &Executable,
    device: &Device,
    arguments: &[Argument<'_>],
) -> Result<()> {
    let parameters = executable.module.parameters.iter();
    for (place, (argument, wanted)) in arguments.iter().zip(parameters).enumerate() {
        match &argument.contents {
            Contents::Array(array) => frame.put(gil, place, array)?,
            Contents::Small(small) => {
                let shapes = (&*argument.buffer.shape, wanted);
                frame.copy(gil, place, small, shapes, (&executable.client, device))?;
            }
        }
    }
    Ok(())
}

/// Those of the arguments, listed by device, that the program may donate and the caller keeps.
pub(super) fn kept_arrays<'a>(
    executable: &Executable,
    lists: impl Iterator<Item = &'a Vec<Argument<'a>>>,
    kept: &[i64],
) -> Vec<Arc<Array>> {
    let donatable = lists.flat_map(|list| donatable(executable, list));
    let kept = donatable.filter(|(i, buffer, _)| buffer.is_pinned() || kept.contains(&(*i as i64)));
    kept.map(|(_, _, array)| Arc::clone(array)).collect()
}

/// Arrays that XLA must copy instead of donating them, as it does where somebody else has a reference to them.
pub(super) struct Held(Vec<Object>);

impl Held {
    pub fn new(gil: &Gil, jax: &Jaxlib, arrays: &[Arc<Array>]) -> Result<Self> {
        let held = arrays.iter();
        let held = held.map(|array| gil.call(&jax.to_dlpack, [array.object()]));
        held.collect::<Result<_>>().map(Self)
    }

    pub fn release(self, gil: &Gil, jax: &Jaxlib) -> Result<()> {
        if !self.0.is_empty() {
            drop(self.0);
            gil.call(&jax.collect_garbage, [])?;
        }
        Ok(())
    }
}

/// The arguments that the program may donate, with their places.
fn donatable<'a>(
    executable: &Executable,
    arguments: &'a [Argument<'a>],
) -> impl Iterator<Item = (usize, &'a Buffer, &'a Arc<Array>)> {
    let donates = executable.module.donates;
    let arguments = arguments.iter().enumerate().filter(move |_| donates);
    arguments.filter_map(|(i, argument)| match &argument.contents {
        Contents::Array(array) => Some((i, argument.buffer, array)),
        Contents::Small(_) => None,
    })
}

/// Tells the buffers of the arguments that were donated.
pub(super) fn forget_donated(gil: &Gil, executable: &Executable, arguments: &[Argument<'_>]) {
    for (_, buffer, array) in donatable(executable, arguments) {
        if array.is_deleted_with(gil) {
            drop(buffer.take());
        }
    }
}

/// The runs whose failure would be one of what these arguments are for. One that has failed is the error.
pub(super) fn sources<'a>(
    arguments: impl Iterator<Item = &'a Argument<'a>>,
) -> Result<Vec<Arc<Run>>> {
    let mut sources = Vec::new();
    for argument in arguments {
        if let Contents::Array(array) = &argument.contents {
            if let Some(run) = array.run() {
                run.add_sources(&mut sources);
            }
        }
    }
    match sources.iter().find_map(|run| run.failure()) {
        Some(failure) => Err(failure),
        None => Ok(sources),
    }
}

/// Whether the options are there, as far as all of these fields.
///
/// # Safety
/// `options` is NULL or valid as the API says.
unsafe fn have<const N: usize>(options: *const PJRT_ExecuteOptions, names: [&str; N]) -> bool {
    use pjrt_api::CStruct;
    // SAFETY: by this function's contract; the first field is the struct's size.
    let Some(size) = (unsafe { options.cast::<usize>().as_ref() }) else {
        return false;
    };
    let mut fields = PJRT_ExecuteOptions::FIELDS.iter();
    fields.all(|f| !names.contains(&f.name) || f.offset + f.size <= *size)
}

/// What the caller wants of a run.
pub(super) struct Wanted<'a> {
    /// The arguments that are kept.
    pub kept: &'a [i64],
    /// The id of the run; 0 for none.
    pub launch_id: i32,
}

/// # Safety
/// `options` is NULL or valid as the API says.
unsafe fn launch_id(options: *const PJRT_ExecuteOptions) -> i32 {
    // SAFETY: by this function's contract.
    unsafe {
        match have(options, ["launch_id"]) {
            true => std::ptr::addr_of!((*options).launch_id).read(),
            false => 0,
        }
    }
}

/// Which arguments the caller wants to keep.
///
/// # Safety
/// `options` is NULL or valid as the API says.
unsafe fn listed_as_kept<'a>(options: *const PJRT_ExecuteOptions) -> Result<&'a [i64]> {
    const NAMES: [&str; 2] = [
        "non_donatable_input_indices",
        "num_non_donatable_input_indices",
    ];
    // SAFETY: by this function's contract.
    unsafe {
        if !have(options, NAMES) {
            return Ok(&[]);
        }
        slice(
            std::ptr::addr_of!((*options).non_donatable_input_indices).read(),
            std::ptr::addr_of!((*options).num_non_donatable_input_indices).read(),
            "non_donatable_input_indices",
        )
    }
}

/// What the caller wants of a run with `count` arguments.
///
/// # Safety
/// `options` is NULL or valid as the API says.
pub(super) unsafe fn wanted<'a>(
    options: *const PJRT_ExecuteOptions,
    count: usize,
) -> Result<Wanted<'a>> {
    // SAFETY: by this function's contract.
    let (kept, launch_id) = unsafe { (listed_as_kept(options)?, launch_id(options)) };
    match kept.iter().find(|i| !(0..count as i64).contains(i)) {
        Some(bad) => Err(Error::invalid(format!(
            "non_donatable_input_indices has {bad}, there are {count} argument(s)"
        ))),
        None => Ok(Wanted { kept, launch_id }),
    }
}
