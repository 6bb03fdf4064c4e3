//! Running programs over several devices: replicas, partitions, or both.

use crate::buffer::Buffer;
use crate::entry::slice;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::executable::{Executable, Runner};
use crate::execute::{buffers, check, forget_donated, in_token, kept, take_over, Argument, Held};
use crate::python::{gil::Gil, object::Object};
use crate::small::Contents;
use pjrt_api::PJRT_LoadedExecutable_Execute_Args as Args;
use std::sync::Arc;

/// The arguments as Python gets them: for each a list of arrays, one a device.
fn lists(gil: &Gil, arguments: &[Vec<Argument<'_>>], count: usize) -> Result<Object> {
    let lists = (0..count)
        .map(|i| {
            let arrays = arguments
                .iter()
                .filter_map(|of_device| match &of_device[i].contents {
                    Contents::Array(array) => Some(array.object()),
                    Contents::Small(_) => None,
                });
            gil.list(arrays.collect::<Vec<_>>().into_iter())
        })
        .collect::<Result<Vec<Object>>>()?;
    gil.list(lists.iter())
}

/// Runs the program; of the results Python's arrays, device by device.
fn run(gil: &Gil, executable: &Executable, call: [&Object; 4]) -> Result<Vec<Vec<Object>>> {
    let jax = executable.client.jax;
    let results = gil.call(&jax.run_over, call)?;
    let lists = jax.making_arrays(gil, || {
        gil.method0(&results, &jax.disassemble_into_single_device_arrays)
    })?;
    let mut of_devices: Vec<Vec<Object>> = executable.local.iter().map(|_| Vec::new()).collect();
    for list in lists.items(gil)? {
        let arrays = list.items(gil)?;
        if arrays.len() != of_devices.len() {
            return Err(Error::internal(format!(
                "a result of {} array(s) on {} device(s)",
                arrays.len(),
                of_devices.len()
            )));
        }
        for (array, of_device) in arrays.into_iter().zip(&mut of_devices) {
            of_device.push(array);
        }
    }
    Ok(of_devices)
}

/// # Safety
/// `args` holds what the API says.
pub(crate) unsafe fn execute(
    args: &mut Args,
    executable: &Executable,
    runner: &Runner,
) -> Result<()> {
    let Some(over) = &runner.over else {
        return Err(Error::internal("the program is for one device"));
    };
    let n = executable.local.len();
    // SAFETY: by this function's contract; there are `n` devices.
    let (argument_lists, output_lists) = unsafe {
        let lists = match args.num_args {
            0 => &[],
            _ => slice(args.argument_lists, n, "argument_lists")?,
        };
        (lists, slice(args.output_lists, n, "output_lists")?)
    };
    let mut given = Vec::with_capacity(n);
    for d in 0..n {
        let list = argument_lists.get(d).copied();
        // SAFETY: as above.
        given.push(unsafe { buffers(list, args.num_args, &format!("argument_lists[{d}]"))? });
    }
    let devices = executable.local_devices()?;
    let arguments = devices
        .iter()
        .zip(&given)
        .map(|(device, buffers)| check(executable, device, buffers))
        .collect::<Result<Vec<_>>>()?;
    // SAFETY: as above.
    let kept = unsafe { kept(args.options, args.num_args)? };
    let wants_events = !args.device_complete_events.is_null();
    let jax = executable.client.jax;
    let gil = jax.gil()?;
    let list = lists(&gil, &arguments, args.num_args)?;
    let call = [&runner.execute, &over.sharding, &over.parameters, &list];
    let mut events = Vec::with_capacity(n);
    if executable.results.is_empty() && wants_events {
        let token = gil.call(&jax.run_over_for_token, call)?;
        let signal = in_token(jax, token)?;
        events.extend(devices.iter().map(|_| Event::Signal(Arc::clone(&signal))));
    } else {
        let held = Held::new(&gil, executable, arguments.iter(), kept)?;
        let ran = run(&gil, executable, call);
        held.release(&gil, jax)?;
        for arguments in &arguments {
            forget_donated(&gil, executable, arguments);
        }
        let ran = ran?;
        list.release(&gil);
        let expected = executable.results.len();
        let mut made = Vec::with_capacity(n);
        for (arrays, output) in ran.into_iter().zip(output_lists) {
            if arrays.len() != expected || (output.is_null() && expected > 0) {
                return Err(Error::internal(format!(
                    "{} result(s) for {expected} place(s)",
                    arrays.len()
                )));
            }
            let (contents, _) = take_over(&gil, executable, arrays);
            made.push((contents, *output));
        }
        for ((contents, output), device) in made.into_iter().zip(&devices) {
            events.extend(contents.first().cloned().map(Event::of));
            for (i, (contents, shape)) in contents.into_iter().zip(&executable.results).enumerate()
            {
                let (client, shape) = (Arc::clone(&executable.client), Arc::clone(shape));
                let buffer = Buffer::new(client, *device, shape, contents, false);
                // SAFETY: the caller's list has a place for every result.
                unsafe { output.add(i).write(buffer.into_raw()) };
            }
        }
    }
    if wants_events {
        for (d, event) in events.into_iter().enumerate() {
            // SAFETY: the caller's list has a place for every device.
            unsafe { args.device_complete_events.add(d).write(event.into_raw()) };
        }
    }
    // With the lock held: cheaper than to take it once more for each.
    drop(arguments);
    Ok(())
}
