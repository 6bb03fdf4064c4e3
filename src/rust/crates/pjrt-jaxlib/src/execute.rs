//! Running programs.

use crate::array::{deleted, Array};
use crate::buffer::Buffer;
use crate::compat::Jaxlib;
use crate::device::Device;
use crate::dlpack::Owner;
use crate::entry::{entry, object, slice};
use crate::error::{Error, Result};
use crate::event::{in_background, Event, Outcome, Signal};
use crate::executable::{loaded, Executable, Loaded, Runner};
use crate::frame::Frame;
use crate::python::{gil::Gil, object::Object};
use crate::run::Run;
use crate::several;
use crate::small::{self, Contents, Small};
use crate::upload::{copy_in, make_array};
use pjrt_api::{PJRT_Buffer, PJRT_ExecuteOptions, PJRT_LoadedExecutable_Execute_Args as Args};
use std::sync::Arc;

/// One argument: the caller's buffer and what XLA gets.
pub(crate) struct Argument<'a> {
    buffer: &'a Buffer,
    pub contents: Contents,
}

/// The buffers of one device's arguments.
///
/// # Safety
/// `list` leads to `count` handles, each NULL or a buffer of this crate.
pub(crate) unsafe fn buffers<'a>(
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
pub(crate) fn check<'a>(
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
fn fill(
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

/// Arrays that XLA must copy instead of donating them, as it does where somebody else has a reference to them.
pub(crate) struct Held(Vec<Object>);

impl Held {
    /// Holds those of the arguments, listed by device, that the caller keeps.
    pub fn new<'a>(
        gil: &Gil,
        executable: &Executable,
        lists: impl Iterator<Item = &'a Vec<Argument<'a>>>,
        kept: &[i64],
    ) -> Result<Self> {
        let mut held = Vec::new();
        for (i, buffer, array) in lists.flat_map(|list| donatable(executable, list)) {
            if buffer.is_pinned() || kept.contains(&(i as i64)) {
                held.push(gil.call(&executable.client.jax.to_dlpack, [array.object()])?);
            }
        }
        Ok(Self(held))
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
pub(crate) fn forget_donated(gil: &Gil, executable: &Executable, arguments: &[Argument<'_>]) {
    for (_, buffer, array) in donatable(executable, arguments) {
        if array.is_deleted_with(gil) {
            drop(buffer.take());
        }
    }
}

/// Runs the program; the results are Python's arrays.
fn run(
    gil: &Gil,
    executable: &Executable,
    runner: &Runner,
    list: &Object,
    arguments: &Vec<Argument<'_>>,
    kept: &[i64],
) -> Result<Vec<Object>> {
    let jax = executable.client.jax;
    let held = Held::new(gil, executable, std::iter::once(arguments), kept)?;
    let results = gil.call(&runner.execute, [list]).and_then(|results| {
        let arrays = gil.method1(&results, &jax.consume_with_handlers, &runner.handlers);
        results.release(gil);
        arrays
    });
    held.release(gil, jax)?;
    forget_donated(gil, executable, arguments);
    let results = results?;
    let items = results.items(gil);
    results.release(gil);
    items
}

/// The runs whose failure would be one of what these arguments are for. One that has failed is the error.
pub(crate) fn sources<'a>(
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

/// What results hold; the run where it is not through: `run`, where there is more to be known of it. Small programs are
/// through when they were launched. Of small results nothing of jaxlib's is left then.
pub(crate) fn take_over(
    gil: &Gil,
    executable: &Executable,
    arrays: Vec<Object>,
    run: Option<&Arc<Run>>,
) -> (Vec<Contents>, Option<Arc<Run>>) {
    let mut running: Option<Arc<Run>> = None;
    let results = arrays.into_iter().zip(&executable.results);
    let results = results.map(|(object, shape)| {
        let array = Array::new(executable.client.jax, object);
        let array = run.into_iter().fold(array, Array::computed_by);
        let is_through = running.is_none();
        // What cannot be seen now will be told to whoever waits.
        let Some(from) = is_through.then(|| array.look(gil).ok().flatten()).flatten() else {
            let run = running.get_or_insert_with(|| run.cloned().unwrap_or_default());
            return Contents::Array(Arc::new(array.computed_by(run)));
        };
        // Over several devices jaxlib takes arrays only.
        if small::fits(shape) && executable.over_one() {
            // SAFETY: the elements are there, and the memory has room for them.
            let copy =
                |to| unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to, shape.bytes) };
            if let Ok(small) = Small::new(shape.bytes, copy) {
                array.into_object().release(gil);
                return Contents::Small(Arc::new(small));
            }
        }
        Contents::Array(Arc::new(array))
    });
    (results.collect(), running)
}

/// What is set when a run is through, and to how it ended. Its token can only be waited for, not asked.
pub(crate) fn in_token(
    jax: &'static Jaxlib,
    token: Object,
    run: Option<Arc<Run>>,
) -> Result<Arc<Signal>> {
    let signal = Signal::new();
    let waiting = Arc::clone(&signal);
    in_background("xlaffi-token", move || {
        let outcome: Outcome = jax
            .gil()
            .and_then(|gil| gil.method0(&token, &jax.block_until_ready).map(drop))
            .err();
        drop(token);
        waiting.set(outcome.or_else(|| run?.failure()));
    })?;
    Ok(signal)
}

/// Which arguments the caller wants to keep.
///
/// # Safety
/// `options` is NULL or valid as the API says.
unsafe fn listed_as_kept<'a>(options: *const PJRT_ExecuteOptions) -> Result<&'a [i64]> {
    use pjrt_api::CStruct;
    // SAFETY: by this function's contract; the first field is the struct's size.
    unsafe {
        let Some(size) = options.cast::<usize>().as_ref() else {
            return Ok(&[]);
        };
        let [list, count] = [
            "non_donatable_input_indices",
            "num_non_donatable_input_indices",
        ]
        .map(|name| PJRT_ExecuteOptions::FIELDS.iter().find(|f| f.name == name));
        if [list, count]
            .iter()
            .flatten()
            .any(|f| f.offset + f.size > *size)
        {
            return Ok(&[]);
        }
        slice(
            std::ptr::addr_of!((*options).non_donatable_input_indices).read(),
            std::ptr::addr_of!((*options).num_non_donatable_input_indices).read(),
            "non_donatable_input_indices",
        )
    }
}

/// Which of `count` arguments the caller wants to keep.
///
/// # Safety
/// `options` is NULL or valid as the API says.
pub(crate) unsafe fn kept<'a>(
    options: *const PJRT_ExecuteOptions,
    count: usize,
) -> Result<&'a [i64]> {
    // SAFETY: by this function's contract.
    let kept = unsafe { listed_as_kept(options)? };
    match kept.iter().find(|i| !(0..count as i64).contains(i)) {
        Some(bad) => Err(Error::invalid(format!(
            "non_donatable_input_indices has {bad}, there are {count} argument(s)"
        ))),
        None => Ok(kept),
    }
}

/// # Safety
/// `args` holds what the API says.
unsafe fn execute(args: &mut Args) -> Result<()> {
    // SAFETY: by this function's contract, here and below.
    let this: &Loaded = unsafe { loaded(args.executable)? };
    let runner = this.runner()?;
    let executable = &*this.executable;
    if args.num_devices != executable.local.len() {
        return Err(Error::invalid(format!(
            "the program runs on {} device(s), got arguments for {}",
            executable.local.len(),
            args.num_devices
        )));
    }
    if !executable.over_one() {
        // SAFETY: as above, and the caller's lists are for so many devices.
        return unsafe { several::execute(args, executable, &runner) };
    }
    let device = executable.client.device(executable.devices[0])?;
    if !args.execute_device.is_null() {
        let wanted = executable.client.own_device(args.execute_device)?;
        if !std::ptr::eq(wanted, device) {
            return Err(Error::invalid(format!(
                "the program was compiled for device {}, it cannot run on {}",
                device.short(),
                wanted.short()
            )));
        }
    }
    // SAFETY: as above; there is one device.
    let (lists, outputs) = unsafe {
        (
            if args.num_args == 0 {
                &[]
            } else {
                slice(args.argument_lists, 1, "argument_lists")?
            },
            slice(args.output_lists, 1, "output_lists")?,
        )
    };
    // SAFETY: as above.
    let buffers = unsafe { buffers(lists.first().copied(), args.num_args, "argument_lists[0]")? };
    let arguments = check(executable, device, &buffers)?;
    let sources = sources(arguments.iter())?;
    let after = (!sources.is_empty()).then(|| Run::reading(sources));
    // SAFETY: as above.
    let kept = unsafe { kept(args.options, args.num_args)? };
    let wants_event = !args.device_complete_events.is_null();
    let gil = executable.client.jax.gil()?;
    let mut frame = runner.frames.take(&gil, arguments.len())?;
    fill(&gil, &mut frame, executable, device, &arguments)?;
    let event = if executable.results.is_empty() && wants_event {
        let jax = executable.client.jax;
        let token = gil.call(&jax.run_for_token, [&runner.execute, &frame.list])?;
        Some(Event::Signal(in_token(jax, token, after)?))
    } else {
        let arrays = run(&gil, executable, &runner, &frame.list, &arguments, kept)?;
        let output = outputs[0];
        if arrays.len() != executable.results.len() || (output.is_null() && !arrays.is_empty()) {
            return Err(Error::internal(format!(
                "{} result(s) for {} place(s)",
                arrays.len(),
                executable.results.len()
            )));
        }
        frame.clear(&gil)?;
        let (results, running) = take_over(&gil, executable, arrays, after.as_ref());
        let first = results.first().filter(|_| wants_event).cloned();
        // Without a result nobody can tell when the run is through.
        if !results.is_empty() {
            runner.frames.keep(frame, running);
        }
        for (i, (contents, shape)) in results.into_iter().zip(&executable.results).enumerate() {
            let (client, shape) = (Arc::clone(&executable.client), Arc::clone(shape));
            let buffer = Buffer::new(client, device, shape, contents, false);
            // SAFETY: the caller's list has a place for every result.
            unsafe { output.add(i).write(buffer.into_raw()) };
        }
        // All results become ready together.
        first.map(Event::of)
    };
    if let Some(event) = event {
        // SAFETY: the caller's list has a place for every device.
        unsafe { args.device_complete_events.write(event.into_raw()) };
    }
    // With the lock held: cheaper than to take it once more for each.
    drop(arguments);
    Ok(())
}

entry!(loaded_execute, PJRT_LoadedExecutable_Execute_Args, |args| {
    // SAFETY: the API's contract.
    unsafe { execute(args) }
});
