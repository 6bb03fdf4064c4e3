//! Modules in place of jax's: without jax, jaxlib would look for it at each array that it makes.

use crate::base::error::Result;
use crate::python::gil::Gil;
use crate::python::object::Object;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Modules that stand in for jax while jaxlib makes arrays.
pub(crate) struct StandIn {
    loaded: Object,
    names: Vec<Object>,
    modules: Vec<Object>,
    /// How many calls need them now; changed under Python's lock only.
    users: AtomicUsize,
}

impl StandIn {
    pub fn new(gil: &Gil, names: &Object, modules: &Object) -> Result<Self> {
        // SAFETY: the lock is held; the reference is borrowed, so one is added.
        let loaded = unsafe {
            let dict = (gil.py.c.PyImport_GetModuleDict)();
            (gil.py.c.Py_IncRef)(dict);
            gil.owned(dict)?
        };
        Ok(Self {
            loaded,
            names: names.items(gil)?,
            modules: modules.items(gil)?,
            users: AtomicUsize::new(0),
        })
    }

    /// Puts them in place unless jax itself is loaded; says whether they are needed.
    pub fn place(&self, gil: &Gil) -> Result<bool> {
        if self.users.load(Ordering::Relaxed) == 0 {
            let c = &gil.py.c;
            // SAFETY: the lock is held; a borrowed reference or NULL comes back.
            if !unsafe { (c.PyDict_GetItemWithError)(self.loaded.as_ptr(), self.names[0].as_ptr()) }
                .is_null()
            {
                return Ok(false);
            }
            for (name, module) in self.names.iter().zip(&self.modules) {
                // SAFETY: the lock is held; the dictionary takes its own references.
                if unsafe {
                    (c.PyDict_SetItem)(self.loaded.as_ptr(), name.as_ptr(), module.as_ptr())
                } != 0
                {
                    return Err(gil.error());
                }
            }
        }
        self.users.fetch_add(1, Ordering::Relaxed);
        Ok(true)
    }

    /// As many times as they were put in place.
    pub fn remove(&self, gil: &Gil) {
        if self.users.fetch_sub(1, Ordering::Relaxed) > 1 {
            return;
        }
        for name in &self.names {
            // SAFETY: the lock is held.
            if unsafe { (gil.py.c.PyDict_DelItem)(self.loaded.as_ptr(), name.as_ptr()) } != 0 {
                // Already gone: whoever took it out wanted the same.
                drop(gil.error());
            }
        }
    }
}
