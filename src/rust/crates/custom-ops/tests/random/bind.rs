//! Shapes are bound as by trying all values.

use super::model::*;
use crate::rng::Rng;
use custom_ops::bind::{infer, ArrayType, Bound, Plan, Sets};
use custom_ops::signature::Signature;
use std::time::Instant;
use xla_ffi::DataType;

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
    let seed = crate::rng::number("XLAFFI_FUZZ_SEED").unwrap_or(1);
    let seconds = crate::rng::number("XLAFFI_FUZZ_SECONDS").unwrap_or(0);
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
            let described = || {
                format!("seed {seed}, {at}: {text} of {operands:?}, {lag}, {length}: {inferred:?}")
            };
            let Ok(inferred) = &inferred else {
                assert_eq!(expected, None, "{}", described());
                refused += 1;
                let checked = plan.check::<_, ArrayType>(&operands, &[], &attributes, &mut bound);
                assert!(checked.is_err(), "{}", described());
                continue;
            };
            let results: Vec<ArrayType> = inferred
                .results
                .iter()
                .map(|result| result.array.clone())
                .collect();
            assert_eq!(expected.as_ref(), Some(&results), "{}", described());
            fitted += 1;
            let checked = plan.check(&operands, &results, &attributes, &mut bound);
            assert_eq!(checked, Ok(()), "{}", described());
            assert_eq!(bound.dims(), inferred.dims, "{}", described());
            assert_eq!(bound.batch(), inferred.batch, "{}", described());
            assert_eq!(
                plan.sets().instance(bound.instance()),
                inferred.dtypes,
                "{}",
                described()
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
