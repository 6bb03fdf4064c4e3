//! Ops of the user's own: made from addresses of functions, described to R.

use std::ffi::c_void;
use std::sync::Arc;

use custom_ops::bind::{infer, ArrayType};
use custom_ops::signature::{Dtype, Signature};
use custom_ops::{abi, Body, CustomOp, Instance, Options, PlainFunction, Threads};
use extendr_api::prelude::*;
use extendr_ffi::{SET_VECTOR_ELT, SEXP};
use xla_ffi::DataType;

use crate::custom::address::address_of;
use crate::custom::handler::BARRIER;
use crate::custom::kernel;
use crate::custom::sets::{dtypes_of, lists, sets_of, unfit};
use crate::r::argument::{counts, elements};
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::object::{borrowed, texts};
use crate::r::pointer::{class, get, wrap};
use crate::r::protected::Protected;
use crate::r::value::{named, IntoSexp, Value};

/// An op, which programs find as long as this lives, or is registered, or they keep it themselves.
pub struct CustomOpObject(pub Arc<CustomOp>);

class!(
    CustomOpObject,
    c"xlaffi_own_op_pointer",
    "an op of the user's own"
);

routines! {
    // Makes an op and registers it. `sets`: the dtypes that the variables `variables` range over.
    // Of each instance: its dtypes, the body's function and (or NULL) what its arguments are, and the
    // functions for its state. `code` tells it from other ops of the name, NULL: unlike any other.
    // `common` is the same for the same op on another machine, or NULL.
    // `foreign`: what the bodies throw is to be caught. `kernels`: what computes on CUDA, or NULL.
    fn own_op_make(name: &str, text: &str, variables, sets, dtypes, functions, words, inits, cleanups,
                   code, common, one_thread: bool, status: bool, foreign: bool, package, kernels) {
        let signature = Signature::parse(text)?;
        let sets = sets_of(name, &signature, variables, sets)?;
        let mut keep = Vec::new();
        let mut instances = Vec::new();
        for (at, dtypes) in lists(dtypes).iter().enumerate() {
            let mut address = |list: &Robj, what: &str| -> Outcome<Option<*mut c_void>> {
                match elements(list).get(at) {
                    // SAFETY: an element of a list that R protects during the call.
                    Some(pointer) => address_of(name, unsafe { borrowed(pointer) }, what, &mut keep),
                    None => Ok(None),
                }
            };
            let function = address(functions, "function")?.ok_or_else(|| {
                Failure::argument("instances", format!("{name}: a body has no function"))
            })?;
            let (init, cleanup) = (address(inits, "init")?, address(cleanups, "cleanup")?);
            let body = match lists(words).get(at) {
                Some(words) if !words.is_empty() => {
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    let words = PlainFunction::new(function, &words, status, &signature)
                        .map_err(|fault| Failure::argument("words", format!("{name}: {fault}")))?;
                    Body::Plain(words.behind(&BARRIER))
                }
                _ => {
                    // SAFETY: the user says that it is such a function.
                    let body = unsafe { std::mem::transmute::<*mut c_void, abi::Body>(function) };
                    if foreign { Body::Foreign(body, &BARRIER) } else { Body::C(body) }
                }
            };
            instances.push(Instance {
                // SAFETY: as above.
                init: init.map(|init| unsafe { std::mem::transmute::<*mut c_void, abi::Init>(init) }),
                cleanup: cleanup.map(|cleanup| {
                    // SAFETY: as above.
                    unsafe { std::mem::transmute::<*mut c_void, abi::Cleanup>(cleanup) }
                }),
                ..Instance::new(dtypes_of(name, dtypes)?, body)
            });
        }
        let options = Options {
            code: crate::r::object::text(code).map(str::to_owned),
            common: crate::r::object::text(common).map(str::to_owned),
            threads: if one_thread { Threads::One } else { Threads::Auto },
            kernels: kernel::take(kernels)?,
            keep: Some(Box::new(keep)),
            ..Options::default()
        };
        // SAFETY: what the functions are is what the user says; their libraries are kept.
        let op = unsafe { CustomOp::new(name, signature, sets, instances, options) };
        registered(op.map_err(|error| named_failure(name, error))?, crate::r::object::text(package))
    }

    // The types of the results for operands of these types. `numbers` has for each attribute, as
    // text, the value of an integer, the length of an array, and anything for others.
    fn own_op_types(op, dtypes, shapes, numbers) {
        let CustomOpObject(op) = get(op, "op")?;
        let shapes = elements(shapes);
        let operands = texts(dtypes).into_iter().zip(&shapes).map(|(dtype, shape)| {
            Some(ArrayType {
                dtype: DataType::from_name(dtype?)?,
                // SAFETY: an element of a list that R protects during the call.
                dims: counts(unsafe { borrowed(shape) })?,
            })
        });
        let Some(operands) = operands.collect::<Option<Vec<_>>>() else {
            return Err(Failure::argument("dtypes", "these are no types of arrays"));
        };
        let mut given: Vec<i64> = texts(numbers)
            .iter()
            .map(|number| number.and_then(|number| number.parse().ok()).unwrap_or(0))
            .collect();
        given.resize(op.signature().attributes.len(), 0);
        let found = infer(op.signature(), op.sets(), &operands, &given);
        let found = found.and_then(|found| found.check_for_r(op.signature()).map(|()| found));
        let found = found.map_err(|error| unfit(op.name(), error))?;
        let results = found.results.iter().map(|result| {
            let name = &op.signature().results[result.result].array.name;
            let shape = result.array.dims.iter().map(|&dim| dim as f64).collect();
            let parts = named! {
                name = name.clone(),
                dtype = result.array.dtype.name(),
                shape = Value::Numbers(shape),
            };
            (name.clone(), parts)
        });
        let results = Value::List(results.collect());
        Ok(named! { results = results, dtypes = names_of(&found.dtypes) })
    }

    // What programs call it by, what it takes and gives, and what its variables for dtypes range over.
    fn own_op_about(op) {
        let CustomOpObject(op) = get(op, "op")?;
        let variables = op.signature().dtypes.iter().enumerate();
        let sets = variables.map(|(at, name)| (name.clone(), names_of(op.sets().of(at))));
        Ok(named! {
            target = op.name(),
            digest = op.digest().to_string(),
            signature = op.signature().text.clone(),
            dtypes = Value::List(sets.collect()),
        })
    }
}

/// Registers an op: a list of the object for R, not protected, and of the owner of what it replaced
/// ("" for nobody's), if it did.
pub fn registered(op: Arc<CustomOp>, package: Option<&str>) -> Outcome<SEXP> {
    let done =
        custom_ops::register(&op, package).map_err(|error| named_failure(op.name(), error))?;
    let replaced = done
        .replaced
        .map(|replaced| replaced.owner.unwrap_or_default());
    let parts = named! { op = (), replaced = replaced };
    // SAFETY: R's thread; the list is protected while its first element is made.
    Ok(unsafe {
        let parts = Protected::new(parts.into_sexp());
        SET_VECTOR_ELT(parts.sexp(), 0, wrap(CustomOpObject(op)));
        parts.sexp()
    })
}

/// What an op of the user's own is, for `ffi_targets()`: operands, results, attributes, dtypes.
pub fn row(op: &CustomOp) -> [String; 4] {
    let signature = op.signature();
    let joined = |names: Vec<&str>| names.join(", ");
    let mut dtypes = Vec::new();
    let operands = signature.operands.iter().map(|operand| &operand.array);
    let results = signature.results.iter().map(|result| &result.array);
    for array in operands.chain(results) {
        let of: &[DataType] = match &array.dtype {
            Dtype::Fixed(dtype) => std::slice::from_ref(dtype),
            Dtype::Variable(variable) => op.sets().of(*variable),
            _ => &[],
        };
        for dtype in of {
            if !dtypes.contains(&dtype.name()) {
                dtypes.push(dtype.name());
            }
        }
    }
    [
        joined(
            signature
                .operands
                .iter()
                .map(|operand| &*operand.array.name)
                .collect(),
        ),
        joined(
            signature
                .results
                .iter()
                .map(|result| &*result.array.name)
                .collect(),
        ),
        joined(
            signature
                .attributes
                .iter()
                .map(|attribute| &*attribute.name)
                .collect(),
        ),
        dtypes.join(", "),
    ]
}

fn named_failure(op: &str, error: xla_ffi::Error) -> Failure {
    Failure {
        op: Some(op.to_owned()),
        ..Failure::from(error)
    }
}

fn names_of(dtypes: &[DataType]) -> Value {
    let names: Vec<String> = dtypes.iter().map(|dtype| dtype.name().to_owned()).collect();
    Value::from(names)
}
