//! A signature made ready for checking calls.

use xla_ffi::DataType;

use super::Sets;
use crate::signature::{Array, AttributeKind, Dim, Dtype, Signature};

/// A signature with the sets of its dtypes, ready to check calls.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) signature: Signature,
    pub(super) sets: Sets,
    /// Operands that must be given; one that comes several times is none of them.
    pub(super) required: usize,
    /// The operand that comes several times.
    pub(super) several: Option<usize>,
    /// The dimension that says how often it comes.
    pub(super) count: Option<usize>,
    /// Whether it must come at least once, because dimensions or dtypes are known from it only.
    pub(super) at_least_one: bool,
    /// Where each named dimension is known from.
    pub(super) dims: Vec<Source>,
    /// The operand that each dtype is known from.
    pub(super) dtypes: Vec<usize>,
    /// Lengths of array attributes that are to be compared.
    pub(super) lengths: Vec<(usize, Dim)>,
    /// Of each instance the element type and its size for each operand, result, scratch array.
    pub(super) types: Vec<(DataType, usize)>,
    /// Whether any operand has batch dimensions.
    pub(super) batch: bool,
    /// Whether each operand is worked on in place.
    pub(super) in_place: Vec<bool>,
}

/// Where a dimension is known from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// An operand's dimension, counted from the last, which is 1.
    Operand(usize, usize),
    /// An array attribute's length.
    Length(usize),
    /// How often an operand comes.
    Count,
}

impl Plan {
    /// Makes the plan.
    #[must_use]
    pub fn new(signature: Signature, sets: Sets) -> Self {
        let operands = &signature.operands;
        let several = operands.iter().position(|operand| operand.count.is_some());
        // What is always given comes first.
        let mut order: Vec<usize> = (0..operands.len()).collect();
        order.sort_by_key(|at| (operands[*at].count.is_some(), operands[*at].optional));
        let dims = (0..signature.dims.len()).map(|index| source(&signature, &order, index));
        let dims: Vec<Source> = dims.collect();
        let of = |variable| {
            let binds = |at: &usize| operands[*at].array.dtype == Dtype::Variable(variable);
            order.iter().copied().find(binds).unwrap_or_default()
        };
        let dtypes: Vec<usize> = (0..signature.dtypes.len()).map(of).collect();
        let lengths = signature.attributes.iter().enumerate();
        let lengths = lengths.filter_map(|(at, attribute)| match &attribute.kind {
            AttributeKind::Array(_, length) => Some((at, length.clone())),
            _ => None,
        });
        let in_place = |operand| {
            signature
                .results
                .iter()
                .any(|result| result.in_place == Some(operand))
        };
        Plan {
            required: operands
                .iter()
                .filter(|o| !o.optional && o.count.is_none())
                .count(),
            several,
            count: several.and_then(|at| operands[at].count),
            at_least_one: several.is_some_and(|at| is_needed(&signature, at, &dims, &dtypes)),
            lengths: lengths.collect(),
            types: types(&signature, &sets),
            batch: operands.iter().any(|operand| operand.array.batch),
            in_place: (0..operands.len()).map(in_place).collect(),
            dims,
            dtypes,
            signature,
            sets,
        }
    }

    /// The signature.
    #[must_use]
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The sets of its dtypes.
    #[must_use]
    pub fn sets(&self) -> &Sets {
        &self.sets
    }
}

fn source(signature: &Signature, order: &[usize], index: usize) -> Source {
    let length = signature.attributes.iter().position(
        |attribute| matches!(&attribute.kind, AttributeKind::Array(_, length) if *length == Dim::Name(index)),
    );
    if let Some(at) = length {
        return Source::Length(at);
    }
    if signature
        .operands
        .iter()
        .any(|operand| operand.count == Some(index))
    {
        return Source::Count;
    }
    let found = order.iter().find_map(|at| {
        let dims = &signature.operands[*at].array.dims;
        let axis = dims.iter().position(|dim| *dim == Dim::Name(index))?;
        Some(Source::Operand(*at, dims.len() - axis))
    });
    // A signature has a source for every name.
    found.unwrap_or(Source::Count)
}

/// Whether something else names a dimension or dtype that is known from that operand.
fn is_needed(signature: &Signature, several: usize, dims: &[Source], dtypes: &[usize]) -> bool {
    let operands = signature
        .operands
        .iter()
        .filter(|operand| operand.count.is_none());
    let results = signature
        .results
        .iter()
        .filter(|result| result.count.is_none());
    let arrays = operands
        .map(|operand| &operand.array)
        .chain(results.map(|result| &result.array));
    let mut needed = false;
    for array in arrays.chain(&signature.scratch) {
        array
            .dtype
            .visit(&mut |variable| needed |= dtypes[variable] == several);
        for dim in &array.dims {
            dim.visit(&mut |leaf| {
                if let Dim::Name(index) = *leaf {
                    needed |= matches!(dims[index], Source::Operand(at, _) if at == several);
                }
            });
        }
    }
    needed
}

fn types(signature: &Signature, sets: &Sets) -> Vec<(DataType, usize)> {
    let arrays = || {
        let operands = signature.operands.iter().map(|operand| &operand.array);
        let results = signature.results.iter().map(|result| &result.array);
        operands.chain(results).chain(&signature.scratch)
    };
    let all = (0..sets.instances()).flat_map(|instance| {
        let dtypes = sets.instance(instance);
        // The sets have a type for every expression.
        let of = move |array: &Array| array.dtype.eval(&dtypes).unwrap_or(DataType::INVALID);
        arrays()
            .map(of)
            .map(|dtype| (dtype, dtype.size().unwrap_or(0)))
    });
    all.collect()
}
