//! The element types of an op, as R gives them.

use custom_ops::bind::{BindError, Sets};
use custom_ops::signature::Signature;
use extendr_api::Robj;
use extendr_ffi::SEXP;
use xla_ffi::DataType;

use crate::r::argument::elements;
use crate::r::failure::{Failure, Outcome};
use crate::r::object::{borrowed, texts};

/// What the variables for dtypes range over: names, and for each a character vector.
pub fn sets_of(op: &str, signature: &Signature, variables: &Robj, sets: &Robj) -> Outcome<Sets> {
    let variables = texts(variables);
    let sets = lists(sets)
        .iter()
        .map(|names| dtypes_of(op, names))
        .collect::<Outcome<Vec<_>>>()?;
    let given: Vec<(&str, &[DataType])> = variables
        .iter()
        .zip(&sets)
        .map(|(name, set)| (name.unwrap_or_default(), set.as_slice()))
        .collect();
    Sets::new(signature, &given).map_err(|error| unfit(op, error))
}

pub fn dtypes_of(op: &str, names: &[String]) -> Outcome<Vec<DataType>> {
    let known = |name: &String| {
        DataType::from_name(name).ok_or_else(|| Failure {
            op: Some(op.to_owned()),
            ..Failure::argument("dtypes", format!("{op}: there is no dtype \"{name}\""))
        })
    };
    names.iter().map(known).collect()
}

/// A list of character vectors.
pub fn lists(list: &Robj) -> Vec<Vec<String>> {
    let elements = elements(list);
    let read = |element: &SEXP| {
        // SAFETY: an element of a list that R protects during the call.
        let texts = texts(unsafe { borrowed(element) });
        texts
            .into_iter()
            .map(|text| text.unwrap_or_default().to_owned())
            .collect()
    };
    elements.iter().map(read).collect()
}

pub fn unfit(op: &str, error: BindError) -> Failure {
    Failure {
        op: Some(op.to_owned()),
        operand: error.operand,
        ..Failure::new("INVALID_ARGUMENT", format!("{op}: {}", error.message))
    }
}
