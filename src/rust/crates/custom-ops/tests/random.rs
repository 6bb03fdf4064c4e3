//! Signatures by chance, met by shapes by chance, beside a reference that tries all values of all
//! names. `XLAFFI_FUZZ_SECONDS` goes on for a time, `XLAFFI_FUZZ_SEED` elsewhere.

#[path = "common/rng.rs"]
mod rng;

use std::time::Instant;

use custom_ops::bind::{infer, ArrayType, Bound, Plan, Sets};
use custom_ops::signature::Signature;
use rng::Rng;
use xla_ffi::DataType;

/// A dimension, by itself: nothing here is that of the crate.
#[derive(Clone, Debug)]
enum Length {
    Number(i128),
    Name(usize),
    Attribute,
    Of(char, Box<Length>, Box<Length>),
}

impl Length {
    fn text(&self, rng: &mut Rng) -> String {
        let space = |rng: &mut Rng| " ".repeat(rng.below(3) / 2);
        match self {
            Length::Number(number) => number.to_string(),
            Length::Name(name) => NAMES[*name].to_string(),
            Length::Attribute => "lag".to_string(),
            Length::Of('m', a, b) => format!("min({},{}{})", a.text(rng), space(rng), b.text(rng)),
            Length::Of('M', a, b) => format!("max({}{},{})", a.text(rng), space(rng), b.text(rng)),
            Length::Of(sign, a, b) => {
                format!("(({}){sign}{}({}))", a.text(rng), space(rng), b.text(rng))
            }
        }
    }

    fn value(&self, names: &[i128], lag: i128) -> Option<i128> {
        Some(match self {
            Length::Number(number) => *number,
            Length::Name(name) => names[*name],
            Length::Attribute => lag,
            Length::Of(sign, a, b) => {
                let (a, b) = (a.value(names, lag)?, b.value(names, lag)?);
                match sign {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    '/' if b == 0 => return None,
                    '/' => (a as f64 / b as f64).floor() as i128,
                    'm' => a.min(b),
                    _ => a.max(b),
                }
            }
        })
    }

    /// Of names that are known.
    fn by_chance(rng: &mut Rng, known: &[usize], depth: usize) -> Length {
        if depth == 0 || rng.once_in(2) {
            return match rng.below(4) {
                0 => Length::Number(rng.below(4) as i128),
                1 => Length::Attribute,
                _ if known.is_empty() => Length::Number(1),
                _ => Length::Name(*rng.pick(known)),
            };
        }
        let mut part = || Box::new(Length::by_chance(rng, known, depth - 1));
        let (a, b) = (part(), part());
        Length::Of(*rng.pick(&['+', '+', '-', '*', '/', 'm', 'M']), a, b)
    }
}

const NAMES: [&str; 5] = ["n", "m", "p", "k", "l"];
/// How often an operand comes, and the length of an attribute.
const COUNT: usize = 3;
const LENGTH: usize = 4;
const TYPES: [DataType; 2] = [DataType::F32, DataType::F64];

#[derive(Clone, Debug)]
struct Model {
    arrays: Vec<Array>,
    operands: usize,
}

#[derive(Clone, Debug)]
struct Array {
    name: String,
    /// 0, 1: a variable; 2: f64.
    dtype: usize,
    batch: bool,
    dims: Vec<Length>,
    optional: bool,
    several: bool,
}

impl Model {
    fn by_chance(rng: &mut Rng) -> Model {
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

    fn text(&self, rng: &mut Rng) -> String {
        let all: Vec<String> = self.arrays.iter().map(|array| array.text(rng)).collect();
        let (operands, results) = all.split_at(self.operands);
        format!(
            "{}; lag: i64, w: f64[l] -> {}",
            operands.join(" , "),
            results.join(",")
        )
    }

    /// Which array of the model each operand is; `None`: it cannot come so often.
    fn operands_of(&self, count: usize) -> Option<(Vec<usize>, usize)> {
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

    /// The results, or `None` where the operands do not fit: by trying all values.
    fn reference(&self, operands: &[ArrayType], lag: i64, length: i64) -> Option<Vec<ArrayType>> {
        let (which, times) = self.operands_of(operands.len())?;
        let lag = i128::from(lag);
        let several = self.arrays[..self.operands]
            .iter()
            .any(|array| array.several);
        // What is known from an operand that does not come is 0, or `f32`.
        let mut found: Option<(Vec<i128>, [DataType; 2])> = None;
        for at in 0..7 * 7 * 7 * 4 {
            let types = [TYPES[at % 2], TYPES[at / 2 % 2]];
            let at = (at / 4) as i128;
            let count = if several { times as i128 } else { 0 };
            let names = vec![at % 7, at / 7 % 7, at / 49, count, i128::from(length)];
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
        let (names, types) = found?;
        if several && times == 0 && self.needs_several() {
            return None;
        }
        let fronts: Vec<&[i64]> = which
            .iter()
            .zip(operands)
            .map(|(at, given)| &given.dims[..given.dims.len() - self.arrays[*at].dims.len()])
            .collect();
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
    fn needs_several(&self) -> bool {
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
    fn dtype_of(&self, types: [DataType; 2]) -> DataType {
        *types.get(self.dtype).unwrap_or(&DataType::F64)
    }

    fn text(&self, rng: &mut Rng) -> String {
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

/// Operands that fit, mostly; then something may be changed.
fn operands(model: &Model, rng: &mut Rng, lag: i64, length: i64) -> Vec<ArrayType> {
    let times = rng.below(4);
    let types = [*rng.pick(&TYPES), *rng.pick(&TYPES)];
    let names: Vec<i128> = (0..3)
        .map(|_| rng.below(4) as i128)
        .chain([times as i128, i128::from(length)])
        .collect();
    let batch: Vec<i64> = (0..rng.below(3)).map(|_| rng.below(4) as i64).collect();
    let mut operands = Vec::new();
    for array in &model.arrays[..model.operands] {
        if array.optional && rng.once_in(2) {
            break;
        }
        for _ in 0..if array.several { times } else { 1 } {
            let mut dims = Vec::new();
            if array.batch {
                dims.extend(&batch[rng.below(4).min(batch.len()).saturating_sub(1)..]);
                dims.iter_mut()
                    .for_each(|dim| *dim = if rng.once_in(5) { 1 } else { *dim });
            }
            let own = array
                .dims
                .iter()
                .map(|dim| dim.value(&names, i128::from(lag)).unwrap_or(0).clamp(0, 6));
            dims.extend(own.map(|dim| dim as i64));
            operands.push(ArrayType {
                dtype: array.dtype_of(types),
                dims,
            });
        }
    }
    if rng.once_in(3) && !operands.is_empty() {
        let at = rng.below(operands.len());
        match rng.below(5) {
            0 => operands[at].dtype = *rng.pick(&[DataType::F32, DataType::F64, DataType::S32]),
            1 => operands[at].dims.push(1),
            2 => drop(operands.remove(at)),
            3 => operands.push(operands[at].clone()),
            _ => {
                if let Some(dim) = operands[at].dims.last_mut() {
                    *dim = (*dim + 1) % 7;
                }
            }
        }
    }
    operands
}

#[test]
fn shapes_are_bound_as_by_trying_all_values() {
    let seed = rng::number("XLAFFI_FUZZ_SEED").unwrap_or(1);
    let seconds = rng::number("XLAFFI_FUZZ_SECONDS").unwrap_or(0);
    let start = Instant::now();
    let (mut at, mut fitted, mut refused) = (0, 0, 0);
    let mut bound = Bound::default();
    while at < 400 || start.elapsed().as_secs() < seconds {
        let mut rng = Rng::of(seed, at);
        at += 1;
        let model = Model::by_chance(&mut rng);
        let text = model.text(&mut rng);
        let Ok(signature) = Signature::parse(&text) else {
            // A dimension or dtype that nothing tells, or a constant below zero.
            continue;
        };
        let usual = signature.to_string();
        let again = Signature::parse(&usual).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(again.to_string(), usual, "{text}");
        let sets = Sets::new(&signature, &[]).expect("sets");
        let plan = Plan::new(again, sets);
        for _ in 0..8 {
            let (lag, length) = (rng.below(6) as i64 - 2, rng.below(4) as i64);
            let operands = operands(&model, &mut rng, lag, length);
            let expected = model.reference(&operands, lag, length);
            let attributes = [lag, length];
            let inferred = infer(&signature, plan.sets(), &operands, &attributes);
            let told = || {
                format!("seed {seed}, {at}: {text} of {operands:?}, {lag}, {length}: {inferred:?}")
            };
            let Ok(inferred) = &inferred else {
                assert_eq!(expected, None, "{}", told());
                refused += 1;
                let checked = plan.check::<_, ArrayType>(&operands, &[], &attributes, &mut bound);
                assert!(checked.is_err(), "{}", told());
                continue;
            };
            let results: Vec<ArrayType> = inferred
                .results
                .iter()
                .map(|result| result.array.clone())
                .collect();
            assert_eq!(expected.as_ref(), Some(&results), "{}", told());
            fitted += 1;
            let checked = plan.check(&operands, &results, &attributes, &mut bound);
            assert_eq!(checked, Ok(()), "{}", told());
            assert_eq!(bound.dims(), inferred.dims, "{}", told());
            assert_eq!(bound.batch(), inferred.batch, "{}", told());
            assert_eq!(
                plan.sets().instance(bound.instance()),
                inferred.dtypes,
                "{}",
                told()
            );
            sizes_are_those_of_batch_elements(&model, &operands, &results, &bound);
            wrong_results_are_refused(&plan, &operands, &results, &attributes, &mut rng);
        }
    }
    assert!(
        fitted * 10 > at && refused * 10 > at,
        "{fitted} fitted, {refused} did not, of {at}"
    );
}

/// Sizes beside those of the model.
fn sizes_are_those_of_batch_elements(
    model: &Model,
    operands: &[ArrayType],
    results: &[ArrayType],
    bound: &Bound,
) {
    let (mut which, times) = model.operands_of(operands.len()).expect("they fit");
    for at in model.operands..model.arrays.len() {
        which.extend(vec![at; if model.arrays[at].several { times } else { 1 }]);
    }
    let sizes = which
        .iter()
        .zip(operands.iter().chain(results))
        .map(|(at, given)| {
            let front = given.dims.len() - model.arrays[*at].dims.len();
            given.dims[front..].iter().product::<i64>() as usize
                * given.dtype.size().expect("a size")
        });
    assert_eq!(bound.sizes(), sizes.collect::<Vec<_>>());
}

fn wrong_results_are_refused(
    plan: &Plan,
    operands: &[ArrayType],
    results: &[ArrayType],
    attributes: &[i64],
    rng: &mut Rng,
) {
    if results.is_empty() {
        return;
    }
    let mut wrong = results.to_vec();
    let at = rng.below(wrong.len());
    match rng.below(3) {
        0 => drop(wrong.pop()),
        1 => wrong[at].dtype = DataType::S32,
        _ => match wrong[at].dims.pop() {
            Some(dim) => wrong[at].dims.push(dim + 1),
            None => wrong[at].dims.push(1),
        },
    }
    let error = plan
        .check(operands, &wrong, attributes, &mut Bound::default())
        .expect_err("they are wrong");
    assert!(error.message.contains("result"), "{error}");
}
