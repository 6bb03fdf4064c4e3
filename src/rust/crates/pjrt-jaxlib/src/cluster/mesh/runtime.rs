//! XLA's part of a mesh: the functions of `distributed.py`.

use crate::base::error::Result;
use crate::python::compat::{self, Jaxlib};
use crate::python::gil::Gil;
use crate::python::object::Object;
use std::sync::OnceLock;

/// Functions of `distributed.py`.
pub(super) struct Runtime {
    pub(super) jax: &'static Jaxlib,
    pub(super) open: Object,
    pub(super) client: Object,
    pub(super) exchange: Object,
    pub(super) close: Object,
    pub(super) finish: Object,
    pub(super) keep_from_children: Object,
    pub(super) host: String,
}

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

pub(super) fn runtime(jax: &'static Jaxlib) -> Result<&'static Runtime> {
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let gil = jax.gil()?;
    let source = include_str!("distributed.py");
    let module = compat::run(&gil, c"_xlaffi_distributed", source)?;
    let runtime = Runtime {
        jax,
        open: module.attr(&gil, c"open_port")?,
        client: module.attr(&gil, c"make_client")?,
        exchange: module.attr(&gil, c"exchange")?,
        close: module.attr(&gil, c"close")?,
        finish: module.attr(&gil, c"finish")?,
        keep_from_children: module.attr(&gil, c"keep_from_children")?,
        host: module.attr(&gil, c"host")?.text(&gil)?,
    };
    Ok(RUNTIME.get_or_init(|| runtime))
}

/// Ends what waits for other processes of that mesh. Closed `both_ways`, connections may leave something waiting.
pub(super) fn close(number: i64, both_ways: bool) {
    with_runtime(|runtime, gil| {
        let arguments = [&gil.int(number)?, &gil.bool(both_ways)?];
        gil.call(&runtime.close, arguments).map(drop)
    });
}

/// Ends what that mesh has here, where nothing waits for other processes any more.
pub(super) fn finish(number: i64) {
    call(|runtime| &runtime.finish, number);
}

/// Programs that this process starts do not get the connections to other processes.
pub(super) fn keep_from_children(number: i64) {
    call(|runtime| &runtime.keep_from_children, number);
}

fn call(function: impl Fn(&Runtime) -> &Object, number: i64) {
    with_runtime(|runtime, gil| {
        let number = gil.int(number)?;
        gil.call(function(runtime), [&number]).map(drop)
    });
}

fn with_runtime(work: impl FnOnce(&Runtime, &Gil) -> Result<()>) {
    if let Some(runtime) = RUNTIME.get() {
        // Without Python nothing waits any more, and what is not kept from children does them no harm.
        let _ = runtime.jax.gil().and_then(|gil| work(runtime, &gil));
    }
}
