//! What a run leaves.

use crate::array::buffer::Buffer;
use crate::array::jax_array::Array;
use crate::array::small;
use crate::array::small::{Contents, Small};
use crate::base::error::Result;
use crate::client::device::Device;
use crate::program::executable::Executable;
use crate::python::compat::Jaxlib;
use crate::python::gil::Gil;
use crate::python::object::Object;
use crate::run::signal::{in_background, Outcome, Signal};
use crate::run::state::Run;
use pjrt_api::PJRT_Buffer;
use std::sync::Arc;

/// What results hold; the run where it is not through: `run`, where there is more to be known of it. Small programs are
/// through when they were launched. Of small results nothing of jaxlib's is left then.
pub(super) fn take_over(
    gil: &Gil,
    executable: &Executable,
    arrays: Vec<Object>,
    run: Option<&Arc<Run>>,
) -> (Vec<Contents>, Option<Arc<Run>>) {
    let mut running: Option<Arc<Run>> = None;
    let results = arrays.into_iter().zip(&executable.results);
    let results = results.map(|(object, shape)| {
        let array = Array::new(executable.client.jax, object);
        let array = run.into_iter().fold(array, Array::computed_by);
        let is_through = running.is_none();
        // What cannot be seen now will be told to whoever waits.
        let Some(from) = is_through.then(|| array.look(gil).ok().flatten()).flatten() else {
            let run = running.get_or_insert_with(|| run.cloned().unwrap_or_default());
            return Contents::Array(Arc::new(array.computed_by(run)));
        };
        // Over several devices jaxlib takes arrays only.
        if small::fits(shape) && executable.over_one() {
            // SAFETY: the elements are there, and the memory has room for them.
            let copy =
                |to| unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to, shape.bytes) };
            if let Ok(small) = Small::new(shape.bytes, copy) {
                array.into_object().release(gil);
                return Contents::Small(Arc::new(small));
            }
        }
        Contents::Array(Arc::new(array))
    });
    (results.collect(), running)
}

/// What is set when a run is through, and to how it ended. Its token can only be waited for, not asked.
pub(super) fn in_token(
    jax: &'static Jaxlib,
    token: Object,
    run: Option<Arc<Run>>,
) -> Result<Arc<Signal>> {
    let signal = Signal::new();
    let waiting = Arc::clone(&signal);
    if let Some(run) = &run {
        run.tell(&signal);
    }
    in_background("xlaffi-token", move || {
        let outcome: Outcome = jax
            .gil()
            .and_then(|gil| gil.method0(&token, &jax.block_until_ready).map(drop))
            .err();
        drop(token);
        waiting.set(outcome.or_else(|| run?.failure()));
    })?;
    Ok(signal)
}

/// Gives the results on a device to the caller.
///
/// # Safety
/// `output` has a place for every result.
pub(super) unsafe fn put(
    output: *mut *mut PJRT_Buffer,
    executable: &Executable,
    device: *const Device,
    results: Vec<Contents>,
) {
    for (i, (contents, shape)) in results.into_iter().zip(&executable.results).enumerate() {
        let (client, shape) = (Arc::clone(&executable.client), Arc::clone(shape));
        let buffer = Buffer::new(client, device, shape, contents, false);
        // SAFETY: by this function's contract.
        unsafe { output.add(i).write(buffer.into_raw()) };
    }
}
