//! What a signature makes of operands: by the book, and with errors that say why.

mod batch;
mod call;
mod dims;
mod dtypes;
mod notes;
mod results;
mod slots;
mod types;

use super::{ArrayView, BindError, Sets};
use crate::signature::Signature;
use call::Call;
use slots::slots;

pub use types::{Inferred, InferredResult};

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
