//! Running programs over several devices: replicas, partitions, or both.

use super::arguments::{
    buffers, check, forget_donated, kept_arrays, sources, wanted, Argument, Held,
};
use super::results::{in_token, put, take_over};
use crate::array::buffer::Buffer;
use crate::array::event::Event;
use crate::array::jax_array::Array;
use crate::array::small::Contents;
use crate::base::entry::slice;
use crate::base::error::{Error, Result};
use crate::cluster::mesh::{Exchanging, Launch, Mesh};
use crate::program::executable::{Executable, Runner};
use crate::python::gil::{blocking, Gil};
use crate::python::object::Object;
use crate::run::signal::Outcome;
use crate::run::state::{Computed, Run};
use pjrt_api::{PJRT_Buffer, PJRT_LoadedExecutable_Execute_Args as Args};
use std::sync::mpsc::channel;
use std::sync::{Arc, Weak};

/// Waits for the arguments that another run may still fail to compute: a device that cannot start would let the others
/// wait for it. Those that runs over several devices compute are there in any case (`guard.rs`).
fn wait(arguments: &[Vec<Argument<'_>>]) -> Result<()> {
    let contents = arguments
        .iter()
        .flatten()
        .map(|argument| &argument.contents);
    for contents in contents {
        let Contents::Array(array) = contents else {
            continue;
        };
        let is_sure = array.run().is_some_and(|run| run.is_over_several());
        if let (false, Some(error)) = (is_sure, array.wait()) {
            return Err(error.clone());
        }
    }
    Ok(())
}

/// What a launch needs, which may go on when nobody waits for it any more.
struct Launching {
    executable: Arc<Executable>,
    runner: Arc<Runner>,
    /// The arguments of each device.
    arguments: Vec<Vec<Arc<Array>>>,
    /// Those that the caller keeps.
    kept: Vec<Arc<Array>>,
    run: Arc<Run>,
}

/// What was launched: the results on each device, and what tells when they are there.
struct Launched {
    of_devices: Vec<Vec<Contents>>,
    token: Object,
    /// Where it runs in several processes.
    exchanging: Option<Exchanging>,
    /// How it ended, where that was waited for.
    end: Option<Result<()>>,
}

impl Launching {
    /// The arguments as Python gets them: for each a list of arrays, one a device.
    fn lists(&self, gil: &Gil) -> Result<Object> {
        let count = self.executable.module.parameters.len();
        let lists = (0..count)
            .map(|i| {
                let arrays = self.arguments.iter();
                gil.list(arrays.map(|of_device| of_device[i].object()))
            })
            .collect::<Result<Vec<Object>>>()?;
        gil.list(lists.iter())
    }

    /// Launches the program, in order with the other processes where there are any. One that processes compute together is
    /// waited for in any case: where it has one result here to wait for, that is done on this thread, which nobody has
    /// to wake up between the launch and the end.
    fn launch(self, id: i64) -> Result<(Launched, Object)> {
        let mesh = self.executable.mesh();
        let mut exchanging = None;
        if let Some((mesh, launch)) = mesh {
            mesh.announce(launch)?;
            exchanging = launch.exchanges.then(|| mesh.begin());
        }
        let launched = self.run(id);
        if let (Some((mesh, _)), Err(error)) = (mesh, &launched) {
            mesh.fail(&format!("a program failed there: {}", error.message));
        }
        let (mut launched, token) = launched?;
        launched.exchanging = exchanging;
        if let (Some((mesh, launch)), [of_device]) = (mesh, &launched.of_devices[..]) {
            if let Some(Contents::Array(array)) = of_device.first() {
                launched.end = Some(conclude(mesh, launch, array.wait_here().clone()));
            }
        }
        Ok((launched, token))
    }

    fn run(&self, id: i64) -> Result<(Launched, Object)> {
        let Self {
            executable, runner, ..
        } = self;
        let Some(over) = &runner.over else {
            return Err(Error::internal("the program is for one device"));
        };
        let jax = executable.client.jax;
        let gil = jax.gil()?;
        let list = self.lists(&gil)?;
        let id = match executable.client.has_all(&executable.devices)? && over.takes_ids {
            true => gil.int(id)?,
            // Processes agree on what jaxlib chooses.
            false => gil.none()?,
        };
        let held = Held::new(&gil, jax, &self.kept)?;
        let launched = gil.call(
            &jax.run_over,
            [
                &runner.execute,
                &over.sharding,
                &over.parameters,
                &list,
                &id,
            ],
        );
        held.release(&gil, jax)?;
        let [results, token] = <[Object; 2]>::try_from(launched?.items(&gil)?)
            .map_err(|_| Error::internal("run_over gave no two objects"))?;
        let arrays = jax.making_arrays(&gil, || {
            gil.method0(&results, &jax.disassemble_into_single_device_arrays)
        })?;
        let of_devices: Vec<Vec<Contents>> = by_device(&gil, executable, &arrays)?
            .into_iter()
            .map(|arrays| take_over(&gil, executable, arrays, Some(&self.run)).0)
            .collect();
        let firsts = of_devices.iter().filter_map(|contents| first(contents));
        self.run.set_results(firsts);
        let shared = token.share(&gil);
        for object in [list, id, results] {
            object.release(&gil);
        }
        let launched = Launched {
            of_devices,
            token: shared,
            exchanging: None,
            end: None,
        };
        Ok((launched, token))
    }
}

/// Lists of arrays, one for each result, as lists for each device.
fn by_device(gil: &Gil, executable: &Executable, results: &Object) -> Result<Vec<Vec<Object>>> {
    let mut of_devices: Vec<Vec<Object>> = executable.local.iter().map(|_| Vec::new()).collect();
    let results = results.items(gil)?;
    let expected = executable.results.len();
    if results.len() != expected {
        return Err(Error::internal(format!(
            "{} result(s) for {expected} place(s)",
            results.len()
        )));
    }
    for result in results {
        let arrays = result.items(gil)?;
        result.release(gil);
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

/// Waits until a run in several processes is through.
fn finish(mesh: &Arc<Mesh>, launch: &Launch, of_devices: &[Vec<Contents>]) -> Result<()> {
    // One device may fail while another one waits for the other processes.
    let (sender, ends) = channel();
    for contents in of_devices {
        if let Some(Contents::Array(array)) = contents.first() {
            let sender = sender.clone();
            let tell = Box::new(move |outcome| drop(sender.send(outcome)));
            array.completion()?.on_ready(tell);
        }
    }
    drop(sender);
    let failed = blocking(|| ends.into_iter().flatten().next());
    conclude(mesh, launch, failed)
}

/// A run in several processes is through here. Where it has failed the others are told: they wait for what this process
/// would have sent, and would take what it sends next for that.
fn conclude(mesh: &Arc<Mesh>, launch: &Launch, outcome: Outcome) -> Result<()> {
    if let Some(error) = outcome {
        mesh.fail(&format!("a program failed there: {}", error.message));
        return Err(error);
    }
    mesh.conclude(launch)
}

/// The arrays of one device's arguments: over several devices there is nothing else.
fn arrays(arguments: &Vec<Argument<'_>>) -> Vec<Arc<Array>> {
    let arrays = arguments
        .iter()
        .filter_map(|argument| match &argument.contents {
            Contents::Array(array) => Some(Arc::clone(array)),
            Contents::Small(_) => None,
        });
    arrays.collect()
}

/// The first result on a device, as a run knows it.
fn first(contents: &[Contents]) -> Option<Weak<dyn Computed>> {
    match contents.first()? {
        Contents::Array(array) => {
            let array = Arc::downgrade(array);
            Some(array as Weak<dyn Computed>)
        }
        Contents::Small(_) => None,
    }
}

/// The arguments for each device, and where its results go.
///
/// # Safety
/// As [`execute`].
unsafe fn lists<'a>(
    args: &Args,
    executable: &Executable,
) -> Result<(Vec<Vec<&'a Buffer>>, &'a [*mut *mut PJRT_Buffer])> {
    let n = executable.local.len();
    // SAFETY: by this function's contract.
    let (argument_lists, output_lists) = unsafe {
        let lists = match args.num_args {
            0 => &[],
            _ => slice(args.argument_lists, n, "argument_lists")?,
        };
        (lists, slice(args.output_lists, n, "output_lists")?)
    };
    if !args.execute_device.is_null() {
        return Err(Error::invalid(format!(
            "the program runs on {n} devices, `execute_device` names one"
        )));
    }
    if let Some(d) = output_lists.iter().position(|list| list.is_null()) {
        if !executable.results.is_empty() {
            return Err(Error::invalid(format!("`output_lists[{d}]` is NULL")));
        }
    }
    let mut given = Vec::with_capacity(n);
    for d in 0..n {
        let list = argument_lists.get(d).copied();
        // SAFETY: as above.
        given.push(unsafe { buffers(list, args.num_args, &format!("argument_lists[{d}]"))? });
    }
    Ok((given, output_lists))
}

/// # Safety
/// `args` holds what the API says, for as many devices of this process as the program has.
pub(super) unsafe fn execute(
    args: &mut Args,
    executable: &Arc<Executable>,
    runner: Arc<Runner>,
) -> Result<()> {
    let n = executable.local.len();
    // SAFETY: by this function's contract.
    let (given, output_lists) = unsafe { lists(args, executable)? };
    let devices = executable.local_devices()?;
    let arguments = devices
        .iter()
        .zip(&given)
        .map(|(device, buffers)| check(executable, device, buffers))
        .collect::<Result<Vec<_>>>()?;
    // SAFETY: as above.
    let wanted = unsafe { wanted(args.options, args.num_args)? };
    let mesh = executable.mesh();
    let client = &executable.client;
    // Processes launch in one order, however long one of them waits for arguments. Where there is one process only, nobody
    // waits for a launch that waits itself: what it waits for may need another one.
    let ticket = mesh.map(|_| client.launches.ticket());
    wait(&arguments)?;
    let ticket = ticket.unwrap_or_else(|| client.launches.ticket());
    let run = Run::over(&executable.info, sources(arguments.iter().flatten())?);
    let launching = Launching {
        executable: Arc::clone(executable),
        runner,
        arguments: arguments.iter().map(arrays).collect(),
        kept: kept_arrays(executable, arguments.iter(), wanted.kept),
        run: Arc::clone(&run),
    };
    let launched = client
        .launches
        .launch(ticket, &run, move |id| launching.launch(id));
    let gil = client.jax.gil()?;
    for arguments in &arguments {
        forget_donated(&gil, executable, arguments);
    }
    let mut launched = launched?;
    if let Some((mesh, launch)) = mesh {
        let end = launched.end.take();
        end.unwrap_or_else(|| finish(mesh, launch, &launched.of_devices))?;
    }
    drop(launched.exchanging.take());
    let mut events = Vec::with_capacity(n);
    let of_devices = launched.of_devices.into_iter();
    for ((contents, output), device) in of_devices.zip(output_lists).zip(&devices) {
        events.extend(contents.first().cloned().map(Event::of));
        // SAFETY: the caller's list has a place for every result.
        unsafe { put(*output, executable, *device, contents) };
    }
    if !args.device_complete_events.is_null() {
        if events.is_empty() {
            let signal = in_token(client.jax, launched.token, Some(run))?;
            events.extend(devices.iter().map(|_| Event::Signal(Arc::clone(&signal))));
        } else {
            launched.token.release(&gil);
        }
        for (d, event) in events.into_iter().enumerate() {
            // SAFETY: the caller's list has a place for every device.
            unsafe { args.device_complete_events.add(d).write(event.into_raw()) };
        }
    }
    // With the lock held: cheaper than to take it once more for each.
    drop(arguments);
    Ok(())
}
