//! LAPACK's routines as safe functions, and the memory they work in. The library is found when it is
//! first used. No XLA and no op.

mod calls;
mod error;
mod int;
mod library;
mod list;
mod padded;
mod promoted;
mod refusal;
pub mod routines;
mod stack;
mod sys;
mod tables;
mod workspace;

pub use error::{Error, Refused, Result, VARIABLE};
pub use int::Int;
pub use library::{linked_to, look_in, report, About, Linked, Sites, Turn, Work, SINGLE};
pub use padded::Padded;
pub use refusal::refuse_negative;
pub use stack::with_stack;
pub use sys::Routines;
pub use workspace::{filled, Sizes, Worked, Workspace};

/// LAPACK's own answer to a matrix that is not finite, where a routine looks.
pub const NOT_FINITE: i32 = -4;
