//! A model of signatures.

use crate::length::Length;
use crate::rng::Rng;
use custom_ops::bind::ArrayType;
use xla_ffi::DataType;

pub const NAMES: [&str; 5] = ["n", "m", "p", "k", "l"];

/// How often an operand comes, and the length of an attribute.
pub const COUNT: usize = 3;

pub const LENGTH: usize = 4;

pub const TYPES: [DataType; 2] = [DataType::F32, DataType::F64];

#[derive(Clone, Debug)]
pub struct Model {
    pub arrays: Vec<Array>,
    pub operands: usize,
}

#[derive(Clone, Debug)]
pub struct Array {
    pub name: String,
    /// 0, 1: a variable; 2: f64.
    pub dtype: usize,
    pub batch: bool,
    pub dims: Vec<Length>,
    pub optional: bool,
    pub several: bool,
}

impl Model {
    pub fn by_chance(rng: &mut Rng) -> Model {
        let batch = rng.once_in(2);
        let operands = 1 + rng.below(3);
        let several = rng.once_in(4).then(|| rng.below(operands));
        let first_optional = match several.is_none() && rng.once_in(3) {
            true => rng.below(operands),
            false => operands,
        };
        let mut arrays: Vec<Array> = (0..operands)
            .map(|at| Array {
                name: format!("x{at}"),
                dtype: rng.below(3),
                batch: batch && !rng.once_in(3),
                dims: (0..rng.below(3))
                    .map(|_| Length::Name(rng.below(3)))
                    .collect(),
                optional: at >= first_optional,
                several: several == Some(at),
            })
            .collect();
        let given: Vec<Array> = arrays
            .iter()
            .filter(|array| !array.optional)
            .cloned()
            .collect();
        let mut known = vec![LENGTH];
        known.extend(several.map(|_| COUNT));
        for array in &given {
            known.extend(array.dims.iter().filter_map(|dim| match dim {
                Length::Name(name) => Some(*name),
                _ => None,
            }));
        }
        for array in &mut arrays {
            if rng.once_in(2) {
                array.dims.insert(0, Length::by_chance(rng, &known, 2));
            }
        }
        let batched = arrays.iter().any(|array| array.batch);
        for at in 0..rng.below(3) {
            let dtypes: Vec<usize> = given.iter().map(|array| array.dtype).chain([2]).collect();
            arrays.push(Array {
                name: format!("z{at}"),
                dtype: *rng.pick(&dtypes),
                batch: batched,
                dims: (0..rng.below(3))
                    .map(|_| Length::by_chance(rng, &known, 2))
                    .collect(),
                optional: false,
                several: several.is_some() && rng.once_in(2),
            });
        }
        // In place.
        let candidate = rng.below(operands);
        if rng.once_in(4) && !arrays[candidate].optional && arrays[candidate].batch == batched {
            arrays.push(arrays[candidate].clone());
        }
        Model { arrays, operands }
    }

    pub fn text(&self, rng: &mut Rng) -> String {
        let all: Vec<String> = self.arrays.iter().map(|array| array.text(rng)).collect();
        let (operands, results) = all.split_at(self.operands);
        format!(
            "{}; lag: i64, w: f64[l] -> {}",
            operands.join(" , "),
            results.join(",")
        )
    }

    /// Which array of the model each operand is; `None`: it cannot come so often.
    pub fn operands_of(&self, count: usize) -> Option<(Vec<usize>, usize)> {
        let operands = &self.arrays[..self.operands];
        let required = operands
            .iter()
            .filter(|array| !array.optional && !array.several)
            .count();
        let several = operands.iter().any(|array| array.several);
        let times = count.checked_sub(required)?;
        if !several && count > self.operands {
            return None;
        }
        let each = |at: usize| vec![at; if operands[at].several { times } else { 1 }];
        let mut all: Vec<usize> = (0..self.operands).flat_map(each).collect();
        all.truncate(count);
        Some((all, if several { times } else { 0 }))
    }

    /// The values of the names and the types with which all operands fit, the smallest ones.
    fn values_of(
        &self,
        which: &[usize],
        operands: &[ArrayType],
        lag: i128,
        [count, length]: [i128; 2],
    ) -> Option<(Vec<i128>, [DataType; 2])> {
        // What is known from an operand that does not come is 0, or `f32`.
        let mut found: Option<(Vec<i128>, [DataType; 2])> = None;
        for at in 0..7 * 7 * 7 * 4 {
            let types = [TYPES[at % 2], TYPES[at / 2 % 2]];
            let at = (at / 4) as i128;
            let names = vec![at % 7, at / 7 % 7, at / 49, count, length];
            let fits = which.iter().zip(operands).all(|(at, given)| {
                let array = &self.arrays[*at];
                let Some(front) = given.dims.len().checked_sub(array.dims.len()) else {
                    return false;
                };
                let own = array.dims.iter().zip(&given.dims[front..]);
                array.dtype_of(types) == given.dtype
                    && (array.batch || front == 0)
                    && own
                        .into_iter()
                        .all(|(dim, got)| dim.value(&names, lag) == Some(i128::from(*got)))
            });
            // The first is the one with zeros.
            if fits && found.is_none() {
                found = Some((names, types));
            }
        }
        found
    }

    /// The results, or `None` where the operands do not fit: by trying all values.
    pub fn reference(
        &self,
        operands: &[ArrayType],
        lag: i64,
        length: i64,
    ) -> Option<Vec<ArrayType>> {
        let (which, times) = self.operands_of(operands.len())?;
        let lag = i128::from(lag);
        let several = self.arrays[..self.operands]
            .iter()
            .any(|array| array.several);
        let known = [if several { times as i128 } else { 0 }, i128::from(length)];
        let (names, types) = self.values_of(&which, operands, lag, known)?;
        if several && times == 0 && self.needs_several() {
            return None;
        }
        let fronts: Vec<&[i64]> = which
            .iter()
            .zip(operands)
            .map(|(at, given)| &given.dims[..given.dims.len() - self.arrays[*at].dims.len()])
            .collect();
        let batch = broadcast(&fronts)?;
        let mut results = Vec::new();
        let results_of = self.arrays[self.operands..].iter();
        for array in results_of.filter(|array| !array.several || times > 0) {
            let own: Option<Vec<i128>> = array
                .dims
                .iter()
                .map(|dim| dim.value(&names, lag))
                .collect();
            let own = own?;
            if own.iter().any(|dim| *dim < 0) {
                return None;
            }
            let mut dims = if array.batch {
                batch.clone()
            } else {
                Vec::new()
            };
            dims.extend(own.iter().map(|dim| *dim as i64));
            let in_place = self.arrays[..self.operands]
                .iter()
                .position(|other| other.name == array.name);
            let mut taken = which
                .iter()
                .zip(&fronts)
                .filter(|(at, _)| Some(**at) == in_place);
            if array.batch && taken.any(|(_, front)| *front != batch) {
                return None;
            }
            let result = ArrayType {
                dtype: array.dtype_of(types),
                dims,
            };
            results.extend(vec![result; if array.several { times } else { 1 }]);
        }
        Some(results)
    }

    /// Whether something else names what the operand that comes several times tells.
    pub fn needs_several(&self) -> bool {
        fn names(dim: &Length, into: &mut Vec<usize>) {
            match dim {
                Length::Name(name) => into.push(*name),
                Length::Of(_, a, b) => {
                    names(a, into);
                    names(b, into);
                }
                _ => {}
            }
        }
        let operands = &self.arrays[..self.operands];
        let alone = |several: bool| {
            let arrays = operands
                .iter()
                .filter(move |array| array.several == several);
            arrays
                .flat_map(|array| array.dims.iter())
                .filter_map(|dim| match dim {
                    Length::Name(name) => Some(*name),
                    _ => None,
                })
        };
        let elsewhere: Vec<usize> = alone(false).chain([COUNT, LENGTH]).collect();
        let mut only = alone(true).filter(|name| !elsewhere.contains(name));
        let mut used = Vec::new();
        let others = self.arrays.iter().filter(|array| !array.several);
        others
            .clone()
            .flat_map(|array| &array.dims)
            .for_each(|dim| names(dim, &mut used));
        let dtypes_elsewhere: Vec<usize> = operands
            .iter()
            .filter(|array| !array.several)
            .map(|array| array.dtype)
            .chain([2])
            .collect();
        only.any(|name| used.contains(&name))
            || others
                .clone()
                .any(|array| !dtypes_elsewhere.contains(&array.dtype))
    }
}

impl Array {
    pub fn dtype_of(&self, types: [DataType; 2]) -> DataType {
        *types.get(self.dtype).unwrap_or(&DataType::F64)
    }

    pub fn text(&self, rng: &mut Rng) -> String {
        let dims = self.dims.iter().map(|dim| dim.text(rng));
        let dims: Vec<String> = self
            .batch
            .then(|| "...".to_string())
            .into_iter()
            .chain(dims)
            .collect();
        let marks = if self.optional {
            "?"
        } else if self.several {
            " * k"
        } else {
            ""
        };
        format!(
            "{}:{}[{}]{marks}",
            self.name,
            ["T", "U", "f64"][self.dtype],
            dims.join(", ")
        )
    }
}

/// The dimensions of a batch from those in front of each operand's own.
fn broadcast(fronts: &[&[i64]]) -> Option<Vec<i64>> {
    let rank = fronts.iter().map(|front| front.len()).max().unwrap_or(0);
    let mut batch = Vec::new();
    for axis in (1..=rank).rev() {
        let mut dims = fronts
            .iter()
            .filter_map(|front| Some(front[front.len().checked_sub(axis)?]));
        let other = dims.clone().find(|dim| *dim != 1).unwrap_or(1);
        if dims.any(|dim| dim != 1 && dim != other) {
            return None;
        }
        batch.push(other);
    }
    Some(batch)
}
