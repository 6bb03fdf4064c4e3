//! Running programs.

use crate::array::{deleted, Array, Run};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::dlpack::Owner;
use crate::entry::{entry, object, slice};
use crate::error::{Error, Result};
use crate::event::{in_background, Event, Outcome, Signal};
use crate::executable::{loaded, Executable, Loaded, Runner};
use crate::python::{gil::Gil, object::Object};
use crate::upload::{copy_in, make_array};
use pjrt_api::{PJRT_ExecuteOptions, PJRT_LoadedExecutable_Execute_Args as Args};
use std::sync::Arc;

/// How many results of a run are looked at when it was launched: small programs are through by then.
const LOOKED_AT: usize = 4;

/// One argument: the caller's buffer and the array that XLA gets.
struct Argument<'a> {
    buffer: &'a Buffer,
    array: Arc<Array>,
}

/// Checks the arguments, which jaxlib does not: it takes any array of the right size.
fn check<'a>(
    executable: &Executable,
    device: &Device,
    buffers: &[&'a Buffer],
) -> Result<Vec<Argument<'a>>> {
    let parameters = &executable.module.parameters;
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
                    "argument {i} must have dtype and shape {want}, got {shape}"
                )));
            }
            if !std::ptr::eq(buffer.device(), device) {
                return Err(Error::invalid(format!(
                    "argument {i} is on device {}, but the program was compiled for device {}",
                    buffer.device().short(),
                    device.short()
                )));
            }
            let array = buffer
                .array()
                .ok_or_else(|| deleted(&format!("argument {i}")))?;
            let array = if shape.minor_to_major == want.minor_to_major {
                array
            } else {
                // The program was compiled for another order of the elements.
                let ordered = shape.with_order(&want.minor_to_major)?;
                let from = array.address()? as *const u8;
                // SAFETY: the address is that of the array's elements, which lie in its order.
                let memory = unsafe { copy_in(from, Some(&shape.strides()), &ordered)? };
                Arc::new(make_array(
                    &buffer.client,
                    device,
                    &ordered,
                    Owner::Ours(memory),
                )?)
            };
            Ok(Argument { buffer, array })
        })
        .collect()
}

/// Runs the program; the results are Python's arrays.
fn run(
    gil: &Gil,
    executable: &Executable,
    runner: &Runner,
    arguments: &[Argument<'_>],
    kept: &[i64],
) -> Result<Vec<Object>> {
    let jax = executable.client.jax;
    let list = gil.list(arguments.iter().map(|a| a.array.object()))?;
    // XLA copies instead of donating what somebody else has a reference to.
    let mut held = Vec::new();
    if executable.module.donates {
        for (i, argument) in arguments.iter().enumerate() {
            if argument.buffer.is_pinned() || kept.contains(&(i as i64)) {
                held.push(gil.call(&jax.to_dlpack, [argument.array.object()])?);
            }
        }
    }
    let results = gil.call(&runner.execute, [&list]).and_then(|results| {
        let arrays = gil.method1(&results, &jax.consume_with_handlers, &runner.handlers);
        results.release(gil);
        arrays
    });
    list.release(gil);
    if !held.is_empty() {
        drop(held);
        gil.call(&jax.collect_garbage, [])?;
    }
    if executable.module.donates {
        for argument in arguments {
            if argument.array.is_deleted_with(gil) {
                drop(argument.buffer.take());
            }
        }
    }
    let results = results?;
    let items = results.items(gil);
    results.release(gil);
    items
}

/// Runs a program without results; the event says when it is through, and how.
fn run_for_event(
    gil: &Gil,
    executable: &Executable,
    runner: &Runner,
    arguments: &[Argument<'_>],
) -> Result<Event> {
    let jax = executable.client.jax;
    let list = gil.list(arguments.iter().map(|a| a.array.object()))?;
    let token = gil.call(&jax.run_for_token, [&runner.execute, &list])?;
    let signal = Signal::new();
    let waiting = Arc::clone(&signal);
    // A token can only be waited for, not asked.
    in_background("xlaffi-token", move || {
        let outcome: Outcome = jax
            .gil()
            .and_then(|gil| gil.method0(&token, &jax.block_until_ready).map(drop))
            .err();
        drop(token);
        waiting.set(outcome);
    })?;
    Ok(Event::Signal(signal))
}

/// Which arguments the caller wants to keep.
///
/// # Safety
/// `options` is NULL or valid as the API says.
unsafe fn kept<'a>(options: *const PJRT_ExecuteOptions) -> Result<&'a [i64]> {
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

/// # Safety
/// `args` holds what the API says.
unsafe fn execute(args: &mut Args) -> Result<()> {
    // SAFETY: by this function's contract, here and below.
    let this: &Loaded = unsafe { loaded(args.executable)? };
    let runner = this.runner()?;
    let executable = &*this.executable;
    if args.num_devices != 1 || executable.devices.len() != 1 {
        return Err(Error::unimplemented(format!(
            "programs run on one device at a time, this one is for {} and got arguments for {}",
            executable.devices.len(),
            args.num_devices
        )));
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
    let handles = match lists {
        [] => &[],
        // SAFETY: as above.
        [list, ..] => unsafe { slice(*list, args.num_args, "argument_lists[0]")? },
    };
    let buffers = handles
        .iter()
        .enumerate()
        // SAFETY: as above.
        .map(|(i, handle)| unsafe { object(*handle, &format!("argument {}", i + 1)) })
        .collect::<Result<Vec<&Buffer>>>()?;
    let arguments = check(executable, device, &buffers)?;
    // SAFETY: as above.
    let kept = unsafe { kept(args.options)? };
    if let Some(bad) = kept.iter().find(|i| !(0..buffers.len() as i64).contains(i)) {
        return Err(Error::invalid(format!(
            "non_donatable_input_indices has {bad}, there are {} argument(s)",
            buffers.len()
        )));
    }
    let reading = Arc::new(Run::default());
    for argument in &arguments {
        match executable.module.donates {
            // XLA may write it, or keep it for a result.
            true => argument.array.give_away(),
            false => argument.array.read_by(&reading),
        }
    }
    let gil = executable.client.jax.gil()?;
    let wants_event = !args.device_complete_events.is_null();
    let event = if executable.results.is_empty() && wants_event {
        Some(run_for_event(&gil, executable, &runner, &arguments)?)
    } else {
        let arrays = run(&gil, executable, &runner, &arguments, kept)?;
        let output = outputs[0];
        if arrays.len() != executable.results.len() || (output.is_null() && !arrays.is_empty()) {
            return Err(Error::internal(format!(
                "{} result(s) for {} place(s)",
                arrays.len(),
                executable.results.len()
            )));
        }
        let mut first = None;
        for (i, (object, shape)) in arrays.into_iter().zip(&executable.results).enumerate() {
            let client = Arc::clone(&executable.client);
            let array = Arc::new(Array::computed_by(client.jax, object, &reading));
            if i < LOOKED_AT {
                // What cannot be seen now will be told to whoever waits.
                let _ = array.look(&gil);
            }
            let buffer = Buffer::new(client, device, Arc::clone(shape), array, false);
            if i == 0 && wants_event {
                // All results become ready together.
                first = buffer.array().map(Event::Array);
            }
            // SAFETY: the caller's list has a place for every result.
            unsafe { output.add(i).write(buffer.into_raw()) };
        }
        first
    };
    if let Some(event) = event {
        // SAFETY: the caller's list has a place for every device.
        unsafe { args.device_complete_events.write(event.into_raw()) };
    }
    for argument in arguments {
        // Dropped with the lock held: cheaper than to take it once more for each.
        drop(argument.array);
    }
    Ok(())
}

entry!(loaded_execute, PJRT_LoadedExecutable_Execute_Args, |args| {
    // SAFETY: the API's contract.
    unsafe { execute(args) }
});
