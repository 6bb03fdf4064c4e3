//! Which element types the variables of a signature range over.

use xla_ffi::DataType;

use super::BindError;
use crate::signature::{Signature, DTYPES};

/// More instances than this are a mistake.
const INSTANCES: usize = 10_000;

/// For each variable of a signature the element types that it ranges over. An instance is one type
/// for each: instances are numbered from 0, the last variable varying fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sets(Vec<Vec<DataType>>);

impl Sets {
    /// From the sets that are given by name; a variable without one ranges over `f32` and `f64`.
    ///
    /// # Errors
    /// A name that the signature does not have, a set that is empty, has a type twice or one that
    /// own ops have not; too many instances; types that an expression of the signature has no
    /// type for.
    pub fn new(signature: &Signature, given: &[(&str, &[DataType])]) -> Result<Self, BindError> {
        let fault = |message: String| BindError::new(Some("dtypes"), message);
        for (name, set) in given {
            if !signature.dtypes.iter().any(|known| known == name) {
                return Err(fault(format!(
                    "the signature has no dtype `{name}`: {signature}"
                )));
            }
            if let Some(dtype) = set.iter().find(|dtype| !DTYPES.contains(dtype)) {
                return Err(fault(format!(
                    "`{name}` cannot be {dtype}: own ops have no such arrays"
                )));
            }
            if let Some(index) = (1..set.len()).find(|index| set[..*index].contains(&set[*index])) {
                return Err(fault(format!("`{name}` has {} twice", set[index])));
            }
            if set.is_empty() {
                return Err(fault(format!("`{name}` has no dtypes")));
            }
        }
        let of = |name: &String| {
            let found = given.iter().find(|(known, _)| known == name);
            found.map_or(vec![DataType::F32, DataType::F64], |(_, set)| set.to_vec())
        };
        let sets = Sets(signature.dtypes.iter().map(of).collect());
        let count = sets
            .0
            .iter()
            .try_fold(1_usize, |count, set| count.checked_mul(set.len()));
        match count {
            Some(0..=INSTANCES) => {}
            _ => {
                return Err(fault(format!(
                    "there are more than {INSTANCES} combinations of dtypes"
                )))
            }
        }
        sets.check(signature)?;
        Ok(sets)
    }

    /// Every expression has a type in every instance.
    fn check(&self, signature: &Signature) -> Result<(), BindError> {
        let operands = signature.operands.iter().map(|operand| &operand.array);
        let results = signature.results.iter().map(|result| &result.array);
        let arrays = operands.chain(results).chain(&signature.scratch);
        for array in arrays {
            for instance in 0..self.instances() {
                let dtypes = self.instance(instance);
                if array.dtype.eval(&dtypes).is_none() {
                    let mut known = Vec::new();
                    array.dtype.visit(&mut |index| {
                        let one = format!("`{}` is {}", signature.dtypes[index], dtypes[index]);
                        if !known.contains(&one) {
                            known.push(one);
                        }
                    });
                    let known = if known.is_empty() {
                        String::new()
                    } else {
                        format!(" where {}", known.join(" and "))
                    };
                    let message = format!(
                        "there is no dtype {} for `{}`{known}",
                        signature.dtype_text(&array.dtype),
                        array.name
                    );
                    return Err(BindError::new(Some("dtypes"), message));
                }
            }
        }
        Ok(())
    }

    /// The set of a variable.
    ///
    /// # Panics
    /// There is no such variable.
    #[must_use]
    pub fn of(&self, variable: usize) -> &[DataType] {
        &self.0[variable]
    }

    /// How many instances there are; 1 where there are no variables.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.0.iter().map(Vec::len).product()
    }

    /// The types of an instance, one for each variable.
    ///
    /// # Panics
    /// There are not that many.
    #[must_use]
    pub fn instance(&self, instance: usize) -> Vec<DataType> {
        assert!(
            instance < self.instances(),
            "there are {} instances",
            self.instances()
        );
        let mut rest = instance;
        let last_first = self.0.iter().rev().map(|set| {
            let dtype = set[rest % set.len()];
            rest /= set.len();
            dtype
        });
        let mut dtypes: Vec<_> = last_first.collect();
        dtypes.reverse();
        dtypes
    }

    /// The number of the instance with these types, if they are in the sets.
    #[must_use]
    pub fn find(&self, dtypes: &[DataType]) -> Option<usize> {
        if dtypes.len() != self.0.len() {
            return None;
        }
        self.0
            .iter()
            .zip(dtypes)
            .try_fold(0, |instance, (set, dtype)| {
                Some(instance * set.len() + set.iter().position(|known| known == dtype)?)
            })
    }
}
