//! LAPACK's routines as safe functions, and the memory they work in. The library is found when it is
//! first used. No XLA and no op.

mod error;
mod library;
mod promoted;
mod room;
pub mod routines;
mod stack;
mod sys;
mod workspace;

pub use error::{refuse_negative, Error, Result};
pub use library::{look_in, report, About, Refused, Sites, Turn, Work, SINGLE, VARIABLE};
pub use room::Roomy;
pub use stack::with_room;
pub use sys::{Int, Routines};
pub use workspace::{filled, Sizes, Worked, Workspace};

/// LAPACK's own answer to a matrix that is not finite, where a routine looks.
pub const NOT_FINITE: i32 = -4;
