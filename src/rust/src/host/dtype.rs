//! The table of element types, for R.

use pjrt::DType;
use xla_ffi::DataKind;

use crate::r::entry::routines;
use crate::r::value::named;

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

routines! {
    // The element types that R arrays can have on a device: their names, what an element is, and
    // the type of the parts of complex numbers, "" for the others.
    fn dtype_table() {
        let column = |of: fn(DType) -> &'static str| -> Vec<String> {
            DType::ALL.iter().map(|&dtype| of(dtype).to_string()).collect()
        };
        Ok(named! {
            name = column(DType::name),
            kind = column(|dtype| kind(dtype.info().kind)),
            part = column(|dtype| dtype.info().dtype.part().map_or("", |part| part.name())),
        })
    }
}
