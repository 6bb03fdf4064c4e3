//! What the CPU plugin in this library finds of Python, for `xlaffi_sitrep()` and `install_pjrt()`.

use crate::host::run::Run;
use crate::r::entry::routines;
use crate::r::pointer::wrap;

routines! {
    // Old versions of reticulate run Python on R's thread without asking for its lock: R's thread
    // keeps it from now on, as if reticulate had started Python.
    fn python_keep_lock() {
        pjrt_jaxlib::python::keep_lock();
        Ok(())
    }

    // A run that ends with the places that were looked at, the one that is used and its executable,
    // and why there is none. An interpreter may take its time to answer.
    fn python_look() {
        Ok(wrap(Run::look()?))
    }

    // Starts Python and jaxlib, where they have not been started.
    fn python_start() {
        Ok(pjrt_jaxlib::start()?)
    }
}
