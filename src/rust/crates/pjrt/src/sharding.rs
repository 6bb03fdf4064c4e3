//! How the arrays of a partitioned program are split over its devices: what XLA wrote down in the compiled module.

use crate::dtype::DType;
use proto_wire::{Fields, Value};
use xla_ffi::DataType;

/// How an array is split. Devices are meant by their place in the program's device assignment, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sharding {
    /// Each device has all of it.
    Replicated,
    /// One device has all of it.
    Maximal(i64),
    /// In tiles of equal size.
    Tiled {
        /// Into how many parts each dimension is split.
        tiles: Vec<i64>,
        /// How many devices have each tile.
        copies: i64,
        /// The devices, tile by tile in row-major order, those with the same tile one after the other.
        devices: Vec<i64>,
    },
    /// Nobody knows, or it cannot be said in these words.
    Unknown,
}

/// What a device has of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The element type; `None` for one that this host does not support.
    pub dtype: Option<DType>,
    /// Its dimensions.
    pub dims: Vec<i64>,
}

/// The shardings of a program's parameters and results; none where the module does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shardings {
    /// One per parameter.
    pub parameters: Vec<Sharding>,
    /// One per result.
    pub results: Vec<Sharding>,
    /// What each device gets of each parameter.
    pub parameter_parts: Vec<Part>,
}

impl Shardings {
    /// Reads an `HloModuleProto` that was partitioned.
    pub(crate) fn read(module: &[u8]) -> Self {
        let mut shardings = Self::default();
        for (number, value) in Fields(module) {
            match number {
                4 => shardings.parameter_parts = parts(value.bytes()),
                12 => read(value.bytes(), &mut shardings.results),
                14 => read(value.bytes(), &mut shardings.parameters),
                _ => {}
            }
        }
        if shardings.parameters.len() != shardings.parameter_parts.len() {
            shardings.parameters = vec![Sharding::Unknown; shardings.parameter_parts.len()];
        }
        shardings
    }
}

/// The parameters in a `ProgramShapeProto`.
fn parts(program: &[u8]) -> Vec<Part> {
    let parameters = Fields(program).filter(|(number, _)| *number == 1);
    parameters.map(|(_, shape)| part(shape.bytes())).collect()
}

/// A `ShapeProto`.
fn part(shape: &[u8]) -> Part {
    let (mut dtype, mut dims) = (None, Vec::new());
    for (number, value) in Fields(shape) {
        match (number, value) {
            (2, Value::Number(number)) => {
                let number = i32::try_from(number).ok();
                dtype = number.and_then(|number| DType::of(DataType(number)));
            }
            (3, value) => value.push_to(&mut dims),
            _ => {}
        }
    }
    Part { dtype, dims }
}

/// Reads an `OpSharding`; the members of a tuple one after the other.
fn read(message: &[u8], into: &mut Vec<Sharding>) {
    const TUPLE: u64 = 2;
    let kind = Fields(message).find_map(|field| match field {
        (1, Value::Number(kind)) => Some(kind),
        _ => None,
    });
    if kind == Some(TUPLE) {
        for (number, member) in Fields(message) {
            if number == 5 {
                read(member.bytes(), into);
            }
        }
    } else {
        into.push(read_one(message, kind.unwrap_or(0)).unwrap_or(Sharding::Unknown));
    }
}

/// An `OpSharding` that is no tuple; `None` where it cannot be said in our words.
fn read_one(message: &[u8], kind: u64) -> Option<Sharding> {
    const REPLICATED: i64 = 0;
    let (mut dims, mut devices, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    let (mut reshape, mut permutation) = (Vec::new(), Vec::new());
    let mut last_is_replicated = false;
    for (number, value) in Fields(message) {
        match number {
            3 => value.push_to(&mut dims),
            4 => value.push_to(&mut devices),
            6 => last_is_replicated = value != Value::Number(0),
            8 => value.push_to(&mut groups),
            9 => value.push_to(&mut reshape),
            10 => value.push_to(&mut permutation),
            // A sharding by the names of a mesh: the other fields mean nothing then.
            14 => return None,
            _ => {}
        }
    }
    if devices.is_empty() && !reshape.is_empty() {
        devices = transposed(&reshape, &permutation)?;
    }
    match kind {
        0 => Some(Sharding::Replicated),
        1 => Some(Sharding::Maximal(*devices.first()?)),
        3 if groups.iter().all(|&group| group == REPLICATED) => {
            let not_data = groups.len().max(last_is_replicated.into());
            let tiles = dims.get(..dims.len().checked_sub(not_data)?)?.to_vec();
            let copies = product(&dims[tiles.len()..])?;
            let count = product(&tiles)?.checked_mul(copies)?;
            (count == devices.len() as i64).then_some(Sharding::Tiled {
                tiles,
                copies,
                devices,
            })
        }
        _ => None,
    }
}

/// More devices than a program can have.
const MOST: i64 = 1 << 20;

fn product(dims: &[i64]) -> Option<i64> {
    let product = dims.iter().try_fold(1_i64, |all, &dim| {
        (1..=MOST).contains(&dim).then(|| all.checked_mul(dim))?
    });
    product.filter(|&all| all <= MOST)
}

/// The numbers from 0 as an array of these dimensions whose axes are put in another order, in row-major order.
fn transposed(dims: &[i64], permutation: &[i64]) -> Option<Vec<i64>> {
    let count = product(dims)?;
    let axes = permutation.iter().map(|&axis| usize::try_from(axis).ok());
    let axes: Vec<usize> = axes.collect::<Option<_>>()?;
    if axes.is_empty() {
        return Some((0..count).collect());
    }
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..dims.len()) {
        return None;
    }
    let stride = |axis: usize| dims[axis + 1..].iter().product::<i64>();
    // Axis by axis, from the slowest: each place so far, and from there along the axis.
    Some(axes.iter().fold(vec![0], |places, &axis| {
        let along = |place: i64| (0..dims[axis]).map(move |i| place + i * stride(axis));
        places.into_iter().flat_map(along).collect()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto_wire::Message;

    fn result(sharding: Message) -> Vec<Sharding> {
        let module = Message::default().bytes(1, "name").bytes(12, sharding);
        Shardings::read(&module.into_bytes()).results
    }

    fn other() -> Message {
        Message::default().number(1, 3)
    }

    fn tiled(tiles: &[i64], copies: i64, devices: &[i64]) -> Vec<Sharding> {
        vec![Sharding::Tiled {
            tiles: tiles.to_vec(),
            copies,
            devices: devices.to_vec(),
        }]
    }

    #[test]
    fn lists_of_devices() {
        let message = other().packed(3, &[2, 1]).packed(4, &[1, 0]);
        assert_eq!(result(message), tiled(&[2, 1], 1, &[1, 0]));
        let message = other().packed(3, &[2, 1, 2]).packed(4, &[0, 2, 1, 3]);
        let expected = tiled(&[2, 1], 2, &[0, 2, 1, 3]);
        assert_eq!(result(message.clone().number(6, 1)), expected);
        assert_eq!(result(message.clone().packed(8, &[0])), expected);
        // A dimension of devices that do not have the whole.
        assert_eq!(result(message.clone().packed(8, &[4])), [Sharding::Unknown]);
        assert_eq!(result(message.packed(4, &[9])), [Sharding::Unknown]);
    }

    #[test]
    fn iota() {
        let message = other().packed(3, &[4, 1]).packed(9, &[4]).packed(10, &[0]);
        assert_eq!(result(message), tiled(&[4, 1], 1, &[0, 1, 2, 3]));
        // devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate
        let message = other().packed(3, &[2, 1, 4]).number(6, 1);
        let message = message.packed(9, &[4, 2]).packed(10, &[1, 0]);
        let expected = tiled(&[2, 1], 4, &[0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(result(message), expected);
        let message = other().packed(3, &[6]).packed(9, &[2, 3]);
        assert_eq!(
            result(message.packed(10, &[1, 7])),
            [Sharding::Unknown],
            "no permutation"
        );
    }

    #[test]
    fn kinds_and_tuples() {
        let kind = |kind| Message::default().number(1, kind);
        assert_eq!(result(Message::default()), [Sharding::Replicated]);
        assert_eq!(result(kind(1).packed(4, &[5])), [Sharding::Maximal(5)]);
        assert_eq!(result(kind(4)), [Sharding::Unknown]);
        let message = kind(2).bytes(5, kind(0)).bytes(5, kind(1).packed(4, &[1]));
        let expected = [Sharding::Replicated, Sharding::Maximal(1)];
        assert_eq!(result(message), expected);
        // Two parameters: f64[2,3] and a pred.
        let f64s = Message::default().number(2, 12).packed(3, &[2, 3]);
        let program = Message::default()
            .bytes(1, f64s)
            .bytes(1, kind(0).number(2, 1));
        let message = Message::default().bytes(4, program);
        let parts = [(DType::F64, vec![2, 3]), (DType::Pred, vec![])];
        let parts = parts.map(|(dtype, dims)| Part {
            dtype: Some(dtype),
            dims,
        });
        let module = message
            .clone()
            .bytes(14, kind(0))
            .bytes(14, kind(5))
            .into_bytes();
        let read = Shardings::read(&module);
        assert_eq!(read.parameters, [Sharding::Replicated, Sharding::Unknown]);
        assert_eq!(read.parameter_parts, parts);
        assert!(read.results.is_empty());
        let read = Shardings::read(&message.into_bytes());
        assert_eq!(read.parameters, [Sharding::Unknown, Sharding::Unknown]);
    }

    #[test]
    fn garbage_is_not_followed() {
        let huge = [i64::MAX, i64::MAX];
        let message = other()
            .packed(3, &huge)
            .packed(9, &huge)
            .packed(10, &[1, 0]);
        assert_eq!(result(message), [Sharding::Unknown]);
        for n in 0..64_u32 {
            let bytes: Vec<u8> = (0..n).map(|i| (i * 37 + 255) as u8).collect();
            Shardings::read(&bytes);
        }
    }
}
