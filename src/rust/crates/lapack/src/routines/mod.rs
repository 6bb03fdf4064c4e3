//! The routines as safe functions: slices in, the length contract checked before the call, so that
//! LAPACK's own error handler (R's jumps, others print or end the process) is never reached. Neither rows nor columns
//! may be 0, and what is read must be finite. Where a routine has an `info`, that is returned, positive
//! where there is no result.

mod eig;
mod eigh;
mod gesvd;
mod lengths;
mod lu;
mod pivoted;
mod qr;
mod reduce;
mod schur;
mod solve;
mod svd;

pub use eig::{geev, geev_sizes, unpack};
pub use eigh::{syevd, syevd_sizes};
pub use gesvd::{gesvd, gesvd_sizes};
pub use lu::getrf;
pub use pivoted::{geqp3, geqp3_sizes};
pub use qr::{geqrf, orgqr, qr_sizes};
pub use reduce::{gehrd, ormqr, reduce_sizes, sytrd};
pub use schur::{gees, gees_sizes};
pub use solve::{gtsv, potrf, trsm};
pub(crate) use svd::gesdd_real;
pub use svd::{gesdd, gesdd_sizes};
