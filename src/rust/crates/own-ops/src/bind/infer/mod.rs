//! What a signature makes of operands: by the book, and with errors that say why.

mod batch;
mod dims;
mod dtypes;
mod notes;
mod results;
mod slots;

use xla_ffi::DataType;

use super::told::{named, shape_text};
use super::{ArrayType, ArrayView, BindError, Sets};
use crate::signature::{Array, Signature};
use slots::{slots, Slot};

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

impl Inferred {
    /// Looks whether R can hold the results' dimensions.
    ///
    /// # Errors
    /// There is one of 2^31 or more.
    pub fn check_for_r(&self, signature: &Signature) -> Result<(), BindError> {
        let large = |result: &&InferredResult| {
            let mut dims = result.array.dims.iter();
            dims.any(|dim| *dim > i64::from(i32::MAX))
        };
        let Some(result) = self.results.iter().find(large) else {
            return Ok(());
        };
        let (operand, shape) = (
            &signature.results[result.result].array.name,
            shape_text(&result.array.dims),
        );
        let name = named(operand, result.index);
        let message =
            format!("result `{name}` would have shape {shape}: R holds dimensions below 2^31");
        Err(BindError::new(Some(operand), message))
    }
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
}
