//! The table of element types, for R.

use extendr_api::prelude::*;
use pjrt::DType;
use xla_ffi::DataKind;

use crate::failure::guard;

fn kind(kind: DataKind) -> &'static str {
    match kind {
        DataKind::Pred => "pred",
        DataKind::Signed => "signed",
        DataKind::Unsigned => "unsigned",
        DataKind::Float => "float",
        DataKind::Complex => "complex",
        _ => "other",
    }
}

// The element types that R arrays can have on a device: their names, what an element is, and the
// type of the parts of complex numbers, "" for the others.
#[extendr]
fn dtype_table() -> Robj {
    guard(|| {
        let column = |of: fn(DType) -> &'static str| -> Vec<&'static str> {
            DType::ALL.iter().copied().map(of).collect()
        };
        Ok(list!(
            name = column(DType::name),
            kind = column(|dtype| kind(dtype.info().kind)),
            part = column(|dtype| dtype.info().dtype.part().map_or("", |part| part.name()))
        ))
    })
}

extendr_module! {
    mod dtype;
    fn dtype_table;
}
