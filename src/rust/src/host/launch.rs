//! Starting runs of compiled programs: on R's thread, or on another one.

use std::sync::Arc;
use std::time::Duration;

use extendr_api::Robj;
use pjrt::{Buffer, ExecuteOptions};

use crate::host::executable::ExecutableObject;
use crate::host::foreign::{check_nested, look_at_threads};
use crate::host::in_flight;
use crate::host::run::{Done, Over, Run};
use crate::r::argument::{counts, elements, integer};
use crate::r::failure::{Failure, Outcome};
use crate::r::memory::retried;
use crate::r::object::{borrowed, inherits, is_null};
use crate::runtime::abandon::Id;

/// A run that has been started.
pub enum Started {
    /// It is through, or XLA goes on with it on its own threads: the results on each device.
    Launched(Vec<Vec<Buffer>>),
    /// On another thread of ours.
    Running(Run),
}

/// How long R waits before it looks for an interrupt the first time.
pub const FIRST_WAIT: Duration = Duration::from_millis(20);

/// How many programs may wait for R functions that wait for the next one: XLA's CPU client has room
/// for 32 programs under way, and waits without end where there is none.
const DEEPEST: usize = 16;

/// Runs a program here if it is known to be quick, else on another thread, and waits for a moment.
/// One without results is waited for there, so that its error is not lost.
pub fn start(
    object: &ExecutableObject,
    parts: Vec<Vec<Arc<Buffer>>>,
    options: ExecuteOptions,
) -> Outcome<Started> {
    start_within(object, parts, options, FIRST_WAIT, false)
}

/// As [`start`], for a program that may take long, so that others can run beside it: nobody waits here, and its thread
/// is busy until the results are there. XLA runs what one thread launches in order.
pub fn start_beside(object: &ExecutableObject, parts: Vec<Vec<Arc<Buffer>>>) -> Outcome<Started> {
    let options = ExecuteOptions::default();
    start_within(object, parts, options, Duration::ZERO, true)
}

/// What executes it; the results are there when it returns, if it `waits`.
fn execution(
    object: &ExecutableObject,
    parts: Vec<Vec<Arc<Buffer>>>,
    options: ExecuteOptions,
    waits: bool,
) -> impl Fn() -> pjrt::Result<Vec<Vec<Buffer>>> + Send + Sync {
    let (executable, pace) = (object.executable.clone(), object.pace.clone());
    // XLA's CPU client calls handlers on any thread: one that needs R tells by the id whether R still waits for its run.
    let named = waits
        && options.launch_id == 0
        && &*object.platform == "cpu"
        && !executable.is_over_several();
    move || {
        let buffers = parts
            .iter()
            .map(|part| part.iter().map(|buffer| &**buffer).collect());
        let buffers: Vec<Vec<&Buffer>> = buffers.collect();
        let id = named.then(Id::new).flatten();
        let options = ExecuteOptions {
            launch_id: id.as_ref().map_or(options.launch_id, Id::number),
            ..options.clone()
        };
        let outputs = pace.timed(|| executable.execute_on(&buffers, &options))?;
        if waits {
            outputs.iter().flatten().try_for_each(Buffer::wait)?;
        }
        Ok(outputs)
    }
}

fn start_within(
    object: &ExecutableObject,
    parts: Vec<Vec<Arc<Buffer>>>,
    options: ExecuteOptions,
    limit: Duration,
    stays: bool,
) -> Outcome<Started> {
    object.used.now();
    let waits = stays || object.called.may_need_r();
    let execute = execution(object, parts, options, waits);
    if main_thread::depth() >= DEEPEST {
        return Err(Failure::new(
            "FAILED_PRECONDITION",
            format!("programs and R functions that they call are nested {DEEPEST} deep: XLA may have no room for another program"),
        ));
    }
    // Those over several devices run one after the other: this one would wait for that which waits for R.
    if object.executable.is_over_several() && main_thread::is_serving() {
        return Err(Failure::new(
            "FAILED_PRECONDITION",
            "a program over several devices cannot be started by an R function that a program calls",
        ));
    }
    if object.is_foreign_cpu {
        if main_thread::is_serving() {
            check_nested()?;
        } else if object.called.may_need_r() {
            look_at_threads(object.executable.client());
        }
    }
    in_flight::make_room();
    // XLA has room for so many programs under way; where some wait for R, R must not wait for room.
    // Devices may wait for each other without end.
    let may_block = waits
        || object.pace.may_take_long()
        || object.executable.is_over_several()
        || main_thread::is_needed();
    let here = object.called.needs_r_to_run_it() && !object.executable.is_over_several();
    if here || (!may_block && object.executable.num_outputs() > 0) {
        let execute = || Ok(execute()?);
        let outputs = if object.runs_once {
            execute()
        } else {
            retried(execute)
        };
        return Ok(Started::Launched(outputs?));
    }
    let platform = object.platform.clone();
    let in_lists = object.executable.is_over_several();
    let execute = move || Ok(Done::Executed(execute()?, platform.clone(), in_lists));
    let over = match (in_lists, object.executable.num_devices()) {
        (false, _) => Over::One,
        (true, 1) => Over::Processes,
        (true, _) => Over::Devices,
    };
    let run = Run::execution(over, object.runs_once, execute)?;
    // Most programs are done soon, whatever they could take.
    match run.wait(limit) {
        Some(done) => match done? {
            Done::Executed(outputs, ..) => Ok(Started::Launched(outputs)),
            Done::Compiled(_) | Done::Looked(_) | Done::Joined(..) => {
                Err(Failure::new("INTERNAL", "a run ended with something else"))
            }
        },
        None => Ok(Started::Running(run)),
    }
}

/// What a run was told by `pjrt_execution_options()`, or NULL.
pub fn execute_options(options: &Robj) -> Outcome<ExecuteOptions> {
    if is_null(options) {
        return Ok(ExecuteOptions::default());
    }
    let parts = elements(options);
    let read = match parts[..] {
        // SAFETY: elements of a list that R protects.
        [keep, id] if inherits(options, "xlaffi_execution_options") => unsafe {
            let non_donatable = counts(borrowed(&keep)).and_then(|keep| {
                let keep = keep.into_iter().map(usize::try_from);
                keep.collect::<std::result::Result<_, _>>().ok()
            });
            let launch_id = integer(borrowed(&id));
            non_donatable.zip(launch_id)
        },
        _ => None,
    };
    let read = read.map(|(non_donatable, launch_id)| ExecuteOptions {
        non_donatable,
        launch_id,
    });
    read.ok_or_else(|| {
        Failure::argument(
            "execution_options",
            "`execution_options` must be NULL or made by pjrt_execution_options()",
        )
    })
}
