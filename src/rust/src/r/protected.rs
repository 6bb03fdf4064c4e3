//! Fresh R vectors, kept from R's collector while Rust fills them.

use extendr_ffi::{Rf_allocVector, Rf_protect, Rf_unprotect, SEXP, SEXPTYPE};

use crate::r::failure::{Failure, Outcome};
use crate::r::memory::make_room;
use crate::r::unwind::protect;

/// A new R object on R's protection stack until it goes out of scope (in reverse order).
pub struct Protected(SEXP);

impl Protected {
    /// Protects a fresh object.
    ///
    /// # Safety
    /// On R's thread, with an object that is alive.
    pub unsafe fn new(sexp: SEXP) -> Self {
        // SAFETY: the caller's promise.
        Protected(unsafe { protect(|| Rf_protect(sexp)) })
    }

    /// The object.
    pub fn sexp(&self) -> SEXP {
        self.0
    }
}

impl Drop for Protected {
    fn drop(&mut self) {
        // SAFETY: on R's thread; values of this type live in nested scopes, so this is the top. A
        // jump that was caught has left the stack as it was.
        unsafe { Rf_unprotect(1) };
    }
}

/// From this many bytes on, memory is tried before R is asked for it: a failure of ours says more
/// than R's error.
const LARGE: usize = 64 << 20;

/// An R vector of `len` elements that are not initialised.
pub fn alloc(kind: SEXPTYPE, len: usize) -> Outcome<Protected> {
    let bytes = len.saturating_mul(if kind == SEXPTYPE::CPLXSXP { 16 } else { 8 });
    let has_room = || Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    if bytes >= LARGE && !has_room() {
        // What buffers hold may be in the way.
        make_room();
    }
    if bytes >= LARGE && !has_room() {
        return Err(Failure::new(
            "RESOURCE_EXHAUSTED",
            format!("an R vector of {len} elements does not fit into memory"),
        ));
    }
    Ok(allocate(kind, len))
}

/// A list of `len` elements, NULL for now.
pub fn alloc_list(len: usize) -> Protected {
    allocate(SEXPTYPE::VECSXP, len)
}

fn allocate(kind: SEXPTYPE, len: usize) -> Protected {
    // SAFETY: R's thread.
    Protected(unsafe { protect(|| Rf_protect(Rf_allocVector(kind, len as isize))) })
}
