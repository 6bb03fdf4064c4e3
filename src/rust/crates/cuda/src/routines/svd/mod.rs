//! Singular values: `A = U diag(s) Vᴴ`, `s` descending; `info` is 0, or positive where there is no
//! result. `a` is overwritten, but for [`in_blocks`] and [`small`].

mod gesvd;
mod gesvdj;
mod gesvdp;
mod jacobi;
mod parts;

pub use gesvd::gesvd;
pub use gesvdj::{gesvdj, gesvdj_batched};
pub use gesvdp::gesvdp;
pub use jacobi::{in_blocks, small, Form};
pub use parts::{Operands, Parts};
