//! How the arrays of a partitioned program are split, told to R.

use pjrt::{Code, Executable, Sharding};

use crate::failure::Outcome;
use crate::value::{named, Value};

/// How parameters and results are split, for R. Of a program on one device nobody needs to be asked.
pub fn shardings(executable: &Executable) -> Outcome<(Value, Value)> {
    let to_r = |shardings: &[Sharding]| Value::Items(shardings.iter().map(sharding).collect());
    if executable.num_replicas().unwrap_or(1) * executable.num_partitions().unwrap_or(1) == 1 {
        let results = vec![Sharding::Replicated; executable.num_outputs()];
        return Ok((Value::Null, to_r(&results)));
    }
    match executable.shardings() {
        Ok(known) => Ok((
            to_r(&known.parameters),
            to_r(&executable.result_shardings()?),
        )),
        Err(error) if error.code() == Code::UNIMPLEMENTED => {
            let results = vec![Sharding::Unknown; executable.num_outputs()];
            Ok((Value::Null, to_r(&results)))
        }
        Err(error) => Err(error.into()),
    }
}

fn sharding(sharding: &Sharding) -> Value {
    let integers = |numbers: &[i64]| numbers.iter().map(|&n| n as i32).collect::<Vec<i32>>();
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
