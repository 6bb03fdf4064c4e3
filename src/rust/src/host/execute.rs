//! Running compiled programs.

use std::sync::Arc;

use extendr_api::{Robj, Rtype, Types};
use extendr_ffi::{
    R_ClassSymbol, R_DimSymbol, R_NamesSymbol, R_NilValue, Rf_setAttrib, SET_VECTOR_ELT, SEXP,
};
use pjrt::{Buffer, Executable, ExecuteOptions};

use crate::host::buffer::{upload_array, BufferObject};
use crate::host::contents::{size, wait};
use crate::host::device::DeviceObject;
use crate::host::executable::ExecutableObject;
use crate::host::launch::{execute_options, start, start_beside, Started, FIRST_WAIT};
use crate::host::parts::{check_alive, check_parts, device_parts, outputs_to_r};
use crate::host::run::Run;
use crate::host::{array, in_flight};
use crate::r::argument::elements;
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::memory::expect;
use crate::r::object::{attribute, borrowed, is_null};
use crate::r::pointer::{get, wrap, wrap_list};
use crate::r::protected::{alloc_list, Protected};
use crate::r::unwind::protect;
use crate::r::value::{IntoSexp, Value};

routines! {
    // Runs the program on a buffer per parameter; a list of buffers, which has the class `xlaffi_executed` where printed
    // text waits to be shown, or one of the class `xlaffi_launched` with the run that R has to wait for. Where `simplify` says so, one buffer
    // comes without a list, if no text waits. Where the program runs on several devices, in place of each buffer, there and
    // here, is a list of them, one per device. `refuse_na`: buffers of R data with NA that XLA has not are refused.
    fn executable_execute(executable, arguments, options, check: bool, simplify: bool, refuse_na: bool) {
        let object: &ExecutableObject = get(executable, "executable")?;
        // SAFETY: a symbol of R's.
        let names = unsafe { attribute(arguments, R_NamesSymbol) };
        // SAFETY: it lives as long as the list.
        if !is_null(unsafe { borrowed(&names) }) {
            return Err(Failure::argument("...", "Expected unnamed arguments: they go by position"));
        }
        let parts = device_parts(arguments, &object.executable)?;
        if check {
            check_parts(object, &parts)?;
        }
        if refuse_na {
            check_no_na(arguments)?;
        }
        match start(object, parts, execute_options(options)?)? {
            Started::Launched(outputs) => Ok(as_buffers(outputs, object, simplify)),
            Started::Running(run) => Ok(launched(run)),
        }
    }

    // As executable_execute() on buffers, checked, for a program that may take long: R does not wait for it here, so that it can
    // start others beside it.
    fn executable_launch(executable, arguments) {
        let object: &ExecutableObject = get(executable, "executable")?;
        let parts = device_parts(arguments, &object.executable)?;
        check_parts(object, &parts)?;
        match start_beside(object, parts)? {
            Started::Launched(outputs) => Ok(as_buffers(outputs, object, false)),
            Started::Running(run) => Ok(launched(run)),
        }
    }

    // See call().
    fn executable_call(executable, arguments, dtypes, device, read: bool, alone: bool) {
        call(executable, arguments, dtypes, device, read, alone)
    }
}

/// Runs the program on buffers and on R arrays, which are passed on in the given dtypes and are gone from the device when
/// it returns, so that the next call finds the memory warm. A list of buffers or, where `read` says so, of the results as R
/// arrays; those with one axis are vectors, unless an argument is an array of one axis. What comes `alone` needs no list,
/// if no printed text waits. Where R has to wait, a list with a class: of buffers `xlaffi_executed`, of a run `xlaffi_launched`.
pub fn call(
    executable: &Robj,
    arguments: &Robj,
    dtypes: &Robj,
    device: &Robj,
    read: bool,
    alone: bool,
) -> Outcome<SEXP> {
    let object: &ExecutableObject = get(executable, "executable")?;
    let device: &DeviceObject = get(device, "device")?;
    let (buffers, has_array_of_one_axis) =
        on_device(arguments, dtypes, device, &object.executable)?;
    let outputs = match start(object, vec![buffers], ExecuteOptions::default())? {
        Started::Launched(outputs) => outputs,
        Started::Running(run) => return Ok(launched(run)),
    };
    if !read {
        return Ok(as_buffers(outputs, object, alone));
    }
    for output in outputs.iter().flatten() {
        if !wait(output, FIRST_WAIT)? {
            let buffers = outputs_to_r(outputs, &object.platform, false);
            return Ok(with_class(buffers, "xlaffi_executed"));
        }
    }
    let arrays = alloc_list(object.executable.num_outputs());
    for (index, output) in outputs.iter().flatten().enumerate() {
        let array = array::read(output)?;
        // SAFETY: R's thread; the list is protected and has a place for each result. Nobody else
        // has the array; to take an attribute away allocates nothing.
        unsafe {
            SET_VECTOR_ELT(arrays.sexp(), index as isize, array);
            if output.dims().len() == 1 && !has_array_of_one_axis {
                Rf_setAttrib(array, R_DimSymbol, R_NilValue);
            }
        }
        if alone && object.executable.num_outputs() == 1 && !ops::print::is_waiting() {
            // Nothing is allocated before R has it.
            return Ok(array);
        }
    }
    Ok(marked(arrays.sexp()))
}

/// Results that stay on the device, as executable_execute() gives them; not protected.
fn as_buffers(mut outputs: Vec<Vec<Buffer>>, object: &ExecutableObject, alone: bool) -> SEXP {
    let in_lists = object.executable.is_over_several();
    let may_be_alone = alone && !in_lists && !ops::print::is_waiting();
    if let ([buffers], true) = (&mut outputs[..], may_be_alone) {
        if buffers.len() == 1 {
            let only = buffers.remove(0);
            expect(size(&only));
            let only = BufferObject::new(only, &object.platform);
            in_flight::note(&only.buffer);
            return wrap(only);
        }
    }
    marked(outputs_to_r(outputs, &object.platform, in_lists))
}

/// A run that R has to wait for.
fn launched(run: Run) -> SEXP {
    with_class(wrap_list(vec![run]), "xlaffi_launched")
}

/// Arguments as buffers: R arrays are passed on in their dtypes. And whether one of those has one axis.
fn on_device(
    arguments: &Robj,
    dtypes: &Robj,
    device: &DeviceObject,
    executable: &Executable,
) -> Outcome<(Vec<Arc<Buffer>>, bool)> {
    let (arguments, dtypes) = (elements(arguments), elements(dtypes));
    if arguments.len() != dtypes.len() {
        return Err(Failure::argument(
            "...",
            "there must be a dtype for each argument",
        ));
    }
    let mut has_array_of_one_axis = false;
    let mut buffers = Vec::with_capacity(arguments.len());
    for (index, (argument, dtype)) in arguments.iter().zip(&dtypes).enumerate() {
        // SAFETY: elements of lists that R protects.
        let (argument, dtype) = unsafe { (borrowed(argument), borrowed(dtype)) };
        buffers.push(match argument.rtype() {
            Rtype::ExternalPtr => {
                let object: &BufferObject = get(argument, format_args!("..{}", index + 1))?;
                check_alive(executable, &object.buffer, index, 0)?;
                not_na(object, index, "is a buffer of data with")?;
                object.buffer.clone()
            }
            _ => {
                has_array_of_one_axis |= array::has_one_axis(argument);
                let object = upload_array(device, argument, array::dtype(dtype)?)?;
                not_na(&object, index, "has")?;
                object.buffer
            }
        });
    }
    Ok((buffers, has_array_of_one_axis))
}

/// Refuses an argument that was made of R data with NA where XLA has none.
fn not_na(object: &BufferObject, index: usize, how: &str) -> Outcome<()> {
    if !object.has_na {
        return Ok(());
    }
    let (argument, dtype) = (index + 1, object.buffer.dtype());
    Err(Failure::argument(
        &argument.to_string(),
        format!("argument {argument} {how} NA, which {dtype} cannot hold"),
    ))
}

/// As [`not_na`], for each buffer of a list; those on several devices are looked at where they are made.
fn check_no_na(arguments: &Robj) -> Outcome<()> {
    let arguments = elements(arguments);
    arguments
        .iter()
        .enumerate()
        .try_for_each(|(index, buffer)| {
            // SAFETY: an element of a list that R protects.
            let buffer = unsafe { borrowed(buffer) };
            match buffer.rtype() {
                Rtype::ExternalPtr => not_na(get(buffer, "")?, index, "is a buffer of data with"),
                _ => Ok(()),
            }
        })
}

/// Marks fresh results, which are not protected, where printed text waits.
fn marked(results: SEXP) -> SEXP {
    match ops::print::is_waiting() {
        true => with_class(results, "xlaffi_executed"),
        false => results,
    }
}

/// Gives a fresh object, which is not protected, a class.
fn with_class(object: SEXP, class: &str) -> SEXP {
    // SAFETY: R's thread; a fresh object, protected while the class is made.
    unsafe {
        let object = Protected::new(object);
        let class = Protected::new(Value::from(class).into_sexp());
        protect(|| Rf_setAttrib(object.sexp(), R_ClassSymbol, class.sexp()));
        object.sexp()
    }
}
