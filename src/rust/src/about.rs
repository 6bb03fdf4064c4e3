//! How this library was built and what it finds, for `xlaffi_sitrep()`.

use cuda::libraries::Found;

use crate::entry::routines;
use crate::value::named;

routines! {
    // NVIDIA's libraries: where each was found, or what was tried and why it failed.
    fn cuda_libraries() {
        let found = cuda::libraries::report();
        let column = |of: fn(&Found) -> Option<&str>| -> Vec<Option<String>> {
            found.iter().map(|f| of(f).map(str::to_owned)).collect()
        };
        Ok(named! {
            library = column(|f| Some(f.library)),
            path = column(|f| f.origin.as_deref().ok()),
            problem = column(|f| f.origin.as_ref().err().map(String::as_str)),
        })
    }

    // Whether f32 is computed in f32, which needs a LAPACK with single precision.
    fn about() {
        Ok(named! { single_precision = !cfg!(feature = "promote-f32") })
    }
}
