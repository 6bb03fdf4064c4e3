//! `xlaffi_kernels`: the CUDA side of an op of the user's own, until the op is made.

use std::cell::RefCell;

use cuda::nvrtc::{self, Refused};
use custom_ops::signature::Signature;
use custom_ops::{KernelCode, KernelFault, Kernels, Work};
use extendr_api::prelude::*;

use crate::custom::sets::sets_of;
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::object::{is_null, text, texts};
use crate::r::pointer::{class, get, wrap};
use crate::r::value::{named, Value};
use crate::r::vector::bytes;

struct KernelsObject(RefCell<Option<Kernels>>);

class!(KernelsObject, c"xlaffi_kernels", "the kernels of an op");

routines! {
    // The sources of a kernel for each combination of dtypes. `files` are the names of the body and of the
    // support code in messages; `index` is NULL where there is a grid.
    fn kernels_new(name: &str, signature: &str, variables, sets, files, body: &str, support: &str, header: &str,
                   index, over, grid, block, shared, options) {
        let signature = Signature::parse(signature)?;
        let sets = sets_of(name, &signature, variables, sets)?;
        let owned = |value: &Robj| text(value).map(str::to_owned);
        let all = |value: &Robj| -> Vec<String> {
            texts(value).into_iter().flatten().map(str::to_owned).collect()
        };
        let work = match owned(index) {
            Some(index) => Work::Each { index, over: owned(over) },
            None => Work::Grid { blocks: all(grid), threads: all(block), shared: owned(shared) },
        };
        let mut files = all(files).into_iter();
        let code = KernelCode {
            files: [files.next().unwrap_or_default(), files.next().unwrap_or_default()],
            body: body.to_owned(),
            support: support.to_owned(),
            header: header.to_owned(),
            work,
            options: all(options),
        };
        let kernels = Kernels::new(&signature, &sets, &code).map_err(|KernelFault { part, message }| {
            let message = match part {
                "signature" => format!("{name}: {message}"),
                part => format!("{name}: `{part}`: {message}"),
            };
            Failure { op: Some(name.to_owned()), ..Failure::argument(part, message) }
        })?;
        Ok(wrap(KernelsObject(RefCell::new(Some(kernels)))))
    }

    fn kernels_sources(kernels) {
        with(kernels, |kernels| {
            let sources = kernels.units().iter().map(|unit| unit.source().to_owned());
            Ok(Value::from(sources.collect::<Vec<_>>()))
        })
    }

    // Code for an architecture, or a list with what the compiler wrote. Instances count from 0.
    fn kernels_compile(kernels, instance: f64, architecture: &str) {
        with(kernels, |kernels| {
            let unit = kernels.units().get(instance as usize).ok_or_else(too_many)?;
            match unit.compile(architecture) {
                Ok(code) => Ok(Value::Bytes(code)),
                Err(Refused::Source { log, .. }) => Ok(named! { log = log }),
                Err(Refused::Compiler(error)) => Err(Failure::from(error)),
            }
        })
    }

    // Gives a kernel code that was compiled before.
    fn kernels_provide(kernels, instance: f64, architecture: &str, image) {
        let image = bytes(image).ok_or_else(|| Failure::argument("image", "this is no raw vector"))?;
        with(kernels, |kernels| {
            let unit = kernels.units_mut().get_mut(instance as usize).ok_or_else(too_many)?;
            unit.provide(architecture, image.to_vec());
            Ok(Value::Null)
        })
    }

    // NVRTC's version and the architectures of the devices; NULL where there is none.
    fn cuda_compiler() {
        let version = nvrtc::version().ok().map(|(major, minor)| format!("{major}.{minor}"));
        Ok(named! { version = version, architectures = nvrtc::architectures().unwrap_or_default() })
    }
}

fn too_many() -> Failure {
    Failure::argument("instance", "there are not so many")
}

fn with<R>(kernels: &Robj, f: impl FnOnce(&mut Kernels) -> Outcome<R>) -> Outcome<R> {
    let KernelsObject(kernels) = get(kernels, "kernels")?;
    let mut kernels = kernels.borrow_mut();
    let kernels = kernels
        .as_mut()
        .ok_or_else(|| Failure::argument("kernels", "they belong to an op already"))?;
    f(kernels)
}

/// The kernels of an op that is made of them; `None` for NULL.
pub fn take(kernels: &Robj) -> Outcome<Option<Kernels>> {
    if is_null(kernels) {
        return Ok(None);
    }
    let KernelsObject(kernels) = get(kernels, "kernels")?;
    Ok(kernels.borrow_mut().take())
}
