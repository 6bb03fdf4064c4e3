//! What a signature makes of operands: by the book, and with errors that say why.

use xla_ffi::DataType;

use super::told::{dtypes_text, shape_text};
use super::{ArrayType, ArrayView, BindError, Sets};
use crate::signature::{Array, AttributeKind, Dim, Dtype, Signature};

/// What follows from the operands of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// The element type of each variable of the signature.
    pub dtypes: Vec<DataType>,
    /// The value of each named dimension.
    pub dims: Vec<i64>,
    /// The batch dimensions of the results.
    pub batch: Vec<i64>,
    /// The results; one that comes several times is here as often.
    pub results: Vec<InferredResult>,
    /// Bytes of each scratch array.
    pub scratch: Vec<usize>,
}

/// A result of [`Inferred`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InferredResult {
    /// An index into [`Signature::results`].
    pub result: usize,
    /// Which one, from 0, of a result that comes several times.
    pub index: Option<usize>,
    /// Its type.
    pub array: ArrayType,
}

/// Dtypes, dimensions and results from the operands' types.
///
/// `attributes` has, for each attribute of the signature, the value of an integer, the length of an
/// array, and anything for others.
///
/// # Errors
/// Too few or too many operands; a dtype, rank or dimension that is not as the signature says; batch
/// dimensions that do not broadcast; a dimension of a result or of scratch memory that is negative
/// or too large.
///
/// # Panics
/// `attributes` has not the signature's length.
pub fn infer<A: ArrayView>(
    signature: &Signature,
    sets: &Sets,
    operands: &[A],
    attributes: &[i64],
) -> Result<Inferred, BindError> {
    assert_eq!(
        attributes.len(),
        signature.attributes.len(),
        "one of each attribute"
    );
    let mut call = Call {
        signature,
        operands,
        attributes,
        slots: slots(signature, operands.len())?,
        dtypes: vec![None; signature.dtypes.len()],
        dims: vec![None; signature.dims.len()],
    };
    let dtypes = call.bind_dtypes(sets)?;
    let dims = call.bind_dims()?;
    for slot in 0..operands.len() {
        call.check_dims(slot, &dims)?;
    }
    let batch = call.broadcast()?;
    let results = call.results(&dtypes, &dims, &batch)?;
    call.check_in_place(&batch)?;
    let scratch = call.scratch(&dtypes, &dims)?;
    Ok(Inferred {
        dtypes,
        dims,
        batch,
        results,
        scratch,
    })
}

/// Which operand an array is; which one, from 0, of an operand that comes several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) operand: usize,
    pub(super) index: Option<usize>,
}

/// For each of so many arrays what it is.
pub(super) fn slots(signature: &Signature, count: usize) -> Result<Vec<Slot>, BindError> {
    let operands = &signature.operands;
    let required = operands
        .iter()
        .filter(|o| !o.optional && o.count.is_none())
        .count();
    let several = operands.iter().position(|operand| operand.count.is_some());
    let most = several.map_or(operands.len(), |_| usize::MAX);
    if count < required || count > most {
        let expected = match (several, most - required) {
            (Some(_), _) => format!("at least {required}"),
            (None, 0) => format!("{required}"),
            (None, 1) => format!("{required} or {most}"),
            (None, _) => format!("{required} to {most}"),
        };
        let one = required == 1 && (most == 1 || several.is_some());
        let arguments = if one { "argument" } else { "arguments" };
        let message = format!("must have {expected} {arguments}, got {count}: {signature}");
        return Err(BindError::new(None, message));
    }
    let mut slots = Vec::with_capacity(count);
    for (operand, spec) in operands.iter().enumerate() {
        match spec.count {
            Some(_) => slots.extend((0..count - required).map(|index| Slot {
                operand,
                index: Some(index),
            })),
            None if slots.len() < count => slots.push(Slot {
                operand,
                index: None,
            }),
            None => {}
        }
    }
    Ok(slots)
}

/// Where a named dimension got its value.
#[derive(Clone, Copy, Debug)]
enum Site {
    Slot(usize),
    Attribute(usize),
    Count(usize),
}

struct Call<'a, A> {
    signature: &'a Signature,
    operands: &'a [A],
    attributes: &'a [i64],
    slots: Vec<Slot>,
    /// With the slot that it comes from.
    dtypes: Vec<Option<(DataType, usize)>>,
    dims: Vec<Option<(i64, Site)>>,
}

impl<A: ArrayView> Call<'_, A> {
    fn name(&self, slot: usize) -> String {
        let Slot { operand, index } = self.slots[slot];
        named(&self.signature.operands[operand].array.name, index)
    }

    fn fault(&self, slot: usize, told: &str) -> BindError {
        let operand = &self.signature.operands[self.slots[slot].operand].array.name;
        BindError::new(
            Some(operand),
            format!("argument `{}` {told}", self.name(slot)),
        )
    }

    fn bind_dtypes(&mut self, sets: &Sets) -> Result<Vec<DataType>, BindError> {
        for slot in 0..self.slots.len() {
            let got = self.operands[slot].dtype();
            let spec = &self.signature.operands[self.slots[slot].operand]
                .array
                .dtype;
            let Dtype::Variable(variable) = *spec else {
                continue;
            };
            match self.dtypes[variable] {
                None if sets.of(variable).contains(&got) => {
                    self.dtypes[variable] = Some((got, slot))
                }
                None => {
                    let expected = dtypes_text(sets.of(variable));
                    return Err(self.fault(slot, &format!("must be {expected}, got {got}")));
                }
                Some((dtype, _)) if dtype == got => {}
                Some((dtype, _)) => return Err(self.wrong_dtype(slot, dtype)),
            }
        }
        let mut dtypes = Vec::new();
        for (variable, bound) in self.dtypes.iter().enumerate() {
            dtypes.push(match bound {
                Some((dtype, _)) => *dtype,
                None => {
                    self.check_unneeded(&self.signature.dtypes[variable], |of| {
                        uses_dtype(of, variable)
                    })?;
                    sets.of(variable)[0]
                }
            });
        }
        for slot in 0..self.slots.len() {
            let spec = &self.signature.operands[self.slots[slot].operand]
                .array
                .dtype;
            match spec.eval(&dtypes) {
                Some(dtype) if dtype == self.operands[slot].dtype() => {}
                Some(dtype) => return Err(self.wrong_dtype(slot, dtype)),
                None => return Err(self.fault(slot, "has no dtype")),
            }
        }
        Ok(dtypes)
    }

    fn wrong_dtype(&self, slot: usize, expected: DataType) -> BindError {
        let spec = &self.signature.operands[self.slots[slot].operand]
            .array
            .dtype;
        let got = self.operands[slot].dtype();
        let why = self.dtype_notes(spec);
        self.fault(slot, &format!("must be {expected}, got {got}{why}"))
    }

    /// ` (`T` is f32 in `x`)`
    fn dtype_notes(&self, dtype: &Dtype) -> String {
        let mut notes = Vec::new();
        if !matches!(dtype, Dtype::Fixed(_) | Dtype::Variable(_)) {
            notes.push(format!("it is {}", self.signature.dtype_text(dtype)));
        }
        dtype.visit(&mut |variable| {
            if let Some((dtype, slot)) = self.dtypes[variable] {
                let name = &self.signature.dtypes[variable];
                notes.push(format!("`{name}` is {dtype} in `{}`", self.name(slot)));
            }
        });
        in_parentheses(notes)
    }

    /// What is known from an operand that comes several times is not, where that comes not at all.
    fn check_unneeded(&self, name: &str, uses: impl Fn(&Array) -> bool) -> Result<(), BindError> {
        let operands = self.signature.operands.iter();
        let Some(several) = operands
            .clone()
            .find(|operand| operand.count.is_some() && uses(&operand.array))
        else {
            return Ok(());
        };
        let others = operands
            .filter(|operand| operand.count.is_none())
            .map(|operand| &operand.array);
        let results = self.signature.results.iter();
        let results = results
            .filter(|result| result.count.is_none())
            .map(|result| &result.array);
        if !others
            .chain(results)
            .chain(&self.signature.scratch)
            .any(uses)
        {
            return Ok(());
        }
        let several = &several.array.name;
        let message =
            format!("argument `{several}` must come at least once: `{name}` is known from it");
        Err(BindError::new(Some(several), message))
    }

    fn bind_dims(&mut self) -> Result<Vec<i64>, BindError> {
        for slot in 0..self.slots.len() {
            let array = &self.signature.operands[self.slots[slot].operand].array;
            let got = self.operands[slot].dims();
            let extra = got.len().checked_sub(array.dims.len());
            let Some(extra) = extra.filter(|extra| *extra == 0 || array.batch) else {
                let expected = self.expected_text(slot, |_| None);
                return Err(self.fault(
                    slot,
                    &format!("must have shape {expected}, got {}", shape_text(got)),
                ));
            };
            if got.iter().any(|dim| *dim < 0) {
                return Err(self.fault(
                    slot,
                    &format!("has a negative dimension: {}", shape_text(got)),
                ));
            }
            for (dim, value) in array.dims.iter().zip(&got[extra..]) {
                if let Dim::Name(index) = *dim {
                    self.dims[index].get_or_insert((*value, Site::Slot(slot)));
                }
            }
        }
        self.bind_count()?;
        self.bind_lengths()?;
        let mut dims = Vec::new();
        for (index, bound) in self.dims.iter().enumerate() {
            dims.push(match bound {
                Some((value, _)) => *value,
                None => {
                    self.check_unneeded(&self.signature.dims[index], |of| uses_dim(of, index))?;
                    0
                }
            });
        }
        Ok(dims)
    }

    fn bind_count(&mut self) -> Result<(), BindError> {
        let mut operands = self.signature.operands.iter();
        let Some((operand, index)) = operands.find_map(|o| Some((&o.array.name, o.count?))) else {
            return Ok(());
        };
        let count = self
            .slots
            .iter()
            .filter(|slot| slot.index.is_some())
            .count();
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let at = self
            .signature
            .operands
            .iter()
            .position(|o| o.count.is_some())
            .unwrap_or_default();
        match self.dims[index] {
            Some((value, _)) if value != count => {
                let why = self.dim_notes(&[&Dim::Name(index)], true);
                let message =
                    format!("argument `{operand}` must come {value} times, got {count}{why}");
                Err(BindError::new(Some(operand), message))
            }
            Some(_) => Ok(()),
            None => {
                self.dims[index] = Some((count, Site::Count(at)));
                Ok(())
            }
        }
    }

    fn bind_lengths(&mut self) -> Result<(), BindError> {
        for (at, attribute) in self.signature.attributes.iter().enumerate() {
            let AttributeKind::Array(_, length) = &attribute.kind else {
                continue;
            };
            let (got, name) = (self.attributes[at], &attribute.name);
            let expected = match *length {
                Dim::Name(index) => self.dims[index].get_or_insert((got, Site::Attribute(at))).0,
                Dim::Number(expected) => expected,
                _ => got,
            };
            if got != expected {
                let why = self.dim_notes(&[length], true);
                let message =
                    format!("attribute `{name}` must have {expected} elements, got {got}{why}");
                return Err(BindError::new(Some(name), message));
            }
        }
        Ok(())
    }

    fn check_dims(&self, slot: usize, dims: &[i64]) -> Result<(), BindError> {
        let array = &self.signature.operands[self.slots[slot].operand].array;
        let got = self.operands[slot].dims();
        let own = &got[got.len() - array.dims.len()..];
        let mut wrong = Vec::new();
        for (dim, got) in array.dims.iter().zip(own) {
            match dim.eval(dims, self.attributes) {
                Ok(value) if value == *got => {}
                Ok(_) => wrong.push(dim),
                Err(problem) => {
                    let text = self.signature.dim_text(dim);
                    let why = self.dim_notes(&[dim], true);
                    return Err(self.fault(
                        slot,
                        &format!("cannot have dimension `{text}`, which {problem}{why}"),
                    ));
                }
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let expected = self.expected_text(slot, |dim| dim.eval(dims, self.attributes).ok());
        let why = self.dim_notes(&wrong, false);
        Err(self.fault(
            slot,
            &format!("must have shape {expected}, got {}{why}", shape_text(got)),
        ))
    }

    /// `(..., 3, n)`: what has no value stands as it is written.
    fn expected_text(&self, slot: usize, value: impl Fn(&Dim) -> Option<i64>) -> String {
        let array = &self.signature.operands[self.slots[slot].operand].array;
        let dims = array.dims.iter().map(|dim| match value(dim) {
            Some(value) => value.to_string(),
            None => self.signature.dim_text(dim),
        });
        let dims: Vec<String> = array
            .batch
            .then(|| "...".to_string())
            .into_iter()
            .chain(dims)
            .collect();
        format!("({})", dims.join(", "))
    }

    /// ` (`2*n` is 6, `n` is 3 in `x`)`; with `bare` without the values of expressions.
    fn dim_notes(&self, dims: &[&Dim], bare: bool) -> String {
        let mut notes: Vec<String> = Vec::new();
        let mut add = |note: String| {
            if !notes.contains(&note) {
                notes.push(note);
            }
        };
        let values: Vec<i64> = self
            .dims
            .iter()
            .map(|bound| bound.map_or(0, |(value, _)| value))
            .collect();
        for dim in dims {
            let leaf = matches!(dim, Dim::Name(_) | Dim::Number(_) | Dim::Attribute(_));
            if let (false, false, Ok(value)) = (leaf, bare, dim.eval(&values, self.attributes)) {
                add(format!("`{}` is {value}", self.signature.dim_text(dim)));
            }
            dim.visit(&mut |leaf| match *leaf {
                Dim::Name(index) => {
                    if let Some((value, site)) = self.dims[index] {
                        add(self.dim_note(&self.signature.dims[index], value, site));
                    }
                }
                Dim::Attribute(index) => {
                    let name = &self.signature.attributes[index].name;
                    add(format!("`{name}` is {}", self.attributes[index]));
                }
                _ => {}
            });
        }
        in_parentheses(notes)
    }

    fn dim_note(&self, name: &str, value: i64, site: Site) -> String {
        match site {
            Site::Slot(slot) => format!("`{name}` is {value} in `{}`", self.name(slot)),
            Site::Attribute(at) => {
                format!(
                    "`{name}` is {value}, the length of `{}`",
                    self.signature.attributes[at].name
                )
            }
            Site::Count(at) => {
                let operand = &self.signature.operands[at].array.name;
                format!("`{name}` is {value}, as often as `{operand}` comes")
            }
        }
    }

    /// The batch dimensions of an operand.
    fn batch_of(&self, slot: usize) -> &[i64] {
        let array = &self.signature.operands[self.slots[slot].operand].array;
        let dims = self.operands[slot].dims();
        &dims[..dims.len() - array.dims.len()]
    }

    /// As numpy does it: aligned on the right, 1 or equal.
    fn broadcast(&self) -> Result<Vec<i64>, BindError> {
        let mut batch: Vec<i64> = Vec::new();
        for slot in 0..self.slots.len() {
            let own = self.batch_of(slot);
            let missing = own.len().saturating_sub(batch.len());
            batch.splice(..0, std::iter::repeat(1).take(missing));
            let from = batch.len() - own.len();
            for (axis, dim) in own.iter().enumerate() {
                match (batch[from + axis], *dim) {
                    (before, dim) if before == dim || dim == 1 => {}
                    (1, dim) => batch[from + axis] = dim,
                    _ => return Err(self.no_broadcast(slot, own.len() - axis)),
                }
            }
        }
        Ok(batch)
    }

    /// `axis` counts from the right, from 1.
    fn no_broadcast(&self, slot: usize, axis: usize) -> BindError {
        let dim = |own: &[i64]| own.len().checked_sub(axis).map_or(1, |at| own[at]);
        let before = (0..slot)
            .find(|before| dim(self.batch_of(*before)) != 1)
            .unwrap_or_default();
        let told = format!(
            "has batch dimensions {}, which do not broadcast with {} of `{}`",
            shape_text(self.batch_of(slot)),
            shape_text(self.batch_of(before)),
            self.name(before)
        );
        self.fault(slot, &told)
    }

    /// What is worked on in place has the results' batch dimensions.
    fn check_in_place(&self, batch: &[i64]) -> Result<(), BindError> {
        for (slot, of) in self.slots.iter().enumerate() {
            let mut results = self.signature.results.iter();
            let in_place = results.any(|result| result.in_place == Some(of.operand));
            if in_place
                && self.signature.operands[of.operand].array.batch
                && self.batch_of(slot) != batch
            {
                let got = shape_text(self.batch_of(slot));
                let told = format!(
                    "is worked on in place, so it must have the result's batch dimensions {}, got {got}",
                    shape_text(batch)
                );
                return Err(self.fault(slot, &told));
            }
        }
        Ok(())
    }

    fn results(
        &self,
        dtypes: &[DataType],
        dims: &[i64],
        batch: &[i64],
    ) -> Result<Vec<InferredResult>, BindError> {
        let several = self
            .slots
            .iter()
            .filter(|slot| slot.index.is_some())
            .count();
        let mut results = Vec::new();
        for (result, outcome) in self.signature.results.iter().enumerate() {
            if outcome.count.is_some() && several == 0 {
                continue;
            }
            let array = &outcome.array;
            let what = format!("result `{}`", array.name);
            let own = self.lengths(&array.dims, dims, &what, &array.name)?;
            let dims = if array.batch {
                [batch, &own].concat()
            } else {
                own
            };
            let Some(dtype) = array.dtype.eval(dtypes) else {
                return Err(BindError::new(
                    Some(&array.name),
                    format!("{what} has no dtype"),
                ));
            };
            if bytes(dtype, &dims).is_none() {
                let told = format!(
                    "{what} would have shape {}, which is too large",
                    shape_text(&dims)
                );
                return Err(BindError::new(Some(&array.name), told));
            }
            let array = ArrayType { dtype, dims };
            match outcome.count {
                None => results.push(InferredResult {
                    result,
                    index: None,
                    array,
                }),
                Some(_) => results.extend((0..several).map(|index| InferredResult {
                    result,
                    index: Some(index),
                    array: array.clone(),
                })),
            }
        }
        Ok(results)
    }

    /// The values of dimensions of a result or of scratch memory.
    fn lengths(
        &self,
        dims: &[Dim],
        values: &[i64],
        what: &str,
        name: &str,
    ) -> Result<Vec<i64>, BindError> {
        let value = |dim: &Dim| {
            let told = match dim.eval(values, self.attributes) {
                Ok(value @ 0..) => return Ok(value),
                Ok(value) => format!("is {value}"),
                Err(problem) => problem.to_string(),
            };
            let (text, why) = (self.signature.dim_text(dim), self.dim_notes(&[dim], true));
            Err(BindError::new(
                Some(name),
                format!("dimension `{text}` of {what} {told}{why}"),
            ))
        };
        dims.iter().map(value).collect()
    }

    fn scratch(&self, dtypes: &[DataType], dims: &[i64]) -> Result<Vec<usize>, BindError> {
        let size = |array: &Array| {
            let what = format!("scratch array `{}`", array.name);
            let own = self.lengths(&array.dims, dims, &what, &array.name)?;
            let size = array
                .dtype
                .eval(dtypes)
                .and_then(|dtype| bytes(dtype, &own));
            size.ok_or_else(|| {
                let told = format!(
                    "{what} would have shape {}, which is too large",
                    shape_text(&own)
                );
                BindError::new(Some(&array.name), told)
            })
        };
        self.signature.scratch.iter().map(size).collect()
    }
}

/// `xs[[2]]`, as R counts.
pub(super) fn named(name: &str, index: Option<usize>) -> String {
    index.map_or_else(
        || name.to_string(),
        |index| format!("{name}[[{}]]", index + 1),
    )
}

fn in_parentheses(notes: Vec<String>) -> String {
    match notes.is_empty() {
        true => String::new(),
        false => format!(" ({})", notes.join(", ")),
    }
}

/// Of an array: `None` where no memory could hold it.
fn bytes(dtype: DataType, dims: &[i64]) -> Option<usize> {
    if dims.contains(&0) {
        return Some(0);
    }
    let size = i64::try_from(dtype.size()?).ok()?;
    let bytes = dims
        .iter()
        .try_fold(size, |bytes, dim| bytes.checked_mul(*dim))?;
    isize::try_from(bytes).ok().map(isize::unsigned_abs)
}

fn uses_dim(array: &Array, index: usize) -> bool {
    let mut used = false;
    for dim in &array.dims {
        dim.visit(&mut |leaf| used |= *leaf == Dim::Name(index));
    }
    used
}

fn uses_dtype(array: &Array, variable: usize) -> bool {
    let mut used = false;
    array.dtype.visit(&mut |index| used |= index == variable);
    used
}
