//! Signatures of own ops, for R.

use custom_ops::signature::{
    Array, Attribute, AttributeKind, AttributeValue, Order, Signature, SignatureError,
};

use crate::r::bit64;
use crate::r::entry::routines;
use crate::r::failure::Failure;
use crate::r::value::{named, Value};

routines! {
    // The parts of a signature, and its text in the usual form.
    fn own_signature(text: &str) {
        Signature::parse(text).map(|signature| described(&signature)).map_err(Failure::from)
    }
}

impl From<SignatureError> for Failure {
    fn from(error: SignatureError) -> Self {
        let failure = Failure::argument("signature", &error);
        match error.hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

fn described(signature: &Signature) -> Value {
    let name_of = |count: Option<usize>| count.map(|index| signature.dims[index].clone());
    let operands = signature.operands.iter().map(|operand| {
        let text = signature.operand_text(operand);
        let rest =
            named! { optional = operand.optional, count = name_of(operand.count), text = text };
        array(signature, &operand.array, rest)
    });
    let results = signature.results.iter().map(|result| {
        let text = signature.result_text(result);
        let in_place = result.in_place.is_some();
        let rest = named! { in_place = in_place, count = name_of(result.count), text = text };
        array(signature, &result.array, rest)
    });
    let scratch = signature.scratch.iter().map(|scratch| {
        array(
            signature,
            scratch,
            named! { text = signature.array_text(scratch) },
        )
    });
    let attributes = signature
        .attributes
        .iter()
        .map(|found| attribute(signature, found));
    named! {
        text = signature.to_string(),
        operands = list(operands),
        attributes = list(attributes),
        results = list(results),
        scratch = list(scratch),
        dims = signature.dims.clone(),
        dtypes = signature.dtypes.clone(),
    }
}

/// A list by name.
fn list(parts: impl Iterator<Item = (String, Value)>) -> Value {
    Value::List(parts.collect())
}

fn array(signature: &Signature, array: &Array, rest: Value) -> (String, Value) {
    let dims: Vec<String> = array
        .dims
        .iter()
        .map(|dim| signature.dim_text(dim))
        .collect();
    let order = match array.order {
        Order::Row => "row",
        Order::Column => "column",
    };
    let mut parts = named! {
        name = array.name.clone(),
        dtype = signature.dtype_text(&array.dtype),
        dims = dims,
        batch = array.batch,
        order = order,
    };
    if let (Value::List(parts), Value::List(rest)) = (&mut parts, rest) {
        parts.extend(rest);
    }
    (array.name.clone(), parts)
}

fn attribute(signature: &Signature, attribute: &Attribute) -> (String, Value) {
    let (dtype, length) = match &attribute.kind {
        AttributeKind::Scalar(dtype) => (dtype.name(), None),
        AttributeKind::Array(dtype, length) => (dtype.name(), Some(signature.dim_text(length))),
        AttributeKind::Text => ("str", None),
    };
    let parts = named! {
        name = attribute.name.clone(),
        dtype = dtype,
        length = length,
        default = attribute.default.as_ref().map_or(Value::Null, default),
        text = signature.attribute_text(attribute),
    };
    (attribute.name.clone(), parts)
}

/// In R's types: a double for an integer that it holds, else bit64's integer64.
fn default(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::Integer(value) => integers(&[*value]),
        AttributeValue::Float(value) => Value::from(*value),
        AttributeValue::Pred(value) => Value::from(*value),
        AttributeValue::Text(text) => Value::from(text.clone()),
        AttributeValue::Array(values) => {
            let whole = values.iter().map(|value| match value {
                AttributeValue::Integer(value) => Some(*value),
                _ => None,
            });
            match whole.collect::<Option<Vec<i64>>>() {
                Some(whole) => integers(&whole),
                None => Value::Numbers(values.iter().map(number).collect()),
            }
        }
    }
}

fn number(value: &AttributeValue) -> f64 {
    match value {
        AttributeValue::Float(value) => *value,
        _ => f64::NAN,
    }
}

fn integers(values: &[i64]) -> Value {
    // The least of all is a double as well, and would be integer64's NA.
    let is_double = |value: &i64| value.unsigned_abs() <= 1 << 53 || *value == i64::MIN;
    match values.iter().all(is_double) {
        true => Value::Numbers(values.iter().map(|value| *value as f64).collect()),
        false => bit64::integers(values),
    }
}
