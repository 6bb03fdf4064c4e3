//! How this library was built and what it finds, for `xlaffi_sitrep()`.

use extendr_api::prelude::*;

use crate::failure::guard;
use cuda::libraries::Found;

// Whether f32 is computed in f32, which needs a LAPACK with single precision.
#[extendr]
fn about() -> Robj {
    guard(|| Ok(list!(single_precision = !cfg!(feature = "promote-f32"))))
}

// NVIDIA's libraries: where each was found, or what was tried and why it failed.
#[extendr]
fn cuda_libraries() -> Robj {
    guard(|| {
        let found = cuda::libraries::report();
        let column = |of: fn(&Found) -> Option<&str>| -> Vec<Option<String>> {
            found.iter().map(|f| of(f).map(str::to_owned)).collect()
        };
        Ok(list!(
            library = column(|f| Some(f.library)),
            path = column(|f| f.origin.as_deref().ok()),
            problem = column(|f| f.origin.as_ref().err().map(String::as_str))
        ))
    })
}

extendr_module! {
    mod about;
    fn cuda_libraries;
    fn about;
}
