//! How the arrays of a partitioned program are split, told to R.

use pjrt::{Code, DType, Executable, Part, Sharding};

use crate::r::failure::Outcome;
use crate::r::value::{named, Value};

/// How parameters and results are split, for R. Of a program on one device nobody needs to be asked.
pub fn shardings(executable: &Executable) -> Outcome<(Value, Value)> {
    let to_r = |shardings: &[Sharding]| Value::Items(shardings.iter().map(sharding).collect());
    if executable.num_replicas().unwrap_or(1) * executable.num_partitions().unwrap_or(1) == 1 {
        let results = vec![Sharding::Replicated; executable.num_outputs()];
        return Ok((Value::Null, to_r(&results)));
    }
    match executable.shardings() {
        Ok(known) => {
            let parameters = known.parameters.iter().zip(&known.parameter_parts);
            let parameters = parameters.map(|(how, part)| parameter(how, part));
            Ok((
                Value::Items(parameters.collect()),
                to_r(&executable.result_shardings()?),
            ))
        }
        Err(error) if error.code() == Code::UNIMPLEMENTED => {
            let results = vec![Sharding::Unknown; executable.num_outputs()];
            Ok((Value::Null, to_r(&results)))
        }
        Err(error) => Err(error.into()),
    }
}

/// How a parameter is split, and what each device gets of it.
fn parameter(how: &Sharding, part: &Part) -> Value {
    let Value::List(mut parts) = sharding(how) else {
        return Value::Null;
    };
    let dtype = part.dtype.map_or("unknown", DType::name);
    parts.push(("dtype".to_string(), Value::from(dtype)));
    parts.push(("shape".to_string(), Value::from(integers(&part.dims))));
    Value::List(parts)
}

fn integers(numbers: &[i64]) -> Vec<i32> {
    numbers.iter().map(|&number| number as i32).collect()
}

fn sharding(sharding: &Sharding) -> Value {
    let (kind, tiles, copies, devices) = match sharding {
        Sharding::Replicated => ("replicated", vec![], 1, vec![]),
        Sharding::Maximal(device) => ("maximal", vec![], 1, integers(&[*device])),
        Sharding::Unknown => ("unknown", vec![], 1, vec![]),
        Sharding::Tiled {
            tiles,
            copies,
            devices,
        } => ("tiled", integers(tiles), *copies as i32, integers(devices)),
    };
    named! {
        kind = kind,
        tiles = tiles,
        last_replicated = copies,
        devices = devices,
    }
}
