//! How this library was built, for `xlaffi_sitrep()`.

use extendr_api::prelude::*;

use crate::failure::guard;

// Whether f32 is computed in f32, which needs a LAPACK with single precision.
#[extendr]
fn about() -> Robj {
    guard(|| Ok(list!(single_precision = !cfg!(feature = "promote-f32"))))
}

extendr_module! {
    mod about;
    fn about;
}
