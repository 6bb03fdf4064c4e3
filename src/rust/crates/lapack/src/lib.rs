//! LAPACK's routines as safe functions, the memory they work in, and the precision that a dtype is
//! computed in. No XLA and no op.

mod error;
mod precision;
mod room;
pub mod routines;
mod stack;
mod sys;
mod workspace;

pub use error::{refuse_negative, Error, Result};
pub use precision::Precision;
pub use room::Roomy;
pub use stack::with_room;
pub use sys::{Int, Routines, SYMBOLS};
pub use workspace::{filled, Sizes, Worked, Workspace};

/// LAPACK's own answer to a matrix that is not finite, where a routine looks.
pub const NOT_FINITE: i32 = -4;
