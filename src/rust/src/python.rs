//! What the CPU plugin in this library finds of Python, for `xlaffi_sitrep()` and `install_pjrt()`.

use crate::entry::routines;
use crate::value::named;

routines! {
    // Old versions of reticulate run Python on R's thread without asking for its lock: R's thread
    // keeps it from now on, as if reticulate had started Python.
    fn python_keep_lock() {
        pjrt_jaxlib::python::keep_lock();
        Ok(())
    }

    // The places that were looked at, the one that is used and its executable, and why there is
    // none.
    fn python_look() {
        let report = pjrt_jaxlib::python::find();
        let places: Vec<String> = report.candidates.iter().map(|c| c.describe()).collect();
        let chosen = report.chosen().map(|c| c.describe());
        let executable = report.chosen().and_then(|c| c.executable.as_ref());
        let message = Some(report.message()).filter(|text| !text.is_empty());
        Ok(named! {
            places = places,
            chosen = chosen.unwrap_or_default(),
            executable = executable.map(|path| path.display().to_string()),
            message = message,
        })
    }
}
