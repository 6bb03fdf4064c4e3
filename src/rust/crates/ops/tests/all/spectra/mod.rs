//! Eigenvalues and singular values of what LAPACK's own tests have, by jaxlib's targets, and batches
//! of very different matrices: what comes out for one depends neither on its neighbours nor on its
//! place.

mod eigh;
mod kinds;
mod svd;
