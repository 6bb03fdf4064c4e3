//! QR factorisation.

pub(crate) mod cuda;
pub(crate) mod cusolver;
pub(crate) mod geqrf;
pub(crate) mod host;
mod host_pivoted;
pub(crate) mod jaxlib;
pub(crate) mod orgqr;
pub(crate) mod pivoted;
