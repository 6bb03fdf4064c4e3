//! The combinations of element types that a body is compiled for, for R.

use custom_ops::bind::Sets;
use custom_ops::signature::{Array, Dtype, Signature};
use xla_ffi::DataType;

use crate::r::argument::elements;
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::object::{borrowed, texts};
use crate::r::value::{named, Value};

routines! {
    // The instances of a signature, whose `variables` range over `sets` where they are given: of each the types of all
    // variables, and of all operands, results and scratch arrays in their order.
    fn own_instances(text: &str, variables, sets) {
        let signature = Signature::parse(text)?;
        let variables: Vec<&str> = texts(variables).into_iter().flatten().collect();
        let given = elements(sets)
            .iter()
            // SAFETY: elements live as long as the list, which R protects during the call.
            .map(|set| dtypes(texts(unsafe { borrowed(set) })))
            .collect::<Outcome<Vec<_>>>()?;
        let given: Vec<_> = variables.into_iter().zip(given.iter().map(Vec::as_slice)).collect();
        let sets = Sets::new(&signature, &given).map_err(|error| {
            Failure { operand: error.operand, ..Failure::new("INVALID_ARGUMENT", error.message) }
        })?;
        let instances = (0..sets.instances()).map(|index| {
            (String::new(), instance(&signature, &sets.instance(index)))
        });
        Ok(Value::List(instances.collect()))
    }
}

fn dtypes(names: Vec<Option<&str>>) -> Outcome<Vec<DataType>> {
    let dtype = |name: Option<&str>| {
        let name = name.unwrap_or("NA");
        DataType::from_name(name)
            .ok_or_else(|| Failure::argument("dtypes", format!("there is no dtype \"{name}\"")))
    };
    names.into_iter().map(dtype).collect()
}

fn instance(signature: &Signature, variables: &[DataType]) -> Value {
    let operands = signature.operands.iter().map(|operand| &operand.array);
    let results = signature.results.iter().map(|result| &result.array);
    let arrays = operands.chain(results).chain(&signature.scratch);
    let name = |dtype: DataType| Some(dtype.name().to_string());
    // `Sets` has no instances without types.
    let of = |array: &Array| Dtype::eval(&array.dtype, variables).and_then(name);
    named! {
        dtypes = Value::Texts(variables.iter().map(|&dtype| name(dtype)).collect()),
        types = Value::Texts(arrays.map(of).collect()),
    }
}
