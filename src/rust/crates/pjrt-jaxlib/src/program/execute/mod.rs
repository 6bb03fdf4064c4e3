//! Running programs.

mod arguments;
mod results;
mod several;

use crate::array::event::Event;
use crate::base::entry::{entry, slice};
use crate::base::error::{Error, Result};
use crate::client::device::Device;
use crate::program::executable::{loaded, Executable, Loaded, Runner};
use crate::python::gil::Gil;
use crate::python::object::Object;
use crate::run::state::Run;
use arguments::{
    buffers, check, fill, forget_donated, kept_arrays, sources, wanted, Argument, Held, Wanted,
};
use pjrt_api::PJRT_LoadedExecutable_Execute_Args as Args;
use results::{in_token, put, take_over};

/// Runs the program; the results are Python's arrays.
fn run(
    gil: &Gil,
    executable: &Executable,
    runner: &Runner,
    list: &Object,
    arguments: &Vec<Argument<'_>>,
    wanted: &Wanted<'_>,
) -> Result<Vec<Object>> {
    let jax = executable.client.jax;
    let kept = kept_arrays(executable, std::iter::once(arguments), wanted.kept);
    let held = Held::new(gil, jax, &kept)?;
    let launched = match wanted.launch_id {
        0 => gil.call(&runner.execute, [list]),
        id => gil.call(&jax.run_as, [&runner.execute, list, &gil.int(id.into())?]),
    };
    let results = launched.and_then(|results| {
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

/// The device of a program for one, which the caller may name.
fn only_device<'a>(args: &Args, executable: &'a Executable) -> Result<&'a Device> {
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
    Ok(device)
}

/// # Safety
/// `args` holds what the API says.
unsafe fn execute(args: &mut Args) -> Result<()> {
    // SAFETY: by this function's contract, here and below.
    let this: &Loaded = unsafe { loaded(args.executable)? };
    let runner = this.runner()?;
    let executable = &this.executable;
    if args.num_devices != executable.local.len() {
        return Err(Error::invalid(format!(
            "the program runs on {} device(s), got arguments for {}",
            executable.local.len(),
            args.num_devices
        )));
    }
    if !executable.over_one() {
        // SAFETY: as above, and the caller's lists are for so many devices.
        return unsafe { several::execute(args, executable, runner) };
    }
    let device = only_device(args, executable)?;
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
    executable.client.launches.check_device(device.id())?;
    let arguments = check(executable, device, &buffers)?;
    let sources = sources(arguments.iter())?;
    let after = (!sources.is_empty()).then(|| Run::reading(sources));
    // SAFETY: as above.
    let wanted = unsafe { wanted(args.options, args.num_args)? };
    let wants_event = !args.device_complete_events.is_null();
    let gil = executable.client.jax.gil()?;
    let mut frame = runner.frames.take(&gil, arguments.len())?;
    fill(&gil, &mut frame, executable, device, &arguments)?;
    let event = if executable.results.is_empty() && wants_event {
        let jax = executable.client.jax;
        let id = gil.int(wanted.launch_id.into())?;
        let token = gil.call(&jax.run_for_token, [&runner.execute, &frame.list, &id])?;
        Some(Event::Signal(in_token(jax, token, after)?))
    } else {
        let arrays = run(&gil, executable, &runner, &frame.list, &arguments, &wanted)?;
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
        // SAFETY: the caller's list has a place for every result.
        unsafe { put(output, executable, device, results) };
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
