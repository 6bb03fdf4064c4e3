//! `xlaffi_executable`: a compiled program.

use std::sync::Arc;

use extendr_api::prelude::*;
use extendr_api::wrapper::symbol;
use extendr_ffi::{SEXP, VECTOR_ELT};
use pjrt::{Buffer, Executable, ExecuteOptions};

use crate::buffer::BufferObject;
use crate::event::EventObject;
use crate::failure::{guard, Failure, Outcome};
use crate::fast::{borrowed, fast};
use crate::pointer::{class, get, wrap_list, wrap_sexp};

/// A compiled program.
pub struct ExecutableObject {
    /// The program.
    pub executable: Executable,
    /// Name of the platform.
    pub platform: Arc<str>,
}

class!(
    ExecutableObject,
    c"xlaffi_executable",
    "an executable made by pjrt_compile()"
);

fast! {
    // Runs the program; a list of buffers, or for a program without results an event.
    fn executable_execute, wrap__executable_execute, meta__executable_execute
        (executable, arguments, options, check)
    {
        let object: &ExecutableObject = get(executable, "executable")?;
        if arguments.rtype() != Rtype::List {
            return Err(Failure::argument("...", "the arguments must come as a list"));
        }
        if arguments.get_attrib(symbol::names_symbol()).is_some() {
            return Err(Failure::argument("...", "arguments go by position; they must have no names"));
        }
        // SAFETY: a list; its elements live as long as it does, which R protects.
        let values: Vec<SEXP> = unsafe {
            let list = arguments.get();
            (0..arguments.len()).map(|i| VECTOR_ELT(list, i as isize)).collect()
        };
        let mut buffers: Vec<&Buffer> = Vec::with_capacity(values.len());
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
        let run = &object.executable;
        if run.num_outputs() == 0 {
            // Nobody could wait for such a program later: R waits now, through the event.
            let (_, event) = run.execute_with_event(&buffers, &options)?;
            return Ok(match event {
                Some(event) => wrap_sexp(EventObject { event }),
                None => wrap_list::<BufferObject>(Vec::new()),
            });
        }
        let outputs = run.execute(&buffers, &options)?.into_iter();
        let outputs = outputs.map(|buffer| BufferObject {
            buffer,
            platform: object.platform.clone(),
        });
        Ok(wrap_list(outputs.collect()))
    }
}

fn check_alive(buffers: &[&Buffer]) -> Outcome<()> {
    for (index, buffer) in buffers.iter().enumerate() {
        if buffer.is_deleted()? {
            return Err(Failure::argument(
                &format!("..{}", index + 1),
                format!("argument {} has been deleted or donated to an earlier execution", index + 1),
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
    fn executable_info;
}
