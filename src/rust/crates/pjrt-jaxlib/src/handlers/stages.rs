//! Handlers that XLA has accepted, by name, with what is called in their stages.

use crate::base::error::Result;
use crate::python::compat::Jaxlib;
use crate::python::gil::Gil;
use crate::python::object::Object;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{PoisonError, RwLock};
use xla_ffi::registry::Registry;
use xla_ffi::sys::{
    XLA_FFI_ExecutionStage, XLA_FFI_ExecutionStage_INITIALIZE, XLA_FFI_ExecutionStage_INSTANTIATE,
    XLA_FFI_ExecutionStage_PREPARE, XLA_FFI_Handler,
};

static HANDLERS: RwLock<Option<HashMap<String, Stages>>> = RwLock::new(None);

/// What is called in the stages of a handler.
#[derive(Clone, Copy)]
pub(crate) struct Stages {
    pub instantiate: Option<XLA_FFI_Handler>,
    pub prepare: Option<XLA_FFI_Handler>,
    pub initialize: Option<XLA_FFI_Handler>,
    pub execute: Option<XLA_FFI_Handler>,
}

impl Stages {
    /// Of a handler that was registered with the plugin: one of this library's registry serves all that it was registered
    /// for, any other one is called in the last.
    pub fn of(handler: XLA_FFI_Handler) -> Self {
        let bundle = Registry::global().bundle_of(handler);
        let stage = |is_there: bool| is_there.then_some(handler);
        Self {
            instantiate: stage(bundle.is_some_and(|bundle| bundle.instantiate.is_some())),
            prepare: stage(bundle.is_some_and(|bundle| bundle.prepare.is_some())),
            initialize: stage(bundle.is_some_and(|bundle| bundle.initialize.is_some())),
            execute: Some(handler),
        }
    }

    /// What is called in that stage.
    #[allow(non_upper_case_globals, reason = "names of XLA's header")]
    pub fn at(&self, stage: XLA_FFI_ExecutionStage) -> Option<XLA_FFI_Handler> {
        match stage {
            XLA_FFI_ExecutionStage_INSTANTIATE => self.instantiate,
            XLA_FFI_ExecutionStage_PREPARE => self.prepare,
            XLA_FFI_ExecutionStage_INITIALIZE => self.initialize,
            _ => self.execute,
        }
    }
}

/// Remembers the handlers that others have registered with XLA, where programs that were prepared call them: all where
/// nobody knows which ones.
pub(crate) fn adopt(gil: &Gil, jax: &Jaxlib, every: bool) -> Result<()> {
    for found in gil.call(&jax.adopted, [&gil.bool(every)?])?.items(gil)? {
        let [name, instantiate, prepare, initialize, execute] =
            <[Object; 5]>::try_from(found.items(gil)?)
                .map_err(|_| crate::base::error::Error::internal("adopted gave no five objects"))?;
        // SAFETY: jaxlib's capsules of handlers.
        let handler = |capsule: Object| unsafe {
            let handler = capsule.unnamed_capsule(gil);
            std::mem::transmute::<*mut c_void, Option<XLA_FFI_Handler>>(handler)
        };
        let stages = Stages {
            instantiate: handler(instantiate),
            prepare: handler(prepare),
            initialize: handler(initialize),
            execute: handler(execute),
        };
        remember(&name.text(gil)?, stages);
    }
    Ok(())
}

/// Remembers a handler that XLA has accepted.
pub(crate) fn remember(target: &str, handler: Stages) {
    HANDLERS
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert_with(HashMap::new)
        .insert(target.to_owned(), handler);
}

/// What was remembered.
pub(crate) fn find(target: &str) -> Option<Stages> {
    let handlers = HANDLERS.read().unwrap_or_else(PoisonError::into_inner);
    handlers.as_ref()?.get(target).copied()
}
