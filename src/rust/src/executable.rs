//! `xlaffi_executable`: a compiled program.

use std::sync::Arc;
use std::time::Duration;

use extendr_api::prelude::*;
use extendr_api::wrapper::symbol;
use extendr_ffi::{R_ClassSymbol, Rf_setAttrib, SET_VECTOR_ELT, SEXP, VECTOR_ELT};
use pjrt::{Buffer, Executable, ExecuteOptions};

use crate::buffer::{upload_array, BufferObject};
use crate::device::DeviceObject;
use crate::failure::{guard, Failure, Outcome};
use crate::fast::{borrowed, fast, Protected};
use crate::host;
use crate::pace::Pace;
use crate::pointer::{alloc_list, class, get, wrap_list, wrap_sexp};
use crate::run::{Done, Run};

/// A compiled program.
pub struct ExecutableObject {
    /// The program.
    pub executable: Arc<Executable>,
    /// Where it runs.
    pub pace: Arc<Pace>,
    /// Name of the platform.
    pub platform: Arc<str>,
}

class!(
    ExecutableObject,
    c"xlaffi_executable",
    "an executable made by pjrt_compile()"
);

/// A run that has been started.
enum Started {
    /// It is through, or XLA goes on with it on its own threads: the results.
    Launched(Vec<Buffer>),
    /// On another thread of ours.
    Running(Run),
}

fast! {
    // Runs the program; a list of buffers, or a run that R has to wait for. The list has the class
    // `xlaffi_executed` where printed text waits to be shown.
    fn executable_execute, wrap__executable_execute, meta__executable_execute
        (executable, arguments, options, check)
    {
        let object: &ExecutableObject = get(executable, "executable")?;
        if arguments.rtype() != Rtype::List {
            return Err(Failure::argument("...", "the arguments must come as a list"));
        }
        if arguments.get_attrib(symbol::names_symbol()).is_some() {
            return Err(Failure::argument("...", "Expected unnamed arguments: they go by position"));
        }
        // SAFETY: a list; its elements live as long as it does, which R protects.
        let values: Vec<SEXP> = unsafe {
            let list = arguments.get();
            (0..arguments.len()).map(|i| VECTOR_ELT(list, i as isize)).collect()
        };
        let mut buffers: Vec<&Arc<Buffer>> = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            // SAFETY: as above.
            let value = unsafe { borrowed(value) };
            let buffer: &BufferObject = get(value, format_args!("..{}", index + 1))?;
            buffers.push(&buffer.buffer);
        }
        if check.as_bool() != Some(false) {
            check_alive(&buffers)?;
        }
        let options = execute_options(options)?;
        let buffers = buffers.into_iter().cloned().collect();
        match start(object, buffers, options)? {
            Started::Launched(outputs) => Ok(told(outputs_to_r(outputs, &object.platform))),
            Started::Running(run) => Ok(wrap_sexp(run)),
        }
    }

    // Runs the program on R arrays, passed on in the given dtypes: a list of the results as R
    // arrays. On the device all of them are gone when it returns, so that the next call finds the
    // memory warm. Where R has to wait, a list of buffers, or a run.
    fn executable_call, wrap__executable_call, meta__executable_call
        (executable, arguments, dtypes, device)
    {
        let object: &ExecutableObject = get(executable, "executable")?;
        let on: &DeviceObject = get(device, "device")?;
        let mut buffers = Vec::with_capacity(arguments.len());
        for index in 0..arguments.len() {
            // SAFETY: lists of one length, as R code promises; R protects them, and with them
            // their elements.
            let (data, dtype) = unsafe {
                let at = index as isize;
                (VECTOR_ELT(arguments.get(), at), VECTOR_ELT(dtypes.get(), at))
            };
            // SAFETY: as above.
            let (data, dtype) = unsafe { (borrowed(&data), borrowed(&dtype)) };
            let buffer = upload_array(on, data, host::dtype(dtype)?)?;
            buffers.push(buffer.buffer);
        }
        let outputs = match start(object, buffers, ExecuteOptions::default())? {
            Started::Launched(outputs) => outputs,
            Started::Running(run) => return Ok(wrap_sexp(run)),
        };
        for output in &outputs {
            if !pjrt_jaxlib::python::blocking(|| output.wait_timeout(FIRST_WAIT))? {
                return Ok(told(outputs_to_r(outputs, &object.platform)));
            }
        }
        let arrays = alloc_list(outputs.len());
        for (index, output) in outputs.iter().enumerate() {
            let array = host::read(output)?;
            // SAFETY: R's thread; the list is protected and has a place for each result.
            unsafe { SET_VECTOR_ELT(arrays.sexp(), index as isize, array) };
        }
        Ok(told(arrays.sexp()))
    }
}

/// Marks fresh results, which are not protected, where printed text waits.
fn told(results: SEXP) -> SEXP {
    if !ops::print::is_waiting() {
        return results;
    }
    // SAFETY: R's thread; both objects are protected while they are put together.
    unsafe {
        let results = Protected::new(results);
        let class = Robj::from("xlaffi_executed");
        Rf_setAttrib(results.sexp(), R_ClassSymbol, class.get());
        results.sexp()
    }
}

/// How long R waits before it looks for an interrupt the first time.
const FIRST_WAIT: Duration = Duration::from_millis(20);

/// Runs a program here if it is known to be quick, else on another thread, and waits for a moment.
/// One without results is waited for there, so that its error is not lost.
fn start(
    object: &ExecutableObject,
    buffers: Vec<Arc<Buffer>>,
    options: ExecuteOptions,
) -> Outcome<Started> {
    let (executable, pace) = (object.executable.clone(), object.pace.clone());
    let execute = move || {
        let buffers: Vec<&Buffer> = buffers.iter().map(|buffer| &**buffer).collect();
        pace.timed(|| executable.execute(&buffers, &options))
    };
    if !object.pace.may_take_long() && object.executable.num_outputs() > 0 {
        return Ok(Started::Launched(execute()?));
    }
    let platform = object.platform.clone();
    let run = Run::start(move || Ok(Done::Executed(execute()?, platform)))?;
    // Most programs are done soon, whatever they could take.
    match run.wait(FIRST_WAIT) {
        Some(done) => match done? {
            Done::Executed(outputs, _) => Ok(Started::Launched(outputs)),
            Done::Compiled(_) => Err(Failure::new("INTERNAL", "a run ended with a program")),
        },
        None => Ok(Started::Running(run)),
    }
}

/// A list of buffers, not protected.
pub fn outputs_to_r(outputs: Vec<Buffer>, platform: &Arc<str>) -> SEXP {
    let outputs = outputs.into_iter().map(|buffer| BufferObject {
        buffer: Arc::new(buffer),
        platform: platform.clone(),
    });
    wrap_list(outputs.collect())
}

fn check_alive(buffers: &[&Arc<Buffer>]) -> Outcome<()> {
    for (index, buffer) in buffers.iter().enumerate() {
        if buffer.is_deleted()? {
            return Err(Failure::argument(
                &format!("..{}", index + 1),
                format!(
                    "argument {}: execution called on deleted or donated buffer",
                    index + 1
                ),
            )
            .hint("`pjrt_execution_options(non_donatable_input_indices = )` keeps an argument."));
        }
    }
    Ok(())
}

fn execute_options(options: &Robj) -> Outcome<ExecuteOptions> {
    if options.is_null() {
        return Ok(ExecuteOptions::default());
    }
    let parts = options
        .as_list()
        .filter(|_| options.inherits("xlaffi_execution_options"));
    let read = parts.and_then(|list| {
        let keep = list.elt(0).ok()?.as_integer_vector()?;
        let launch_id = list.elt(1).ok()?.as_integer()?;
        let non_donatable = keep
            .into_iter()
            .map(usize::try_from)
            .collect::<std::result::Result<_, _>>()
            .ok()?;
        Some(ExecuteOptions {
            non_donatable,
            launch_id,
        })
    });
    read.ok_or_else(|| {
        Failure::argument(
            "execution_options",
            "`execution_options` must be NULL or made by pjrt_execution_options()",
        )
    })
}

// Platform, name, number of results and the ids of the devices.
#[extendr]
fn executable_info(executable: Robj) -> Robj {
    guard(|| {
        let object: &ExecutableObject = get(&executable, "executable")?;
        let devices = object.executable.devices()?;
        let ids = devices
            .iter()
            .map(|device| Ok(device.id()?))
            .collect::<Outcome<Vec<i32>>>()?;
        Ok(list!(
            platform = &*object.platform,
            name = object.executable.name().unwrap_or_default(),
            results = object.executable.num_outputs() as i32,
            devices = ids
        ))
    })
}

extendr_module! {
    mod executable;
    fn executable_execute;
    fn executable_call;
    fn executable_info;
}
